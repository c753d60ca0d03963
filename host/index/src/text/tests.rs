//! What is found by which words, in many scripts; what callers must not learn; files that are damaged.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use notehost_sdk::index::Snippet;

use super::*;

pub(super) fn note(doc_id: u32, name: &str, text: &str) -> Document {
    let headings: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("# "))
        .collect();
    let mut key = u64::from(doc_id);
    for byte in name.bytes().chain(text.bytes()) {
        key = key
            .wrapping_mul(0x100_0000_01b3)
            .wrapping_add(u64::from(byte) + 1);
    }
    Document {
        doc_id,
        key,
        name: name.to_owned(),
        headings: headings.join("\n"),
        text: Arc::from(text),
    }
}

pub(super) fn words(text: &str) -> Tree {
    Tree::Words {
        text: text.to_owned(),
        part: None,
    }
}

fn words_in(text: &str, part: Part) -> Tree {
    Tree::Words {
        text: text.to_owned(),
        part: Some(part),
    }
}

fn prefix(text: &str) -> Tree {
    Tree::Prefix {
        text: text.to_owned(),
        part: None,
    }
}

pub(super) fn measured(document: &Document) -> Measure {
    measure(&document.name, &document.headings, &document.text)
}

/// What production code does with measures and deadlines, without either.
impl Texts {
    pub(super) fn put(&self, document: Document) -> Lengths {
        let measure = measured(&document);
        self.put_measured(document, measure)
    }

    pub(super) fn load(&self, documents: Vec<Document>) -> Vec<Lengths> {
        let documents = documents.into_iter();
        self.load_measured(
            documents
                .map(|document| {
                    let measure = measured(&document);
                    (document, measure)
                })
                .collect(),
        )
    }

    pub(super) fn best(
        &self,
        tree: &Tree,
        visible: &Bitmap,
        count: usize,
        order: &dyn Fn(u32, u32) -> Ordering,
    ) -> SearchResult<Hits> {
        self.best_until(tree, visible, count, order, &Deadline::none())
    }

    pub(super) fn all(&self, tree: &Tree, visible: &Bitmap) -> SearchResult<Hits> {
        self.all_until(tree, visible, &Deadline::none())
    }

    pub(super) fn containing(
        &self,
        texts: &[Vec<String>],
        visible: &Bitmap,
    ) -> SearchResult<Bitmap> {
        self.containing_until(texts, visible, &Deadline::none())
    }

    pub(super) fn kept(&self, doc_id: u32) -> Option<Arc<str>> {
        let text = self.text_of(doc_id, &Deadline::none());
        text.expect("there is no deadline")
    }
}

/// An index of these notes, all of them changed since it was written.
struct Library {
    texts: Texts,
    count: u32,
    _folder: tempfile::TempDir,
}

impl Library {
    fn of(notes: &[(&str, &str)]) -> Library {
        let folder = tempfile::tempdir().unwrap();
        let texts = Texts::open(&folder.path().join("texts"));
        for (doc_id, (name, text)) in notes.iter().enumerate() {
            texts.put(note(doc_id as u32, name, text));
        }
        Library {
            texts,
            count: notes.len() as u32,
            _folder: folder,
        }
    }

    fn of_texts(notes: &[&str]) -> Library {
        let notes: Vec<(&str, &str)> = notes.iter().map(|text| ("n", *text)).collect();
        Library::of(&notes)
    }

    fn hits(&self, tree: &Tree) -> Hits {
        let visible = Bitmap::all_below(self.count);
        let by_doc_id = |left: u32, right: u32| left.cmp(&right);
        let best = self.texts.best(tree, &visible, 1000, &by_doc_id).unwrap();
        assert_eq!(best.total, best.hits.len() as u64);
        let mut all = self.texts.all(tree, &visible).unwrap();
        all.hits.sort_by(|left, right| {
            right
                .score
                .total_cmp(&left.score)
                .then(left.doc_id.cmp(&right.doc_id))
        });
        assert_eq!(all, best, "`all` and `best` agree on {tree:?}");
        best
    }

    /// The doc ids, in order.
    fn found(&self, tree: &Tree) -> Vec<u32> {
        let mut doc_ids: Vec<u32> = self.hits(tree).hits.iter().map(|hit| hit.doc_id).collect();
        doc_ids.sort_unstable();
        doc_ids
    }

    /// The doc ids, best first.
    fn ranked(&self, tree: &Tree) -> Vec<u32> {
        self.hits(tree).hits.iter().map(|hit| hit.doc_id).collect()
    }
}

