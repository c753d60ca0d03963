//! A snapshot of what is loaded: the domains that can be called, and why others cannot.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::domain::{Domain, Origin};
use super::loading::AddError;
use crate::admin;
use notehost_config::{ComponentSettings, Settings, SwitchReason};
use notehost_policy::auth::Scopes;
use notehost_runtime::Description;
use notehost_vault::Effect;

/// A snapshot of what is loaded.
#[derive(Default)]
pub struct Snapshot {
    domains: BTreeMap<String, Arc<Domain>>,
    /// The embedded domains including disabled parts, reused by the next snapshot.
    embedded: BTreeMap<String, Domain>,
    /// Disabled by the config.
    disabled: BTreeMap<String, Vec<String>>,
    /// Why and by whom, keyed by `domain` or `domain.action`.
    reasons: BTreeMap<String, SwitchedOff>,
    broken: Vec<Broken>,
}

/// A component that the config names and that cannot be used.
#[derive(Debug, Clone)]
pub struct Broken {
    /// Its name in the config.
    pub name: String,
    /// Why.
    pub reason: String,
    /// A hint for the operator.
    pub hint: Option<String>,
}

/// Why something is not in the snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absence {
    /// It is unknown.
    Unknown,
    /// An admin disabled it.
    Disabled,
}

/// Something disabled by an admin.
#[derive(Debug, Clone, Default)]
pub struct SwitchedOff {
    /// Why and by whom.
    pub reason: SwitchReason,
    /// The effect of the action, if known.
    pub effect: Option<Effect>,
}

impl Snapshot {
    /// Reuses compiled domains of another snapshot.
    pub(super) fn keep_compiled(&mut self, before: &Snapshot) {
        for (name, domain) in &mut self.domains {
            let old = before
                .domains
                .get(name)
                .and_then(|old| old.component.as_ref());
            if let (Some(old), Some(new)) = (old, &domain.component)
                && old.is_same_as(new)
            {
                let component = Some(old.clone());
                *domain = Arc::new(Domain {
                    component,
                    ..(**domain).clone()
                });
            }
        }
    }

    /// These domains and nothing else.
    pub(super) fn of(domains: Vec<Domain>) -> Snapshot {
        let domains = domains
            .into_iter()
            .map(|domain| (domain.name.clone(), Arc::new(domain)));
        Snapshot {
            domains: domains.collect(),
            ..Snapshot::default()
        }
    }

    /// The domains that can be called, by name.
    pub fn domains(&self) -> impl Iterator<Item = &Arc<Domain>> {
        self.domains.values()
    }

    /// A domain that can be called.
    pub fn domain(&self, name: &str) -> Option<&Arc<Domain>> {
        self.domains.get(name)
    }

    /// The part visible to a caller with these scopes.
    pub fn seen_with(&self, scopes: &Scopes) -> Snapshot {
        let seen = self
            .domains
            .iter()
            .filter_map(|(name, domain)| Some((name.clone(), Arc::new(domain.seen_with(scopes)?))));
        Snapshot {
            domains: seen.collect(),
            embedded: BTreeMap::new(),
            disabled: self.disabled.clone(),
            reasons: self.reasons.clone(),
            broken: Vec::new(),
        }
    }

    /// Components that the config names and that cannot be used.
    pub fn broken(&self) -> &[Broken] {
        &self.broken
    }

    /// The switch of a disabled domain or action.
    pub fn switched_off(&self, domain: &str, action: Option<&str>) -> Option<&SwitchedOff> {
        match action {
            None => self.reasons.get(domain),
            Some(action) => self.reasons.get(&format!("{domain}.{action}")),
        }
    }

    /// The names of the domains that are switched off as a whole.
    pub fn disabled_domains(&self) -> impl Iterator<Item = &str> {
        let whole = self
            .disabled
            .iter()
            .filter(|(_, actions)| actions.is_empty());
        whole.map(|(name, _)| name.as_str())
    }

    /// Why a domain is not available.
    pub fn absence_of_domain(&self, name: &str) -> Absence {
        match self.disabled.get(name) {
            Some(actions) if actions.is_empty() => Absence::Disabled,
            _ => Absence::Unknown,
        }
    }

