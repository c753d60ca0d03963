//! Manifests: read from the sections that the SDK and `notehost component pack` write, and enforced.

use std::path::Path;
use std::process::Command;

use notehost::runtime::{Manifest, inspect};
use notehost::vault::{Effect, Rules as _, Tier};
use serde_json::json;

use super::{everything, frozen, reason};
use crate::support::guests::guest;
use crate::support::place::{Place, call, component};

#[test]
fn sdk_embeds_the_manifest() {
    let bytes = std::fs::read(guest("ceiling_kept")).expect("a component");
    let manifest = inspect(&bytes).expect("a component").manifest;
    let expected = json!({
        "effect": "write",
        "store_bytes": 4096,
        "http": ["api.example.com", "*.example.org"],
        "limits": {"memory_bytes": 33_554_432, "call_ms": 2000},
    });
    let expected: Manifest = serde_json::from_value(expected).expect("a manifest");
    assert_eq!(manifest, Some(expected));
    let without = std::fs::read(guest("echo")).expect("a component");
    assert_eq!(inspect(&without).expect("a component").manifest, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn grants_cannot_exceed_the_manifest() {
    let place = Place::new();
    let mut settings = place.settings();
    settings.components.insert(
        "ceiling".into(),
        component(guest("ceiling_kept"), everything()),
    );
    let host = place.host(settings).await;
    let snapshot = host.registry().snapshot();
    let domain = snapshot.domain("ceiling").expect("it is loaded");
    assert_eq!(domain.manifest.effect, Some(Effect::Write));
    assert_eq!(
        domain.grant.tier("Work/a.md"),
        Tier::Write,
        "of `rwd` that was granted"
    );
    call(&host, "ceiling.put", json!({"path": "a.md"}))
        .await
        .expect("it may write");
    assert_eq!(place.read("a.md").as_deref(), Some(&b"put\n"[..]));
}

#[tokio::test(flavor = "multi_thread")]
async fn component_with_an_action_above_its_manifest_is_rejected() {
    let bytes = std::fs::read(guest("ceiling_broken")).expect("a component");
    assert_eq!(
        reason("ceiling", &bytes).await,
        "action `wipe` has the effect `delete`, but the component's manifest allows at most `write`"
    );
}

/// Runs `notehost component pack`; returns its success and output.
fn pack(arguments: &[&Path]) -> (bool, String, String) {
    let result = Command::new(crate::support::program())
        .args(["component", "pack"])
        .args(arguments)
        .output()
        .expect("the program runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (
        result.status.success(),
        text(result.stdout),
        text(result.stderr),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn pack_adds_a_manifest_to_a_built_component() {
    let folder = tempfile::tempdir().expect("a folder");
    let [manifest, packed] = ["manifest.json", "packed.wasm"].map(|name| folder.path().join(name));
    let original = frozen("1.0.0-rc.1");
    let words = |file: &Path| {
        let words: [&Path; 5] = [
            file,
            "--manifest".as_ref(),
            &manifest,
            "--output".as_ref(),
            &packed,
        ];
        pack(&words)
    };

    std::fs::write(
        &manifest,
        r#"{"effect": "delete", "http": ["localhost:8080"]}"#,
    )
    .expect("a file");
    let (succeeded, report, errors) = words(&original);
    assert!(succeeded, "{errors}");
    let bytes = std::fs::read(&packed).expect("it was written");
    let inspected = inspect(&bytes).expect("a component");
    assert!(
        report.contains(&format!("sha256:{}", inspected.digest)),
        "{report}"
    );
    let found = inspected.manifest.expect("a manifest");
    assert_eq!(found.http, ["localhost:8080"]);
    assert_eq!(found.effect, Some(Effect::Delete));

    // Packed again in place with fewer rights: the first manifest is replaced, and a host enforces the second.
    std::fs::write(&manifest, r#"{"effect": "write"}"#).expect("a file");
    let (succeeded, _, errors) = pack(&[&packed, "--manifest".as_ref(), &manifest]);
    assert!(succeeded, "{errors}");
    let bytes = std::fs::read(&packed).expect("it was written");
    let refused = reason("frozen", &bytes).await;
    assert!(
        refused.contains("action `wipe` has the effect `delete`"),
        "{refused}"
    );

    // Invalid manifests are reported, and the existing file is kept.
    for (json, file, word) in [
        (
            r#"{"efect": "read"}"#,
            &original,
            "is not a manifest: unknown field `efect`",
        ),
        (
            r#"{"http": ["two words"]}"#,
            &original,
            "`two words` is not a valid HTTP host",
        ),
        ("{}", &manifest, "it is not WebAssembly"),
        ("{}", &folder.path().join("nothing.wasm"), "cannot be read"),
    ] {
        std::fs::write(&manifest, json).expect("a file");
        let (succeeded, _, errors) = words(file);
        assert!(!succeeded && errors.contains(word), "{word}: {errors}");
        assert_eq!(std::fs::read(&packed).expect("still there"), bytes);
    }
}

/// A manifest embedded by the author is not replaced from outside.
#[test]
fn pack_keeps_an_embedded_manifest() {
    let folder = tempfile::tempdir().expect("a folder");
    let manifest = folder.path().join("manifest.json");
    std::fs::write(&manifest, r#"{"effect": "delete"}"#).expect("a file");
    let output = folder.path().join("packed.wasm");
    let words: [&Path; 5] = [
        &guest("ceiling_kept"),
        "--manifest".as_ref(),
        &manifest,
        "--output".as_ref(),
        &output,
    ];
    let (succeeded, _, errors) = pack(&words);
    assert!(!succeeded && errors.contains("two that differ"), "{errors}");
    assert!(!output.exists());
}
