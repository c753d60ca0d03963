//! The MCP tools for the actions of loaded components: a pure function of the snapshot and the surface. Tools keep the
//! snapshot's order, so that equal snapshots give equal lists. Their texts come from `wording`.

use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};

use crate::ranking::Ranking;
use crate::tool::{Annotations, Tool};
use crate::wording::{self, Draft, Place};
use crate::{finder, resolve, schema};
use notehost_config::Surface;
use notehost_pipeline::registry::{Action, Domain, Snapshot};
use notehost_vault::Effect;

/// The size limit of all tools of a surface, because a client sends them to its model with every message. The response
/// of `tools/list` is some bytes longer.
const ENVELOPE_BYTES: usize = 256;
const DOMAIN_BYTES: usize = (24 << 10) - ENVELOPE_BYTES;
const SPLIT_BYTES: usize = (32 << 10) - ENVELOPE_BYTES;

/// The tools visible to a caller, with the domains that they are made from.
pub struct ToolSet {
    /// The domains visible to the caller.
    pub snapshot: Snapshot,
    /// The tools of the surface.
    pub tools: Vec<Tool>,
    /// Built at the first search.
    ranking: OnceLock<Ranking>,
}

impl ToolSet {
    /// Builds the tools of these domains for a surface.
    pub fn new(snapshot: Snapshot, surface: Surface) -> ToolSet {
        ToolSet {
            tools: tools(&snapshot, surface),
            snapshot,
            ranking: OnceLock::new(),
        }
    }

    /// The searchable index of actions.
    pub(crate) fn ranking(&self) -> &Ranking {
        self.ranking.get_or_init(|| finder::ranking(&self.snapshot))
    }
}

/// The tools of a surface.
pub fn tools(snapshot: &Snapshot, surface: Surface) -> Vec<Tool> {
    let domains = || snapshot.domains().map(Arc::as_ref);
    match surface {
        Surface::Domain => {
            let drafts: Vec<Draft<'_>> = domains().map(of_domain).collect();
            wording::within(DOMAIN_BYTES, &drafts)
        }
        Surface::Split => {
            let drafts: Vec<Draft<'_>> = domains().flat_map(by_effect).collect();
            wording::within(SPLIT_BYTES, &drafts)
        }
        Surface::Flat => domains().flat_map(by_action).collect(),
        Surface::Finder => finder::tools(snapshot),
    }
}

fn of_domain(domain: &Domain) -> Draft<'_> {
    let actions: Vec<&Action> = domain.actions.iter().map(Arc::as_ref).collect();
    let hints = annotations(domain, title(&domain.name), &actions);
    Draft::new(domain, Place::First, domain.name.clone(), actions, hints)
}

fn by_effect(domain: &Domain) -> impl Iterator<Item = Draft<'_>> {
    let mut place = Place::First;
    [Effect::Read, Effect::Write, Effect::Delete]
        .into_iter()
        .filter_map(move |effect| {
            let actions = domain.actions.iter().map(Arc::as_ref);
            let actions: Vec<&Action> = actions.filter(|action| action.effect == effect).collect();
            let name = resolve::split_tool(&domain.name, effect);
            let title = format!("{}: {}", title(&domain.name), effect.as_str());
            let hints = annotations(domain, title, &actions);
            (!actions.is_empty()).then(|| {
                let place = std::mem::replace(&mut place, Place::After);
                Draft::new(domain, place, name, actions, hints)
            })
        })
}

fn by_action(domain: &Domain) -> impl Iterator<Item = Tool> {
    domain.actions.iter().map(move |action| {
        let name = resolve::flat_name(&domain.name, &action.name);
        let title = format!("{}: {}", title(&domain.name), action.name.replace('_', " "));
        // MCP requires an object schema here; other output schemas are left out.
        let has_object = action.output.get("type") == Some(&Value::from("object"));
        Tool {
            name,
            description: wording::of_action(action),
            input_schema: Arc::new(schema::plain(&action.input)),
            output_schema: has_object.then(|| Arc::new(without_descriptions(&action.output))),
            annotations: annotations(domain, title, &[action]),
        }
    })
}

/// A schema without descriptions: no client shows output schemas to its model.
fn without_descriptions(schema: &Map<String, Value>) -> Map<String, Value> {
    let mut schema = schema.clone();
    schema.retain(|keyword, _| keyword != "description");
    for keyword in ["properties", "$defs"] {
        if let Some(Value::Object(inner)) = schema.get_mut(keyword) {
            inner.values_mut().for_each(remove_descriptions);
        }
    }
    for keyword in ["items", "additionalProperties"] {
        schema
            .get_mut(keyword)
            .into_iter()
            .for_each(remove_descriptions);
    }
    schema
}

fn remove_descriptions(schema: &mut Value) {
    if let Value::Object(inner) = schema {
        *inner = without_descriptions(inner);
    }
}

fn title(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string());
    format!(
        "{}{}",
        first.unwrap_or_default(),
        letters.as_str().replace('_', " ")
    )
}

/// The annotations of a tool with these actions of a domain.
fn annotations(domain: &Domain, title: String, actions: &[&Action]) -> Annotations {
    let strongest = actions
        .iter()
        .map(|action| action.effect)
        .max()
        .unwrap_or(Effect::Read);
    Annotations {
        title,
        read_only: strongest == Effect::Read,
        destructive: strongest == Effect::Delete,
        idempotent: strongest == Effect::Read,
        open_world: domain.reach.is_open(),
    }
}
