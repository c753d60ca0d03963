//! A domain as callers see it: the component's description, with what the host adds to every action.

use std::sync::{Arc, OnceLock};

use jsonschema::Validator;
use notehost_sdk::Prompt;
use serde_json::{Map, Value, json};

use super::examples::{self, Example};
use notehost_config::{LimitSettings, Settings};
use notehost_policy::auth::{Scope, Scopes};
use notehost_policy::{Grant, HostGrant};
use notehost_runtime::{ActionDescription, Component, Description, Manifest};
use notehost_vault::Effect;

/// The arguments that the host handles for every action; reserved names for components.
pub const COMMON_ARGUMENTS: [&str; 5] = [
    "vault",
    "dry_run",
    "if_match",
    "idempotency_key",
    "approval",
];

/// A domain that can be called.
#[derive(Clone)]
pub struct Domain {
    /// Its name.
    pub name: String,
    /// Its component's version.
    pub version: String,
    /// What it is for.
    pub description: String,
    /// Its actions, without disabled ones.
    pub actions: Vec<Arc<Action>>,
    /// Its prompts.
    pub prompts: Arc<[Prompt]>,
    /// The component that runs it; `None` is the host itself.
    pub component: Option<Arc<Component>>,
    /// The component's grant, limited by its manifest.
    pub grant: Arc<Grant>,
    /// Where it comes from.
    pub origin: Origin,
    /// Which hosts the component may send requests to.
    pub reach: Arc<HostGrant>,
    /// The author's ceiling on what the component can be granted.
    pub manifest: Arc<Manifest>,
    /// The name, shared.
    pub shared_name: Arc<str>,
    /// The signature that its component was loaded with.
    pub signature: Option<Arc<str>>,
}

/// Where a domain comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// It is part of the program.
    Embedded,
    /// It was installed.
    Installed,
    /// Its file is named in the config.
    File,
}

impl Origin {
    /// Its name in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Origin::Embedded => "embedded",
            Origin::Installed => "installed",
            Origin::File => "file",
        }
    }
}

/// An action that can be called.
pub struct Action {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// Examples of calls.
    pub examples: Vec<Example>,
    /// Its effect on notes.
    pub effect: Effect,
    /// The JSON Schema of its arguments, with those that the host handles.
    pub input: Map<String, Value>,
    /// The JSON Schema of its reply, with what the host adds.
    pub output: Map<String, Value>,
    /// The JSON Schema of the arguments that the component gets.
    own_input: Map<String, Value>,
    validator: OnceLock<Result<Validator, String>>,
}

/// Why a description is not a valid domain.
#[derive(Debug, thiserror::Error)]
pub enum DomainError {
    /// It declares an argument that the host handles.
    #[error("action `{action}` declares the argument `{argument}`, which the host handles itself")]
    OfHost {
        /// Which action.
        action: String,
        /// Which argument.
        argument: String,
    },
    /// An action's effect exceeds the manifest.
    #[error(
        "action `{action}` has the effect `{}`, but the component's manifest allows at most `{}`",
        .effect.as_str(),
        .ceiling.as_str()
    )]
    AboveManifest {
        /// Which action.
        action: String,
        /// Its effect on notes.
        effect: Effect,
        /// The maximum effect in the manifest.
        ceiling: Effect,
    },
}

impl Domain {
    pub(super) fn new(
        description: Description,
        component: Component,
        manifest: Manifest,
        grant: Grant,
        several_vaults: bool,
    ) -> Result<Domain, DomainError> {
        let grant = match manifest.effect {
            Some(ceiling) => {
                check_ceiling(&description, ceiling)?;
                grant.within(ceiling)
            }
            None => grant,
        };
        Ok(Domain {
            shared_name: Arc::from(description.name.as_str()),
            signature: None,
            name: description.name,
            version: description.version,
            description: description.description,
            actions: description
                .actions
                .into_iter()
                .map(|action| Action::new(action, several_vaults).map(Arc::new))
                .collect::<Result<_, _>>()?,
            prompts: description.prompts.into(),
            component: Some(Arc::new(component)),
            grant: Arc::new(grant),
            origin: Origin::Embedded,
            reach: Arc::default(),
            manifest: Arc::new(manifest),
        })
    }

