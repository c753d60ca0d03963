//! Domains that can be listed but not run: the listing that a server sends to another Notehost, so that a command line
//! elsewhere can offer its actions, and what is known of the local components without running them.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use super::{Domain, EMBEDDED, Snapshot, known_description};
use notehost_config::Settings;
use notehost_runtime::packages::Packages;
use notehost_runtime::{Description, DescriptionError};

impl Snapshot {
    /// Every domain with its actions and arguments. Output schemas are left out.
    pub fn to_listing(&self) -> Value {
        let domains = self.domains().map(|domain| {
            let actions = domain.actions.iter().map(|action| {
                json!({
                    "name": action.name,
                    "description": action.description,
                    "effect": action.effect,
                    "input": action.input,
                })
            });
            json!({
                "name": domain.name,
                "version": domain.version,
                "description": domain.description,
                "actions": actions.collect::<Vec<_>>(),
            })
        });
        json!({ "domains": domains.collect::<Vec<_>>() })
    }

    /// The domains known without running anything: embedded ones, and installed ones whose description is cached. They
    /// can be listed, not called.
    pub fn known(settings: &Settings, state: &Path) -> Snapshot {
        let embedded = EMBEDDED
            .iter()
            .filter_map(|embedded| Description::parse(embedded.description).ok());
        let installed = Packages::of(state).installed().unwrap_or_default();
        let installed = installed
            .components
            .values()
            .filter_map(|component| known_description(&component.current.digest, state));
        // What is installed takes the place of what came with the program.
        let domains: BTreeMap<String, Description> = embedded
            .chain(installed)
            .map(|description| (description.name.clone(), description))
            .collect();
        let mut known = Snapshot::default();
        known.add_own();
        for (name, description) in domains {
            let switches = settings.components.get(&name).cloned().unwrap_or_default();
            known.add(
                &name,
                &switches,
                Ok(Domain::without_component(description)),
                None,
            );
        }
        known
    }

    /// Parses the listing of another Notehost. It is as untrusted as a component's description.
    pub fn from_listing(mut listing: Value) -> Result<Snapshot, DescriptionError> {
        let domains = match listing.get_mut("domains").map(Value::take) {
            Some(Value::Array(domains)) => domains,
            _ => Vec::new(),
        };
        let domains = domains.into_iter().map(|mut domain| {
            let actions = domain.get_mut("actions").and_then(Value::as_array_mut);
            for action in actions.into_iter().flatten() {
                action["output"] = json!({"type": "object", "properties": {}});
            }
            let description = Description::parse(&domain.to_string())?;
            let version = description.version.clone();
            Ok(Domain {
                version,
                ..Domain::without_component(description)
            })
        });
        let domains: Result<_, DescriptionError> = domains.collect();
        Ok(Snapshot::of(domains?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listings_round_trip() {
        let mut own = Snapshot::default();
        own.add_own();
        let read = Snapshot::from_listing(own.to_listing()).expect("it can be read");
        assert_eq!(read.to_listing(), own.to_listing());
        let nothing = Snapshot::from_listing(json!({})).expect("nothing is something");
        assert_eq!(nothing.domains().count(), 0);
    }

    #[test]
    fn listings_with_invalid_names_are_rejected() {
        let bad =
            json!({"domains": [{"name": "a b", "version": "1", "description": "", "actions": []}]});
        assert!(Snapshot::from_listing(bad).is_err());
    }
}
