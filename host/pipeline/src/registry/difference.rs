//! Differences between two versions of a component's description, in words that a person can decide on. Everything
//! outside of the description (imports, manifest) is compared in `capabilities`.

use serde_json::{Map, Value};

use notehost_runtime::{ActionDescription, Description};
use notehost_vault::Effect;

/// How deep schemas are compared field by field; below that they are equal or not.
const MAX_DEPTH: usize = 6;

/// The differences, in the order in which they are shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Difference {
    pub(super) changes: Vec<Change>,
}

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The difference as a sentence without a full stop.
    pub words: String,
    /// Whether the component can do more to notes than before, which needs consent.
    pub widens: bool,
}

impl Difference {
    /// The differences of `new` from `old`. Both come from guests, so names in them are shortened and cleaned; longer
    /// texts are never quoted.
    pub fn between(old: &Description, new: &Description) -> Difference {
        let mut difference = Difference::default();
        if old.name != new.name {
            difference.report(format!(
                "the domain's name is `{}` instead of `{}`",
                new.name, old.name
            ));
        }
        if old.version != new.version {
            difference.report(format!(
                "version `{}` instead of `{}`",
                short(&new.version),
                short(&old.version)
            ));
        }
        if old.description != new.description {
            difference.report("the domain has a new description".to_owned());
        }
        let most = old.actions.iter().map(|action| action.effect).max();
        for action in &new.actions {
            match find(old, &action.name) {
                Some(before) => difference.compare(before, action),
                None => difference.add(action, most),
            }
        }
        for gone in old
            .actions
            .iter()
            .filter(|action| find(new, &action.name).is_none())
        {
            difference.report(format!("action `{}` was removed", gone.name));
        }
        difference.compare_prompts(old, new);
        difference
    }

    /// All differences.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Whether there are no differences.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The differences that let the component do more to notes than before.
    pub fn widening(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(|change| change.widens)
    }

    fn report(&mut self, words: String) {
        self.changes.push(Change {
            words,
            widens: false,
        });
    }

    /// Adds a new action; `most` is the strongest effect of the old actions.
    fn add(&mut self, action: &ActionDescription, most: Option<Effect>) {
        let words = format!(
            "action `{}` is new; its effect is `{}`",
            action.name,
            action.effect.as_str()
        );
        self.changes.push(Change {
            words,
            widens: most.is_none_or(|most| action.effect > most),
        });
    }

    /// Compares prompts. They are texts for people and never widen what a component can do.
    fn compare_prompts(&mut self, old: &Description, new: &Description) {
        for prompt in &new.prompts {
            let mut known = old.prompts.iter();
            match known.find(|known| known.name == prompt.name) {
                None => self.report(format!("prompt `{}` is new", prompt.name)),
                Some(known) if known != prompt => {
                    self.report(format!("prompt `{}` has a new text", prompt.name));
                }
                Some(_) => {}
            }
        }
        let is_kept = |name: &str| new.prompts.iter().any(|prompt| prompt.name == name);
        let gone = old.prompts.iter().filter(|prompt| !is_kept(&prompt.name));
        for prompt in gone {
            self.report(format!("prompt `{}` was removed", prompt.name));
        }
    }

    fn compare(&mut self, old: &ActionDescription, new: &ActionDescription) {
        let name = &new.name;
        if old.effect != new.effect {
            self.changes.push(Change {
                words: format!(
                    "action `{name}` has the effect `{}` instead of `{}`",
                    new.effect.as_str(),
                    old.effect.as_str()
                ),
                widens: new.effect > old.effect,
            });
        }
        if old.description != new.description {
            self.report(format!("action `{name}` has a new description"));
        }
        let mut arguments = Fields {
            part: "argument",
            ..Fields::default()
        };
        arguments.compare("", &old.input, &new.input, 0);
        arguments.differs_otherwise("its arguments have new constraints", &old.input, &new.input);
        let mut answers = Fields {
            part: "answer",
            ..Fields::default()
        };
        answers.compare("", &old.output, &new.output, 0);
        answers.differs_otherwise("its reply has new constraints", &old.output, &new.output);
        for words in arguments.words.into_iter().chain(answers.words) {
            self.report(format!("action `{name}`: {words}"));
        }
    }
}

/// The fields of two schemas, compared.
#[derive(Default)]
struct Fields {
    /// What a field is called.
    part: &'static str,
    words: Vec<String>,
}

