//! Components that must not be loaded: forbidden imports, invalid descriptions, files that are not components. Each is
//! rejected with a message that names the reason, and everything else works.

use std::path::PathBuf;

use notehost::config::GrantSettings;
use notehost::runtime::MAX_COMPONENT_BYTES;
use serde_json::json;

use crate::support::guests::guest;
use crate::support::place::{Place, call, component};

/// Why a component under the name `name` is rejected, while the rest of the server works.
async fn reason(name: &str, file: PathBuf) -> String {
    let place = Place::new();
    place.write("Note.md", "still here\n");
    let mut settings = place.settings();
    settings.limits.call_ms = 3000;
    let everything = GrantSettings {
        delete: vec!["**".into()],
        ..GrantSettings::default()
    };
    settings
        .components
        .insert(name.to_owned(), component(file, everything));
    let host = place.host(settings).await;
    let read = call(&host, "document.read", json!({"path": "Note"}))
        .await
        .expect("other components work");
    assert_eq!(read.structured["content"], "still here\n");
    let error = call(&host, &format!("{name}.read"), json!({}))
        .await
        .expect_err("it is not there");
    assert_eq!(error.code, "not_found", "{error}");
    let snapshot = host.registry().snapshot();
    match snapshot.broken() {
        [broken] => {
            assert_eq!(broken.name, name);
            broken.reason.clone()
        }
        other => panic!("one component is left out, not {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn forbidden_imports_are_named() {
    for (file, import) in [
        ("smuggler_files", "wasi:filesystem/"),
        ("smuggler_network", "wasi:"),
    ] {
        let reason = reason("smuggler", guest(file)).await;
        assert!(
            reason.contains(import) && reason.contains("not allowed"),
            "{file}: {reason}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_descriptions_are_rejected() {
    for (lie, word) in [
        ("garbage", "is not a JSON Schema of an object"),
        ("silent", "is not a JSON Schema of an object"),
        ("spins", "failed to describe itself"),
        ("traps", "failed to describe itself"),
        ("bad_name", "`Read; rm -rf` is not a valid name"),
        ("other_name", "its name is `document`"),
        ("reserved", "`approval`"),
        ("twice", "`read` twice"),
        ("empty", "no actions"),
        ("bad_schema", "input schema of action `read`"),
        ("huge", "at most"),
    ] {
        let reason = reason("liar", guest(&format!("liar_{lie}"))).await;
        assert!(reason.contains(word), "{lie}: {reason}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_are_not_components_are_rejected() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("guest.wasm");
    let whole = std::fs::read(guest("echo")).expect("a component");
    for (bytes, word) in [
        (b"#!/bin/sh\n".to_vec(), "it is not WebAssembly"),
        (Vec::new(), "it is empty"),
        (
            b"(component)\n".to_vec(),
            "it is in the WebAssembly text format",
        ),
        (b"\0asm\x01\0\0\0".to_vec(), "it is a core module"),
        (b"\0asm\x0d\0\x01\0".to_vec(), "is not a domain"),
        (whole[..whole.len() / 2].to_vec(), "it is truncated after"),
        (vec![0; MAX_COMPONENT_BYTES + 1], "is too large"),
        (damaged(&whole), "is not valid WebAssembly"),
    ] {
        std::fs::write(&file, &bytes).expect("a file");
        let reason = reason("echo", file.clone()).await;
        assert!(reason.contains(word), "{word}: {reason}");
    }
    std::fs::remove_file(&file).expect("the file was there");
    let reason = reason("echo", file).await;
    assert!(reason.contains("cannot be read"), "{reason}");
}

/// The same sections with damaged code, which only a compiler detects.
fn damaged(component: &[u8]) -> Vec<u8> {
    let mut damaged = component.to_vec();
    // The first core module has most of the bytes, and most of those are code.
    let within = damaged.len() / 3;
    damaged[within..within + 64].fill(0xff);
    damaged
}
