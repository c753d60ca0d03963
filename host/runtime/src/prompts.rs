//! Validation of the prompts of a component, which are untrusted and reach a model. Placeholders for arguments and
//! actions are parsed here, for the validation and for filling them in.

use std::collections::HashSet;

use notehost_sdk::Prompt;

use super::description::{Description, check_name};

/// How many prompts one component may bring, and how long each may be.
const MAX_PROMPTS: usize = 32;
const MAX_ARGUMENTS: usize = 16;
const MAX_BYTES: usize = 16 << 10;

/// Why a prompt cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BadPrompt {
    /// More than a person can choose from.
    #[error("the component has {0} prompts; at most {MAX_PROMPTS} are allowed")]
    Many(usize),
    /// One of them.
    #[error("the prompt `{name}` cannot be used: {reason}")]
    One {
        /// Which.
        name: String,
        /// Why.
        reason: String,
    },
}

/// A part of a prompt's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Words.
    Words(&'a str),
    /// Stands for an argument.
    Argument(&'a str),
    /// Stands for how an action is called.
    Action(&'a str, &'a str),
}

/// The parts of a text; `None` if a `{{` is not closed.
pub fn pieces(text: &str) -> Option<Vec<Piece<'_>>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((words, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}")?;
        if !words.is_empty() {
            pieces.push(Piece::Words(words));
        }
        let name = name.trim();
        pieces.push(match name.split_once('.') {
            Some((domain, action)) => Piece::Action(domain, action),
            None => Piece::Argument(name),
        });
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Words(rest));
    }
    Some(pieces)
}

/// Refuse prompts that could not be filled in.
pub(super) fn check_prompts(description: &Description) -> Result<(), BadPrompt> {
    let prompts = &description.prompts;
    if prompts.len() > MAX_PROMPTS {
        return Err(BadPrompt::Many(prompts.len()));
    }
    let mut seen = HashSet::new();
    for prompt in prompts {
        let bad = |reason: String| BadPrompt::One {
            name: prompt.name.chars().take(60).collect(),
            reason,
        };
        check(prompt, description).map_err(bad)?;
        if !seen.insert(prompt.name.as_str()) {
            return Err(bad("another prompt has the same name".to_owned()));
        }
    }
    Ok(())
}

fn check(prompt: &Prompt, description: &Description) -> Result<(), String> {
    check_name(&prompt.name).map_err(|error| error.to_string())?;
    if prompt.text.trim().is_empty() {
        return Err("it has no text".to_owned());
    }
    let title = prompt.title.as_deref().unwrap_or_default();
    if prompt.text.len() + prompt.description.len() + title.len() > MAX_BYTES {
        return Err(format!("it is longer than {MAX_BYTES} bytes"));
    }
    if prompt.arguments.len() > MAX_ARGUMENTS {
        return Err(format!("it takes more than {MAX_ARGUMENTS} arguments"));
    }
    let mut arguments = HashSet::new();
    for argument in &prompt.arguments {
        check_name(&argument.name).map_err(|error| error.to_string())?;
        if argument.name == "vault" {
            return Err("it declares the argument `vault`, which the host adds itself".to_owned());
        }
        if !arguments.insert(argument.name.as_str()) {
            return Err(format!(
                "it declares the argument `{}` twice",
                argument.name
            ));
        }
        if argument.description.len() > MAX_BYTES {
            return Err(format!(
                "the description of `{}` is too long",
                argument.name
            ));
        }
    }
    let pieces = pieces(&prompt.text).ok_or("a `{{` in its text is not closed")?;
    for piece in pieces {
        match piece {
            Piece::Words(_) => {}
            Piece::Argument(name) if arguments.contains(name) => {}
            Piece::Argument(name) => {
                let name: String = name.chars().take(60).collect();
                return Err(format!(
                    "its text uses `{name}`, which is not one of its arguments"
                ));
            }
            Piece::Action(domain, action) => {
                for name in [domain, action] {
                    check_name(name).map_err(|error| error.to_string())?;
                }
                let mut own = description.actions.iter();
                if domain == description.name && !own.any(|own| own.name == action) {
                    return Err(format!(
                        "its text uses `{domain}.{action}`, which is not an action"
                    ));
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn described(prompts: serde_json::Value) -> Result<Description, String> {
        let schema = json!({"type": "object", "properties": {}});
        let list = json!({"name": "list", "description": "", "effect": "read", "input": schema, "output": schema});
        let whole = json!({
            "name": "todo", "version": "1.0.0", "description": "", "actions": [list], "prompts": prompts,
        });
        Description::parse(&whole.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn valid_prompts_are_accepted() {
        let plan = json!({
            "name": "plan", "description": "Plan", "text": "Use {{todo.list}} and {{search.text}} on {{note}}.",
            "arguments": [{"name": "note", "kind": "note", "required": true}, {"name": "new", "kind": "moment"}],
        });
        let described = described(json!([plan])).unwrap();
        assert_eq!(described.prompts[0].arguments.len(), 2);
    }

    #[test]
    fn invalid_prompts_are_refused_with_a_reason() {
        let named = |name: &str, text: &str| json!({"name": name, "description": "", "text": text});
        for (prompts, reason) in [
            (json!([named("Plan", "x")]), "not a valid name"),
            (json!([named("plan", " ")]), "no text"),
            (json!([named("plan", "{{who}}")]), "`who`"),
            (json!([named("plan", "{{who")]), "not closed"),
            (json!([named("plan", "{{todo.add}}")]), "`todo.add`"),
            (json!([named("plan", "x"), named("plan", "y")]), "same name"),
            (json!([named("plan", &"x".repeat(MAX_BYTES + 1))]), "longer"),
            (json!(vec![named("plan", "x"); MAX_PROMPTS + 1]), "at most"),
        ] {
            let error = described(prompts).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn prompt_text_is_parsed_into_pieces() {
        let found = pieces("Use {{ todo.list }} on {{note}}").unwrap();
        let expected = [
            Piece::Words("Use "),
            Piece::Action("todo", "list"),
            Piece::Words(" on "),
            Piece::Argument("note"),
        ];
        assert_eq!(found, expected);
        assert_eq!(pieces("{{"), None);
    }
}
