//! Prompts: listed with their arguments, rendered with notes, with the tool names of the client's surface.

use notehost::config::Surface;
use serde_json::{Value, json};

use super::{Wire, settings_hiding_diary, uri};
use crate::support::place::Place;

const NAMES: [&str; 6] = [
    "summarise_note",
    "find_connections",
    "daily_review",
    "research",
    "tidy_notebook",
    "make_flashcards",
];

fn names(wire: &mut Wire) -> Vec<String> {
    let listed = wire.ask("prompts/list", json!({}));
    let prompts = listed["prompts"].as_array().expect("a list").iter();
    prompts
        .map(|prompt| prompt["name"].as_str().expect("a name").to_owned())
        .collect()
}

#[test]
fn prompts_are_listed_and_rendered() {
    Wire::each(Place::settings, |_, mut wire| {
        assert_eq!(names(&mut wire), NAMES);
        let filled = wire.ask(
            "prompts/get",
            json!({"name": "summarise_note", "arguments": {"note": "Work/Plan", "length": "two lines"}}),
        );
        let messages = filled["messages"].as_array().expect("messages");
        let text = messages[0]["content"]["text"].as_str().expect("text");
        assert!(text.contains("Length: two lines."), "{text}");
        assert!(text.contains(r#"`document` (`action: "read"`)"#), "{text}");
        // Missing optional arguments are omitted, and no placeholder is left.
        assert!(!text.contains("heading"), "{text}");
        assert!(!text.contains("{{"), "{text}");
        let marked = messages[1]["content"]["text"].as_str().expect("text");
        assert!(marked.contains("data from the vault"), "{marked}");
        let note = &messages[2]["content"]["resource"];
        assert_eq!(note["uri"], uri("Work/Plan"));
        assert!(note["text"].as_str().expect("text").contains("write tests"));
        let end = messages[3]["content"]["text"].as_str().expect("text");
        assert!(end.contains("End of the note `Work/Plan`"), "{end}");

        let cards =
            json!({"name": "make_flashcards", "arguments": {"note": "Work/Plan", "deck": ""}});
        let cards = wire.ask("prompts/get", cards)["messages"]
            .take()
            .to_string();
        assert!(cards.contains("write tests"), "{cards}");
        assert!(!cards.contains("The deck is"), "{cards}");
        for (name, arguments) in [
            ("find_connections", json!({"note": "Plan"})),
            ("daily_review", json!({})),
            (
                "research",
                json!({"question": "What is planned?", "tag": "project"}),
            ),
            ("tidy_notebook", json!({"notebook": "Work"})),
        ] {
            let filled = wire.ask("prompts/get", json!({"name": name, "arguments": arguments}));
            assert!(!filled.to_string().contains("{{"), "{filled}");
        }
    });
}

#[test]
fn prompt_errors_name_the_reason() {
    Wire::each(Place::settings, |_, mut wire| {
        for (name, arguments, words) in [
            ("nosuch", json!({}), "no prompt `nosuch`"),
            ("summarise_note", json!({}), "`note` is missing"),
            (
                "summarise_note",
                json!({"note": "Gone"}),
                "`note`: no note `Gone`",
            ),
            (
                "daily_review",
                json!({"who": "me"}),
                "`who` is not an argument",
            ),
        ] {
            let error = wire.refused("prompts/get", json!({"name": name, "arguments": arguments}));
            assert_eq!(error["code"], -32602, "{error}");
            let message = error["message"].as_str().expect("words");
            assert!(message.contains(words), "{message}");
        }
    });
}

#[test]
fn prompts_never_include_hidden_notes() {
    for caller in ["stdio", "http"] {
        Wire::each(
            |place| settings_hiding_diary(place, caller),
            |_, mut wire| {
                if matches!(wire, Wire::Http(..)) != (caller == "http") {
                    return;
                }
                let mut refused = |note: &str| {
                    let arguments = json!({ "note": note });
                    let params = json!({"name": "summarise_note", "arguments": arguments});
                    let error = wire.refused("prompts/get", params);
                    error["message"].as_str().expect("words").replace(note, "…")
                };
                assert_eq!(refused("Diary/Secret"), refused("Diary/Nothing"));
            },
        );
    }
}

#[test]
fn prompts_match_the_surface_and_the_callers_rights() {
    for (surface, words) in [
        (Surface::Split, r#"`document_read` (`action: "read"`)"#),
        (Surface::Flat, "`document__read`"),
        (
            Surface::Finder,
            r#"`call_action` (`domain: "document"`, `action: "read"`)"#,
        ),
    ] {
        let place = super::place_with_diary();
        let mut settings = place.settings();
        settings.surface = surface;
        // A read-only caller gets no instructions to write.
        let caller = notehost::config::CallerSettings {
            scopes: Some(vec!["read".into()]),
            ..Default::default()
        };
        settings.callers.insert("stdio".into(), caller);
        let config = place.config_file(&settings);
        let mut client = crate::support::client::Client::start(&config, &place.state());
        let params = json!({"name": "summarise_note", "arguments": {"note": "Work/Plan"}});
        let filled = client.ask("prompts/get", params);
        let text: &Value = &filled["messages"][0]["content"]["text"];
        let text = text.as_str().expect("text");
        assert!(text.contains(words), "{text}");
        assert!(!text.contains("append"), "{text}");
    }
}

#[test]
fn disabling_a_component_removes_its_prompts() {
    let place = super::place_with_diary();
    let config = place.config_file(&place.settings());
    let mut client = crate::support::client::Client::start(&config, &place.state());
    let mut settings = place.settings();
    let off = notehost::config::ComponentSettings {
        enabled: false,
        ..Default::default()
    };
    settings.components.insert("flashcard".into(), off);
    place.config_file(&settings);
    let method = "notifications/prompts/list_changed";
    while client.next_notification()["method"] != method {}
    let listed = client.ask("prompts/list", json!({})).to_string();
    assert!(!listed.contains("make_flashcards"), "{listed}");
    assert!(listed.contains("summarise_note"), "{listed}");
}
