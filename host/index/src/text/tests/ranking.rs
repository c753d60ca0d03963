//! Which notes are the best, and that hidden notes do not affect it.

use super::*;

#[test]
fn similar_notes_share_rare_words() {
    let mut notes: Vec<String> = (0..40)
        .map(|at| format!("the common words of note{at}"))
        .collect();
    notes.push("sourdough bread and flour the common".into());
    notes.push("bread with sourdough starter the common".into());
    let notes: Vec<&str> = notes.iter().map(String::as_str).collect();
    let library = Library::of_texts(&notes);
    let like = Tree::Like("the common sourdough bread recipe".into());
    assert_eq!(library.found(&like), [40, 41]);
    assert_eq!(library.found(&Tree::Like("--- !!".into())), [0_u32; 0]);
}

#[test]
fn hidden_notes_change_nothing() {
    let visible_notes = [
        "apple pie and apple tart",
        "apple",
        "pear tree",
        "a deployment",
    ];
    let hidden_notes = [
        "apple apple apple long hidden text",
        "deploy the apple",
        "quince pear",
    ];
    let alone = Library::of_texts(&visible_notes);
    let both: Vec<&str> = visible_notes.iter().chain(&hidden_notes).copied().collect();
    let mixed = Library::of_texts(&both);
    let visible = Bitmap::all_below(4);
    let order = |left: u32, right: u32| left.cmp(&right);
    for is_flushed in [false, true] {
        if is_flushed {
            mixed.texts.flush().unwrap();
        }
        for tree in [
            words("apple"),
            words("deploy"),
            words("apple pie"),
            prefix("ap"),
            words("quince"),
            Tree::Like("apple pie pear quince deploy".into()),
            Tree::Any(vec![words("apple"), words("pear")]),
            Tree::Not(Box::new(words("apple"))),
        ] {
            let expected = alone.texts.best(&tree, &visible, 10, &order).unwrap();
            let found = mixed.texts.best(&tree, &visible, 10, &order).unwrap();
            assert_eq!(expected, found, "{tree:?}");
        }
    }
}

#[test]
fn best_hits_are_ranked_with_stable_ties() {
    let folder = tempfile::tempdir().unwrap();
    let texts = Texts::open(folder.path());
    // Long enough for several blocks of the index, with lengths that vary.
    let count = 2000_u32;
    let notes = (0..count).map(|doc_id| {
        let often = "word ".repeat(1 + (doc_id as usize * 7) % 5);
        let filler = "filler ".repeat((doc_id as usize * 13) % 50);
        note(
            doc_id,
            if doc_id % 97 == 0 { "word" } else { "n" },
            &format!("{often}{filler}"),
        )
    });
    texts.load(notes.collect());
    texts.flush().unwrap();
    let visible: Bitmap = (0..count)
        .filter(|doc_id| doc_id % 3 != 0 || doc_id % 5 == 0)
        .collect();
    let backwards = |left: u32, right: u32| right.cmp(&left);
    for visible in [Bitmap::all_below(count), visible] {
        let mut all = texts.all(&words("word"), &visible).unwrap().hits;
        all.sort_by(|left, right| {
            right
                .score
                .total_cmp(&left.score)
                .then(right.doc_id.cmp(&left.doc_id))
        });
        for few in [0, 1, 3, 10, 100, 5000] {
            let best = texts
                .best(&words("word"), &visible, few, &backwards)
                .unwrap();
            assert_eq!(best.total, all.len() as u64);
            assert_eq!(best.hits, all[..few.min(all.len())]);
        }
    }
}
