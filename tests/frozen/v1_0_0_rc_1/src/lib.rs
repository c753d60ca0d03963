//! A component of the contract 1.0.0-rc.1: an action of each effect, and one that uses every interface it may import.

wit_bindgen::generate!({ path: "../../../wit", world: "component" });

use exports::notehost::domain::domain::Guest;
use notehost::domain::types::{
    Action, ArgumentKind, Content, Description, Effect, Error, Media, Prompt, PromptArgument, Reply,
    Request,
};
use notehost::domain::vault::Vault;
use notehost::domain::{host, index, log, progress, store};
use serde_json::{Value, json};

struct Frozen;

export!(Frozen);

impl Guest for Frozen {
    fn describe() -> Description {
        let text = json!({"type": "string"});
        let action = |name: &str, effect: Effect, properties: Value| Action {
            name: name.to_owned(),
            description: format!("{name} a note."),
            effect,
            input: json!({"type": "object", "properties": properties}).to_string(),
            output: json!({"type": "object", "properties": {"path": text}}).to_string(),
        };
        Description {
            name: "frozen".into(),
            version: "1.0.0".into(),
            description: "Built for the contract 1.0.0-rc.1, and never again.".into(),
            actions: vec![
                action("look", Effect::Read, json!({"path": text})),
                action("put", Effect::Write, json!({"path": text, "text": text})),
                action("wipe", Effect::Delete, json!({"path": text})),
                action("everything", Effect::Write, json!({"path": text})),
            ],
            prompts: vec![Prompt {
                name: "inspect".into(),
                title: Some("Inspect a note".into()),
                description: "Look at a note".into(),
                arguments: vec![PromptArgument {
                    name: "note".into(),
                    description: "The note".into(),
                    required: true,
                    kind: ArgumentKind::Note,
                }],
                text: "Inspect `{{note}}` with {{frozen.look}}.".into(),
            }],
        }
    }

    fn call(vault: &Vault, request: Request) -> Result<Reply, Error> {
        let arguments: Value = serde_json::from_str(&request.arguments).unwrap_or_default();
        let text = |name: &str| arguments[name].as_str().unwrap_or_default();
        let path = text("path");
        match request.action.as_str() {
            "look" => look(vault, path, &request),
            "put" => {
                let etag = vault.create(path, text("text").as_bytes())?;
                Ok(reply(json!({"path": path, "etag": etag})))
            }
            "wipe" => {
                let trashed = vault.remove(path)?;
                Ok(reply(json!({"path": path, "trashed": trashed.len()})))
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

/// Reads a note, and returns it as a link and as audio.
fn look(vault: &Vault, path: &str, request: &Request) -> Result<Reply, Error> {
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

/// Calls every interface.
fn everything(vault: &Vault, path: &str) -> Result<Reply, Error> {
    log::write(log::Level::Info, "calling everything");
    progress::report(1, Some(2), "halfway");
    let before = store::get("count")?.map_or(0, |bytes| bytes.len());
    store::set("count", &vec![b'x'; before + 1])?;
    host::notify(log::Level::Info, "called everything")?;
    Ok(reply(json!({
        "path": path,
        "kind": format!("{:?}", vault.stat(path)?.kind),
        "tier": format!("{:?}", vault.access(path)),
        "listed": vault.list("", true, None, 100)?.entries.len(),
        "count": store::keys("")?.len(),
        "before": before,
        "index": of_index(vault, path)?,
        "host": of_host(vault)?,
    })))
}

/// Every function of the index.
fn of_index(vault: &Vault, path: &str) -> Result<Value, Error> {
    use index::Condition::{All, Any, Has, Not, Property, Tag, Words};
    let status = index::PropertyTest {
        key: "status".into(),
        exists: None,
        equals: Some(r#""open""#.into()),
        contains: None,
        greater: None,
        at_least: None,
        less: None,
        at_most: None,
    };
    let words = index::Words {
        text: "seven".into(),
        part: Some(index::Part::Text),
    };
    let found = index::find(
        vault,
        &index::Query {
            where_: vec![
                All(vec![1, 4, 6]),
                Any(vec![2, 3]),
                Property(status),
                Tag("open".into()),
                Not(5),
                Has(index::Feature::Aliases),
                Words(words),
            ],
            sort: vec![index::Sort {
                by: index::SortKey::Name,
                descending: true,
            }],
            offset: 0,
            limit: 10,
            fields: vec![
                index::Field::Properties,
                index::Field::Tags,
                index::Field::Headings,
                index::Field::Links,
                index::Field::Tasks,
                index::Field::Degree,
            ],
            snippets: 1,
        },
    )?;
    let items: Vec<Value> = found
        .items
        .into_iter()
        .map(|note| {
            let properties = note.properties.unwrap_or_default();
            json!({
                "path": note.path,
                "snippets": note.snippets.len(),
                "status": serde_json::from_str::<Value>(&properties).unwrap_or_default()["status"],
                "tags": note.tags.map(|tags| tags.into_iter().map(|at| at.tag).collect::<Vec<_>>()),
                "headings": note.headings.map(|headings| headings.len()),
                "links": note.links.map(|links| links.into_iter().map(|link| link.target).collect::<Vec<_>>()),
                "tasks": note.tasks.map(|tasks| tasks.into_iter().map(|task| task.status).collect::<String>()),
                "broken": note.degree.map(|degree| degree.broken),
            })
        })
        .collect();
    let backlinks = index::BacklinksQuery {
        path: path.to_owned(),
        offset: 0,
        limit: 10,
    };
    let unresolved = index::UnresolvedQuery {
        under: String::new(),
        offset: 0,
        limit: 10,
        places: 1,
    };
    let tags = index::TagsQuery {
        prefix: String::new(),
        under: String::new(),
        by_count: true,
        offset: 0,
        limit: 10,
    };
    let unresolved = index::unresolved(vault, &unresolved)?.items;
    let tags = index::tags(vault, &tags)?.items;
    Ok(json!({
        "readiness": format!("{:?}", index::state(vault).readiness),
        "found": items,
        "backlinks": index::backlinks(vault, &backlinks)?.total,
        "unresolved": unresolved.into_iter().map(|missing| missing.target).collect::<Vec<_>>(),
        "tags": tags.into_iter().map(|tag| tag.tag).collect::<Vec<_>>(),
        "notes": index::edges(vault)?.paths.len(),
        "files": index::files(vault)?,
        "linking": index::linking(vault, &[path.to_owned()])?.len(),
        "containing": index::containing(vault, &[vec!["seven".to_owned()]])?,
        "names": index::names_in(vault, "about Frozen")?.len(),
    }))
}

/// Every function of the host.
fn of_host(vault: &Vault) -> Result<Value, Error> {
    let about = host::about(vault)?;
    let caller = host::caller(vault)?;
    let conventions = host::conventions(vault)?;
    Ok(json!({
        "milliseconds": host::now().milliseconds > 0,
        "vault": about.vault,
        "tag_policy": format!("{:?}", about.tag_policy),
        "scopes": caller.scopes,
        "markdown_links": conventions.markdown_links,
    }))
}

fn reply(structured: Value) -> Reply {
    Reply {
        text: String::new(),
        structured: structured.to_string(),
        content: Vec::new(),
    }
}
