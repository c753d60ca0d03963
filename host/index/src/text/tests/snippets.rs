//! The lines that an answer shows.

use notehost_sdk::index::Snippet;

use super::*;

fn snippets(text: &str, tree: &Tree, most: usize) -> Vec<Snippet> {
    let snippets = QueryWords::of(tree).snippets(text, most, &Deadline::none());
    snippets.expect("no deadline is set")
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
