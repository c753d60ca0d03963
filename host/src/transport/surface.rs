//! How the actions of the loaded components look as MCP tools: a pure function of the snapshot and the surface.
//! Order is the snapshot's, so that equal snapshots list equally.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use super::{finder, help, resolve, schema};
use crate::config::Surface;
use crate::registry::{Action, Domain, Snapshot};
use crate::vault::Effect;

/// How long the tools of a surface may be together: what a client sends to its model with every message.
const DOMAIN_BYTES: usize = 24 << 10;
const SPLIT_BYTES: usize = 32 << 10;

/// How much is said in the tool of several actions. `help` has the rest.
#[derive(Clone, Copy)]
struct Words {
    /// Bytes on an action.
    action: usize,
    /// Bytes on an argument.
    argument: usize,
    /// Bytes on what lies within an argument, and on what every action takes.
    minor: usize,
    /// Whether it is said which actions take an argument; the actions' own lines say it too.
    takers: bool,
}

/// From much to little: as many words are said as there is room for, whatever components are loaded.
const WORDS: [Words; 9] = [
    words(56, 56, 32, true),
    words(56, 48, 24, false),
    words(48, 40, 0, false),
    words(44, 32, 0, false),
    words(40, 24, 0, false),
    words(36, 16, 0, false),
    words(32, 0, 0, false),
    words(24, 0, 0, false),
    words(0, 0, 0, false),
];

/// A description that is cut below this says less than the name does, and is left out.
const LEAST_CUT: usize = 48;

const fn words(action: usize, argument: usize, minor: usize, takers: bool) -> Words {
    Words {
        action,
        argument,
        minor,
        takers,
    }
}

/// What the tool of a whole domain does not say of an argument: it may differ from action to action.
const UNTOLD: [&str; 6] = [
    "default", "minimum", "maximum", "minItems", "maxItems", "pattern",
];

/// The tools of a surface.
pub(super) fn tools(snapshot: &Snapshot, surface: Surface) -> Vec<Tool> {
    match surface {
        Surface::Domain => within(DOMAIN_BYTES, |words| {
            let domains = snapshot.domains();
            domains.map(|domain| of_domain(domain, words)).collect()
        }),
        Surface::Split => within(SPLIT_BYTES, |words| {
            let domains = snapshot.domains();
            domains
                .flat_map(|domain| by_effect(domain, words))
                .collect()
        }),
        Surface::Flat => snapshot
            .domains()
            .flat_map(|domain| by_action(domain))
            .collect(),
        Surface::Finder => finder::tools(snapshot),
    }
}

/// The tools, in as many words as fit into so many bytes.
fn within(bytes: usize, tools: impl Fn(Words) -> Vec<Tool>) -> Vec<Tool> {
    let fits = |tools: &Vec<Tool>| serde_json::to_vec(tools).is_ok_and(|json| json.len() <= bytes);
    let mut said = WORDS.into_iter().map(&tools);
    said.find(fits)
        .unwrap_or_else(|| tools(WORDS[WORDS.len() - 1]))
}

fn of_domain(domain: &Domain, words: Words) -> Tool {
    let actions: Vec<&Action> = domain.actions.iter().map(Arc::as_ref).collect();
    let title = title(&domain.name);
    together(domain, domain.name.clone(), title, &actions, words)
}

fn by_effect(domain: &Domain, words: Words) -> impl Iterator<Item = Tool> {
    [Effect::Read, Effect::Write, Effect::Delete]
        .into_iter()
        .filter_map(move |effect| {
            let actions: Vec<&Action> = domain
                .actions
                .iter()
                .map(Arc::as_ref)
                .filter(|action| action.effect == effect)
                .collect();
            let name = resolve::split_tool(&domain.name, effect);
            let title = format!("{}: {}", title(&domain.name), effect.word());
            (!actions.is_empty()).then(|| together(domain, name, title, &actions, words))
        })
}

fn by_action(domain: &Domain) -> impl Iterator<Item = Tool> {
    domain.actions.iter().map(move |action| {
        let name = resolve::flat_name(&domain.name, &action.name);
        let title = format!("{}: {}", title(&domain.name), action.name.replace('_', " "));
        let tool = Tool::new(
            name,
            help::of_action(action),
            Arc::new(schema::plain(&action.input)),
        )
        .with_annotations(annotations(domain, title, &[action]));
        // MCP wants an object there; an action that promises nothing is better without.
        if action.output.get("type") == Some(&Value::from("object")) {
            tool.with_raw_output_schema(Arc::new(action.output.clone()))
        } else {
            tool
        }
    })
}

/// One tool for several actions of a domain.
fn together(
    domain: &Domain,
    name: String,
    title: String,
    actions: &[&Action],
    words: Words,
) -> Tool {
    // Each action answers in its own shape, and errors in another: all that holds for every reply.
    let output = schema::object(json!({ "type": "object" }));
    Tool::new(
        name,
        help::of_tool(domain, actions, words.action),
        Arc::new(union(actions, words)),
    )
    .with_raw_output_schema(Arc::new(output))
    .with_annotations(annotations(domain, title, actions))
}

