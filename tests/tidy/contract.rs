//! Interfaces that others rely on: the contract with components, and the descriptions of the first-party ones.

use std::path::PathBuf;

use notehost::registry::EMBEDDED;
use notehost::runtime::{Component, Runtime};

use crate::support::place::Place;
use crate::support::repository;

fn update() -> bool {
    std::env::var_os("UPDATE").is_some()
}

/// Compares a file of the repository with its expected content; `UPDATE=1` writes it.
#[track_caller]
fn assert_says(file: PathBuf, expected: &str, otherwise: &str) {
    if update() {
        std::fs::write(&file, expected).expect("the file can be written");
        return;
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(found == expected, "{}: {otherwise}", file.display());
}

/// The released contracts: the version and the file of each.
const CONTRACTS: [(&str, &str); 1] = [("1.0.0-rc.1", "wit/domain.wit")];

/// Within a track only comments may change. The components that were built for it never change.
#[test]
fn contracts_are_frozen() {
    let mut frozen = String::new();
    for (track, file) in CONTRACTS {
        let contract = std::fs::read_to_string(repository().join(file)).expect("the contract");
        let words: Vec<&str> = contract
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
            .flat_map(str::split_whitespace)
            .collect();
        let digest = blake3::hash(words.join(" ").as_bytes()).to_hex();
        frozen.push_str(&format!("{digest} {file}\n"));
        let component = format!("tests/fixtures/contracts/{track}.wasm");
        let bytes = std::fs::read(repository().join(&component)).expect("the component");
        let digest = blake3::hash(&bytes).to_hex();
        frozen.push_str(&format!("{digest} {component}\n"));
    }
    assert_says(
        repository().join("tests/frozen-wit.txt"),
        &frozen,
        "a contract or a component built for it changed. wit/README.md lists what may change within a track; accept an allowed change with UPDATE=1",
    );
}

/// The descriptions are files, so that listing the tools needs neither compilation nor a guest.
#[tokio::test]
async fn component_descriptions_are_up_to_date() {
    let place = Place::new();
    let runtime =
        Runtime::new(&place.settings().limits, &place.state().join("compiled")).expect("a runtime");
    for embedded in EMBEDDED {
        let component = Component::embedded(embedded);
        let description = runtime.describe(&component).await.expect("a description");
        assert_eq!(description.name, embedded.name);
        let json = serde_json::to_string_pretty(&description).expect("JSON");
        assert_says(
            repository()
                .join("components")
                .join(embedded.name)
                .join("description.json"),
            &format!("{json}\n"),
            "does not match the component; run with UPDATE=1",
        );
    }
}