    /// A domain without a component: the host runs its actions itself, and they use no vault.
    pub(super) fn without_component(description: Description) -> Domain {
        let actions = description.actions.into_iter().map(|described| {
            let (prose, examples) = examples::split(&described.description);
            Arc::new(Action {
                description: prose,
                examples,
                input: with_key(&described.input, described.effect),
                own_input: described.input,
                output: described.output,
                name: described.name,
                effect: described.effect,
                validator: OnceLock::new(),
            })
        });
        Domain {
            shared_name: Arc::from(description.name.as_str()),
            signature: None,
            actions: actions.collect(),
            prompts: description.prompts.into(),
            name: description.name,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            description: description.description,
            component: None,
            grant: Arc::new(Grant::nothing()),
            origin: Origin::Embedded,
            reach: Arc::default(),
            manifest: Arc::default(),
        }
    }

    /// The action of that name.
    pub fn action(&self, name: &str) -> Option<&Action> {
        let mut actions = self.actions.iter().map(Arc::as_ref);
        actions.find(|action| action.name == name)
    }

    /// The limits of one call: as configured, and no more than the component's author requests.
    pub fn limits(&self, settings: &Settings) -> LimitSettings {
        let mut limits = settings.limits_of(&self.name);
        let ceiling = &self.manifest.limits;
        if let Some(most) = ceiling.memory_bytes {
            let most = usize::try_from(most).unwrap_or(usize::MAX);
            limits.memory_bytes = limits.memory_bytes.min(most);
        }
        limits.call_ms = limits.call_ms.min(ceiling.call_ms.unwrap_or(u64::MAX));
        let most = self.manifest.store_bytes.unwrap_or(u64::MAX);
        limits.store_bytes = limits.store_bytes.min(most);
        limits
    }

    /// What a caller needs to be allowed to call an action.
    pub fn scope_of(&self, action: &Action) -> Scope {
        match self.component {
            Some(_) => Scope::of(action.effect),
            None => Scope::Admin,
        }
    }

    /// The domain with those actions that these scopes allow; `None` if that is none.
    pub(super) fn seen_with(&self, scopes: &Scopes) -> Option<Domain> {
        let is_allowed = |action: &&Arc<Action>| scopes.allow(&self.name, self.scope_of(action));
        let actions: Vec<Arc<Action>> = self.actions.iter().filter(is_allowed).cloned().collect();
        (!actions.is_empty()).then(|| Domain {
            actions,
            ..self.clone()
        })
    }
}

impl Action {
    fn new(described: ActionDescription, several_vaults: bool) -> Result<Action, DomainError> {
        let declared = described.input.get("properties").and_then(Value::as_object);
        if let Some(taken) = COMMON_ARGUMENTS
            .into_iter()
            .find(|name| declared.is_some_and(|declared| declared.contains_key(*name)))
        {
            return Err(DomainError::OfHost {
                action: described.name,
                argument: taken.to_owned(),
            });
        }
        let (prose, examples) = examples::split(&described.description);
        Ok(Action {
            description: prose,
            examples,
            input: with_common_arguments(&described.input, described.effect, several_vaults),
            output: with_vault(
                with_changes(&described.output, described.effect),
                several_vaults,
            ),
            own_input: described.input,
            name: described.name,
            effect: described.effect,
            validator: OnceLock::new(),
        })
    }

    /// The JSON Schema of the arguments that the component gets.
    pub fn own_input(&self) -> &Map<String, Value> {
        &self.own_input
    }

