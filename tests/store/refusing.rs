//! What is not taken: each kind is refused in a sentence, and nothing is lost by it.

use std::path::Path;

use notehost::config::PublisherSettings;

use super::{Desk, version};
use crate::support::guests::guest;
use crate::support::repository;
use crate::support::signer::Signer;

/// A desk on which version 1 of `steady` runs.
fn desk() -> Desk {
    let desk = Desk::new();
    desk.done(&["component", "add", &version("one")]);
    desk
}

/// Whatever is offered in its place, version 1 stays, with every file of the store.
#[track_caller]
fn stays(desk: &Desk, words: &[&str], reason: &str) {
    let before = desk.store();
    let told = desk.refused(words);
    assert!(told.contains(reason), "`{reason}` is not said: {told}");
    assert!(!told.contains("panicked"), "{told}");
    assert_eq!(desk.store(), before, "the store is as it was");
    assert_eq!(desk.call("say", r#"{"text": "a"}"#)["version"], 1);
}

#[test]
fn files_that_are_no_component_of_this_contract() {
    let desk = desk();
    let whole = std::fs::read(version("two")).expect("a component");
    let put = |name: &str, bytes: &[u8]| {
        let file = desk.place.outside().join(name);
        std::fs::write(&file, bytes).expect("a file");
        file.to_str().expect("a path of text").to_owned()
    };
    let other_contract = String::from_utf8_lossy(&whole).contains("notehost:domain/domain@0.1.0");
    assert!(other_contract, "the contract's name stands in it");
    let later = replaced(
        &whole,
        b"notehost:domain/domain@0.1.0",
        b"notehost:domain/domain@0.3.0",
    );
    let kinds = [
        (
            put("garbage.wasm", b"these are not the bytes"),
            "no WebAssembly at all",
        ),
        (put("empty.wasm", b""), "it is empty"),
        (put("cut.wasm", &whole[..whole.len() / 2]), "cut off"),
        (put("core.wasm", b"\0asm\x01\0\0\0"), "core module"),
        (
            put("later.wasm", &later),
            "needs contract 0.3, this host speaks 0.1 and 0.2",
        ),
        (put("large.wasm", &vec![0; (64 << 20) + 1]), "too large"),
        (path(&guest("echo")), "it calls itself `echo`, not `steady`"),
    ];
    for (file, reason) in &kinds {
        stays(&desk, &["component", "upgrade", "steady", file], reason);
    }
    let lost = desk.refused(&["component", "add", "nowhere.wasm"]);
    assert!(lost.contains("cannot be read"), "{lost}");
}

#[test]
fn one_that_imports_what_nobody_has() {
    let desk = Desk::new();
    let smuggler = guest("smuggler_network");
    let told = desk.refused(&["component", "add", &path(&smuggler)]);
    assert!(told.contains("which it was not granted"), "{told}");
    assert!(desk.store().is_empty(), "nothing was made");
}

#[test]
fn one_with_another_digest() {
    let desk = desk();
    let wrong = format!("sha256:{}", "0".repeat(64));
    let two = version("two");
    stays(
        &desk,
        &["component", "upgrade", "steady", &two, "--digest", &wrong],
        "was asked for",
    );
    let told = desk.done(&["component", "inspect", &two]);
    let told: serde_json::Value = serde_json::from_str(&told).expect("JSON");
    let right = told["digest"].as_str().expect("a digest");
    desk.done(&["component", "upgrade", "steady", &two, "--digest", right]);
}

#[test]
fn one_that_asks_for_more_is_held_until_somebody_says_yes() {
    let desk = desk();
    let wide = version("wide");
    stays(
        &desk,
        &["component", "upgrade", "steady", &wide],
        "requests wider access than the current one",
    );
    let done = desk.done(&["component", "upgrade", "steady", &wide, "--yes"]);
    assert!(
        done.contains("action `note` is new; its effect is `write`"),
        "{done}"
    );
}

#[test]
fn unsigned_and_tampered_ones_where_signatures_are_asked_for() {
    let signer = Signer::number(7);
    let desk = Desk::new();
    let mut settings = desk.place.settings();
    settings.trust.publishers = vec![PublisherSettings {
        name: "ana".into(),
        key: signer.public_key(),
        components: None,
    }];
    desk.place.config_file(&settings);
    let file = desk.place.outside().join("steady.wasm");
    std::fs::copy(version("one"), &file).expect("a copy");
    let file_text = path(&file);
    let unsigned = desk.refused(&["component", "add", &file_text, "--require-signed"]);
    assert!(unsigned.contains("not signed"), "{unsigned}");
    let bytes = std::fs::read(&file).expect("a component");
    let beside = desk.place.outside().join("steady.wasm.minisig");
    std::fs::write(&beside, signer.sign(&bytes, "steady 1")).expect("a signature");
    desk.done(&["component", "add", &file_text, "--require-signed"]);

    // The signature of one version does not vouch for another.
    std::fs::copy(version("two"), &file).expect("a copy");
    stays(
        &desk,
        &["component", "upgrade", "steady", &file_text],
        "ana",
    );
}

#[test]
fn what_was_changed_in_the_store_does_not_run() {
    let desk = desk();
    let stored = desk.store();
    let (content, bytes) = stored
        .iter()
        .find(|(path, _)| path.extension().is_some_and(|end| end == "wasm"))
        .expect("a content");
    let mut changed = bytes.clone();
    *changed.last_mut().expect("a byte") ^= 1;
    std::fs::write(content, changed).expect("a file");
    let listed = desk.listed().expect("it is told");
    let problem = listed["problem"].as_str().expect("a problem");
    assert!(
        problem.contains("not the one that was installed"),
        "{problem}"
    );
    // Everything else goes on, and it can be installed again.
    desk.done(&["component", "upgrade", "steady", &version("one")]);
    assert_eq!(desk.call("say", r#"{"text": "a"}"#)["version"], 1);
}

#[test]
fn frozen_components_of_every_contract_are_taken() {
    let desk = Desk::new();
    for contract in ["0.1", "0.2"] {
        let file = repository().join(format!("tests/fixtures/contracts/{contract}.wasm"));
        desk.done(&["component", "add", &path(&file)]);
    }
}

fn path(file: &Path) -> String {
    file.to_str().expect("a path of text").to_owned()
}

fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut bytes = bytes.to_vec();
    let mut at = 0;
    while at + from.len() <= bytes.len() {
        if &bytes[at..at + from.len()] == from {
            bytes[at..at + from.len()].copy_from_slice(to);
            at += from.len();
        } else {
            at += 1;
        }
    }
    bytes
}
