//! Size limits of replies: long lists and notes are cut, with a cursor to continue.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::place::{Place, call};

#[tokio::test(flavor = "multi_thread")]
async fn long_list_is_cut_between_items_and_can_be_continued() {
    let place = Place::new();
    for number in 0..300 {
        place.write(&format!("Work/Note number {number}.md"), "x\n");
    }
    let mut settings = place.settings();
    settings.limits.reply_tokens = 1000;
    let host = place.host(settings).await;
    let mut seen = BTreeSet::new();
    let mut arguments = json!({"recursive": true, "limit": 500});
    let mut pages = 0;
    loop {
        let page = call(&host, "document.list", arguments.clone())
            .await
            .expect("a page");
        let size = Value::from(page.structured.clone()).to_string().len();
        assert!(size <= 4000, "{size}");
        for item in page.structured["items"].as_array().expect("items") {
            let path = item["path"].as_str().expect("a path").to_owned();
            assert!(seen.insert(path), "listed twice: {item}");
        }
        pages += 1;
        let Some(next) = page.structured.get("next_cursor") else {
            break;
        };
        assert!(
            page.text.contains("continue with `cursor`"),
            "{}",
            page.text
        );
        arguments["cursor"] = next.clone();
    }
    assert_eq!(seen.len(), 300);
    assert!(pages > 3, "{pages}");
}

#[tokio::test(flavor = "multi_thread")]
async fn long_note_is_cut_between_lines_and_can_be_continued() {
    let place = Place::new();
    let text: String = (0..2000)
        .map(|line| format!("line {line} with \"quotes\" and ünicode\n"))
        .collect();
    place.write("Long.md", &text);
    let mut settings = place.settings();
    settings.limits.reply_tokens = 2000;
    let host = place.host(settings).await;
    let mut read = String::new();
    let mut arguments = json!({"path": "Long", "max_tokens": 1_000_000});
    loop {
        let part = call(&host, "document.read", arguments.clone())
            .await
            .expect("a part");
        let content = part.structured["content"].as_str().expect("content");
        assert!(part.text.contains(content), "the text shows the same lines");
        read.push_str(content);
        let Some(next) = part.structured.get("next_offset") else {
            break;
        };
        arguments["offset"] = next.clone();
    }
    assert_eq!(read, text);
}

#[tokio::test(flavor = "multi_thread")]
async fn committed_change_is_never_reported_as_a_failure() {
    let place = Place::new();
    place.write("Plan.md", "# Plan\n");
    for number in 0..60 {
        place.write(&format!("Work/Note number {number}.md"), "see [[Plan]]\n");
    }
    let mut settings = place.settings();
    (settings.limits.reply_bytes, settings.limits.reply_tokens) = (3000, 750);
    let host = place.host(settings).await;
    let renamed = call(
        &host,
        "document.rename",
        json!({"path": "Plan", "to": "Plot"}),
    )
    .await;
    let renamed = renamed.expect("it happened").structured;
    assert!(place.read("Plot.md").is_some());
    assert!(renamed["change"].is_string());
    assert_eq!(renamed["changes_total"], 61);
    let report = renamed["changes"].as_array().expect("changes").len();
    assert!((1..61).contains(&report), "{report}");
}
