//! The answers of an index do not depend on its history, and notes that contain a text are never missing.

use notehost_sdk::words as sdk_words;
use proptest::prelude::*;

use super::*;

#[derive(Debug, Clone)]
enum Step {
    Put(u32, String),
    Load(Vec<(u32, String)>),
    Remove(u32),
    Flush,
    Search,
    Reopen,
}

const DOC_IDS: u32 = 24;

fn some_text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        4 => prop::sample::select(vec!["apple", "pear", "Quince", "the", "of", "note_name", "deploy", "deployment"]).prop_map(str::to_owned),
        1 => prop::sample::select(vec!["语言", "学习语言", "カフェ", "🎉", "café", "# apple pie\n"]).prop_map(str::to_owned),
        1 => "[a-e]{1,4}",
    ];
    prop::collection::vec(word, 0..30).prop_map(|words| words.join(" "))
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..DOC_IDS, some_text()).prop_map(|(doc_id, text)| Step::Put(doc_id, text)),
        1 => prop::collection::vec((0..DOC_IDS, some_text()), 1..8).prop_map(Step::Load),
        2 => (0..DOC_IDS).prop_map(Step::Remove),
        2 => Just(Step::Flush),
        2 => Just(Step::Search),
        1 => Just(Step::Reopen),
    ]
}

fn questions() -> Vec<Tree> {
    let prefix = |text: &str| Tree::Prefix {
        text: text.to_owned(),
        part: None,
    };
    vec![
        words("apple"),
        words("the"),
        words("deploy"),
        words("ploy"),
        words("apple pie"),
        words("the of"),
        words("语言"),
        words("学习语言"),
        words("cafe"),
        prefix("de"),
        prefix("the ap"),
        Tree::Any(vec![words("apple"), words("pear"), words("quince")]),
        Tree::All(vec![words("the"), Tree::Not(Box::new(words("apple")))]),
        Tree::All(vec![words("the"), words("of"), words("pear")]),
        Tree::Like("apple pear quince deploy 语言 the of".to_owned()),
        Tree::All(vec![]),
    ]
}

fn answers(texts: &Texts, visible: &Bitmap) -> Vec<Hits> {
    let order = |left: u32, right: u32| left.cmp(&right);
    questions()
        .iter()
        .flat_map(|tree| [3, 100].map(|count| texts.best(tree, visible, count, &order).unwrap()))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn answers_do_not_depend_on_index_history(steps in prop::collection::vec(step(), 1..40), hidden in prop::collection::vec(0..DOC_IDS, 0..6)) {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("edited");
        let mut texts = Texts::open(&place);
        let mut notes: Vec<Option<(Document, Lengths)>> = vec![None; DOC_IDS as usize];
        for step in steps {
            match step {
                Step::Put(doc_id, text) => {
                    let document = note(doc_id, "Apple note", &text);
                    let lengths = texts.put(document.clone());
                    notes[doc_id as usize] = Some((document, lengths));
                }
                Step::Load(loaded) => {
                    let documents: Vec<Document> = loaded.iter().map(|(doc_id, text)| note(*doc_id, "Loaded", text)).collect();
                    let lengths = texts.load(documents.clone());
                    for (document, lengths) in documents.into_iter().zip(lengths) {
                        let doc_id = document.doc_id as usize;
                        notes[doc_id] = Some((document, lengths));
                    }
                }
                Step::Remove(doc_id) => {
                    texts.remove(doc_id);
                    notes[doc_id as usize] = None;
                }
                Step::Flush => texts.flush().unwrap(),
                Step::Search => {
                    answers(&texts, &Bitmap::all_below(DOC_IDS));
                }
                Step::Reopen => {
                    drop(texts);
                    texts = Texts::open(&place);
                    let known: Vec<Placed> = notes
                        .iter()
                        .flatten()
                        .map(|(document, lengths)| Placed { doc_id: document.doc_id, key: document.key, lengths: *lengths })
                        .collect();
                    let missing = texts.bind(&known);
                    for (document, _) in notes.iter().flatten() {
                        if missing.contains(&document.key) {
                            texts.put(document.clone());
                        }
                    }
                }
            }
        }
        // What is loaded is found after a flush only.
        texts.flush().unwrap();

        let fresh = Texts::open(&folder.path().join("at once"));
        let documents: Vec<Document> = notes.iter().flatten().map(|(document, _)| document.clone()).collect();
        fresh.load(documents.clone());
        fresh.flush().unwrap();
        let mut visible = Bitmap::all_below(DOC_IDS);
        prop_assert_eq!(answers(&texts, &visible), answers(&fresh, &visible));
        for doc_id in &hidden {
            visible.remove(*doc_id);
        }
        let expected = answers(&fresh, &visible);
        prop_assert_eq!(&answers(&texts, &visible), &expected);

        // Without the hidden ones it is the same.
        for doc_id in &hidden {
            fresh.remove(*doc_id);
        }
        prop_assert_eq!(&answers(&fresh, &visible), &expected);
        prop_assert_eq!(&answers(&fresh, &Bitmap::all_below(DOC_IDS)), &expected);
        for (document, lengths) in notes.iter().flatten() {
            prop_assert_eq!(texts.kept(document.doc_id), Some(document.text.clone()));
            prop_assert_eq!(measured(document).lengths, *lengths);
        }
    }
}

