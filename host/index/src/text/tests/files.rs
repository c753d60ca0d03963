//! The index on disk: written, loaded, damaged, or on a disk that cannot be written.

use std::fs;
use std::path::Path;

use super::*;

#[test]
fn changes_are_searchable_immediately() {
    let library = Library::of_texts(&[]);
    for doc_id in 0..1000 {
        library
            .texts
            .put(note(doc_id, "n", &format!("unique{doc_id} text of all")));
        let visible = Bitmap::all_below(doc_id + 1);
        let hits = library
            .texts
            .all(&words(&format!("unique{doc_id}")), &visible)
            .unwrap();
        assert_eq!(
            hits.hits.iter().map(|hit| hit.doc_id).collect::<Vec<_>>(),
            [doc_id]
        );
    }
    let visible = Bitmap::all_below(1000);
    assert_eq!(
        library.texts.all(&words("all"), &visible).unwrap().total,
        1000
    );
    assert_eq!(library.texts.pending(), 1000);
    library.texts.flush().unwrap();
    assert_eq!(library.texts.pending(), 0);
    assert_eq!(
        library.texts.all(&words("all"), &visible).unwrap().total,
        1000
    );
    assert_eq!(
        library.texts.kept(7).as_deref(),
        Some("unique7 text of all")
    );
    library.texts.remove(7);
    assert_eq!(
        library.texts.all(&words("all"), &visible).unwrap().total,
        999
    );
    assert_eq!(library.texts.kept(7), None);
}

#[test]
fn the_index_is_loaded_from_disk() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("deep/texts");
    let documents: Vec<Document> = (0..20)
        .map(|doc_id| note(doc_id, "n", &format!("common text{doc_id}")))
        .collect();
    let texts = Texts::open(&place);
    let lengths = texts.load(documents.clone());
    assert_eq!(
        texts
            .all(&words("common"), &Bitmap::all_below(20))
            .unwrap()
            .total,
        0
    );
    texts.flush().unwrap();
    assert_eq!(
        texts
            .all(&words("common"), &Bitmap::all_below(20))
            .unwrap()
            .total,
        20
    );
    drop(texts);

    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(
            fs::metadata(&place).unwrap().permissions().mode() & 0o777,
            0o700
        );
    }
    let texts = Texts::open(&place);
    // Doc ids differ now, one note is gone, another is new.
    let mut known: Vec<Placed> = documents[1..]
        .iter()
        .zip(&lengths[1..])
        .map(|(document, lengths)| Placed {
            doc_id: document.doc_id + 100,
            key: document.key,
            lengths: *lengths,
        })
        .collect();
    known.push(Placed {
        doc_id: 7,
        key: 12345,
        lengths: [1, 1, 1],
    });
    assert_eq!(texts.bind(&known), [12345]);
    let visible = Bitmap::all_below(200);
    let found: Bitmap = texts
        .all(&words("common"), &visible)
        .unwrap()
        .hits
        .iter()
        .map(|hit| hit.doc_id)
        .collect();
    assert_eq!(found, (101..120).collect());
    assert_eq!(texts.kept(105).as_deref(), Some("common text5"));
    texts.flush().unwrap();
    assert_eq!(texts.all(&words("common"), &visible).unwrap().total, 19);
}

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file() && fs::metadata(path).unwrap().len() > 0)
        .collect();
    files.sort();
    files
}

#[test]
fn damaged_index_files_are_rebuilt() {
    let folder = tempfile::tempdir().unwrap();
    let original = folder.path().join("original");
    let documents: Vec<Document> = (0..30)
        .map(|doc_id| note(doc_id, "n", &format!("# common\ntext{doc_id}")))
        .collect();
    let texts = Texts::open(&original);
    let lengths = texts.load(documents.clone());
    texts.flush().unwrap();
    texts.remove(3);
    texts.flush().unwrap();
    drop(texts);
    let known: Vec<Placed> = documents
        .iter()
        .zip(lengths)
        .filter(|(document, _)| document.doc_id != 3)
        .map(|(document, lengths)| Placed {
            doc_id: document.doc_id,
            key: document.key,
            lengths,
        })
        .collect();
    let count = files(&original).len();
    assert!(count > 6);
    for (at, harm) in (0..count).flat_map(|at| (0..5).map(move |harm| (at, harm))) {
        let copy = folder.path().join(format!("copy-{at}-{harm}"));
        fs::create_dir(&copy).unwrap();
        for file in files(&original) {
            fs::copy(&file, copy.join(file.file_name().unwrap())).unwrap();
        }
        let victim = &files(&copy)[at];
        let mut bytes = fs::read(victim).unwrap();
        let length = bytes.len();
        match harm {
            0 => bytes.clear(),
            1 => bytes.truncate(length / 2),
            2 => bytes[length / 2] ^= 0x55,
            3 => bytes
                .iter_mut()
                .for_each(|byte| *byte = byte.wrapping_add(1)),
            _ => bytes[length - 1] ^= 0x01,
        }
        fs::write(victim, bytes).unwrap();
        let texts = Texts::open(&copy);
        let missing = texts.bind(&known);
        for document in documents
            .iter()
            .filter(|document| missing.contains(&document.key))
        {
            texts.put(document.clone());
        }
        let visible = Bitmap::all_below(30);
        for is_flushed in [false, true] {
            if is_flushed {
                texts.flush().unwrap();
            }
            let hits = texts.all(&words("common"), &visible).unwrap();
            assert_eq!(hits.total, 29, "{victim:?} {harm}");
            for document in documents.iter().filter(|document| document.doc_id != 3) {
                assert_eq!(
                    texts.kept(document.doc_id),
                    Some(document.text.clone()),
                    "{victim:?} {harm}"
                );
            }
        }
    }
}

#[test]
fn without_disk_access_the_index_is_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "x").unwrap();
    let texts = Texts::open(&file.join("below"));
    texts.load(vec![note(0, "n", "loaded")]);
    texts.put(note(1, "n", "put"));
    texts.flush().unwrap();
    let visible = Bitmap::all_below(2);
    assert_eq!(texts.all(&words("loaded"), &visible).unwrap().total, 1);
    assert_eq!(texts.all(&words("put"), &visible).unwrap().total, 1);
}
