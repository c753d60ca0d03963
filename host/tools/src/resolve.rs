//! Resolves a tool name and its arguments. The forms of all surfaces are understood regardless of the configured one,
//! because many clients keep the list they saw first. Whether the action exists and may be called is decided by
//! `dispatch`, which also knows what is disabled.

use notehost_sdk::Code;
use serde_json::{Map, Value};

use crate::surface::ToolSet;
use crate::{finder, help};
use notehost_pipeline::registry::{Absence, Action, Domain, Snapshot};
use notehost_pipeline::{CallError, Reply};
use notehost_platform::nearest_names;
use notehost_vault::Effect;

/// Separates domain and action in a flat name.
pub const FLAT_SEPARATOR: &str = "__";

/// What a tool call resolves to.
#[derive(Debug)]
pub enum Target {
    /// Run an action.
    Call {
        /// The domain's name.
        domain: String,
        /// The action's name.
        action: String,
        /// What is left for the action itself.
        arguments: Map<String, Value>,
    },
    /// A reply without a call: help, or a search for actions.
    Answer(Reply),
}

/// Why a call cannot be resolved.
#[derive(Debug)]
pub enum Unresolved {
    /// It can be fixed; the error states how.
    Refused(CallError),
    /// There is neither such a tool nor a similar one.
    UnknownTool,
}

impl From<CallError> for Unresolved {
    fn from(error: CallError) -> Self {
        Unresolved::Refused(error)
    }
}

/// Resolves a call of one of the caller's tools.
pub fn resolve(
    tools: &ToolSet,
    tool: &str,
    mut arguments: Map<String, Value>,
) -> Result<Target, Unresolved> {
    let snapshot = &tools.snapshot;
    if let Some(domain) = snapshot.domain(tool) {
        return Ok(pick(domain, None, arguments)?);
    }
    if let Some((domain, effect)) = split_name(snapshot, tool) {
        return Ok(pick(domain, Some(effect), arguments)?);
    }
    if let Some(step) = finder::Step::named(tool) {
        return Ok(finder::resolve(tools, step, arguments)?);
    }
    if let Some((domain, action)) = tool.split_once(FLAT_SEPARATOR) {
        return Ok(Target::Call {
            domain: domain.into(),
            action: action.into(),
            arguments,
        });
    }
    if snapshot.absence_of_domain(tool) == Absence::Disabled {
        let action = required_text(&mut arguments, "action").unwrap_or_default();
        return Ok(Target::Call {
            domain: tool.into(),
            action,
            arguments,
        });
    }
    let near = nearest(tools, tool);
    if near.is_empty() {
        return Err(Unresolved::UnknownTool);
    }
    let near: Vec<&str> = near.iter().map(String::as_str).collect();
    let message = format!(
        "no tool `{tool}`; the nearest names are {}",
        help::quoted(&near)
    );
    Err(CallError::new(Code::NotFound, message).into())
}

/// The names in a tool call that select the action. Controlled by the client.
#[derive(Debug, Default, Clone, Copy)]
pub struct CalledNames<'a> {
    /// The tool.
    pub tool: Option<&'a str>,
    /// What its arguments have as `domain`.
    pub domain: Option<&'a str>,
    /// What its arguments have as `action`.
    pub action: Option<&'a str>,
}

/// The action that these names select, if there is one.
pub fn action_of<'a>(
    snapshot: &'a Snapshot,
    called: CalledNames<'_>,
) -> Option<(&'a Domain, &'a Action)> {
    let of = |domain: &str, action: &str| {
        let domain: &Domain = snapshot.domain(domain)?;
        Some((domain, domain.action(action)?))
    };
    let (tool, action) = (called.tool?, called.action);
    if snapshot.domain(tool).is_some() {
        return of(tool, action?);
    }
    if let Some((domain, effect)) = split_name(snapshot, tool) {
        let action = domain.action(action?)?;
        return (action.effect == effect).then_some((domain, action));
    }
    if finder::Step::named(tool).is_some() {
        return of(called.domain?, action?);
    }
    let (domain, action) = tool.split_once(FLAT_SEPARATOR)?;
    of(domain, action)
}

/// The name of the tool for the actions of a domain that have one effect.
pub fn split_tool(domain: &str, effect: Effect) -> String {
    format!("{domain}_{}", effect.as_str())
}

/// Takes a required text out of the arguments.
pub(crate) fn required_text(
    arguments: &mut Map<String, Value>,
    name: &str,
) -> Result<String, CallError> {
    match arguments.remove(name) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(CallError::new(
            Code::ValidationError,
            format!("`{name}` must be a string"),
        )),
        None => Err(CallError::new(
            Code::ValidationError,
            format!("`{name}` is missing"),
        )),
    }
}

fn split_name<'a>(snapshot: &'a Snapshot, tool: &str) -> Option<(&'a Domain, Effect)> {
    let (domain, word) = tool.rsplit_once('_')?;
    let effect = [Effect::Read, Effect::Write, Effect::Delete]
        .into_iter()
        .find(|effect| effect.as_str() == word)?;
    Some((snapshot.domain(domain)?, effect))
}

/// The action that the arguments of a domain's tool name.
fn pick(
    domain: &Domain,
    only: Option<Effect>,
    mut arguments: Map<String, Value>,
) -> Result<Target, CallError> {
    let fits = |effect: Effect| only.is_none_or(|only| only == effect);
    let action = required_text(&mut arguments, "action").map_err(|error| {
        let names: Vec<&str> = domain
            .actions
            .iter()
            .filter(|action| fits(action.effect))
            .map(|action| action.name.as_str())
            .collect();
        CallError::new(
            error.code,
            format!("{}: {}", error.message, help::quoted(&names)),
        )
    })?;
    match domain.action(&action) {
        // A client may allow one of these tools without confirmation: it must not run actions of another one.
        Some(found) if !fits(found.effect) => Err(CallError::new(
            Code::ValidationError,
            format!(
                "`{action}` has the effect `{}`: call it with the tool `{}`",
                found.effect.as_str(),
                split_tool(&domain.name, found.effect)
            ),
        )),
        None if action == "help" => {
            let topic = arguments.get("topic").and_then(Value::as_str);
            help::reply(domain, topic).map(Target::Answer)
        }
        _ => Ok(Target::Call {
            domain: domain.name.clone(),
            action,
            arguments,
        }),
    }
}

/// The most similar names, the best first.
fn nearest(tools: &ToolSet, tool: &str) -> Vec<String> {
    let flat = tools.snapshot.domains().flat_map(|domain| {
        let actions = domain.actions.iter();
        actions.map(|action| flat_name(&domain.name, &action.name))
    });
    let names = tools.tools.iter().map(|tool| tool.name.clone());
    let names: Vec<String> = names.chain(flat).collect();
    let near = nearest_names(tool, names.iter().map(String::as_str), 3);
    near.into_iter().map(str::to_owned).collect()
}

/// The name of the tool that is one action.
pub fn flat_name(domain: &str, action: &str) -> String {
    format!("{domain}{FLAT_SEPARATOR}{action}")
}
