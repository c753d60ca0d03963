//! Completion of what a person types into the templates of resources: vaults and notes that this caller may see, domains
//! and actions that it is shown.

use std::collections::HashMap;

use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};

use super::mcp::Server;
use super::resources::{HELP_PREFIX, VAULT_PREFIX};
use crate::auth::Caller;
use crate::dispatch::complete_note;

/// What may follow what was typed.
pub(super) fn complete(
    server: &Server,
    caller: &Caller,
    request: &CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let Reference::Resource(template) = &request.r#ref else {
        return told(Vec::new());
    };
    let typed = request.argument.value.as_str();
    let none = HashMap::new();
    let given = request
        .context
        .as_ref()
        .and_then(|context| context.arguments.as_ref())
        .unwrap_or(&none);
    let vaults = server.host().vault_ids_of(caller);
    let offered = server.offered_to(caller);
    let beginning = |names: Vec<String>| -> Vec<String> {
        let names = names.into_iter();
        names.filter(|name| name.starts_with(typed)).collect()
    };
    told(match request.argument.name.as_str() {
        "vault" if template.uri.starts_with(VAULT_PREFIX) => beginning(vaults),
        "path" if template.uri.starts_with(VAULT_PREFIX) => {
            let vault = given.get("vault").or(vaults.first());
            vault.map_or_else(Vec::new, |vault| {
                complete_note(server.host(), caller, vault, typed)
            })
        }
        "domain" if template.uri.starts_with(HELP_PREFIX) => {
            let domains = offered.snapshot.domains();
            beginning(domains.map(|domain| domain.name.clone()).collect())
        }
        "action" if template.uri.starts_with(HELP_PREFIX) => {
            let domain = given
                .get("domain")
                .and_then(|name| offered.snapshot.domain(name));
            let actions = domain.into_iter().flat_map(|domain| domain.actions.iter());
            beginning(actions.map(|action| action.name.clone()).collect())
        }
        _ => Vec::new(),
    })
}

fn told(mut values: Vec<String>) -> Result<CompleteResult, ErrorData> {
    let total = values.len();
    values.truncate(CompletionInfo::MAX_VALUES);
    let has_more = values.len() < total;
    let mut info =
        CompletionInfo::new(values).map_err(|problem| ErrorData::internal_error(problem, None))?;
    info.has_more = Some(has_more);
    Ok(CompleteResult::new(info))
}
