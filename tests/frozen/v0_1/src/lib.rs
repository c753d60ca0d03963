//! A component of track 0.1: an action of each effect, and one that uses every interface it may import.

wit_bindgen::generate!({ path: "../../../wit", world: "component" });

use exports::notehost::domain::domain::Guest;
use notehost::domain::types::{Content, Error, Reply};
use notehost::domain::vault::Vault;
use notehost::domain::{host, index, log, store};
use serde_json::{Value, json};

struct Frozen;

export!(Frozen);

impl Guest for Frozen {
    fn describe() -> String {
        let text = json!({"type": "string"});
        let action = |name: &str, effect: &str, properties: Value| {
            json!({
                "name": name,
                "description": format!("{name} a note."),
                "effect": effect,
                "input": {"type": "object", "properties": properties},
                "output": {"type": "object", "properties": {"path": text}},
            })
        };
        json!({
            "name": "frozen_one",
            "version": "1.0.0",
            "description": "Built for track 0.1, and never again.",
            "actions": [
                action("look", "read", json!({"path": text})),
                action("put", "write", json!({"path": text, "text": text})),
                action("wipe", "delete", json!({"path": text})),
                action("everything", "write", json!({"path": text})),
            ],
        })
        .to_string()
    }

    fn call(vault: &Vault, action: String, arguments: String) -> Result<Reply, Error> {
        let arguments: Value = serde_json::from_str(&arguments).unwrap_or_default();
        let text = |name: &str| arguments[name].as_str().unwrap_or_default();
        let path = text("path");
        match action.as_str() {
            "look" => {
                let found = vault.read(path)?;
                let size = found.bytes.len();
                Ok(Reply {
                    text: format!("{size} bytes"),
                    structured: json!({"path": path, "size": size, "etag": found.etag}).to_string(),
                    content: vec![Content::Link(path.to_owned())],
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
            _ => Err(Error {
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
