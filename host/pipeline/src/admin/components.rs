//! Lists components and changes the grants of those loaded from files.

use notehost_sdk::{Code, Effect, args, reply};
use std::sync::Arc;

use serde_json::{Value, json};

use super::store::{decided_elsewhere, needs_person_elsewhere};
use super::{AdminAction, AdminCall, Answer, AnyObject, written};
use crate::registry::{Domain, Origin};
use crate::{CallError, Host};
use notehost_config::GrantSettings;
use notehost_runtime::packages::Packages;

/// List the components: version, actions, what is switched off, what is broken.
///
/// Example: `{}`
#[args]
pub(super) struct List {}

/// The components.
#[reply]
pub(super) struct ComponentList {
    items: Vec<ListedComponent>,
    /// Cursor of the next page.
    next_cursor: Option<String>,
}

#[reply]
#[derive(Default)]
struct ListedComponent {
    /// The domain.
    name: String,
    /// Its version.
    version: Option<String>,
    enabled: bool,
    actions: Option<Vec<String>>,
    disabled_actions: Option<Vec<String>>,
    /// `embedded`, or where its file lies.
    origin: Option<&'static str>,
    /// Of its content.
    digest: Option<String>,
    /// In bytes.
    size: Option<u64>,
    /// Why it cannot be used.
    problem: Option<String>,
    /// Why it is switched off.
    because: Option<String>,
    /// Who switched it off.
    by: Option<String>,
}

impl AdminAction for List {
    type Output = ComponentList;
    const EFFECT: Effect = Effect::Read;

    async fn run(self, call: &AdminCall<'_>) -> Answer<ComponentList> {
        let snapshot = call.host.registry().snapshot();
        let settings = call.host.settings();
        let mut items = Vec::new();
        let mut lines = Vec::new();
        for domain in snapshot.domains() {
            let Some(component) = &domain.component else {
                continue;
            };
            let actions = domain.actions.iter().map(|action| action.name.clone());
            let actions: Vec<String> = actions.collect();
            let switches = settings.components.get(&domain.name);
            let off = switches
                .into_iter()
                .flat_map(|switches| &switches.actions)
                .filter(|(_, on)| !**on)
                .map(|(action, _)| action.clone());
            lines.push(format!(
                "{} {}: {} actions",
                domain.name,
                domain.version,
                actions.len()
            ));
            items.push(ListedComponent {
                name: domain.name.clone(),
                version: Some(domain.version.clone()),
                enabled: true,
                actions: Some(actions),
                disabled_actions: Some(off.collect()),
                origin: Some(domain.origin.as_str()),
                digest: Some(format!("sha256:{}", component.digest())),
                size: Some(component.size() as u64),
                ..ListedComponent::default()
            });
        }
        for (name, switches) in &settings.components {
            if !switches.enabled {
                lines.push(format!("{name}: switched off"));
                items.push(ListedComponent {
                    name: name.clone(),
                    because: switches.because.clone(),
                    by: switches.by.clone(),
                    ..ListedComponent::default()
                });
            }
        }
        for broken in snapshot.broken() {
            lines.push(format!("{}: {}", broken.name, broken.reason));
            items.push(ListedComponent {
                name: broken.name.clone(),
                problem: Some(broken.reason.clone()),
                ..ListedComponent::default()
            });
        }
        let next_cursor = None;
        Ok((lines.join("\n"), ComponentList { items, next_cursor }))
    }
}

/// Say which paths, hosts and room a component from a file may use. Replaces what it was granted.
///
/// Example: `{"component": "steady", "read": ["**"], "write": ["Garden/**"]}`
#[args]
pub(super) struct Grant {
    /// The component, by its domain's name.
    component: String,
    /// Globs it may read.
    read: Option<Vec<String>>,
    /// Globs it may also change.
    write: Option<Vec<String>>,
    /// Globs where it may also remove.
    delete: Option<Vec<String>>,
    /// Hosts it may send requests to, such as `api.example.com`.
    http: Option<Vec<String>>,
    /// How much it may keep in its store.
    store_bytes: Option<u64>,
}

