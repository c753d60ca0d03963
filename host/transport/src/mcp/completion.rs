//! Completion of resource templates and prompt arguments. Suggestions are limited to what the caller may see: notes,
//! notebooks, tags, properties and headings, vaults, domains and actions.

use std::collections::HashMap;

use notehost_sdk::ArgumentKind;
use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};

use super::{Server, prompts};
use notehost_pipeline::{self as dispatch, CompletionKind, complete_notebook, fitting};
use notehost_policy::auth::Caller;
use notehost_tools::uris::{HELP_PREFIX, VAULT_PREFIX};

/// Suggestions for typed text: prefix matches first, then substring matches. May scan all notes, so it runs on a
/// blocking thread.
pub(crate) async fn complete(
    server: &Server,
    caller: Caller,
    request: CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let server = server.clone();
    let completed = tokio::task::spawn_blocking(move || completed(&server, &caller, &request));
    let failed = |_| Err(ErrorData::internal_error("completion failed", None));
    completed.await.unwrap_or_else(failed)
}

fn completed(
    server: &Server,
    caller: &Caller,
    request: &CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let none = HashMap::new();
    let context = request.context.as_ref();
    let query = CompletionQuery {
        server,
        caller,
        name: &request.argument.name,
        typed: &request.argument.value,
        given: context
            .and_then(|context| context.arguments.as_ref())
            .unwrap_or(&none),
    };
    completion(match &request.r#ref {
        Reference::Resource(template) => query.of_template(&template.uri),
        Reference::Prompt(prompt) => query.of_prompt(&prompt.name)?,
        _ => Vec::new(),
    })
}

/// The text to complete and its context.
struct CompletionQuery<'a> {
    server: &'a Server,
    caller: &'a Caller,
    name: &'a str,
    typed: &'a str,
    /// The arguments filled in before.
    given: &'a HashMap<String, String>,
}

impl CompletionQuery<'_> {
    fn of_template(&self, template: &str) -> Vec<String> {
        let of_vault = template.starts_with(VAULT_PREFIX);
        let of_help = template.starts_with(HELP_PREFIX);
        let tools = self.server.tools_of(self.caller);
        match self.name {
            "vault" if of_vault => self.vaults(),
            "path" if of_vault => self.in_vault(CompletionKind::Note),
            "domain" if of_help => {
                let domains = tools.snapshot().domains();
                let names = domains.map(|domain| domain.name.clone()).collect();
                fitting(names, self.typed)
            }
            "action" if of_help => {
                let domain = self.given.get("domain");
                let domain = domain.and_then(|name| tools.snapshot().domain(name));
                let actions = domain.into_iter().flat_map(|domain| domain.actions.iter());
                fitting(
                    actions.map(|action| action.name.clone()).collect(),
                    self.typed,
                )
            }
            _ => Vec::new(),
        }
    }

    fn of_prompt(&self, prompt: &str) -> Result<Vec<String>, ErrorData> {
        let arguments = prompts::arguments_of(self.server, self.caller, prompt)
            .ok_or_else(|| ErrorData::invalid_params(format!("no prompt `{prompt}`"), None))?;
        let Some(argument) = arguments.iter().find(|argument| argument.name == self.name) else {
            return Ok(Vec::new());
        };
        Ok(match argument.kind {
            ArgumentKind::Text => Vec::new(),
            ArgumentKind::Vault => self.vaults(),
            ArgumentKind::Note => self.in_vault(CompletionKind::Note),
            ArgumentKind::Tag => self.in_vault(CompletionKind::Tag),
            ArgumentKind::Property => self.in_vault(CompletionKind::Property),
            ArgumentKind::Notebook => {
                let vault = self.vault();
                vault.map_or_else(Vec::new, |vault| {
                    complete_notebook(self.server.host(), self.caller, &vault, self.typed)
                })
            }
            ArgumentKind::Heading => {
                let mut notes = arguments
                    .iter()
                    .filter(|other| other.kind == ArgumentKind::Note);
                let note = notes.find_map(|other| self.given.get(&other.name));
                note.map_or_else(Vec::new, |note| {
                    self.in_vault(CompletionKind::Heading(note))
                })
            }
        })
    }

    fn vaults(&self) -> Vec<String> {
        fitting(self.server.host().vault_ids_of(self.caller), self.typed)
    }

    /// The vault that was filled in before, or the first one.
    fn vault(&self) -> Option<String> {
        let given = self.given.get("vault").cloned();
        given.or_else(|| {
            self.server
                .host()
                .vault_ids_of(self.caller)
                .into_iter()
                .next()
        })
    }

    fn in_vault(&self, completing: CompletionKind<'_>) -> Vec<String> {
        let vault = self.vault();
        vault.map_or_else(Vec::new, |vault| {
            dispatch::complete(
                self.server.host(),
                self.caller,
                &vault,
                completing,
                self.typed,
            )
        })
    }
}

/// The result: as many values as the protocol allows, with the total.
fn completion(mut values: Vec<String>) -> Result<CompleteResult, ErrorData> {
    let total = values.len();
    values.truncate(CompletionInfo::MAX_VALUES);
    let has_more = values.len() < total;
    let mut info =
        CompletionInfo::new(values).map_err(|problem| ErrorData::internal_error(problem, None))?;
    info.total = u32::try_from(total).ok();
    info.has_more = Some(has_more);
    Ok(CompleteResult::new(info))
}