#[test]
fn scripts_without_spaces_are_found_by_any_part() {
    let library = Library::of_texts(&[
        "我喜欢学习编程语言，尤其是Rust语言。",
        "東京タワーに行きました。ひらがなとカタカナ。",
        "한국어 문서를 검색합니다",
        "ภาษาไทยไม่มีช่องว่าง",
        "言语不同",
    ]);
    assert_eq!(library.found(&words("编程语言")), [0]);
    assert_eq!(library.found(&words("语言")), [0]);
    assert_eq!(library.found(&words("语")), [0, 4]);
    assert_eq!(library.found(&words("言语")), [4]);
    assert_eq!(library.found(&words("タワー")), [1]);
    assert_eq!(library.found(&words("東京")), [1]);
    assert_eq!(library.found(&words("京東")), [0_u32; 0]);
    assert_eq!(library.found(&words("검색")), [2]);
    assert_eq!(library.found(&words("색합")), [2]);
    assert_eq!(library.found(&words("ไทย")), [3]);
    assert_eq!(library.found(&prefix("編")), [0_u32; 0]);
    assert_eq!(library.found(&prefix("编")), [0]);
}

#[test]
fn phrases_run_across_scripts() {
    let library = Library::of_texts(&["学习Rust语言", "Rust 的语言", "语言 Rust", "学 rust 语言"]);
    assert_eq!(library.found(&words("Rust语言")), [0, 3]);
    assert_eq!(library.found(&words("语言 rust")), [2]);
    assert_eq!(library.found(&words("学习 rust")), [0]);
}

#[test]
fn diacritics_and_vowel_points_are_optional() {
    let library = Library::of_texts(&[
        "הַשָּׁלוֹם שלום",
        "الكِتَابُ الجديد",
        "Crème brûlée at the CAFÉ",
        "Straße nach Łódź",
        "cafe\u{301} noir",
    ]);
    assert_eq!(library.found(&words("שלום")), [0]);
    assert_eq!(library.found(&words("שָׁלוֹם")), [0]);
    assert_eq!(library.found(&words("الكتاب")), [1]);
    assert_eq!(library.found(&words("creme brulee")), [2]);
    assert_eq!(library.found(&words("café")), [2, 4]);
    assert_eq!(library.found(&words("strasse")), [3]);
    assert_eq!(library.found(&words("LODZ")), [3]);
}

#[test]
fn identifiers_and_emoji_are_words() {
    let library = Library::of_texts(&[
        "call parse_noteName() now",
        "the note has a name",
        "release 🎉 done ✔️",
        "HTTPServer",
    ]);
    assert_eq!(library.found(&words("parse_notename")), [0]);
    assert_eq!(library.found(&words("note")), [0, 1]);
    assert_eq!(library.found(&words("note name")), [0]);
    assert_eq!(library.found(&words("🎉")), [2]);
    assert_eq!(library.found(&words("🎉 done")), [2]);
    assert_eq!(library.found(&words("server")), [3]);
    assert_eq!(library.found(&words("->")), [0_u32; 0]);
    assert_eq!(library.found(&words("")), [0_u32; 0]);
}

#[test]
fn conditions_combine() {
    let library = Library::of_texts(&["red apple", "green apple", "red pear", "nothing"]);
    let all = |trees: Vec<Tree>| Tree::All(trees);
    let not = |tree: Tree| Tree::Not(Box::new(tree));
    assert_eq!(library.found(&all(vec![words("red"), words("apple")])), [0]);
    assert_eq!(
        library.found(&Tree::Any(vec![words("red"), words("green")])),
        [0, 1, 2]
    );
    assert_eq!(library.found(&not(words("red"))), [1, 3]);
    assert_eq!(
        library.found(&all(vec![words("apple"), not(words("red"))])),
        [1]
    );
    assert_eq!(
        library.found(&all(vec![not(words("apple")), not(words("pear"))])),
        [3]
    );
    assert_eq!(library.found(&not(not(words("red")))), [0, 2]);
    assert_eq!(library.found(&all(vec![])), [0, 1, 2, 3]);
    assert_eq!(library.found(&Tree::Any(vec![])), [0_u32; 0]);
    let doc_ids = Tree::Bitmap(Arc::new([1, 2, 9].into_iter().collect()));
    assert_eq!(library.found(&doc_ids), [1, 2]);
    assert_eq!(
        library.found(&all(vec![words("apple"), doc_ids.clone()])),
        [1]
    );
    assert_eq!(
        library.found(&all(vec![words("apple"), not(doc_ids.clone())])),
        [0]
    );
    assert_eq!(
        library.found(&Tree::Any(vec![words("nothing"), doc_ids])),
        [1, 2, 3]
    );
    let nested = all(vec![
        Tree::Any(vec![words("red"), words("green")]),
        all(vec![
            words("apple"),
            not(all(vec![words("green"), words("apple")])),
        ]),
    ]);
    assert_eq!(library.found(&nested), [0]);
}

