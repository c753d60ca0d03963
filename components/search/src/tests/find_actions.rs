//! `text`, `query`, `similar`, `recent`, `assets`.

use super::*;

#[test]
fn text_search_returns_line_snippet_and_score() {
    let vault = vault();
    let reply = ok(&vault, "text", json!({ "query": "\"brown fox\"" }));
    assert_eq!(reply["total"], 1);
    let hit = &reply["items"][0];
    assert_eq!(hit["path"], "Work/Plan.md");
    assert_eq!(hit["line"], 9);
    assert_eq!(hit["snippet"], "A quick brown fox. See [[Budget]].");
    assert!(hit["score"].as_f64().unwrap() > 0.0);
    assert!(reply.get("index").is_none() && reply.get("widened").is_none());
    assert_eq!(
        paths(&ok(&vault, "text", json!({ "query": "文笔" }))),
        ["People/Ana.md"]
    );
    assert_eq!(
        paths(&ok(
            &vault,
            "text",
            json!({ "query": "fox -secret path:Work" })
        ))
        .len(),
        2
    );
}

#[test]
fn a_hit_by_name_shows_the_first_line_of_the_body() {
    let reply = ok(&vault(), "text", json!({ "query": "title:plan" }));
    assert_eq!(reply["items"][0]["line"], 7);
    assert_eq!(reply["items"][0]["snippet"], "# The plan");
}