    /// Why an action of a domain that is there is not.
    pub fn absence_of_action(&self, domain: &str, action: &str) -> Absence {
        match self.disabled.get(domain) {
            Some(actions) if actions.iter().any(|name| name == action) => Absence::Disabled,
            _ => Absence::Unknown,
        }
    }

    /// The domain that the host itself offers.
    pub(super) fn add_own(&mut self) {
        match Description::parse(&admin::describe().to_string()) {
            Ok(description) => {
                let domain = Domain::without_component(description);
                self.domains.insert(domain.name.clone(), Arc::new(domain));
            }
            Err(error) => tracing::error!("{error}"),
        }
    }

    /// Adds a domain according to its switches. One that cannot be used is logged and skipped, unless a version of it
    /// ran before: then that stays in use.
    pub(super) fn add(
        &mut self,
        name: &str,
        switches: &ComponentSettings,
        added: Result<Domain, AddError>,
        running: Option<&Arc<Domain>>,
    ) {
        if !switches.enabled {
            self.switch_off(name, switches);
            return;
        }
        let is_taken = self
            .domains
            .get(name)
            .is_some_and(|taken| taken.component.is_none());
        let added = match is_taken {
            true => Err(AddError::OfHost),
            false => added,
        };
        match added {
            Ok(domain) => self.put(domain, switches),
            Err(error) => {
                let hint = error.hint();
                let running = running.filter(|running| running.component.is_some() && !is_taken);
                let reason = match &running {
                    Some(running) => {
                        self.put((***running).clone(), switches);
                        format!("{error}; version {} stays in use", running.version)
                    }
                    None => error.to_string(),
                };
                tracing::error!(component = name, "cannot be used: {reason}");
                self.broken.push(Broken {
                    name: name.to_owned(),
                    reason,
                    hint,
                });
            }
        }
    }

    /// A domain that came with the program, as it is before anything is switched off.
    pub(super) fn embedded(&self, name: &str) -> Option<&Domain> {
        self.embedded.get(name)
    }

    /// Remember a domain that came with the program.
    pub(super) fn keep_embedded(&mut self, domain: &Domain) {
        self.embedded.insert(domain.name.clone(), domain.clone());
    }

    /// Records a problem with a source of components; domains from it stay in use.
    pub(super) fn keep_installed<'a>(
        &mut self,
        reason: String,
        settings: &Settings,
        before: impl Iterator<Item = &'a Arc<Domain>>,
    ) {
        tracing::error!("{reason}");
        for domain in before.filter(|domain| domain.origin == Origin::Installed) {
            let switches = settings.components.get(&domain.name).cloned();
            self.put((**domain).clone(), &switches.unwrap_or_default());
        }
        self.broken.push(Broken {
            name: "installed components".to_owned(),
            reason,
            hint: None,
        });
    }

    fn switch_off(&mut self, name: &str, switches: &ComponentSettings) {
        // An empty list stands for the whole domain.
        self.disabled.insert(name.to_owned(), Vec::new());
        self.domains.remove(name);
        let reason = SwitchReason {
            because: switches.because.clone(),
            by: switches.by.clone(),
        };
        let off = SwitchedOff {
            reason,
            effect: None,
        };
        self.reasons.insert(name.to_owned(), off);
    }

    fn put(&mut self, mut domain: Domain, switches: &ComponentSettings) {
        let name = domain.name.clone();
        let off: Vec<String> = switches
            .actions
            .iter()
            .filter(|(_, on)| !**on)
            .map(|(action, _)| action.clone())
            .collect();
        for action in &off {
            let off = SwitchedOff {
                reason: switches.reasons.get(action).cloned().unwrap_or_default(),
                effect: domain.action(action).map(|action| action.effect),
            };
            self.reasons.insert(format!("{name}.{action}"), off);
        }
        domain.actions.retain(|action| !off.contains(&action.name));
        if !off.is_empty() {
            self.disabled.insert(name.clone(), off);
        }
        self.domains.insert(name, Arc::new(domain));
    }
}