impl Fields {
    fn compare(
        &mut self,
        above: &str,
        old: &Map<String, Value>,
        new: &Map<String, Value>,
        depth: usize,
    ) {
        let nothing = Map::new();
        let (before, after) = (properties(old, &nothing), properties(new, &nothing));
        for (name, schema) in after {
            let path = format!("{above}{}", short(name));
            let is_required = requires(new, name);
            match before.get(name) {
                None => self.report(
                    &path,
                    if is_required {
                        "is new and required"
                    } else {
                        "is new"
                    },
                ),
                Some(known) => {
                    match (requires(old, name), is_required) {
                        (false, true) => self.report(&path, "is now required"),
                        (true, false) => self.report(&path, "is no longer required"),
                        _ => {}
                    }
                    self.compare_one(&path, known, schema, depth);
                }
            }
        }
        for name in before.keys().filter(|name| !after.contains_key(*name)) {
            self.report(&format!("{above}{}", short(name)), "was removed");
        }
    }

    fn compare_one(&mut self, path: &str, old: &Value, new: &Value, depth: usize) {
        if old == new {
            return;
        }
        let (Value::Object(old), Value::Object(new)) = (old, new) else {
            return self.report(path, "accepts different values");
        };
        if old.get("type") != new.get("type") {
            let difference = format!("is {} instead of {}", kind(new), kind(old));
            return self.report(path, &difference);
        }
        let count = self.words.len();
        if old.get("enum") != new.get("enum") {
            self.report_choices(path, old, new);
        }
        if old.get("default") != new.get("default") {
            self.report(path, "has a different default");
        }
        if depth < MAX_DEPTH {
            self.compare(&format!("{path}."), old, new, depth + 1);
            if let (Some(Value::Object(old)), Some(Value::Object(new))) =
                (old.get("items"), new.get("items"))
            {
                let (old, new) = (Value::Object(old.clone()), Value::Object(new.clone()));
                self.compare_one(&format!("{path}[]"), &old, &new, depth + 1);
            }
        }
        if without_texts(old, PARTS) != without_texts(new, PARTS) {
            self.report(path, "accepts different values");
        } else if self.words.len() == count {
            self.report(path, "has a new description");
        }
    }

    fn report_choices(&mut self, path: &str, old: &Map<String, Value>, new: &Map<String, Value>) {
        let (before, after) = (choices(old), choices(new));
        let missing = |these: &[String], those: &[String]| -> Vec<String> {
            let missing = these.iter().filter(|word| !those.contains(word));
            missing.map(|word| format!("`{}`", short(word))).collect()
        };
        for (words, more) in [
            ("also accepts", missing(&after, &before)),
            ("no longer accepts", missing(&before, &after)),
        ] {
            if !more.is_empty() {
                self.report(path, &format!("{words} {}", more.join(", ")));
            }
        }
    }

    fn report(&mut self, path: &str, words: &str) {
        self.words.push(match self.part {
            "answer" => format!("`{path}` of its reply {words}"),
            part => format!("{part} `{path}` {words}"),
        });
    }

    /// Compares what is not part of a single field: the schema as a whole.
    fn differs_otherwise(
        &mut self,
        words: &str,
        old: &Map<String, Value>,
        new: &Map<String, Value>,
    ) {
        if without_texts(old, PARTS) != without_texts(new, PARTS) {
            self.words.push(words.to_owned());
        }
    }
}

/// Keywords that are compared separately or do not constrain values.
const PARTS: &[&str] = &["properties", "required", "items", "enum", "default"];

fn without_texts(schema: &Map<String, Value>, parts: &[&str]) -> Map<String, Value> {
    let texts = ["description", "title", "examples", "$schema", "$comment"];
    let kept = schema
        .iter()
        .filter(|(key, _)| !texts.contains(&key.as_str()) && !parts.contains(&key.as_str()));
    kept.map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

fn find<'a>(description: &'a Description, name: &str) -> Option<&'a ActionDescription> {
    description
        .actions
        .iter()
        .find(|action| action.name == name)
}

fn properties<'a>(
    schema: &'a Map<String, Value>,
    nothing: &'a Map<String, Value>,
) -> &'a Map<String, Value> {
    schema
        .get("properties")
        .and_then(Value::as_object)
        .unwrap_or(nothing)
}

fn requires(schema: &Map<String, Value>, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|names| names.iter().any(|known| known == name))
}

fn choices(schema: &Map<String, Value>) -> Vec<String> {
    let choices = schema.get("enum").and_then(Value::as_array);
    let word = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    choices
        .map(|choices| choices.iter().map(word).collect())
        .unwrap_or_default()
}

