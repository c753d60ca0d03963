//! What is found by which words, in many scripts.

use super::*;

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