fn title(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string());
    format!(
        "{}{}",
        first.unwrap_or_default(),
        letters.as_str().replace('_', " ")
    )
}

/// What a client may know of a tool before it asks its user. The vault handle enforces the same, and whoever sends the
/// requests of components.
fn annotations(domain: &Domain, title: String, actions: &[&Action]) -> ToolAnnotations {
    let most = actions
        .iter()
        .map(|action| action.effect)
        .max()
        .unwrap_or(Effect::Read);
    ToolAnnotations::with_title(title)
        .read_only(most == Effect::Read)
        .destructive(most == Effect::Delete)
        .idempotent(most == Effect::Read)
        .open_world(domain.reach.is_open())
}

/// One argument as several actions take it.
struct Argument<'a> {
    name: String,
    schema: Map<String, Value>,
    /// The actions that take it, with what each says of it.
    actions: Vec<(&'a str, String)>,
}

/// The arguments of all these actions side by side, with the action's name before them. Only the action is
/// required: what each action needs is checked when it is called.
fn union(actions: &[&Action], words: Words) -> JsonObject {
    let mut arguments: Vec<Argument<'_>> = Vec::new();
    for action in actions {
        for (name, argument) in schema::properties(&schema::plain(&action.input)) {
            let said = (action.name.as_str(), description(argument).to_owned());
            match arguments.iter_mut().find(|known| known.name == name) {
                Some(known) => {
                    known.schema = schema::widen(std::mem::take(&mut known.schema), argument);
                    known.actions.push(said);
                }
                None => arguments.push(Argument {
                    name: name.to_owned(),
                    schema: argument.clone(),
                    actions: vec![said],
                }),
            }
        }
    }
    // What belongs to every action comes last.
    arguments.sort_by_key(|argument| help::is_common(&argument.name));
    let mut names: Vec<&str> = actions.iter().map(|action| action.name.as_str()).collect();
    if !names.contains(&"help") {
        names.push("help");
    }
    let mut properties = Map::new();
    properties.insert("action".into(), json!({ "type": "string", "enum": names }));
    for argument in arguments {
        let name = argument.name.clone();
        properties
            .entry(name)
            .or_insert_with(|| brief(argument, words).into());
    }
    properties
        .entry("topic")
        .or_insert_with(|| json!({ "type": "string" }));
    schema::object(json!({ "type": "object", "properties": properties, "required": ["action"] }))
}

/// An argument in few words, with the actions that take it where they are few.
fn brief(argument: Argument<'_>, words: Words) -> Map<String, Value> {
    let common = help::is_common(&argument.name) || help::is_paging(&argument.name);
    let limit = if common { words.minor } else { words.argument };
    let mut about = help::first_sentence(argument.usual_description(), limit);
    if limit < LEAST_CUT && about.ends_with('…') {
        about.clear();
    }
    if words.takers && argument.actions.len() <= 2 && !common {
        let names: Vec<&str> = argument.actions.iter().map(|(name, _)| *name).collect();
        about = format!("{about} ({})", names.join(", "));
    }
    let mut schema = argument.schema;
    shorten(&mut schema, words.minor);
    if about.is_empty() {
        schema.remove("description");
    } else {
        schema.insert("description".into(), about.trim().into());
    }
    schema
}

impl Argument<'_> {
    /// What most of the actions say of it: the first may be the exception.
    fn usual_description(&self) -> &str {
        let said = |text: &str| {
            self.actions
                .iter()
                .filter(|(_, other)| other == text)
                .count()
        };
        let most = self
            .actions
            .iter()
            .map(|(_, text)| said(text))
            .max()
            .unwrap_or_default();
        let usual = self
            .actions
            .iter()
            .map(|(_, text)| text.as_str())
            .find(|text| said(text) == most);
        usual.unwrap_or_default()
    }
}

/// Takes out what is checked when the action is called, and shortens the words within.
fn shorten(schema: &mut Map<String, Value>, limit: usize) {
    schema.retain(|keyword, _| !UNTOLD.contains(&keyword.as_str()));
    let words = help::first_sentence(description(schema), limit);
    match words.is_empty() || words.ends_with('…') {
        true => schema.remove("description"),
        false => schema.insert("description".into(), words.into()),
    };
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties
            .values_mut()
            .filter_map(Value::as_object_mut)
            .for_each(|inner| shorten(inner, limit));
    }
    if let Some(Value::Object(items)) = schema.get_mut("items") {
        items.remove("description");
        shorten(items, limit);
    }
}

fn description(schema: &Map<String, Value>) -> &str {
    schema
        .get("description")
        .and_then(Value::as_str)
        .unwrap_or_default()
}