#[test]
fn words_match_only_in_the_given_part() {
    let library = Library::of(&[
        ("Apple\nFruit of trees", "about it"),
        ("Other", "# Apple pie\nwith sugar"),
        ("Third", "an apple"),
    ]);
    assert_eq!(library.ranked(&words("apple")), [0, 1, 2]);
    assert_eq!(library.found(&words_in("apple", Part::Name)), [0]);
    assert_eq!(library.found(&words_in("apple", Part::Headings)), [1]);
    assert_eq!(library.found(&words_in("apple", Part::Text)), [1, 2]);
    assert_eq!(library.found(&words_in("fruit of trees", Part::Name)), [0]);
    // No phrase runs from one name into the next.
    assert_eq!(
        library.found(&words_in("apple fruit", Part::Name)),
        [0_u32; 0]
    );
}

#[test]
fn a_prefix_is_the_beginning_of_the_last_word() {
    let library = Library::of_texts(&[
        "deploy the server",
        "deployment of it",
        "the serving dish",
        "redeploy",
    ]);
    assert_eq!(library.found(&prefix("deploy")), [0, 1]);
    assert_eq!(library.found(&prefix("deploym")), [1]);
    assert_eq!(library.found(&prefix("the serv")), [0, 2]);
    assert_eq!(library.found(&prefix("deploy the s")), [0]);
    assert_eq!(library.found(&prefix("of the serv")), [0_u32; 0]);
    assert_eq!(library.found(&prefix("")), [0_u32; 0]);
}

#[test]
fn unknown_words_match_within_words() {
    let library = Library::of_texts(&["redeployment", "undeployed", "ploy"]);
    let hits = library.hits(&words("deploy"));
    assert_eq!((hits.total, hits.widened), (2, vec!["deploy".to_owned()]));
    assert_eq!(library.hits(&words("ploy")).widened, Vec::<String>::new());
    assert_eq!(library.hits(&words("zzz")), Hits::default());
    assert_eq!(library.hits(&words("x")).total, 0);
}

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
    // Slots are others now, one note is not known any more, another is new.
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

fn snippets(text: &str, tree: &Tree, most: usize) -> Vec<Snippet> {
    let snippets = QueryWords::of(tree).snippets(text, most, &Deadline::none());
    snippets.expect("there is no deadline")
}

#[test]
fn snippets_are_the_best_matching_lines() {
    let text = "---\ntitle: bread\n---\n# Bread\n\nFlour and water.\nBread needs flour.\n\nRust\n";
    let lines = |tree: &Tree, most| -> Vec<(u32, String)> {
        snippets(text, tree, most)
            .into_iter()
            .map(|snippet| (snippet.line, snippet.text))
            .collect()
    };
    let both = Tree::All(vec![words("bread"), words("flour")]);
    assert_eq!(lines(&both, 1), [(7, "Bread needs flour.".to_owned())]);
    assert_eq!(
        lines(&both, 2),
        [
            (4, "# Bread".to_owned()),
            (7, "Bread needs flour.".to_owned())
        ]
    );
    assert_eq!(lines(&both, 9).len(), 4);
    assert_eq!(lines(&words("title"), 3), [(2, "title: bread".to_owned())]);
    assert_eq!(lines(&words("nowhere"), 3), []);
    assert_eq!(lines(&Tree::Not(Box::new(words("rust"))), 3), []);
    let accents = snippets("Le Café\n", &words("cafe"), 1);
    assert_eq!(accents[0].text, "Le Café");
    let chinese = format!("{}学习编程语言{}\n", "字".repeat(300), "文".repeat(300));
    let found = snippets(&chinese, &words("编程语言"), 2);
    assert_eq!(found.len(), 1);
    assert!(found[0].text.contains("编程语言") && found[0].text.chars().count() <= 162);
    let end = format!("{} needle", "hay ".repeat(200));
    let found = snippets(&end, &words("needle"), 1);
    assert!(found[0].text.ends_with("needle") && found[0].text.starts_with('…'));
}
