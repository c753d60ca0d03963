//! Long texts are sent once: in the structured content; the text content has their start and how to read the rest. A
//! client that is known to show only text content gets the full text there.

use std::process::Command;

use notehost::config::{CallerSettings, LongText};
use serde_json::{Value, json};

use super::served;
use crate::support::client::Client;
use crate::support::place::Place;

/// A note of many lines.
fn long_text() -> String {
    let lines =
        (1..=900).map(|line| format!("Line {line} tells of gardens and of what grows in them.\n"));
    format!("# Long\n\n{}", lines.collect::<String>())
}

fn place_with_notes() -> Place {
    let place = Place::new();
    place.write("Work/Long.md", long_text());
    place.write("Work/Other.md", long_text().replace("Line", "Row"));
    place.write("Work/Short.md", "# Short\n\nnot much\n");
    place.write("Work/data.txt", long_text());
    place
}

/// The text content of a result, without the orientation.
fn text(result: &Value) -> String {
    result["content"][0]["text"]
        .as_str()
        .expect("text")
        .to_owned()
}

#[test]
fn long_texts_are_sent_once() {
    let place = place_with_notes();
    let mut client = served(&place, "domain");
    let edits = json!([{"old": "Line", "new": "Zeile", "replace_all": true}]);
    for (action, arguments) in [
        ("document.read", json!({"path": "Long"})),
        (
            "document.read_section",
            json!({"path": "Long", "section": "Long"}),
        ),
        (
            "document.read_many",
            json!({"paths": ["Long", "Other", "Short"]}),
        ),
        ("fs.cat", json!({"path": "Work/Long.md"})),
        ("file.read", json!({"path": "Work/data.txt"})),
        (
            "document.edit",
            json!({"path": "Long", "edits": edits, "dry_run": true}),
        ),
    ] {
        let result = client.call(action, arguments);
        assert_ne!(result["isError"], true, "{action}: {result}");
        let structured = result["structuredContent"].to_string().len();
        let text = text(&result).len();
        assert!(structured > 40_000, "{action}: {structured}");
        assert!(
            text < 6_000,
            "{action}: {text} bytes of text beside {structured}"
        );
    }
}

#[test]
fn text_only_model_can_continue_reading() {
    let place = place_with_notes();
    let mut client = served(&place, "domain");
    let first = client.call("document.read", json!({"path": "Long"}));
    assert_eq!(first["structuredContent"]["content"], long_text().as_str());
    let reply = text(&first);
    let next = reply
        .split("read on from line ")
        .nth(1)
        .and_then(|rest| rest.split(']').next())
        .and_then(|number| number.parse::<usize>().ok())
        .expect("where to go on");
    // All lines before it are in the text content.
    let whole = long_text();
    let before: String = whole.split_inclusive('\n').take(next - 1).collect();
    assert!(before.len() > 2_000 && reply.contains(&before), "{reply}");
    let on = client.call("document.read", json!({"path": "Long", "offset": next}));
    let line = whole.lines().nth(next - 1).expect("a line");
    assert!(text(&on).contains(line), "{on}");
    // Short texts are in both.
    let short = client.call("document.read", json!({"path": "Short"}));
    assert!(text(&short).contains("# Short\n\nnot much\n"), "{short}");
    assert_eq!(
        short["structuredContent"]["content"],
        "# Short\n\nnot much\n"
    );
}

#[test]
fn text_only_clients_get_the_full_text() {
    let place = place_with_notes();
    let serving = |name: &str, place: &Place, config: &std::path::Path| {
        let mut client = Client::spawn(
            Command::new(crate::support::program())
                .args(["serve", "--config"])
                .arg(config)
                .arg("--state")
                .arg(place.state()),
        );
        let about = json!({"name": name, "version": "1"});
        let hello =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about});
        client.ask("initialize", hello);
        client.notify("notifications/initialized", json!({}));
        let read = client.call("document.read", json!({"path": "Long"}));
        assert_eq!(read["structuredContent"]["content"], long_text().as_str());
        text(&read).contains(&long_text())
    };
    let mut settings = place.settings();
    let config = place.config_file(&settings);
    assert!(
        serving("claude-ai", &place, &config),
        "its app shows text alone"
    );
    assert!(!serving("claude-code", &place, &config));
    let wants = CallerSettings {
        long_text: Some(LongText::Full),
        ..CallerSettings::default()
    };
    settings.callers.insert("stdio".into(), wants);
    let config = place.config_file(&settings);
    assert!(serving("claude-code", &place, &config), "as configured");
}
