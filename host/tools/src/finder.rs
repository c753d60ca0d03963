//! The surface with three tools, for clients with a small tool budget: find an action, describe it, call it.

use std::sync::Arc;

use notehost_sdk::Code;
use serde_json::{Map, Value, json};

use crate::ranking::{Entry, Ranking};
use crate::resolve::{Target, required_text};
use crate::surface::ToolSet;
use crate::tool::{Annotations, Tool};
use crate::{help, schema};
use notehost_pipeline::registry::{Action, Domain, Snapshot};
use notehost_pipeline::{CallError, Reply};
use notehost_vault::Effect;

/// One of the three tools.
#[derive(Clone, Copy)]
pub(crate) enum Step {
    Find,
    Describe,
    Call,
}

impl Step {
    fn name(self) -> &'static str {
        match self {
            Step::Find => "find_action",
            Step::Describe => "describe_action",
            Step::Call => "call_action",
        }
    }

    /// The tool with that name.
    pub(crate) fn named(name: &str) -> Option<Step> {
        [Step::Find, Step::Describe, Step::Call]
            .into_iter()
            .find(|step| step.name() == name)
    }
}

const DEFAULT_FOUND: usize = 8;

/// The three tools.
pub(crate) fn tools(snapshot: &Snapshot) -> Vec<Tool> {
    let domains: Vec<&str> = snapshot
        .domains()
        .map(|domain| domain.name.as_str())
        .collect();
    let text = |about: &str| json!({ "type": "string", "description": about });
    let read_only = |title: &str| Annotations {
        title: title.to_owned(),
        read_only: true,
        destructive: false,
        idempotent: true,
        open_world: false,
    };
    vec![
        tool(
            Step::Find,
            format!(
                "Find what can be done with the notes, by words such as `rename note` or `backlinks`. \
                 Domains: {}.",
                domains.join(", ")
            ),
            json!({ "query": text("What you want to do"), "limit": { "type": "integer", "minimum": 1 } }),
            json!(["query"]),
            read_only("Find an action"),
        ),
        tool(
            Step::Describe,
            "Read what an action does and which arguments it takes. Do this before the first call of an action."
                .to_owned(),
            json!({ "domain": text("As found"), "action": text("As found") }),
            json!(["domain", "action"]),
            read_only("Describe an action"),
        ),
        tool(
            Step::Call,
            "Call an action.".to_owned(),
            json!({
                "domain": text("As found"),
                "action": text("As found"),
                "arguments": { "type": "object", "description": "As `describe_action` lists them" },
            }),
            json!(["domain", "action"]),
            Annotations {
                title: "Call an action".to_owned(),
                read_only: false,
                destructive: true,
                idempotent: false,
                open_world: snapshot.domains().any(|domain| domain.reach.is_open()),
            },
        ),
    ]
}

fn tool(
    step: Step,
    description: String,
    properties: Value,
    required: Value,
    annotations: Annotations,
) -> Tool {
    let schema =
        schema::object(json!({ "type": "object", "properties": properties, "required": required }));
    Tool {
        name: step.name().to_owned(),
        description,
        input_schema: Arc::new(schema),
        output_schema: None,
        annotations,
    }
}

/// Resolves a call of one of the three tools.
pub(crate) fn resolve(
    tools: &ToolSet,
    step: Step,
    mut arguments: Map<String, Value>,
) -> Result<Target, CallError> {
    match step {
        Step::Find => {
            let query = required_text(&mut arguments, "query")?;
            let limit = arguments.get("limit").and_then(Value::as_u64);
            let limit = limit
                .and_then(|limit| usize::try_from(limit).ok())
                .unwrap_or(DEFAULT_FOUND);
            Ok(Target::Answer(find(tools, &query, limit)))
        }
        Step::Describe => describe(&tools.snapshot, arguments).map(Target::Answer),
        Step::Call => call(arguments),
    }
}

fn describe(snapshot: &Snapshot, mut arguments: Map<String, Value>) -> Result<Reply, CallError> {
    let domain = required_text(&mut arguments, "domain")?;
    let action = required_text(&mut arguments, "action")?;
    let Some(domain) = snapshot.domain(&domain) else {
        let names: Vec<&str> = snapshot
            .domains()
            .map(|domain| domain.name.as_str())
            .collect();
        return Err(CallError::new(
            Code::NotFound,
            format!("no domain `{domain}`: {}", help::quoted(&names)),
        ));
    };
    help::reply(domain, Some(&action))
}

fn call(mut arguments: Map<String, Value>) -> Result<Target, CallError> {
    let domain = required_text(&mut arguments, "domain")?;
    let action = required_text(&mut arguments, "action")?;
    let arguments = match arguments.remove("arguments") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(arguments)) => arguments,
        Some(_) => {
            return Err(CallError::new(
                Code::ValidationError,
                "`arguments` must be an object, such as `{\"path\": \"Work/Plan.md\"}`",
            ));
        }
    };
    Ok(Target::Call {
        domain,
        action,
        arguments,
    })
}

/// All actions in the order that a ranking uses.
fn actions(snapshot: &Snapshot) -> impl Iterator<Item = (&Domain, &Action)> {
    snapshot.domains().flat_map(|domain| {
        let actions = domain.actions.iter();
        actions.map(move |action| (domain.as_ref(), action.as_ref()))
    })
}

/// The searchable index of actions.
pub(crate) fn ranking(snapshot: &Snapshot) -> Ranking {
    Ranking::new(actions(snapshot).map(|(domain, action)| Entry {
        domain: &domain.name,
        action: &action.name,
        description: &action.description,
        changes: action.effect > Effect::Read,
    }))
}

/// The best matching actions, the best first.
fn find(tools: &ToolSet, query: &str, limit: usize) -> Reply {
    let all: Vec<(&Domain, &Action)> = actions(&tools.snapshot).collect();
    let mut text = String::new();
    let mut items = Vec::new();
    for at in tools.ranking().best(query).into_iter().take(limit.max(1)) {
        let (domain, action) = all[at];
        let sentence = help::first_sentence(&action.description, 160);
        let signature = help::signature(action);
        text.push_str(&format!("{} {signature}: {sentence}\n", domain.name));
        items.push(json!({
            "domain": domain.name,
            "action": action.name,
            "signature": signature,
            "effect": action.effect.as_str(),
            "description": sentence,
        }));
    }
    if items.is_empty() {
        let domains = tools.snapshot.domains();
        let domains: Vec<&str> = domains.map(|domain| domain.name.as_str()).collect();
        text = format!(
            "no action matches `{query}`; domains: {}",
            help::quoted(&domains)
        );
    }
    help::answer(text.trim_end().to_owned(), json!({ "items": items }))
}
