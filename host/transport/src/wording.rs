//! The texts of tools with several actions, within the byte budget of a surface: a client sends them to its model with
//! every message. Lines on actions come first, because a model chooses by them; the rest explains arguments. `help` has
//! everything else.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use super::help::{first_sentence, is_common, is_paging, signature};
use super::{schema, short_description};
use notehost_pipeline::registry::{Action, Domain};

/// Clients truncate a longer description.
const DESCRIPTION_BYTES: usize = 2048;

/// The steps of verbosity: bytes per action and per argument, from long to short.
const ON_ACTION: [usize; 14] = [160, 120, 96, 84, 72, 64, 60, 56, 52, 48, 44, 40, 32, 24];
const ON_ARGUMENT: [usize; 10] = [96, 80, 72, 64, 56, 48, 40, 32, 24, 16];

/// What is kept back for arguments while lines on actions are chosen, of a hundred bytes.
const FOR_ARGUMENTS: usize = 3;

/// The verbosity of a tool.
#[derive(Debug, Clone, Copy, Default)]
struct Words {
    /// Bytes on an action.
    action: usize,
    /// Bytes on an argument of parts that its schema does not tell.
    involved: usize,
    /// Bytes on every other argument of an action.
    argument: usize,
    /// Bytes on what lies within an argument, and on what every action takes.
    minor: usize,
}

/// What a tool describes of its domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// It introduces the domain, and has its help.
    First,
    /// Another tool of the domain has said it.
    After,
}

/// A tool of several actions, before its texts are chosen.
pub(super) struct Draft<'a> {
    domain: &'a Domain,
    place: Place,
    name: String,
    actions: Vec<&'a Action>,
    arguments: Vec<Argument>,
    annotations: ToolAnnotations,
}

/// One argument as several actions take it.
struct Argument {
    name: String,
    schema: Map<String, Value>,
    /// Its description by each action.
    said: Vec<String>,
}

impl<'a> Draft<'a> {
    /// One tool for these actions of a domain.
    pub(super) fn new(
        domain: &'a Domain,
        place: Place,
        name: String,
        actions: Vec<&'a Action>,
        annotations: ToolAnnotations,
    ) -> Draft<'a> {
        let mut arguments: Vec<Argument> = Vec::new();
        for action in &actions {
            for (name, argument) in schema::properties(&schema::plain(&action.input)) {
                let said = description(argument).to_owned();
                match arguments.iter_mut().find(|known| known.name == name) {
                    Some(known) => {
                        known.schema = schema::widen(std::mem::take(&mut known.schema), argument);
                        known.said.push(said);
                    }
                    None => arguments.push(Argument {
                        name: name.to_owned(),
                        schema: argument.clone(),
                        said: vec![said],
                    }),
                }
            }
        }
        // What belongs to every action comes last.
        arguments.sort_by_key(|argument| is_common(&argument.name));
        Draft {
            domain,
            place,
            name,
            actions,
            arguments,
            annotations,
        }
    }

    fn tool(&self, words: Words) -> Tool {
        Tool::new(
            self.name.clone(),
            self.description(words.action),
            Arc::new(self.input(words)),
        )
        .with_annotations(self.annotations.clone())
    }

    /// The domain's description, then a line per action. If that is too long for a client the action texts are cut,
    /// then their arguments, never the list.
    fn description(&self, most: usize) -> String {
        let about = |most: usize| first_sentence(&self.domain.description, most);
        let intro = match self.place {
            Place::First => format!(
                "{}. Actions ([optional]; `help` with topic ACTION explains one):",
                about(300)
            ),
            Place::After => format!("{}. Actions:", about(60)),
        };
        let lines = |limit: usize| {
            self.actions.iter().fold(intro.clone(), |mut text, action| {
                text.push_str(&format!("\n{}", signature(action)));
                let line = short_description::line(&action.name, &action.description, limit);
                if !line.is_empty() {
                    text.push_str(&format!(": {line}"));
                }
                text
            })
        };
        let limits = ON_ACTION.into_iter().filter(|limit| *limit <= most);
        limits
            .chain([0])
            .map(lines)
            .find(|text| text.len() <= DESCRIPTION_BYTES)
            .unwrap_or_else(|| {
                let names = self.actions.iter().map(|action| action.name.as_str());
                format!("{intro} {}", names.collect::<Vec<_>>().join(", "))
            })
    }

    /// The arguments of all the actions side by side, with the action's name before them. Only the action is required:
    /// what each action needs is checked when it is called.
    fn input(&self, words: Words) -> JsonObject {
        let mut names: Vec<&str> = self
            .actions
            .iter()
            .map(|action| action.name.as_str())
            .collect();
        // Help can be asked of every tool; one of a domain says so.
        let helps = self.place == Place::First;
        if helps && !names.contains(&"help") {
            names.push("help");
        }
        let mut properties = Map::new();
        properties.insert("action".into(), json!({ "type": "string", "enum": names }));
        for argument in &self.arguments {
            properties
                .entry(argument.name.clone())
                .or_insert_with(|| argument.brief(words).into());
        }
        if helps {
            properties
                .entry("topic")
                .or_insert_with(|| json!({ "type": "string" }));
        }
        schema::object(
            json!({ "type": "object", "properties": properties, "required": ["action"] }),
        )
    }
}

