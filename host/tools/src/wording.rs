//! The texts of tools with several actions, within the byte budget of a surface: a client sends them to its model with
//! every message. Lines on actions come first, because a model chooses by them; the rest explains arguments. `help` has
//! everything else.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::help::{first_sentence, is_common, is_paging, signature};
use crate::tool::{Annotations, Tool};
use crate::{schema, short_description};
use notehost_pipeline::registry::{Action, Domain};
use notehost_vault::Effect;

/// Clients truncate a longer description.
const DESCRIPTION_BYTES: usize = 2048;

/// The steps of verbosity: bytes per action and per argument, from long to short.
const ON_ACTION: [usize; 14] = [160, 120, 96, 84, 72, 64, 60, 56, 52, 48, 44, 40, 32, 24];
const ON_ARGUMENT: [usize; 10] = [96, 80, 72, 64, 56, 48, 40, 32, 24, 16];

/// The mark of an action with the effect `delete`, after its arguments.
const DELETES: &str = "!";

/// The share of the budget that is reserved for arguments while the lines on actions are chosen, in percent.
const ARGUMENTS_PERCENT: usize = 1;

/// The verbosity of a tool: the maximum length of its descriptions in bytes.
#[derive(Debug, Clone, Copy, Default)]
struct Verbosity {
    /// Of an action.
    action: usize,
    /// Of an argument whose schema does not show its parts.
    open_argument: usize,
    /// Of every other argument of an action.
    argument: usize,
    /// Of the parts of an argument, and of arguments that every action takes.
    minor: usize,
}

/// What a tool describes of its domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// It introduces the domain, and has its help.
    First,
    /// An earlier tool of the domain introduces it.
    After,
}

/// A tool of several actions, before its texts are chosen.
pub(super) struct Draft<'a> {
    domain: &'a Domain,
    place: Place,
    name: String,
    actions: Vec<&'a Action>,
    arguments: Vec<Argument>,
    annotations: Annotations,
}

/// One argument as several actions take it.
struct Argument {
    name: String,
    schema: Map<String, Value>,
    /// Its description in each action.
    descriptions: Vec<String>,
}

impl<'a> Draft<'a> {
    /// One tool for these actions of a domain.
    pub(super) fn new(
        domain: &'a Domain,
        place: Place,
        name: String,
        actions: Vec<&'a Action>,
        annotations: Annotations,
    ) -> Draft<'a> {
        let mut arguments: Vec<Argument> = Vec::new();
        for action in &actions {
            for (name, argument) in schema::properties(&schema::plain(&action.input)) {
                let about = description(argument).to_owned();
                match arguments.iter_mut().find(|known| known.name == name) {
                    Some(known) => {
                        known.schema = schema::widen(std::mem::take(&mut known.schema), argument);
                        known.descriptions.push(about);
                    }
                    None => arguments.push(Argument {
                        name: name.to_owned(),
                        schema: argument.clone(),
                        descriptions: vec![about],
                    }),
                }
            }
        }
        // The arguments that every action takes come last.
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

    fn tool(&self, verbosity: Verbosity) -> Tool {
        Tool {
            name: self.name.clone(),
            description: self.description(verbosity.action),
            input_schema: Arc::new(self.input(verbosity)),
            output_schema: None,
            annotations: self.annotations.clone(),
        }
    }

    /// Whether actions that delete are marked: where all of them do, the tool itself is.
    fn has_marks(&self) -> bool {
        let deletes = |action: &&Action| action.effect == Effect::Delete;
        self.actions.iter().any(deletes) && !self.actions.iter().all(deletes)
    }

