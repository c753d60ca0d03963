//! Tests of `list` and of the description.

use crate::Domain;
use notehost_sdk::prelude::*;
use notehost_sdk::testing::each;
use notehost_sdk::{MemoryVault, Tier, calls};

calls!(Domain);

fn vault() -> MemoryVault {
    Vault::in_memory()
        .with("Note.md", "")
        .with("P/b.PNG", "12345")
        .with("P/a.pdf", "1")
        .with("P/deep/c.mp3", "")
        .with("d.unknown", "")
        .with("Map.canvas", "{}")
        .with("Hidden/x.png", "")
        .allow("Hidden", Tier::None)
}

#[test]
fn files_are_listed_by_path_with_their_kinds() {
    let list = ok(&vault(), "list", json!({}));
    assert_eq!(
        each(&list, "path"),
        [
            "Map.canvas",
            "P/a.pdf",
            "P/b.PNG",
            "P/deep/c.mp3",
            "d.unknown"
        ]
    );
    assert_eq!(
        each(&list, "kind"),
        ["canvas", "pdf", "image", "audio", "other"]
    );
    assert_eq!(
        (&list["total"], &list["total_size"]),
        (&json!(5), &json!(8))
    );
    assert_eq!(list["items"][2]["mime"], "image/png");
}

#[test]
fn folders_and_kinds_filter_the_list() {
    let list = ok(&vault(), "list", json!({"path": "p/"}));
    assert_eq!(list["total"], 3);
    let list = ok(&vault(), "list", json!({"kinds": ["image", "audio"]}));
    assert_eq!(each(&list, "path"), ["P/b.PNG", "P/deep/c.mp3"]);
    assert!(text_of(&vault(), "list", json!({"kinds": ["video"]})).contains("no files"));
    assert_eq!(
        all_pages(&vault(), "list", &json!({"path": "/"}), 2).len(),
        5
    );
}

#[test]
fn invalid_lists_are_rejected() {
    for (arguments, code) in [
        (json!({"path": "Gone"}), "not_found"),
        (json!({"path": "Hidden"}), "not_found"),
        (json!({"path": "d.unknown"}), "validation_error"),
        (json!({"kinds": []}), "validation_error"),
        (json!({"kinds": ["picture"]}), "validation_error"),
        (json!({"limit": 0}), "validation_error"),
        (json!({"cursor": "x"}), "validation_error"),
    ] {
        assert_eq!(
            refused(&vault(), "list", arguments.clone()).code(),
            code,
            "{arguments}"
        );
    }
}

#[test]
fn the_description_is_flat_and_short() {
    use notehost_sdk::Describes as _;
    let described = Domain::describe();
    let mut length = described["description"].as_str().unwrap().len();
    for action in described["actions"].as_array().unwrap() {
        let input = action["input"].to_string();
        for word in ["$ref", "oneOf", "anyOf", "allOf", "null"] {
            assert!(
                !input.contains(word),
                "{}: {word} in {input}",
                action["name"]
            );
        }
        // Examples are shown by help, not in the tool description.
        let about = action["description"].as_str().unwrap();
        length += about.split("\nExample").next().unwrap().len();
        let properties = action["input"]["properties"].as_object().unwrap();
        for argument in properties.values() {
            length += argument["description"].as_str().unwrap_or_default().len();
        }
        assert!(
            !action["output"].to_string().contains("$ref"),
            "{}",
            action["name"]
        );
    }
    assert!(length < 2048, "{length}");
}