impl Argument {
    /// The schema in few words.
    fn brief(&self, words: Words) -> Map<String, Value> {
        let limit = if is_common(&self.name) || is_paging(&self.name) {
            words.minor
        } else if self.is_involved() {
            words.involved.max(words.argument)
        } else {
            words.argument
        };
        let mut schema = self.schema.clone();
        shorten(&mut schema, words.minor);
        let about = whole_sentence(self.usual_words(), limit);
        if about.is_empty() {
            schema.remove("description");
        } else {
            schema.insert("description".into(), about.into());
        }
        schema
    }

    fn is_involved(&self) -> bool {
        let is_open = |schema: &Map<String, Value>| {
            schema.get("type") == Some(&"object".into())
                && schema::properties(schema).next().is_none()
        };
        let items = self.schema.get("items").and_then(Value::as_object);
        is_open(&self.schema) || items.is_some_and(is_open)
    }

    /// The most frequent description among the actions.
    fn usual_words(&self) -> &str {
        let count = |text: &str| self.said.iter().filter(|other| *other == text).count();
        let most = self.said.iter().map(|text| count(text)).max();
        let mut said = self.said.iter().map(String::as_str);
        said.find(|text| Some(count(text)) == most)
            .unwrap_or_default()
    }
}

/// The tools of the drafts, as verbose as fits into so many bytes.
pub(super) fn within(bytes: usize, drafts: &[Draft<'_>]) -> Vec<Tool> {
    let made =
        |words: Words| -> Vec<Tool> { drafts.iter().map(|draft| draft.tool(words)).collect() };
    let size =
        |words: Words| serde_json::to_vec(&made(words)).map_or(usize::MAX, |json| json.len());
    let mut words = Words::default();
    let mut choose = |levels: &[usize], bytes: usize, with: fn(Words, usize) -> Words| {
        // Fewer words are never longer, so the first that fits can be searched for by halves.
        let at = levels.partition_point(|level| size(with(words, *level)) > bytes);
        if let Some(level) = levels.get(at) {
            words = with(words, *level);
        }
        words
    };
    let for_actions = bytes - bytes / 100 * FOR_ARGUMENTS;
    choose(&ON_ACTION, for_actions, |words, action| Words {
        action,
        ..words
    });
    choose(&ON_ARGUMENT, bytes, |words, involved| Words {
        involved,
        ..words
    });
    choose(&ON_ARGUMENT, bytes, |words, argument| Words {
        argument,
        ..words
    });
    let words = choose(&ON_ARGUMENT, bytes, |words, minor| Words { minor, ..words });
    made(words)
}

/// The description of an action that is a tool of its own.
pub(super) fn of_action(action: &Action) -> String {
    let whole = action.description.trim();
    if whole.len() <= DESCRIPTION_BYTES {
        return whole.to_owned();
    }
    let end = whole.floor_char_boundary(DESCRIPTION_BYTES - '…'.len_utf8());
    format!("{}…", &whole[..end])
}

/// Keywords left out of a tool of several actions: they may differ between actions.
const HIDDEN_KEYWORDS: [&str; 6] = [
    "default", "minimum", "maximum", "minItems", "maxItems", "pattern",
];

/// Takes out what is checked when the action is called, and shortens the words within.
fn shorten(schema: &mut Map<String, Value>, limit: usize) {
    schema.retain(|keyword, _| !HIDDEN_KEYWORDS.contains(&keyword.as_str()));
    let words = whole_sentence(description(schema), limit);
    match words.is_empty() {
        true => schema.remove("description"),
        false => schema.insert("description".into(), words.into()),
    };
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        let inner = properties.values_mut().filter_map(Value::as_object_mut);
        inner.for_each(|inner| shorten(inner, limit));
    }
    if let Some(Value::Object(items)) = schema.get_mut("items") {
        items.remove("description");
        shorten(items, limit);
    }
}

/// A sentence or a clause of it; nothing if only a part would fit.
fn whole_sentence(text: &str, limit: usize) -> String {
    let said = first_sentence(text, limit);
    match said.ends_with('…') {
        true => String::new(),
        false => said,
    }
}

fn description(schema: &Map<String, Value>) -> &str {
    schema
        .get("description")
        .and_then(Value::as_str)
        .unwrap_or_default()
}