#[test]
fn every_argument_restricts_the_search() {
    let vault = vault();
    let found = |arguments: Value| {
        let reply = ok(&vault, "text", arguments);
        paths(&reply)
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(found(json!({ "query": "fox", "path": "work/" })).len(), 2);
    assert_eq!(
        found(json!({ "query": "fox", "path": "Plan" })),
        ["Work/Plan.md"]
    );
    assert_eq!(
        found(json!({ "query": "fox", "path": "**/B*.md" })),
        ["Work/Budget.md"]
    );
    assert_eq!(
        found(json!({ "query": "fox", "tags": ["#work"] })),
        ["Work/Plan.md"]
    );
    assert_eq!(
        found(json!({ "query": "fox", "properties": { "status": "Done" } })),
        ["Work/Budget.md"]
    );
    assert_eq!(
        found(json!({ "query": "fox", "properties": { "rating": { ">": 3 } } })),
        ["Work/Plan.md"]
    );
    assert_eq!(
        found(json!({ "query": "fox", "types": ["open_task", "note"] })),
        ["Work/Plan.md"]
    );
    assert_eq!(
        found(json!({ "query": "fox", "sort": "-path" })),
        [
            "Work/Plan.md",
            "Work/Budget.md",
            "Old.md",
            "Diary/Secret.md"
        ]
    );
    assert_eq!(
        found(json!({ "query": "fox", "sort": "rating", "path": "Work" })),
        ["Work/Budget.md", "Work/Plan.md"]
    );
}

#[test]
fn pagination_details_and_invalid_arguments() {
    let vault = vault();
    let first = ok(
        &vault,
        "text",
        json!({ "query": "fox -path:Old", "limit": 2, "sort": "path", "format": "detailed" }),
    );
    assert_eq!(paths(&first), ["Diary/Secret.md", "Work/Budget.md"]);
    assert_eq!(first["items"][1]["properties"]["status"], "done");
    assert_eq!(first["items"][0]["tags"], json!(["hidden"]));
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = ok(
        &vault,
        "text",
        json!({ "query": "fox -path:Old", "limit": 2, "sort": "path", "cursor": cursor }),
    );
    assert_eq!(paths(&second), ["Work/Plan.md"]);
    assert!(second.get("next_cursor").is_none());
    for arguments in [
        json!({ "query": "fox", "limit": 0 }),
        json!({ "query": "fox", "cursor": "x" }),
        json!({ "query": "fox", "sort": "a,,b" }),
        json!({ "query": "fox", "tags": [""] }),
        json!({ "query": "fox", "path": "Work/fox.png" }),
        json!({ "query": "fox", "path": "Work/[" }),
        json!({ "query": "fox", "properties": { "a": { "near": 1 } } }),
        json!({ "query": "fox", "types": ["money"] }),
    ] {
        assert_eq!(
            refused(&vault, "text", arguments.clone()).code(),
            "validation_error",
            "{arguments}"
        );
    }
    let error = refused(&vault, "text", json!({ "query": "fox", "path": "Nowhere" }));
    assert_eq!(error.code(), "not_found");
}

#[test]
fn words_matched_only_within_words_are_reported_as_widened() {
    let query = json!({ "query": "oxe" });
    let reply = ok(&vault(), "text", query.clone());
    assert_eq!(paths(&reply), ["People/Ana.md"]);
    assert_eq!(reply["widened"], json!(["oxe"]));
    assert!(text_of(&vault(), "text", query).contains("no note has `oxe` as a whole word"));
}

#[test]
fn hidden_notebooks_are_never_in_results() {
    let vault = vault().allow("Diary", Tier::None);
    for (action, arguments) in [
        ("text", json!({ "query": "fox" })),
        ("text", json!({ "query": "#hidden" })),
        ("regex", json!({ "pattern": "fox" })),
        ("query", json!({ "filter": {} })),
        ("similar", json!({ "text": "the secret fox" })),
        ("recent", json!({})),
        ("assets", json!({})),
        ("context", json!({ "query": "secret fox" })),
    ] {
        let reply = ok(&vault, action, arguments.clone()).to_string();
        let text = text_of(&vault, action, arguments);
        assert!(
            !reply.contains("Diary") && !text.contains("Diary"),
            "{action}: {text}"
        );
    }
    for (action, arguments) in [
        ("text", json!({ "query": "fox", "path": "Diary" })),
        ("recent", json!({ "path": "Diary" })),
        (
            "query",
            json!({ "filter": { "linked_from": "Diary/Secret" } }),
        ),
        ("similar", json!({ "path": "Diary/Secret" })),
    ] {
        assert_eq!(
            refused(&vault, action, arguments).code(),
            "not_found",
            "{action}"
        );
    }
}

#[test]
fn a_filter_finds_rows_with_columns() {
    let vault = vault();
    let rows = |filter: Value| {
        let reply = ok(&vault, "query", json!({ "filter": filter }));
        paths(&reply)
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let plan = ["Work/Plan.md"];
    let budget = ["Work/Budget.md"];
    assert_eq!(rows(json!({})).len(), 5);
    assert_eq!(rows(json!({ "status": "open" })), plan);
    assert_eq!(rows(json!({ "status": ["open", "done"] })).len(), 2);
    assert_eq!(rows(json!({ "status": null })).len(), 3);
    assert_eq!(
        rows(json!({ "status": { "!=": "open" }, "rating": { "exists": true } })),
        budget
    );
    assert_eq!(rows(json!({ "rating": { ">=": 2, "lt": 4 } })), budget);
    assert_eq!(rows(json!({ "due": { "before": "today" } })), plan);
    assert_eq!(rows(json!({ "due": { "starts_with": "2024-03" } })), plan);
    assert_eq!(rows(json!({ "owner": "Ana" })), plan);
    assert_eq!(rows(json!({ "status": { "contains": "ON" } })), budget);
    assert_eq!(rows(json!({ "status": { "in": ["done"] } })), budget);
    assert_eq!(rows(json!({ "tag": "work" })), plan);
    assert_eq!(
        rows(json!({ "tags": { "not": "work" }, "path": "Work" })),
        budget
    );
    assert_eq!(
        rows(json!({ "or": [{ "tag": "hidden" }, { "has": "open_tasks" }] })).len(),
        2
    );
    assert_eq!(
        rows(
            json!({ "not": [{ "or": [{ "path": "Work/**" }, { "path": "Old.md" }] }], "text": "fox" })
        ),
        ["Diary/Secret.md"]
    );
    assert_eq!(rows(json!({ "links_to": "Budget" })), plan);
    assert_eq!(rows(json!({ "linked_from": "Work/Plan" })).len(), 2);
    assert_eq!(rows(json!({ "file.name": "B*" })), budget);
    assert_eq!(rows(json!({ "file.name": "budget.md" })), budget);
    assert_eq!(rows(json!({ "file.size": { "<": 6 } })), ["Old.md"]);
    assert_eq!(rows(json!({ "file.modified": "2026-01-01" })).len(), 5);
    assert_eq!(
        rows(json!({ "file.modified": { ">": "2026-01-01" } })).len(),
        0
    );
    assert_eq!(
        rows(json!({ "file.modified": { ">=": "2026-01-01T00:00:00Z" } })).len(),
        5
    );
    assert_eq!(rows(json!({ "note.status": "done" })), budget);
    let reply = ok(
        &vault,
        "query",
        json!({ "filter": { "path": "Work" }, "sort": "-rating", "limit": 1,
            "columns": ["rating", "file.name", "file.tags", "file.links", "file.backlinks", "nothing", "file.modified"] }),
    );
    assert_eq!(
        reply["items"],
        json!([{ "path": "Work/Plan.md", "values": {
            "rating": 4, "file.name": "Plan", "file.tags": ["work/urgent"],
            "file.links": ["People/Ana.md", "Work/Budget.md"], "file.backlinks": 0, "nothing": null,
            "file.modified": "2026-01-01T00:00:00Z" } }])
    );
    assert_eq!(
        (reply["total"].as_u64(), reply["next_cursor"].is_string()),
        (Some(2), true)
    );
    let reply = ok(&vault, "query", json!({ "filter": { "status": "done" } }));
    assert_eq!(
        reply["items"][0]["values"],
        json!({ "status": "done", "rating": 2 })
    );
}

#[test]
fn invalid_filters_are_rejected() {
    let vault = vault();
    let mut deep = json!({});
    for _ in 0..30 {
        deep = json!({ "not": deep });
    }
    for (filter, wrong) in [
        (json!({ "or": "x" }), "`or` is `\"x\"`, expected a filter"),
        (json!({ "tag": 5 }), "`tag` is `5`"),
        (json!({ "tag": "#" }), "a tag name"),
        (
            json!({ "status": { "near": 1 } }),
            "unknown operator `near`",
        ),
        (json!({ "status": {} }), "has no operator"),
        (json!({ "status": { ">": [1] } }), "to compare with"),
        (
            json!({ "status": { "exists": "yes" } }),
            "`true` or `false`",
        ),
        (json!({ "file.modified": "soon" }), "a date"),
        (
            json!({ "file.modified": { "near": "today" } }),
            "unknown operator `near`",
        ),
        (json!({ "file.size": "big" }), "a number of bytes"),
        (json!({ "file.colour": 1 }), "unknown key `file.colour`"),
        (json!({ "has": "money" }), "use one of"),
        (json!({ "text": "\"open" }), "unclosed quote"),
        (json!({ "": 1 }), "empty name"),
        (deep, "nested"),
    ] {
        let error = refused(&vault, "query", json!({ "filter": filter }));
        assert_eq!(error.code(), "validation_error");
        assert!(error.message().contains(wrong), "{}", error.message());
    }
    let error = refused(
        &vault,
        "query",
        json!({ "filter": {}, "columns": ["file.colour"] }),
    );
    assert!(error.message().contains("unknown column `file.colour`"));
}

#[test]
fn similar_recent_and_assets() {
    let vault = vault().at(1_800_000_000_000).with("Work/New.md", "new");
    let similar = ok(&vault, "similar", json!({ "path": "Work/Plan" }));
    assert!(
        paths(&similar).contains(&"Work/Budget.md") && !paths(&similar).contains(&"Work/Plan.md")
    );
    let similar = ok(
        &vault,
        "similar",
        json!({ "text": "ten thousand foxes", "limit": 1 }),
    );
    assert_eq!(paths(&similar).len(), 1);
    for arguments in [
        json!({}),
        json!({ "path": "Plan", "text": "x" }),
        json!({ "text": "->" }),
    ] {
        assert_eq!(
            refused(&vault, "similar", arguments).code(),
            "validation_error"
        );
    }
    let recent = ok(&vault, "recent", json!({ "limit": 1 }));
    assert_eq!(
        recent["items"][0],
        json!({ "path": "Work/New.md", "modified": "2027-01-15T08:00:00Z", "size": 3 })
    );
    assert_eq!(recent["total"], 6);
    assert_eq!(
        paths(&ok(&vault, "recent", json!({ "since": "2026-06-01" }))),
        ["Work/New.md"]
    );
    assert_eq!(
        paths(&ok(&vault, "recent", json!({ "path": "People" }))),
        ["People/Ana.md"]
    );
    assert_eq!(
        refused(&vault, "recent", json!({ "since": "soon" })).code(),
        "validation_error"
    );
    assert_eq!(
        paths(&ok(&vault, "assets", json!({ "query": "FOX" }))),
        ["Work/fox.png"]
    );
    assert_eq!(
        paths(&ok(&vault, "assets", json!({ "query": "*.png" }))),
        ["Diary/hidden.png", "Work/fox.png"]
    );
    assert_eq!(
        paths(&ok(&vault, "assets", json!({ "query": "work png" }))),
        ["Work/fox.png"]
    );
    assert_eq!(
        ok(&vault, "assets", json!({ "path": "Diary" }))["items"][0]["size"],
        1
    );
    assert_eq!(
        ok(&vault, "assets", json!({ "query": "nothing" }))["total"],
        0
    );
    assert_eq!(
        refused(&vault, "assets", json!({ "path": "Plan" })).code(),
        "validation_error"
    );
}