/// The type in a schema.
fn kind(schema: &Map<String, Value>) -> String {
    match schema.get("type") {
        Some(Value::String(kind)) => format!("`{}`", short(kind)),
        Some(_) => "one of several types".to_owned(),
        None => "of any type".to_owned(),
    }
}

/// Text of a guest, shortened and without control characters.
fn short(text: &str) -> String {
    let plain = text.chars().map(|letter| {
        if letter.is_control() {
            '\u{fffd}'
        } else {
            letter
        }
    });
    plain.take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn described(actions: Value) -> Description {
        let json = json!({"name": "todo", "version": "1.0.0", "description": "Tasks.", "actions": actions});
        Description::parse(&json.to_string()).expect("a description")
    }

    fn action(name: &str, effect: &str, input: Value) -> Value {
        let output = json!({"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]});
        json!({"name": name, "description": "", "effect": effect, "input": input, "output": output})
    }

    fn plain(name: &str, effect: &str) -> Value {
        action(name, effect, json!({"type": "object", "properties": {}}))
    }

    fn differences(old: Value, new: Value) -> Vec<String> {
        let difference = Difference::between(&described(old), &described(new));
        let line = |change: &Change| {
            let mark = if change.widens { "! " } else { "" };
            format!("{mark}{}", change.words)
        };
        difference.changes().iter().map(line).collect()
    }

    #[test]
    fn equal_descriptions_have_no_differences() {
        assert!(
            differences(
                json!([plain("add", "write")]),
                json!([plain("add", "write")])
            )
            .is_empty()
        );
    }

    #[test]
    fn only_stronger_effects_widen() {
        let before = || json!([plain("list", "read"), plain("add", "write")]);
        assert_eq!(
            differences(
                before(),
                json!([
                    plain("list", "read"),
                    plain("add", "write"),
                    plain("find", "read"),
                    plain("move", "write")
                ])
            ),
            [
                "action `find` is new; its effect is `read`",
                "action `move` is new; its effect is `write`"
            ]
        );
        assert_eq!(
            differences(
                before(),
                json!([plain("list", "read"), plain("clear", "delete")])
            ),
            [
                "! action `clear` is new; its effect is `delete`",
                "action `add` was removed"
            ]
        );
        assert_eq!(
            differences(
                before(),
                json!([plain("list", "write"), plain("add", "read")])
            ),
            [
                "! action `list` has the effect `write` instead of `read`",
                "action `add` has the effect `read` instead of `write`"
            ]
        );
    }

    #[test]
    fn arguments_are_compared_one_by_one() {
        let old = json!({"type": "object", "required": ["text"], "additionalProperties": false, "properties": {
            "text": {"type": "string"}, "due": {"type": "string", "description": "When"}, "old": {"type": "boolean"},
            "order": {"type": "string", "enum": ["name", "date"]},
            "where": {"type": "object", "properties": {"folder": {"type": "string"}}},
            "tags": {"type": "array", "items": {"type": "string"}},
        }});
        let new = json!({"type": "object", "required": ["due", "list"], "properties": {
            "text": {"type": "string", "maxLength": 5}, "due": {"type": "string", "description": "By when"},
            "list": {"type": "string"}, "order": {"type": "string", "enum": ["name", "path"], "default": "name"},
            "where": {"type": "object", "properties": {"folder": {"type": "array"}, "depth": {"type": "integer"}}},
            "tags": {"type": "array", "items": {"type": "integer"}},
        }});
        assert_eq!(
            differences(
                json!([action("add", "write", old)]),
                json!([action("add", "write", new)])
            ),
            [
                "action `add`: argument `text` is no longer required",
                "action `add`: argument `text` accepts different values",
                "action `add`: argument `due` is now required",
                "action `add`: argument `due` has a new description",
                "action `add`: argument `list` is new and required",
                "action `add`: argument `order` also accepts `path`",
                "action `add`: argument `order` no longer accepts `date`",
                "action `add`: argument `order` has a different default",
                "action `add`: argument `where.folder` is `array` instead of `string`",
                "action `add`: argument `where.depth` is new",
                "action `add`: argument `tags[]` is `integer` instead of `string`",
                "action `add`: argument `old` was removed",
                "action `add`: its arguments have new constraints",
            ]
        );
    }

    #[test]
    fn guest_names_have_no_control_characters() {
        let input = json!({"type": "object", "properties": {"a\u{1b}[2J": {"type": "string"}}});
        let named = differences(
            json!([plain("add", "write")]),
            json!([action("add", "write", input)]),
        );
        assert_eq!(named, ["action `add`: argument `a\u{fffd}[2J` is new"]);
    }
}
