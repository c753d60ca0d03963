//! Components of every contract there ever was, and of some that there is not: what they are is read before they are
//! compiled, those that a host speaks run side by side, and the others are refused in words.
//!
//! `running`: the frozen components, on a real host. `misfits`: components that nearly fit. `inspecting`: what a file
//! tells of itself. `manifests`: what a component can ever be granted.

mod inspecting;
mod manifests;
mod misfits;
mod running;

use std::path::PathBuf;

use notehost::config::GrantSettings;

use crate::support::place::{Place, component};
use crate::support::repository;

/// A component that was built for this track of the contract, once and for ever.
fn frozen(track: &str) -> PathBuf {
    repository()
        .join("tests/fixtures/contracts")
        .join(format!("{track}.wasm"))
}

fn everything() -> GrantSettings {
    GrantSettings {
        delete: vec!["**".into()],
        ..GrantSettings::default()
    }
}

/// The same bytes with other words in them, which must be as long.
fn with_words(bytes: &[u8], replaced: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for (from, to) in replaced {
        assert_eq!(from.len(), to.len(), "lengths are part of the format");
        let mut found = 0;
        for at in 0..=bytes.len() - from.len() {
            if bytes[at..].starts_with(from.as_bytes()) {
                bytes[at..at + from.len()].copy_from_slice(to.as_bytes());
                found += 1;
            }
        }
        assert!(found > 0, "`{from}` is in it");
    }
    bytes
}

/// Why a component is left out by a host that is asked to load it.
async fn reason(name: &str, bytes: &[u8]) -> String {
    let place = Place::new();
    let file = place.outside().join("component.wasm");
    std::fs::write(&file, bytes).expect("a file");
    let mut settings = place.settings();
    settings
        .components
        .insert(name.into(), component(file, everything()));
    let host = place.host(settings).await;
    let snapshot = host.registry().snapshot();
    match snapshot.broken() {
        [broken] => broken.reason.clone(),
        other => panic!("one component is left out, not {other:?}"),
    }
}
