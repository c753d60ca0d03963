//! Listing and reading resources.

use serde_json::{Value, json};

use super::{Wire, settings_hiding_diary, uri};
use crate::support::place::Place;

/// A picture of one pixel.
const PIXEL: &[u8] = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;";

/// The items of every page.
fn listed(wire: &mut Wire) -> Vec<Value> {
    let mut all = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let params = match &cursor {
            Value::Null => json!({}),
            cursor => json!({ "cursor": cursor }),
        };
        let mut page = wire.ask("resources/list", params);
        let Value::Array(items) = page["resources"].take() else {
            panic!("no list: {page}");
        };
        assert!(items.len() <= 200);
        all.extend(items);
        cursor = page["nextCursor"].take();
        if cursor.is_null() {
            return all;
        }
    }
}

fn uris(listed: &[Value]) -> Vec<&str> {
    let uris = listed.iter().map(|item| item["uri"].as_str());
    uris.map(|uri| uri.expect("a name")).collect()
}

#[test]
fn resource_list_has_notes_before_help() {
    Wire::each(Place::settings, |place, mut wire| {
        for number in 0..230 {
            place.write(&format!("Many/{number:03}.md"), "# One of many\n");
        }
        let listed = listed(&mut wire);
        let uris = uris(&listed);
        let help = uris
            .iter()
            .position(|uri| uri.starts_with("notehost://help/"));
        let help = help.expect("there is help");
        assert_eq!(help, 234, "{uris:?}");
        assert!(
            uris[..help]
                .iter()
                .all(|uri| uri.starts_with("notehost://vault/main/"))
        );
        assert!(uris[help..].contains(&"notehost://help/document"));
        for uri in &uris[help..] {
            let read = wire.ask("resources/read", json!({ "uri": uri }));
            let text = read["contents"][0]["text"].as_str().expect("text");
            assert!(text.len() > 100, "{uri}: {text}");
        }
    });
}

#[test]
fn unknown_cursor_is_rejected() {
    Wire::each(Place::settings, |_, mut wire| {
        for cursor in ["else", "/", "main2/x"] {
            let error = wire.refused("resources/list", json!({ "cursor": cursor }));
            assert_eq!(error["code"], -32602, "{error}");
        }
    });
}

#[test]
fn notes_images_and_help_can_be_read() {
    Wire::each(Place::settings, |place, mut wire| {
        place.write("Pictures/pixel.gif", PIXEL);
        place.write("Work/list.csv", "a,b\n1,2\n");
        place.write("Work/v1.2 plan.md", "# Version\n");
        let mut read = |path: &str| {
            let mut read = wire.ask("resources/read", json!({ "uri": uri(path) }));
            read["contents"][0].take()
        };
        let plan = read("Work/Plan.md");
        assert_eq!(plan["mimeType"], "text/markdown");
        assert_eq!(read("Work/Plan")["text"], plan["text"]);
        // A name may contain more dots than that of its extension.
        assert_eq!(read("Work/v1.2%20plan")["text"], "# Version\n");
        let pixel = read("Pictures/pixel.gif");
        assert_eq!(pixel["mimeType"], "image/gif", "{pixel}");
        assert_eq!(
            pixel["blob"],
            "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAICRAEAOw=="
        );
        assert_eq!(read("Work/list.csv")["text"], "a,b\n1,2\n");

        let help = wire.ask(
            "resources/read",
            json!({"uri": "notehost://help/document/read"}),
        );
        let help = help["contents"][0]["text"].as_str().expect("text");
        assert!(help.contains("document.read(path"), "{help}");
        assert!(
            help.contains(r#"Example: {"path":"Garden/Compost"}"#),
            "{help}"
        );

        let absent = wire.absent();
        for gone in [
            uri("Work/Gone.md"),
            uri("Work/gone.png"),
            uri("%"),
            "notehost://vault/other/Work/Plan.md".to_owned(),
            "notehost://help/nosuch".to_owned(),
            "notehost://help/document/nosuch".to_owned(),
            "file:///etc/passwd".to_owned(),
        ] {
            let error = wire.refused("resources/read", json!({ "uri": gone }));
            assert_eq!(error["code"], absent, "{gone}: {error}");
        }
    });
}

#[test]
fn hidden_notes_are_not_resources() {
    for caller in ["stdio", "http"] {
        Wire::each(
            |place| settings_hiding_diary(place, caller),
            |_, mut wire| {
                if matches!(wire, Wire::Http(..)) != (caller == "http") {
                    return;
                }
                let listed = listed(&mut wire);
                assert!(uris(&listed).contains(&"notehost://vault/main/Work/Plan.md"));
                assert!(!format!("{listed:?}").contains("Diary"));
                let absent = wire.absent();
                for gone in ["Diary/Secret.md", "Diary/Nothing.md"] {
                    let error = wire.refused("resources/read", json!({ "uri": uri(gone) }));
                    assert_eq!(error["code"], absent, "{error}");
                    assert_eq!(error["message"], "resource not found");
                }
            },
        );
    }
}

#[test]
fn resource_capabilities_are_advertised() {
    Wire::each(Place::settings, |_, mut wire| {
        let capabilities = match wire.is_stateless() {
            true => wire.ask("server/discover", json!({}))["capabilities"].take(),
            // The capabilities came with the handshake, which is over.
            false => return,
        };
        assert_eq!(
            capabilities["resources"],
            json!({"subscribe": true, "listChanged": true})
        );
        assert_eq!(capabilities["prompts"], json!({"listChanged": true}));
        assert_eq!(capabilities["completions"], json!({}));
        let templates = wire.ask("resources/templates/list", json!({}));
        let templates = templates["resourceTemplates"].as_array().expect("a list");
        assert_eq!(templates.len(), 2, "{templates:?}");
    });
}
