//! What waits for a person, and what the person says.

use notehost_sdk::Code;
use serde_json::json;

use super::super::{CallError, Host};
use super::Answer;
use notehost_policy::auth::{Caller, Entrance};
use notehost_policy::{Approval, ApprovalError};

pub(super) fn list(host: &Host, caller: &Caller, with_decided: bool) -> Result<Answer, CallError> {
    let mut approvals = host.approvals().list(with_decided).map_err(refused)?;
    let vaults = host.vault_ids_of(caller);
    approvals.retain(|approval| vaults.contains(&approval.vault));
    let lines: Vec<String> = approvals.iter().map(line).collect();
    let text = match lines.is_empty() {
        true => "nothing waits for a person".to_owned(),
        false => lines.join("\n"),
    };
    Ok((text, json!({ "items": approvals })))
}

pub(super) fn decide(
    host: &Host,
    caller: &Caller,
    id: &str,
    yes: bool,
) -> Result<Answer, CallError> {
    let approval = host.approvals().get(id).map_err(refused)?;
    // Who is bound to some vaults does not know of the others.
    if !host.vault_ids_of(caller).contains(&approval.vault) {
        return Err(refused(ApprovalError::Unknown(id.to_owned())));
    }
    // A model must not be able to wave its own calls through.
    if yes && approval.caller == caller.key() {
        return Err(refused(ApprovalError::Own(id.to_owned())));
    }
    // Nor those of another of its tokens: whoever says yes is a person, or a client that is trusted to ask one.
    if yes && caller.entrance() == Entrance::Http && !host.is_attended(caller) {
        let message = format!(
            "`{}` is not attended and cannot approve calls",
            caller.name()
        );
        return Err(CallError::new(Code::Forbidden, message).with_hint(format!(
            "a person decides with `notehost approval approve {id}`; a client that asks its user can decide with a token made \
             with `notehost token new --attended`"
        )));
    }
    let decided = host
        .approvals()
        .decide(id, yes, caller.name())
        .map_err(refused)?;
    Ok((line(&decided), json!({ "approval": decided })))
}

fn line(approval: &Approval) -> String {
    format!(
        "{} ({}) for {}: {}",
        approval.id,
        approval.state.word(),
        approval.caller,
        approval.summary
    )
}

fn refused(error: ApprovalError) -> CallError {
    let code = match &error {
        ApprovalError::Unknown(_) => Code::NotFound,
        ApprovalError::Database(_) => Code::Unavailable,
        ApprovalError::Own(_) => Code::Forbidden,
        _ => Code::ApprovalInvalid,
    };
    CallError::new(code, error.to_string())
}
