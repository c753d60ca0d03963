//! Tests of `list`, `notes` and `of`.

use super::*;

fn vault() -> MemoryVault {
    Vault::in_memory()
        .with(
            "Work/A.md",
            "---\ntags: [VC/Project, idea]\n---\n#vc/project and #idea\n",
        )
        .with("Work/B.md", "x\n#vc\n")
        .with("C.md", "#idea `#code`")
        .with("Hidden/S.md", "#secret #idea")
        .allow("Hidden", Tier::None)
}

#[test]
fn tags_are_listed_with_counts() {
    let vault = vault();
    let all = ok(&vault, "list", json!({}));
    // Both spellings occur equally often: the first in byte order wins.
    assert_eq!(each(&all, "tag"), ["idea", "vc", "VC/Project"]);
    assert_eq!(each(&all, "notes"), [2, 2, 1]);
    assert_eq!(each(&all, "own"), [2, 1, 1]);
    assert_eq!(all["total"], 3);
    let prefixed = ok(&vault, "list", json!({ "prefix": "#VC/" }));
    assert_eq!(prefixed["total"], 1);
    let counted = ok(&vault, "list", json!({ "sort": "count", "limit": 1 }));
    assert_eq!(counted["items"].as_array().unwrap().len(), 1);
    let next = ok(
        &vault,
        "list",
        json!({ "sort": "count", "limit": 2, "cursor": counted["next_cursor"] }),
    );
    assert_eq!(next["items"].as_array().unwrap().len(), 2);
    assert!(next.get("next_cursor").is_none());
    assert_eq!(
        ok(&vault, "list", json!({ "path": "Work/" }))["items"][0]["notes"],
        1
    );
    for (arguments, code) in [
        (json!({ "limit": 0 }), "validation_error"),
        (json!({ "cursor": "x" }), "validation_error"),
        (json!({ "sort": "size" }), "validation_error"),
        (json!({ "path": "Hidden" }), "not_found"),
    ] {
        assert_eq!(refused(&vault, "list", arguments).code(), code);
    }
}

#[test]
fn notes_of_a_tag_include_nested_tags() {
    let vault = vault();
    let found = ok(&vault, "notes", json!({ "tag": "#VC" }));
    assert_eq!(each(&found, "path"), ["Work/A.md", "Work/B.md"]);
    assert_eq!(each(&found, "line"), [1, 2]);
    assert_eq!(found["items"][0]["tags"], json!(["VC/Project"]));
    assert_eq!(found["items"][1]["tags"], json!(["vc"]));
    let one = ok(&vault, "notes", json!({ "tag": "idea", "limit": 1 }));
    assert_eq!(one["total"], 2);
    let rest = json!({ "tag": "idea", "limit": 1, "cursor": one["next_cursor"] });
    assert_eq!(each(&ok(&vault, "notes", rest), "path"), ["Work/A.md"]);
    assert_eq!(ok(&vault, "notes", json!({ "tag": "secret" }))["total"], 0);
    for tag in ["", "two words", "#", "a,b"] {
        let error = refused(&vault, "notes", json!({ "tag": tag }));
        assert_eq!(error.code(), "validation_error", "{tag}");
    }
}

#[test]
fn the_tags_of_a_note_are_listed_with_lines() {
    let vault = vault();
    let of = ok(&vault, "of", json!({ "path": "A" }));
    assert_eq!(of["tags"], json!(["VC/Project", "idea"]));
    assert_eq!(each(&of, "property"), [true, true, false, false]);
    assert_eq!(each(&of, "line"), [1, 1, 4, 4]);
    let page = ok(&vault, "of", json!({ "path": "A", "limit": 3 }));
    assert_eq!(page["total"], 4);
    assert!(page.get("next_cursor").is_some());
    assert_eq!(
        refused(&vault, "of", json!({ "path": "S" })).code(),
        "not_found"
    );
    let bytes = Vault::in_memory().with_bytes("Odd.md", b"\xff");
    assert_eq!(
        refused(&bytes, "of", json!({ "path": "Odd" })).code(),
        "unsupported"
    );
}