/// Letters that are hard: marks, compositions, joiners, signs that fold to letters, cases that change the length.
fn hard_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => "[a-eA-E]{1,6}",
        3 => prop::sample::select(vec![
            " ", "_", "__", "-", "\n", ".", "ß", "ẞ", "ſ", "İ", "ı", "é", "e\u{301}", "\u{301}", "ﬁ", "㎏", "™", "½", "²", "①",
            "か", "が", "か\u{3099}", "ｶﾞ", "学", "习", "语", "한", "\u{1112}\u{1161}\u{11ab}", "ก", "ำ", "ข", "\u{640}", "ك",
            "تَ", "שׁ", "\u{ad}", "\u{200d}", "\u{200c}", "\u{200b}", "\u{fe0f}", "🎉", "✔️", "🄰", "ι", "\u{345}", "ᾳ", "Σ", "ς", "σ",
            "ﷺ", "\u{e0100}", "￩", "←", "क", "्", "ष", "\u{1aff}", "゛", "豈", "Ω", "µ", "Ǆ",
        ]).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
        1 => "[a-c]{100,140}",
    ];
    prop::collection::vec(piece, 1..14).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn containing_has_no_false_negatives(text in hard_text(), other in hard_text(), cut in any::<(prop::sample::Index, prop::sample::Index)>(), form in 0..5) {
        let folder = tempfile::tempdir().unwrap();
        let texts = Texts::open(&folder.path().join("no").join("where"));
        texts.put(note(0, "n", &text));
        texts.put(note(1, "n", &other));
        let letters: Vec<char> = text.chars().collect();
        let (start, end) = (cut.0.index(letters.len()), cut.1.index(letters.len()));
        let piece: String = letters[start.min(end)..=start.max(end)].iter().collect();
        let needle = match form {
            0 => piece.clone(),
            1 => piece.to_uppercase(),
            2 => piece.to_lowercase(),
            _ => sdk_words::fold(&piece),
        };
        // Upper and lower case of a text are not always what folding takes for the same.
        prop_assume!(sdk_words::fold(&text).contains(&sdk_words::fold(&needle)) || text.contains(&needle));
        let visible = Bitmap::all_below(2);
        let found = texts.containing(&[vec![needle.clone()]], &visible).unwrap();
        prop_assert!(found.contains(0), "{:?} in {:?}", needle, text);
        let either = texts.containing(&[vec!["zzzz".to_owned(), needle.clone()], vec![needle]], &visible).unwrap();
        prop_assert!(either.contains(0));
    }
}

#[test]
fn containing_filters_most_other_notes() {
    let folder = tempfile::tempdir().unwrap();
    let texts = Texts::open(folder.path());
    for (doc_id, text) in [
        "deployment of it",
        "the server",
        "学习语言",
        "数据",
        "✔️ ok — “fine”…",
    ]
    .iter()
    .enumerate()
    {
        texts.put(note(doc_id as u32, "n", text));
    }
    let visible = Bitmap::all_below(5);
    let found = |lists: &[&[&str]]| -> Vec<u32> {
        let lists: Vec<Vec<String>> = lists
            .iter()
            .map(|list| list.iter().map(|text| (*text).to_owned()).collect())
            .collect();
        texts.containing(&lists, &visible).unwrap().iter().collect()
    };
    assert_eq!(found(&[&["ploym"]]), [0]);
    assert_eq!(found(&[&["_Deploy"]]), [0]);
    assert_eq!(found(&[&["语言"]]), [2]);
    assert_eq!(found(&[&["据"]]), [3]);
    assert_eq!(found(&[&["ploym", "serv"]]), [0, 1]);
    assert_eq!(found(&[&["ploym"], &["serv"]]), [0_u32; 0]);
    assert_eq!(found(&[&["ok"]]), [0, 1, 2, 3, 4]);
    assert_eq!(found(&[&["→", "server"]]).len(), 5);
    assert_eq!(found(&[]), [0, 1, 2, 3, 4]);
    assert_eq!(found(&[&[]]), [0_u32; 0]);
}

#[test]
fn searches_run_during_writes() {
    let folder = tempfile::tempdir().unwrap();
    let texts = Arc::new(Texts::open(folder.path()));
    texts.load(
        (0..200)
            .map(|doc_id| note(doc_id, "n", "common start"))
            .collect(),
    );
    texts.flush().unwrap();
    let visible = Bitmap::all_below(200);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..20 {
                texts.flush().unwrap();
            }
        });
        scope.spawn(|| {
            for round in 0..400_u32 {
                texts.put(note(round % 200, "n", &format!("common round{round}")));
            }
        });
        for _ in 0..200 {
            assert_eq!(texts.all(&words("common"), &visible).unwrap().total, 200);
        }
    });
    texts.flush().unwrap();
    for doc_id in 0..200_u32 {
        assert_eq!(
            &*texts.kept(doc_id).unwrap(),
            format!("common round{}", doc_id + 200)
        );
    }
}
