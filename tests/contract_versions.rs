//! Components of every contract version, and of unknown ones: they are inspected before they are compiled, supported
//! ones run side by side, and the others are rejected with a clear message.
//!
//! `frozen_components`: the frozen components on a real host. `mismatches`: components with a mismatch. `inspection`:
//! metadata of a component file. `manifests`: the maximum rights of a component.

mod frozen_components;
mod inspection;
mod manifests;
mod mismatches;

use std::path::PathBuf;

use notehost::config::GrantSettings;

use crate::support::place::{Place, component};
use crate::support::repository;

/// The frozen component of this contract track.
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

/// The same bytes with words replaced by others of the same length.
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

/// Why a host rejects a component.
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
