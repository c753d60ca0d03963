//! Validation of a component's description, which is untrusted.

use notehost_sdk::Prompt;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::prompts::{BadPrompt, check_prompts};
use notehost_vault::Effect;

/// The longest description that is taken.
pub(super) const MAX_DESCRIPTION_BYTES: usize = 1 << 20;

/// What a component is and can do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// The domain's name.
    pub name: String,
    /// The component's version.
    pub version: String,
    /// What it is for.
    pub description: String,
    /// Its actions, in display order.
    pub actions: Vec<ActionDescription>,
    /// Prompts that users can pick.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prompts: Vec<Prompt>,
}

/// One action of a component.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ActionDescription {
    /// The action's name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What it may do to notes.
    pub effect: Effect,
    /// The JSON Schema of its arguments.
    pub input: Map<String, Value>,
    /// The JSON Schema of its result.
    pub output: Map<String, Value>,
}

/// Why a description cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DescriptionError {
    /// A stored description is not JSON of the right form.
    #[error("the component's description does not match the contract: {0}")]
    Malformed(#[from] serde_json::Error),
    /// It is too long.
    #[error("the component's description has {0} bytes; at most {MAX_DESCRIPTION_BYTES} are taken")]
    TooLong(usize),
    /// A name that tools cannot have.
    #[error("`{0}` is not a valid name: use at most 40 of a-z, 0-9 and _, starting with a letter")]
    BadName(String),
    /// Two actions of one name.
    #[error("the component describes the action `{0}` twice")]
    Twice(String),
    /// No actions.
    #[error("the component describes no actions")]
    Empty,
    /// An invalid prompt.
    #[error(transparent)]
    Prompt(#[from] BadPrompt),
    /// An invalid schema.
    #[error("the {part} schema of action `{action}` is not a JSON Schema of an object: {reason}")]
    BadSchema {
        /// Which action.
        action: String,
        /// `input` or `output`.
        part: &'static str,
        /// What is wrong.
        reason: String,
    },
}

impl Description {
    /// Parses a stored description and checks it.
    pub fn parse(json: &str) -> Result<Description, DescriptionError> {
        if json.len() > MAX_DESCRIPTION_BYTES {
            return Err(DescriptionError::TooLong(json.len()));
        }
        let description: Description = serde_json::from_str(json)?;
        description.check()?;
        Ok(description)
    }

    /// Refuses names, schemas and prompts that would confuse callers.
    pub(super) fn check(&self) -> Result<(), DescriptionError> {
        check_name(&self.name)?;
        if self.actions.is_empty() {
            return Err(DescriptionError::Empty);
        }
        let mut seen = std::collections::HashSet::new();
        for action in &self.actions {
            check_name(&action.name)?;
            if !seen.insert(action.name.as_str()) {
                return Err(DescriptionError::Twice(action.name.clone()));
            }
            check_schema(&action.name, "input", &action.input)?;
            check_schema(&action.name, "output", &action.output)?;
        }
        check_prompts(self)?;
        Ok(())
    }

    /// Whether the schemas are valid. It takes a while, so it is checked once for the description of a guest, and not for
    /// stored descriptions.
    pub(super) fn check_schemas(&self) -> Result<(), DescriptionError> {
        for action in &self.actions {
            for (part, schema) in [("input", &action.input), ("output", &action.output)] {
                let built = jsonschema::options().build(&Value::Object(schema.clone()));
                built.map_err(|error| DescriptionError::BadSchema {
                    action: action.name.clone(),
                    part,
                    reason: error.to_string(),
                })?;
            }
        }
        Ok(())
    }
}

/// Checks the name of a domain or an action.
pub fn check_name(name: &str) -> Result<(), DescriptionError> {
    let fits = name.len() <= 40
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && !name.contains("__")
        && name
            .bytes()
            .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'));
    if fits {
        Ok(())
    } else {
        Err(DescriptionError::BadName(name.chars().take(60).collect()))
    }
}

fn check_schema(
    action: &str,
    part: &'static str,
    schema: &Map<String, Value>,
) -> Result<(), DescriptionError> {
    let bad = |reason: &str| DescriptionError::BadSchema {
        action: action.to_owned(),
        part,
        reason: reason.to_owned(),
    };
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err(bad("its type is not `object`"));
    }
    if !schema.get("properties").is_some_and(Value::is_object) {
        return Err(bad("it has no properties"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn described(name: &str, actions: &[&str]) -> Result<Description, DescriptionError> {
        let schema = json!({"type": "object", "properties": {}});
        let actions: Vec<Value> = actions
            .iter()
            .map(|name| json!({"name": name, "description": "", "effect": "read", "input": schema, "output": schema}))
            .collect();
        Description::parse(
            &json!({"name": name, "version": "1.0.0", "description": "", "actions": actions})
                .to_string(),
        )
    }

    #[test]
    fn names_that_tools_cannot_have_are_refused() {
        assert!(described("todo", &["add"]).is_ok());
        for bad in ["", "To", "a b", "a__b", "../x", "é", &"a".repeat(41)] {
            assert!(described(bad, &["add"]).is_err(), "{bad}");
            assert!(described("todo", &[bad]).is_err(), "{bad}");
        }
        assert!(described("todo", &["add", "add"]).is_err());
        assert!(described("todo", &[]).is_err());
        assert!(Description::parse("[]").is_err());
    }
}
