//! Anki packages: round trips and all formats.

use super::*;

fn note(fields: [&str; 2], deck: &str, cards: usize) -> NewNote {
    NewNote {
        guid: "g".to_owned(),
        model: Model::Forward,
        fields: fields.map(str::to_owned),
        deck: deck.to_owned(),
        cards: vec![NewCard::default(); cards],
    }
}

#[test]
fn packages_round_trip() {
    let notes = [
        note(["Q", "A"], "a::b", 1),
        note(["x".repeat(9000).as_str(), "y"], "c", 2),
    ];
    let media = vec![
        ("p.png".to_owned(), vec![1, 2, 3]),
        ("s.mp3".to_owned(), vec![0; 70_000]),
    ];
    let bytes = package(&notes, media, 1_000_000, MODELS).unwrap();
    let mut read = Package::open(bytes).unwrap();
    assert_eq!(read.notes.len(), 2);
    assert_eq!(
        read.notes[0],
        AnkiNote {
            fields: vec!["Q".into(), "A".into()],
            deck: "a::b".into(),
            cards: 1
        }
    );
    assert_eq!(
        (read.notes[1].fields[0].len(), read.notes[1].cards),
        (9000, 2)
    );
    let (name, file) = read.media[1].clone();
    assert_eq!(name, "s.mp3");
    assert_eq!(read.medium(&file).unwrap().unwrap().len(), 70_000);
    assert_eq!(read.medium("99").unwrap(), None);
}

#[test]
fn invalid_packages_are_rejected() {
    assert!(Package::open(b"nothing".to_vec()).is_err());
    assert!(Package::open(pack(&[("x".to_owned(), vec![1])]).unwrap()).is_err());
    let broken = pack(&[("collection.anki2".to_owned(), b"no database".to_vec())]).unwrap();
    assert!(Package::open(broken).is_err());
    let broken = pack(&[("collection.anki21b".to_owned(), b"not packed".to_vec())]).unwrap();
    assert!(Package::open(broken).is_err());
}

#[test]
fn protobuf_media_lists_are_parsed() {
    let list = b"\x0a\x0a\x0a\x05a.png\x10\x01\xff\x0a\x07\x0a\x05b.mp3";
    let named = |name: &str, file: &str| (name.to_owned(), file.to_owned());
    assert_eq!(packed_media(&list[..12]), [named("a.png", "0")]);
    assert_eq!(
        packed_media(b"\x0a\x07\x0a\x05a.png\x0a\x07\x0a\x05b.mp3"),
        [named("a.png", "0"), named("b.mp3", "1")]
    );
    assert_eq!(packed_media(b"\xff\xff\xff"), []);
}

#[test]
fn checksums_match_anki() {
    // The first eight digits of SHA-1 of the field, as a number.
    assert_eq!(checksum("abc"), 0xa999_3e36);
}
