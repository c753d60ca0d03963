//! Resolves a tool name and its arguments. The forms of all surfaces are understood regardless of the configured one,
//! because many clients keep the list they saw first. Whether the action exists and may be called is decided by
//! `dispatch`, which also knows what is disabled.

use notehost_sdk::Code;
use serde_json::{Map, Value};

use super::bounds::Outline;
use super::surface::Offered;
use super::{finder, help};
use notehost_pipeline::registry::{Absence, Action, Domain, Snapshot};
use notehost_pipeline::{CallError, Reply};
use notehost_vault::Effect;

/// Separates domain and action in a flat name.
pub(super) const FLAT_SEPARATOR: &str = "__";

/// The similarity required for a suggestion, and its maximum distance from the best one.
const MIN_SIMILARITY: f64 = 0.84;
const SIMILARITY_MARGIN: f64 = 0.05;

/// The longest name for which similar names are searched.
const MAX_COMPARED_BYTES: usize = 256;

/// What a tool call resolves to.
#[derive(Debug)]
pub(super) enum Target {
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
pub(super) enum Unresolved {
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

/// Resolves a call of this tool; `offered` is what clients were shown.
pub(super) fn resolve(
    offered: &Offered,
    tool: &str,
    mut arguments: Map<String, Value>,
) -> Result<Target, Unresolved> {
    let snapshot = &offered.snapshot;
    if let Some(domain) = snapshot.domain(tool) {
        return Ok(pick(domain, None, arguments)?);
    }
    if let Some((domain, effect)) = split_name(snapshot, tool) {
        return Ok(pick(domain, Some(effect), arguments)?);
    }
    if let Some(step) = finder::Step::named(tool) {
        return Ok(finder::resolve(offered, step, arguments)?);
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
    let near = nearest(offered, tool);
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

/// The action that a message calls, according to its outline.
pub(super) fn action_of<'a>(
    snapshot: &'a Snapshot,
    outline: &Outline,
) -> Option<(&'a Domain, &'a Action)> {
    let of = |domain: &str, action: &str| {
        let domain: &Domain = snapshot.domain(domain)?;
        Some((domain, domain.action(action)?))
    };
    let (tool, action) = (outline.tool.as_deref()?, outline.action.as_deref());
    if snapshot.domain(tool).is_some() {
        return of(tool, action?);
    }
    if let Some((domain, effect)) = split_name(snapshot, tool) {
        let action = domain.action(action?)?;
        return (action.effect == effect).then_some((domain, action));
    }
    if finder::Step::named(tool).is_some() {
        return of(outline.domain.as_deref()?, action?);
    }
    let (domain, action) = tool.split_once(FLAT_SEPARATOR)?;
    of(domain, action)
}

/// The name of the tool for the actions of a domain that have one effect.
pub(super) fn split_tool(domain: &str, effect: Effect) -> String {
    format!("{domain}_{}", effect.as_str())
}

/// Takes a required text out of the arguments.
pub(super) fn required_text(
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
        // A client may let one of these tools through unasked: it must not do what another one is for.
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
fn nearest(offered: &Offered, tool: &str) -> Vec<String> {
    // Comparing takes the product of both lengths, and no name is that long.
    if tool.len() > MAX_COMPARED_BYTES {
        return Vec::new();
    }
    let tool = tool.to_lowercase();
    let flat = offered.snapshot.domains().flat_map(|domain| {
        domain
            .actions
            .iter()
            .map(|action| flat_name(&domain.name, &action.name))
    });
    let mut near: Vec<(f64, String)> = offered
        .tools
        .iter()
        .map(|tool| tool.name.to_string())
        .chain(flat)
        .map(|name| (strsim::jaro_winkler(&tool, &name), name))
        .filter(|(alike, _)| *alike >= MIN_SIMILARITY)
        .collect();
    near.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    near.dedup();
    let best = near.first().map_or(0.0, |(alike, _)| *alike);
    near.retain(|(alike, _)| best - alike <= SIMILARITY_MARGIN);
    near.into_iter().take(3).map(|(_, name)| name).collect()
}

/// The name of the tool that is one action.
pub(super) fn flat_name(domain: &str, action: &str) -> String {
    format!("{domain}{FLAT_SEPARATOR}{action}")
}