    /// The domain's description, then a line per action. If that is too long for a client the action texts are cut,
    /// then their arguments, never the list.
    fn description(&self, max_bytes: usize) -> String {
        let about = |limit: usize| first_sentence(&self.domain.description, limit);
        let intro = match self.place {
            Place::First => format!(
                "{}. Actions ([optional]{}; `help` with topic ACTION explains one):",
                about(300),
                match self.has_marks() {
                    true => "; ! deletes",
                    false => "",
                }
            ),
            Place::After => format!("{}. Actions:", about(60)),
        };
        let lines = |limit: usize| {
            self.actions.iter().fold(intro.clone(), |mut text, action| {
                text.push_str(&format!("\n{}", signature(action)));
                if self.has_marks() && action.effect == Effect::Delete {
                    text.push_str(DELETES);
                }
                let line = short_description::line(&action.name, &action.description, limit);
                if !line.is_empty() {
                    text.push_str(&format!(": {line}"));
                }
                text
            })
        };
        let limits = ON_ACTION.into_iter().filter(|limit| *limit <= max_bytes);
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
    fn input(&self, verbosity: Verbosity) -> Map<String, Value> {
        let mut names: Vec<&str> = self
            .actions
            .iter()
            .map(|action| action.name.as_str())
            .collect();
        // Every tool has help; only the first one of a domain lists it.
        let has_help = self.place == Place::First;
        if has_help && !names.contains(&"help") {
            names.push("help");
        }
        let mut properties = Map::new();
        properties.insert("action".into(), json!({ "type": "string", "enum": names }));
        for argument in &self.arguments {
            properties
                .entry(argument.name.clone())
                .or_insert_with(|| argument.shortened(verbosity).into());
        }
        if has_help {
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
    /// The schema with short descriptions.
    fn shortened(&self, verbosity: Verbosity) -> Map<String, Value> {
        let limit = if is_common(&self.name) || is_paging(&self.name) {
            verbosity.minor
        } else if self.is_open() {
            verbosity.open_argument.max(verbosity.argument)
        } else {
            verbosity.argument
        };
        let mut schema = self.schema.clone();
        shorten(&mut schema, verbosity.minor);
        let about = whole_sentence(self.usual_description(), limit);
        if about.is_empty() {
            schema.remove("description");
        } else {
            schema.insert("description".into(), about.into());
        }
        schema
    }

    /// Whether its schema does not show its parts.
    fn is_open(&self) -> bool {
        let is_open = |schema: &Map<String, Value>| {
            schema.get("type") == Some(&"object".into())
                && schema::properties(schema).next().is_none()
        };
        let items = self.schema.get("items").and_then(Value::as_object);
        is_open(&self.schema) || items.is_some_and(is_open)
    }

    /// The most frequent description among the actions.
    fn usual_description(&self) -> &str {
        let all = || self.descriptions.iter().map(String::as_str);
        let count = |text: &str| all().filter(|other| *other == text).count();
        let highest = all().map(count).max();
        all()
            .find(|text| Some(count(text)) == highest)
            .unwrap_or_default()
    }
}

/// The tools of the drafts, as verbose as fits into so many bytes.
pub(super) fn within(bytes: usize, drafts: &[Draft<'_>]) -> Vec<Tool> {
    let tools_with = |chosen: Verbosity| -> Vec<Tool> {
        drafts.iter().map(|draft| draft.tool(chosen)).collect()
    };
    let size = |chosen: Verbosity| {
        serde_json::to_vec(&tools_with(chosen)).map_or(usize::MAX, |json| json.len())
    };
    let mut chosen = Verbosity::default();
    let mut choose = |levels: &[usize], bytes: usize, with: fn(Verbosity, usize) -> Verbosity| {
        // A lower level is never longer, so the first one that fits is found by binary search.
        let at = levels.partition_point(|level| size(with(chosen, *level)) > bytes);
        if let Some(level) = levels.get(at) {
            chosen = with(chosen, *level);
        }
        chosen
    };
    let for_actions = bytes - bytes / 100 * ARGUMENTS_PERCENT;
    choose(&ON_ACTION, for_actions, |chosen, action| Verbosity {
        action,
        ..chosen
    });
    choose(&ON_ARGUMENT, bytes, |chosen, open_argument| Verbosity {
        open_argument,
        ..chosen
    });
    choose(&ON_ARGUMENT, bytes, |chosen, argument| Verbosity {
        argument,
        ..chosen
    });
    let chosen = choose(&ON_ARGUMENT, bytes, |chosen, minor| Verbosity {
        minor,
        ..chosen
    });
    tools_with(chosen)
}

/// The description of an action that is a tool of its own.
pub(super) fn of_action(action: &Action) -> String {
    let description = action.description.trim();
    if description.len() <= DESCRIPTION_BYTES {
        return description.to_owned();
    }
    let end = description.floor_char_boundary(DESCRIPTION_BYTES - '…'.len_utf8());
    format!("{}…", &description[..end])
}

/// Keywords left out of a tool of several actions: they may differ between actions.
const HIDDEN_KEYWORDS: [&str; 6] = [
    "default", "minimum", "maximum", "minItems", "maxItems", "pattern",
];

/// Removes the keywords that differ between actions, and shortens the descriptions within.
fn shorten(schema: &mut Map<String, Value>, limit: usize) {
    schema.retain(|keyword, _| !HIDDEN_KEYWORDS.contains(&keyword.as_str()));
    let about = whole_sentence(description(schema), limit);
    match about.is_empty() {
        true => schema.remove("description"),
        false => schema.insert("description".into(), about.into()),
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
    let sentence = first_sentence(text, limit);
    match sentence.ends_with('…') {
        true => String::new(),
        false => sentence,
    }
}

fn description(schema: &Map<String, Value>) -> &str {
    schema
        .get("description")
        .and_then(Value::as_str)
        .unwrap_or_default()
}
