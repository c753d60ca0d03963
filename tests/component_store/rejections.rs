//! Rejected components: each with a clear message and without any change.

use std::path::Path;

use notehost::config::PublisherSettings;

use super::{Workspace, version};
use crate::support::guests::guest;
use crate::support::repository;
use crate::support::signer::Signer;

/// A setup in which version 1 of `steady` runs.
fn workspace() -> Workspace {
    let workspace = Workspace::new();
    workspace.succeed(&["component", "add", &version("one")]);
    workspace
}

/// The command fails with this reason; version 1 stays, with every file of the store.
#[track_caller]
fn assert_rejected(workspace: &Workspace, arguments: &[&str], reason: &str) {
    let before = workspace.store();
    let report = workspace.fail(arguments);
    assert!(report.contains(reason), "missing `{reason}`: {report}");
    assert!(!report.contains("panicked"), "{report}");
    assert_eq!(workspace.store(), before, "the store is as it was");
    assert_eq!(workspace.call("say", r#"{"text": "a"}"#)["version"], 1);
}

#[test]
fn files_without_a_valid_component_are_rejected() {
    let workspace = workspace();
    let whole = std::fs::read(version("two")).expect("a component");
    let put = |name: &str, bytes: &[u8]| {
        let file = workspace.place.outside().join(name);
        std::fs::write(&file, bytes).expect("a file");
        file.to_str().expect("a path of text").to_owned()
    };
    let other_contract =
        String::from_utf8_lossy(&whole).contains("notehost:domain/domain@1.0.0-rc.1");
    assert!(other_contract, "the contract's name was replaced");
    let later = replaced(
        &whole,
        b"notehost:domain/domain@1.0.0-rc.1",
        b"notehost:domain/domain@1.0.0-rc.2",
    );
    let kinds = [
        (
            put("garbage.wasm", b"these are not the bytes"),
            "it is not WebAssembly",
        ),
        (put("empty.wasm", b""), "it is empty"),
        (put("cut.wasm", &whole[..whole.len() / 2]), "truncated"),
        (put("core.wasm", b"\0asm\x01\0\0\0"), "core module"),
        (
            put("later.wasm", &later),
            "needs contract 1.0.0-rc.2; this host supports 1.0.0-rc.1",
        ),
        (put("large.wasm", &vec![0; (64 << 20) + 1]), "too large"),
        (path(&guest("echo")), "its name is `echo`, not `steady`"),
    ];
    for (file, reason) in &kinds {
        assert_rejected(
            &workspace,
            &["component", "upgrade", "steady", file],
            reason,
        );
    }
    let lost = workspace.fail(&["component", "add", "nowhere.wasm"]);
    assert!(lost.contains("cannot be read"), "{lost}");
}

#[test]
fn component_with_unknown_imports_is_rejected() {
    let workspace = Workspace::new();
    let smuggler = guest("smuggler_network");
    let report = workspace.fail(&["component", "add", &path(&smuggler)]);
    assert!(report.contains("which is not allowed"), "{report}");
    assert!(workspace.store().is_empty(), "nothing was made");
}

#[test]
fn component_with_a_wrong_digest_is_rejected() {
    let workspace = workspace();
    let wrong = format!("sha256:{}", "0".repeat(64));
    let two = version("two");
    assert_rejected(
        &workspace,
        &["component", "upgrade", "steady", &two, "--digest", &wrong],
        "not the requested",
    );
    let report = workspace.succeed(&["component", "inspect", &two]);
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    let right = report["digest"].as_str().expect("a digest");
    workspace.succeed(&["component", "upgrade", "steady", &two, "--digest", right]);
}

#[test]
fn component_requesting_more_rights_needs_confirmation() {
    let workspace = workspace();
    let wide = version("wide");
    assert_rejected(
        &workspace,
        &["component", "upgrade", "steady", &wide],
        "requests wider access than the current one",
    );
    let succeed = workspace.succeed(&["component", "upgrade", "steady", &wide, "--yes"]);
    assert!(
        succeed.contains("action `note` is new; its effect is `write`"),
        "{succeed}"
    );
}

#[test]
fn unsigned_and_tampered_components_are_rejected_if_signatures_are_required() {
    let signer = Signer::number(7);
    let workspace = Workspace::new();
    let mut settings = workspace.place.settings();
    settings.trust.publishers = vec![PublisherSettings {
        name: "ana".into(),
        key: signer.public_key(),
        components: None,
    }];
    workspace.place.config_file(&settings);
    let file = workspace.place.outside().join("steady.wasm");
    std::fs::copy(version("one"), &file).expect("a copy");
    let file_text = path(&file);
    let unsigned = workspace.fail(&["component", "add", &file_text, "--require-signed"]);
    assert!(unsigned.contains("not signed"), "{unsigned}");
    let bytes = std::fs::read(&file).expect("a component");
    let beside = workspace.place.outside().join("steady.wasm.minisig");
    std::fs::write(&beside, signer.sign(&bytes, "steady 1")).expect("a signature");
    workspace.succeed(&["component", "add", &file_text, "--require-signed"]);

    // The signature of one version is not valid for another.
    std::fs::copy(version("two"), &file).expect("a copy");
    assert_rejected(
        &workspace,
        &["component", "upgrade", "steady", &file_text],
        "ana",
    );
}

#[test]
fn modified_store_contents_do_not_run() {
    let workspace = workspace();
    let stored = workspace.store();
    let (content, bytes) = stored
        .iter()
        .find(|(path, _)| path.extension().is_some_and(|end| end == "wasm"))
        .expect("a content");
    let mut changed = bytes.clone();
    *changed.last_mut().expect("a byte") ^= 1;
    std::fs::write(content, changed).expect("a file");
    let list_entry = workspace.list_entry().expect("it is listed");
    let problem = list_entry["problem"].as_str().expect("a problem");
    assert!(
        problem.contains("differs from the one that was installed"),
        "{problem}"
    );
    // Everything else keeps working, and the component can be installed again.
    workspace.succeed(&["component", "upgrade", "steady", &version("one")]);
    assert_eq!(workspace.call("say", r#"{"text": "a"}"#)["version"], 1);
}

#[test]
fn frozen_components_of_every_contract_are_accepted() {
    let workspace = Workspace::new();
    let mut count = 0;
    for file in std::fs::read_dir(repository().join("tests/fixtures/contracts")).expect("a folder")
    {
        workspace.succeed(&["component", "add", &path(&file.expect("a file").path())]);
        count += 1;
    }
    assert!(count > 0, "the components are found");
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