    /// The validator of the component's arguments, created at the first call.
    pub fn validator(&self) -> Result<&Validator, &str> {
        self.validator
            .get_or_init(|| {
                jsonschema::options()
                    .build(&Value::Object(self.own_input.clone()))
                    .map_err(|error| error.to_string())
            })
            .as_ref()
            .map_err(String::as_str)
    }
}

/// Checks that no action exceeds the manifest's effect.
fn check_ceiling(description: &Description, ceiling: Effect) -> Result<(), DomainError> {
    let mut actions = description.actions.iter();
    match actions.find(|action| action.effect > ceiling) {
        Some(above) => Err(DomainError::AboveManifest {
            action: above.name.clone(),
            effect: above.effect,
            ceiling,
        }),
        None => Ok(()),
    }
}

fn with_common_arguments(
    input: &Map<String, Value>,
    effect: Effect,
    several_vaults: bool,
) -> Map<String, Value> {
    let mut common = Map::new();
    if several_vaults {
        common.insert(
            "vault".into(),
            json!({"type": "string", "description": "The id of the vault, if not the default one"}),
        );
    }
    if effect > Effect::Read {
        common.insert(
            "dry_run".into(),
            json!({"type": "boolean", "description": "Show the diff, change nothing"}),
        );
        common.insert(
            "if_match".into(),
            json!({"type": "string", "description": "The etag that was read; `conflict` if the note changed since"}),
        );
        common.insert("idempotency_key".into(), idempotency_key());
        common.insert(
            "approval".into(),
            json!({"type": "string", "description": "The id from `confirmation_required`, once approved"}),
        );
    }
    with_properties(input, common)
}

fn idempotency_key() -> Value {
    json!({"type": "string", "description": "The same key returns the same reply for a day"})
}

/// Of the arguments that the host handles, those that make sense without a vault.
fn with_key(input: &Map<String, Value>, effect: Effect) -> Map<String, Value> {
    let mut common = Map::new();
    if effect > Effect::Read {
        common.insert("idempotency_key".into(), idempotency_key());
    }
    with_properties(input, common)
}

/// The vault of a reply, where there are several. A component may state it itself.
fn with_vault(output: Map<String, Value>, several_vaults: bool) -> Map<String, Value> {
    let is_stated = output
        .get("properties")
        .is_some_and(|properties| properties.get("vault").is_some());
    if !several_vaults || is_stated {
        return output;
    }
    let vault = json!({"type": "string", "description": "The vault of this call"});
    with_properties(&output, [("vault".to_owned(), vault)].into_iter().collect())
}

/// What the host adds to the reply of an action.
fn with_changes(output: &Map<String, Value>, effect: Effect) -> Map<String, Value> {
    if effect == Effect::Read {
        // Returned if `dry_run` was set for an action that only reads.
        let none = json!({"type": "array", "items": {"type": "object"}});
        let added = [
            ("changes".to_owned(), none),
            ("dry_run".to_owned(), json!({"type": "boolean"})),
        ];
        return with_properties(output, added.into_iter().collect());
    }
    let added = json!({
        "changes": {
            "type": "array",
            "description": "What changed",
            "items": {
                "type": "object",
                "properties": {
                    "path": {"type": "string"},
                    "kind": {"type": "string", "enum": ["create", "modify", "rename", "delete"]},
                    "from": {"type": "string"},
                    "etag": {"type": "string"},
                    "added": {"type": "integer"},
                    "removed": {"type": "integer"},
                    "diff": {"type": "string"},
                },
                "required": ["path", "kind", "added", "removed"],
            },
        },
        "changes_total": {"type": "integer", "description": "The total number, if not all are listed"},
        "change": {"type": "string", "description": "The id for `undo`"},
        "dry_run": {"type": "boolean"},
    });
    match added {
        Value::Object(added) => with_properties(output, added),
        _ => output.clone(),
    }
}

fn with_properties(schema: &Map<String, Value>, added: Map<String, Value>) -> Map<String, Value> {
    let mut schema = schema.clone();
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.extend(added);
    }
    schema
}
