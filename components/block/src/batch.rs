//! Many changes in one call, committed as one change of the vault: `batch`.

use notehost_sdk::Code;
use notehost_sdk::pages::counted;
use notehost_sdk::prelude::*;
use notehost_sdk::serde::{Deserialize, Serialize};
use notehost_sdk::serde_json::{self, Map, Value};
use notehost_sdk::{is_note, notebook_of, quoted};

use crate::attributes::SetAttributes;
use crate::block_ids::Identify;
use crate::edit_actions::{EditBlock, Remove, RemovedBlock, Update};
use crate::insert_actions::{Append, Insert, Prepend};
use crate::link_transfer::TransferReferences;
use crate::move_block::Move;
use crate::session::{BlockChange, Session};

/// Maximum number of operations in one batch.
const MAX_OPERATIONS: usize = 200;

/// The arguments that name blocks.
const BLOCK_ARGUMENTS: [&str; 6] = ["block", "before", "after", "parent", "from", "to"];

/// Make many changes to blocks in one commit, all or none.
///
/// Example: `{"ops": [{"action": "append", "parent": "Coffee/Beans#To buy", "text": "- [ ] Oat milk"}, {"action":
/// "identify", "block": "$0", "id": "milk"}]}`
#[args]
pub struct Batch {
    /// Each is `{action, …}` with that action's arguments. As a block, `$0` means the block returned by operation 0.
    pub ops: Vec<Map<String, Value>>,
}

/// The results of a batch.
#[reply]
pub struct BatchResult {
    /// The result of each operation, in order.
    pub results: Vec<Map<String, Value>>,
    /// Number of operations.
    pub total: usize,
}

impl Action for Batch {
    type Output = BatchResult;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<BatchResult> {
        if self.ops.is_empty() {
            return Err(Error::validation(
                "`ops` is empty: pass at least one `{action, …}`",
            ));
        }
        if self.ops.len() > MAX_OPERATIONS {
            return Err(Error::too_large(format!(
                "`ops` has {} operations, at most {MAX_OPERATIONS} are allowed: use several calls",
                self.ops.len()
            )));
        }
        let mut results: Vec<Map<String, Value>> = Vec::with_capacity(self.ops.len());
        let mut steps = vault.steps(self.ops.len());
        Session::commit(vault, |session| {
            for (number, operation) in self.ops.into_iter().enumerate() {
                let result = run(session, operation, &results).map_err(|error| {
                    error.map_message(|message| {
                        format!("`ops[{number}]`: {message}; nothing was changed")
                    })
                })?;
                results.push(result);
                steps.done("operations");
            }
            Ok(())
        })?;
        Ok(BatchResult {
            total: results.len(),
            results,
        })
    }

    fn text(output: &BatchResult) -> String {
        let mut text = format!("{} applied", counted(output.total as u64, "operation"));
        for (number, result) in output.results.iter().enumerate() {
            let field = |key: &str| result.get(key).and_then(Value::as_str).unwrap_or_default();
            let named = match field("block") {
                "" => field("path"),
                block => block,
            };
            text.push_str(&format!("\n${number} {}: {named}", field("action")));
        }
        text
    }
}

/// An operation of a batch: the arguments of an action, tagged with its name.
#[derive(Deserialize)]
#[serde(
    crate = "notehost_sdk::serde",
    tag = "action",
    rename_all = "snake_case"
)]
enum Operation {
    Insert(Insert),
    Append(Append),
    Prepend(Prepend),
    Update(Update),
    Edit(EditBlock),
    Move(Move),
    Remove(Remove),
    Identify(Identify),
    TransferReferences(TransferReferences),
    SetAttributes(SetAttributes),
}

impl Operation {
    /// The tags, for error messages.
    const ACTIONS: [&str; 10] = [
        "insert",
        "append",
        "prepend",
        "update",
        "edit",
        "move",
        "remove",
        "identify",
        "transfer_references",
        "set_attributes",
    ];

    fn parse(operation: Map<String, Value>) -> Result<Operation> {
        let problem = match operation.get("action") {
            Some(Value::String(action)) if Self::ACTIONS.contains(&action.as_str()) => {
                return serde_json::from_value(Value::Object(operation))
                    .map_err(|error| Error::validation(error.to_string()));
            }
            Some(Value::String(action)) => format!("`{action}` is not a batch action: use"),
            _ => "`action` is missing: expected".to_owned(),
        };
        let (last, others) = Self::ACTIONS.split_last().expect("there are actions");
        Err(Error::validation(format!(
            "{problem} {} or `{last}`",
            quoted(others)
        )))
    }

    /// Makes the change, and returns the result of the action.
    fn change(&self, session: &mut Session<'_>) -> Result<Map<String, Value>> {
        match self {
            Operation::Insert(insert) => to_map(insert.change(session)?),
            Operation::Append(append) => to_map(append.change(session)?),
            Operation::Prepend(prepend) => to_map(prepend.change(session)?),
            Operation::Update(update) => to_map(update.change(session)?),
            Operation::Edit(edit) => to_map(edit.change(session)?),
            Operation::Move(block) => to_map(block.change(session)?),
            Operation::Remove(remove) => to_map(remove_block(session, remove)?),
            Operation::Identify(identify) => to_map(identify.change(session)?),
            Operation::TransferReferences(transfer) => to_map(transfer.change(session)?),
            Operation::SetAttributes(set) => to_map(set.change(session)?),
        }
    }
}

/// Runs an operation; its block arguments may name the blocks that earlier operations returned.
fn run(
    session: &mut Session<'_>,
    mut operation: Map<String, Value>,
    earlier: &[Map<String, Value>],
) -> Result<Map<String, Value>> {
    let action = operation.get("action").cloned();
    for key in BLOCK_ARGUMENTS {
        if let Some(Value::String(name)) = operation.get_mut(key)
            && let Some(number) = name.strip_prefix('$')
        {
            *name = returned_block(earlier, number).ok_or_else(|| {
                Error::validation(format!(
                    "invalid `{key}` `{name}`: no earlier operation returned this block"
                ))
            })?;
        }
    }
    let mut result = Operation::parse(operation)?.change(session)?;
    result.extend(action.map(|action| ("action".to_owned(), action)));
    Ok(result)
}

/// Removes a block. The effect of `batch` is only `write`, so delete access is checked here.
fn remove_block(session: &mut Session<'_>, remove: &Remove) -> Result<RemovedBlock> {
    let removed = remove.change(session)?;
    let path = &removed.path;
    if is_note(path) && session.vault.access(path) < Tier::Delete {
        return Err(Error::new(
            Code::PermissionDenied,
            format!("this caller may not remove anything in `{path}`"),
        )
        .with_hint(Tier::Delete.grant_hint(notebook_of(path))));
    }
    Ok(removed)
}

/// The block returned by an earlier operation.
fn returned_block(earlier: &[Map<String, Value>], number: &str) -> Option<String> {
    let result = earlier.get(number.parse::<usize>().ok()?)?;
    result.get("block")?.as_str().map(str::to_owned)
}

fn to_map(output: impl Serialize) -> Result<Map<String, Value>> {
    match serde_json::to_value(output) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Ok(Map::new()),
        Err(error) => Err(Error::new(Code::InternalError, error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_listed_action_is_an_operation() {
        for action in Operation::ACTIONS {
            let operation = json!({ "action": action, "unknown": 1 });
            let Value::Object(operation) = operation else {
                unreachable!()
            };
            let error = Operation::parse(operation).err().expect("unknown field");
            assert!(
                error.message().starts_with("unknown field `unknown`"),
                "{error}"
            );
        }
    }
}