/// The grant that is in effect.
#[reply]
pub(super) struct Granted {
    component: String,
    /// What it may use now.
    #[schemars(with = "AnyObject")]
    grant: GrantSettings,
}

impl AdminAction for Grant {
    type Output = Granted;
    const EFFECT: Effect = Effect::Write;

    async fn run(self, call: &AdminCall<'_>) -> Answer<Granted> {
        let (host, component) = (call.host, self.component);
        check_known(host, &component)?;
        let snapshot = host.registry().snapshot();
        let is_embedded = |domain: &Arc<Domain>| domain.origin == Origin::Embedded;
        if snapshot.domain(&component).is_some_and(is_embedded) {
            let message = format!(
                "`{component}` is embedded in Notehost and limited only by the permissions of its caller"
            );
            return Err(CallError::new(Code::Unsupported, message));
        }
        let grant = GrantSettings {
            read: self.read.unwrap_or_default(),
            write: self.write.unwrap_or_default(),
            delete: self.delete.unwrap_or_default(),
            http: self.http.unwrap_or_default(),
            store_bytes: self.store_bytes,
        };
        let now = granted(host, &component);
        if widens(&now, &grant) && needs_person_elsewhere(host, call.caller()) {
            let message =
                format!("this grants `{component}` more than it has, and nothing was changed");
            let command = format!("notehost component grant {component}");
            return Err(decided_elsewhere(call.caller(), message, &command));
        }
        written(
            host.edit_config(|edit| edit.set_grant(&component, &grant))
                .await,
        )?;
        let text = format!("the grant of `{component}` is in effect");
        Ok((text, Granted { component, grant }))
    }
}

/// What the config grants a component.
pub(super) fn granted(host: &Host, component: &str) -> GrantSettings {
    let settings = host.settings();
    let switches = settings.components.get(component);
    switches
        .map(|switches| switches.grant.clone())
        .unwrap_or_default()
}

/// Whether a grant names anything that another does not.
pub(super) fn widens(now: &GrantSettings, new: &GrantSettings) -> bool {
    let adds = |now: &[String], new: &[String]| new.iter().any(|one| !now.contains(one));
    adds(&now.read, &new.read)
        || adds(&now.write, &new.write)
        || adds(&now.delete, &new.delete)
        || adds(&now.http, &new.http)
        || new.store_bytes > now.store_bytes
}

/// Take back everything that a component was granted.
///
/// Example: `{"component": "steady"}`
#[args]
pub(super) struct Revoke {
    /// Its domain's name.
    component: String,
}

/// A component without a grant.
#[reply]
pub(super) struct Revoked {
    /// The component.
    component: String,
}

impl AdminAction for Revoke {
    type Output = Revoked;
    const EFFECT: Effect = Effect::Write;

    async fn run(self, call: &AdminCall<'_>) -> Answer<Revoked> {
        let (host, component) = (call.host, self.component);
        check_known(host, &component)?;
        written(host.edit_config(|edit| edit.remove_grant(&component)).await)?;
        let text = format!("the grant of `{component}` was revoked");
        Ok((text, Revoked { component }))
    }
}

/// Checks that a component exists; it may be disabled or broken.
pub(super) fn check_known(host: &Host, name: &str) -> Result<(), CallError> {
    let snapshot = host.registry().snapshot();
    let is_loaded = snapshot
        .domain(name)
        .is_some_and(|domain| domain.component.is_some());
    let lock = Packages::of(host.state()).installed().unwrap_or_default();
    let is_named = host.settings().components.contains_key(name);
    if is_loaded || is_named || lock.components.contains_key(name) {
        return Ok(());
    }
    let names: Vec<Value> = snapshot
        .domains()
        .filter(|domain| domain.component.is_some())
        .map(|domain| domain.name.clone().into())
        .collect();
    Err(
        CallError::new(Code::NotFound, format!("no component `{name}`"))
            .with_details(json!({ "components": names })),
    )
}
