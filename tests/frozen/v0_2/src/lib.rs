//! A component of track 0.2: an action of each effect, and one that uses every interface it may import.

wit_bindgen::generate!({ path: "../../../wit/0.2", world: "component" });

use exports::notehost::domain::domain::Guest;
use notehost::domain::types::{Action, Content, Description, Effect, Error, Media, Reply, Request};
use notehost::domain::vault::Vault;
use notehost::domain::{host, index, log, store};
use serde_json::{Value, json};

struct Frozen;

export!(Frozen);

impl Guest for Frozen {
    fn describe() -> Description {
        let text = json!({"type": "string"});
        let action = |name: &str, effect: Effect, properties: Value| Action {
            name: name.to_owned(),
            about: format!("{name} a note."),
            effect,
            input: json!({"type": "object", "properties": properties}).to_string(),
            output: json!({"type": "object", "properties": {"path": text}}).to_string(),
        };
        Description {
            name: "frozen_two".into(),
            version: "1.0.0".into(),
            about: "Built for track 0.2, and never again.".into(),
            actions: vec![
                action("look", Effect::Read, json!({"path": text})),
                action("put", Effect::Write, json!({"path": text, "text": text})),
                action("wipe", Effect::Delete, json!({"path": text})),
                action("everything", Effect::Write, json!({"path": text})),
            ],
        }
    }

    fn call(vault: &Vault, request: Request) -> Result<Reply, Error> {
        let arguments: Value = serde_json::from_str(&request.arguments).unwrap_or_default();
        let text = |name: &str| arguments[name].as_str().unwrap_or_default();
        let path = text("path");
        match request.action.as_str() {
            "look" => {
                let found = vault.read(path)?;
                let size = found.bytes.len();
                let structured = json!({
                    "path": path,
                    "size": size,
                    "etag": found.etag,
                    "time_left": request.time_left,
                    "reply_bytes": request.reply_bytes,
                });
                Ok(Reply {
                    text: format!("{size} bytes"),
                    structured: structured.to_string(),
                    content: vec![
                        Content::Link(path.to_owned()),
                        Content::Audio(Media {
                            bytes: found.bytes,
                            mime: "audio/ogg".into(),
                        }),
                    ],
                })
            }
            "put" => {
                let etag = vault.create(path, text("text").as_bytes())?;
                Ok(answer(json!({"path": path, "etag": etag})))
            }
            "wipe" => {
                let trashed = vault.remove(path)?;
                Ok(answer(json!({"path": path, "trashed": trashed.len()})))
            }
            "everything" => everything(vault, path),
            action => Err(Error {
                code: "unsupported".into(),
                message: format!("there is no action `{action}`"),
                hint: None,
                details: None,
            }),
        }
    }
}

/// Ask each interface something.
fn everything(vault: &Vault, path: &str) -> Result<Reply, Error> {
    log::write(log::Level::Info, "asking everything");
    let before = store::get("count")?.map_or(0, |bytes| bytes.len());
    store::set("count", &vec![b'x'; before + 1])?;
    host::notify(log::Level::Info, "asked everything")?;
    let json = |text: String| serde_json::from_str::<Value>(&text).unwrap_or_default();
    Ok(answer(json!({
        "path": path,
        "kind": format!("{:?}", vault.stat(path)?.kind),
        "tier": format!("{:?}", vault.access(path)),
        "listed": vault.list("", true, None, 100)?.entries.len(),
        "count": store::keys("")?.len(),
        "before": before,
        "files": index::files(vault)?,
        "state": json(index::state(vault))["state"],
        "found": json(index::find(vault, r#"{"limit": 10}"#)?)["items"].is_array(),
        "clock": json(host::now()).is_object(),
        "caller": json(host::caller(vault)?).is_object(),
        "host": json(host::about(vault)?).is_object(),
        "habits": json(host::conventions(vault)?).is_object(),
    })))
}

fn answer(structured: Value) -> Reply {
    Reply {
        text: String::new(),
        structured: structured.to_string(),
        content: Vec::new(),
    }
}
