//! Many changes in one call, committed as one change of the vault: `batch`.

use notehost_sdk::Code;
use notehost_sdk::pages::counted;
use notehost_sdk::prelude::*;
use notehost_sdk::serde::Serialize;
use notehost_sdk::serde::de::DeserializeOwned;
use notehost_sdk::serde_json::{self, Map, Value};
use notehost_sdk::{is_note, notebook_of};

use crate::attributes::SetAttributes;
use crate::block_ids::Identify;
use crate::edit_actions::{EditBlock, Remove, RemovedBlock, Update};
use crate::insert_actions::{Append, Insert, Prepend};
use crate::link_transfer::TransferReferences;
use crate::move_block::Move;
use crate::session::Session;

/// Maximum number of operations in one batch.
const MAX_OPERATIONS: usize = 200;

/// The allowed actions, for error messages.
const ACTIONS: &str = "`insert`, `append`, `prepend`, `update`, `edit`, `move`, `remove`, `identify`, `transfer_references` or `set_attributes`";

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
        let mut session = Session::new(vault);
        let mut results: Vec<Map<String, Value>> = Vec::with_capacity(self.ops.len());
        let mut steps = vault.steps(self.ops.len());
        for (number, operation) in self.ops.into_iter().enumerate() {
            let result = run(&mut session, operation, &results)
                .map_err(|error| with_operation_number(number, &error))?;
            results.push(result);
            steps.done("operations");
        }
        session.finish()?;
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

/// Prefixes an error with the number of the failed operation.
fn with_operation_number(number: usize, error: &Error) -> Error {
    let numbered = Error::new(
        error.kind(),
        format!("`ops[{number}]`: {}; nothing was changed", error.message()),
    );
    let numbered = match error.details() {
        Some(details) => numbered.with_details(details.clone()),
        None => numbered,
    };
    match error.hint() {
        Some(hint) => numbered.with_hint(hint),
        None => numbered,
    }
}

fn run(
    session: &mut Session<'_>,
    mut operation: Map<String, Value>,
    earlier: &[Map<String, Value>],
) -> Result<Map<String, Value>> {
    let action = match operation.remove("action") {
        Some(Value::String(action)) => action,
        _ => {
            return Err(Error::validation(format!(
                "`action` is missing: expected {ACTIONS}"
            )));
        }
    };
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
    let mut result = match action.as_str() {
        "insert" => to_map(parse::<Insert>(operation)?.run_in(session)?)?,
        "append" => to_map(parse::<Append>(operation)?.run_in(session)?)?,
        "prepend" => to_map(parse::<Prepend>(operation)?.run_in(session)?)?,
        "update" => to_map(parse::<Update>(operation)?.run_in(session)?)?,
        "edit" => to_map(parse::<EditBlock>(operation)?.run_in(session)?)?,
        "move" => to_map(parse::<Move>(operation)?.run_in(session)?)?,
        "remove" => to_map(remove_block(session, &parse::<Remove>(operation)?)?)?,
        "identify" => to_map(parse::<Identify>(operation)?.run_in(session)?)?,
        "transfer_references" => to_map(parse::<TransferReferences>(operation)?.run_in(session)?)?,
        "set_attributes" => to_map(parse::<SetAttributes>(operation)?.run_in(session)?)?,
        _ => {
            return Err(Error::validation(format!(
                "`{action}` is not a batch action: use {ACTIONS}"
            )));
        }
    };
    result.insert("action".to_owned(), action.into());
    Ok(result)
}

/// Removes a block. The effect of `batch` is only `write`, so delete access is checked here.
fn remove_block(session: &mut Session<'_>, remove: &Remove) -> Result<RemovedBlock> {
    let removed = remove.run_in(session)?;
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

fn parse<A: DeserializeOwned>(operation: Map<String, Value>) -> Result<A> {
    serde_json::from_value(Value::Object(operation))
        .map_err(|error| Error::validation(error.to_string()))
}

fn to_map(output: impl Serialize) -> Result<Map<String, Value>> {
    match serde_json::to_value(output) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Ok(Map::new()),
        Err(error) => Err(Error::new(Code::InternalError, error.to_string())),
    }
}
