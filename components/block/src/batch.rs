//! Many changes in one call: all are made, as one change of the vault, or none.

use notehost_sdk::Code;
use notehost_sdk::pages::counted;
use notehost_sdk::prelude::*;
use notehost_sdk::serde::Serialize;
use notehost_sdk::serde::de::DeserializeOwned;
use notehost_sdk::serde_json::{self, Map, Value};
use notehost_sdk::{is_note, notebook_of};

use crate::attributes::SetAttributes;
use crate::block_ids::Identify;
use crate::edit_actions::{EditBlock, Remove, Update};
use crate::insert_actions::{Append, Insert, Prepend};
use crate::link_transfer::TransferReferences;
use crate::move_block::Move;
use crate::session::Session;

/// How many operations a caller may give.
const MOST: usize = 200;

/// What an operation may be.
const ACTIONS: &str = "`insert`, `append`, `prepend`, `update`, `edit`, `move`, `remove`, `identify`, `transfer_references` or `set_attributes`";

/// The arguments that name blocks.
const NAMES: [&str; 6] = ["block", "before", "after", "parent", "from", "to"];

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
pub struct Batched {
    /// The result of each operation, in order.
    pub results: Vec<Map<String, Value>>,
    /// Number of operations.
    pub total: usize,
}

impl Action for Batch {
    type Output = Batched;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Batched> {
        if self.ops.is_empty() {
            return Err(Error::validation(
                "`ops` is empty: pass at least one `{action, …}`",
            ));
        }
        if self.ops.len() > MOST {
            return Err(Error::too_large(format!(
                "`ops` has {} operations, at most {MOST} are allowed: use several calls",
                self.ops.len()
            )));
        }
        let mut session = Session::new(vault);
        let mut results: Vec<Map<String, Value>> = Vec::with_capacity(self.ops.len());
        let mut steps = vault.steps(self.ops.len());
        for (number, operation) in self.ops.into_iter().enumerate() {
            let result = run(&mut session, operation, &results)
                .map_err(|error| in_operation(number, &error))?;
            results.push(result);
            steps.done("operations");
        }
        session.finish()?;
        Ok(Batched {
            total: results.len(),
            results,
        })
    }

    fn text(output: &Batched) -> String {
        let mut text = format!("{} applied", counted(output.total as u64, "operation"));
        for (number, result) in output.results.iter().enumerate() {
            let told = |key: &str| result.get(key).and_then(Value::as_str).unwrap_or_default();
            let named = match told("block") {
                "" => told("path"),
                block => block,
            };
            text.push_str(&format!("\n${number} {}: {named}", told("action")));
        }
        text
    }
}

/// Which operation failed, and why.
fn in_operation(number: usize, error: &Error) -> Error {
    let told = Error::new(
        error.kind(),
        format!("`ops[{number}]`: {}; nothing was changed", error.message()),
    );
    let told = match error.details() {
        Some(details) => told.with_details(details.clone()),
        None => told,
    };
    match error.hint() {
        Some(hint) => told.with_hint(hint),
        None => told,
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
    for key in NAMES {
        if let Some(Value::String(name)) = operation.get_mut(key)
            && let Some(number) = name.strip_prefix('$')
        {
            *name = told_by(earlier, number).ok_or_else(|| {
                Error::validation(format!(
                    "invalid `{key}` `{name}`: no earlier operation returned this block"
                ))
            })?;
        }
    }
    let mut result = match action.as_str() {
        "insert" => told(parsed::<Insert>(operation)?.within(session)?)?,
        "append" => told(parsed::<Append>(operation)?.within(session)?)?,
        "prepend" => told(parsed::<Prepend>(operation)?.within(session)?)?,
        "update" => told(parsed::<Update>(operation)?.within(session)?)?,
        "edit" => told(parsed::<EditBlock>(operation)?.within(session)?)?,
        "move" => told(parsed::<Move>(operation)?.within(session)?)?,
        "remove" => told(removed(session, &parsed::<Remove>(operation)?)?)?,
        "identify" => told(parsed::<Identify>(operation)?.within(session)?)?,
        "transfer_references" => told(parsed::<TransferReferences>(operation)?.within(session)?)?,
        "set_attributes" => told(parsed::<SetAttributes>(operation)?.within(session)?)?,
        _ => {
            return Err(Error::validation(format!(
                "`{action}` is not a batch action: use {ACTIONS}"
            )));
        }
    };
    result.insert("action".to_owned(), action.into());
    Ok(result)
}

/// Remove a block where this caller may remove: a batch as such only writes.
fn removed(session: &mut Session<'_>, remove: &Remove) -> Result<crate::edit_actions::Removed> {
    let removed = remove.within(session)?;
    let path = &removed.path;
    if is_note(path) && session.vault.access(path) < Tier::Delete {
        return Err(Error::new(
            Code::PermissionDenied,
            format!("this caller may not remove anything in `{path}`"),
        )
        .with_hint(Tier::Delete.granting(notebook_of(path))));
    }
    Ok(removed)
}

/// The block that an earlier operation told.
fn told_by(earlier: &[Map<String, Value>], number: &str) -> Option<String> {
    let result = earlier.get(number.parse::<usize>().ok()?)?;
    result.get("block")?.as_str().map(str::to_owned)
}

fn parsed<A: DeserializeOwned>(operation: Map<String, Value>) -> Result<A> {
    serde_json::from_value(Value::Object(operation))
        .map_err(|error| Error::validation(error.to_string()))
}

fn told(output: impl Serialize) -> Result<Map<String, Value>> {
    match serde_json::to_value(output) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Ok(Map::new()),
        Err(error) => Err(Error::new(Code::InternalError, error.to_string())),
    }
}
