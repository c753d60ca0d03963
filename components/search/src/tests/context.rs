//! Tests of `context`.

use super::*;

fn long() -> MemoryVault {
    let filler = "Other words that fill a paragraph of this note. ".repeat(30);
    Vault::in_memory()
        .with("Deploy.md", &format!("# Deploy\n\n{filler}\n\n## Server\nDeploy the server with care. See [[Keys]] and [[Rules#x]].\nThen rest.\n\n{filler}\n"))
        .with("Server.md", &format!("The server is old. Nobody may deploy it.\n\n{filler}\n\nserver again, deploy again\n"))
        .with("Keys.md", "---\na: 1\n---\n# Keys\n\nKeys lie in the drawer.\n")
        .with("Rules.md", "Rules are rules.\n")
        .with("Unlinked.md", "nothing of this\n")
}

#[test]
fn the_best_passages_have_path_lines_and_section() {
    let reply = ok(&long(), "context", json!({ "query": "deploy server" }));
    let items = reply["items"].as_array().unwrap();
    let deploy: Vec<&Value> = items
        .iter()
        .filter(|item| item["path"] == "Deploy.md")
        .collect();
    let passage = deploy
        .iter()
        .find(|item| item["section"] == "Deploy > Server")
        .unwrap();
    assert!(
        passage["text"]
            .as_str()
            .unwrap()
            .contains("Deploy the server with care.")
    );
    assert!(!passage["text"].as_str().unwrap().contains("Other words"));
    assert_eq!(
        (passage["line"].as_u64(), passage["to_line"].as_u64()),
        (Some(5), Some(7))
    );
    let linked: Vec<&Value> = items
        .iter()
        .filter(|item| item["linked_from"] == "Deploy.md")
        .collect();
    assert_eq!(linked[0]["text"], "# Keys\n\nKeys lie in the drawer.");
    assert_eq!(linked[1]["path"], "Rules.md");
    assert!(!paths(&reply).contains(&"Unlinked.md"));
    assert!(reply["tokens"].as_u64().unwrap() <= 2000);
    assert_eq!(reply["total"], 2);
    assert!(reply.get("left_out").is_none());
}

#[test]
fn the_budget_is_respected_and_omitted_notes_are_listed() {
    let mut vault = long();
    for number in 0..30 {
        vault = vault.with(
            &format!("More/{number}.md"),
            &format!("deploy server number {number}\nand a second line\n"),
        );
    }
    for budget in [100, 150, 300, 1000] {
        let reply = ok(
            &vault,
            "context",
            json!({ "query": "deploy server", "budget_tokens": budget }),
        );
        let items = reply["items"].as_array().unwrap();
        let tokens: usize = items
            .iter()
            .map(|item| notehost_sdk::text::approx_tokens(item["text"].as_str().unwrap()))
            .sum();
        assert!(
            !items.is_empty() && tokens <= budget,
            "{tokens} of {budget}"
        );
        for item in items {
            let note = vault.text(item["path"].as_str().unwrap()).unwrap();
            let whole: Vec<&str> = note.lines().collect();
            let (from, to) = (
                item["line"].as_u64().unwrap() as usize,
                item["to_line"].as_u64().unwrap() as usize,
            );
            assert_eq!(item["text"], whole[from - 1..to].join("\n"));
        }
        assert_eq!(reply["total"], 32);
        if budget == 100 {
            let left = reply["left_out"].as_array().unwrap();
            assert!(
                left.iter().any(|left| left["reason"] == "over the budget"),
                "{left:?}"
            );
        }
    }
}

#[test]
fn a_question_without_full_matches_falls_back_to_partial_ones() {
    let reply = ok(
        &long(),
        "context",
        json!({ "query": "where do keys of elephants lie" }),
    );
    assert_eq!(reply["loosened"], true);
    assert_eq!(reply["items"][0]["path"], "Keys.md");
    let reply = ok(
        &long(),
        "context",
        json!({ "query": "keys -drawer elephants" }),
    );
    assert_eq!(
        (
            reply["total"].as_u64(),
            reply["items"].as_array().unwrap().len()
        ),
        (Some(0), 0)
    );
}

#[test]
fn invalid_budgets_and_queries_are_rejected() {
    for arguments in [
        json!({ "query": "" }),
        json!({ "query": "a", "budget_tokens": 10 }),
        json!({ "query": "a", "budget_tokens": 1_000_000 }),
        json!({ "query": "\"a" }),
    ] {
        assert_eq!(
            refused(&long(), "context", arguments).code(),
            "validation_error"
        );
    }
    let error = refused(
        &long(),
        "context",
        json!({ "query": "a", "path": "Nowhere" }),
    );
    assert_eq!(error.code(), "not_found");
}

#[test]
fn a_note_matched_by_name_or_tag_contributes_its_beginning() {
    let vault = Vault::in_memory()
        .with("Plan.md", "---\ntags: [work]\n---\nFirst words.\n")
        .with("Void.md", "---\ntags: [work]\n---\n");
    let reply = ok(&vault, "context", json!({ "query": "tag:work" }));
    assert_eq!(reply["items"][0]["text"], "First words.");
    assert_eq!(
        reply["left_out"],
        json!([{ "path": "Void.md", "reason": "the note has no text" }])
    );
    assert_eq!(
        ok(
            &vault,
            "context",
            json!({ "query": "plan", "tags": ["work"] })
        )["total"],
        1
    );
}
