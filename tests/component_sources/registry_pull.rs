//! Pulls from a registry that has the right component, another one, or none. A registry is not trusted.

use notehost::packages::oci::OciError;
use serde_json::{Value, json};

use super::{Workspace, component, pull};
use crate::support::registry::Registry;

/// A registry with a component under `todo:1`, and its manifest.
fn registry_with_component() -> Option<(Registry, Value)> {
    let registry = Registry::start()?;
    let workspace = Workspace::new();
    let file = workspace.file("todo.wasm", &component("todo"));
    workspace.push_successfully(&file, &registry.reference("todo:1"));
    let manifest = registry.manifest("todo", "1");
    Some((registry, serde_json::from_str(&manifest).expect("JSON")))
}

#[tokio::test(flavor = "multi_thread")]
async fn modified_blob_is_rejected() {
    let Some((registry, manifest)) = registry_with_component() else {
        return;
    };
    let digest = manifest["layers"][0]["digest"].as_str().expect("a digest");
    std::fs::write(registry.blob(digest), component("evil")).expect("it is changed");
    match pull(&registry.reference("todo:1")).await {
        Err(OciError::DigestDiffers { expected, .. }) => assert_eq!(expected, digest),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pinned_digest_is_enforced() {
    let Some((registry, manifest)) = registry_with_component() else {
        return;
    };
    let pulled = pull(&registry.reference("todo:1"))
        .await
        .expect("it is there");
    let pinned = registry.reference(&format!("todo@{}", pulled.digest));
    assert_eq!(pull(&pinned).await.as_ref(), Ok(&pulled));
    let other = registry.reference(&format!("todo@sha256:{}", "0".repeat(64)));
    assert_eq!(pull(&other).await, Err(OciError::NotFound(other.clone())));

    // A registry that returns other content for a digest: its manifest is changed on disk.
    let mut changed = manifest;
    changed["annotations"] = json!({"notehost.signature.minisign": "x"});
    std::fs::write(registry.blob(&pulled.digest), changed.to_string()).expect("it is changed");
    match pull(&pinned).await {
        Err(OciError::DigestDiffers { expected, .. }) => assert_eq!(expected, pulled.digest),
        Err(OciError::Failed { .. } | OciError::NotFound(_)) => {
            // A registry that verifies its own files does not return it.
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_reference_is_reported() {
    let Some((registry, _)) = registry_with_component() else {
        return;
    };
    for name in ["todo:2", "nothing:1"] {
        let reference = registry.reference(name);
        assert_eq!(
            pull(&reference).await,
            Err(OciError::NotFound(reference.clone()))
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn non_component_artifacts_are_rejected() {
    let Some((registry, manifest)) = registry_with_component() else {
        return;
    };
    let image = json!("application/vnd.oci.image.config.v1+json");
    let tar = json!("application/vnd.oci.image.layer.v1.tar+gzip");
    let layer = manifest["layers"][0].clone();
    for (tag, pointer, value, words) in [
        (
            "image",
            "/config/mediaType",
            image,
            "its config has the type `application/vnd.oci.image",
        ),
        (
            "tar",
            "/layers/0/mediaType",
            tar,
            "its layer has the type `application/vnd.oci.image.layer",
        ),
        ("two", "/layers", json!([layer, layer]), "it has 2 layers"),
        ("none", "/layers", json!([]), "it has 0 layers"),
    ] {
        let mut odd = manifest.clone();
        *odd.pointer_mut(pointer).expect("it is there") = value;
        registry.put_manifest("todo", tag, &odd.to_string());
        match pull(&registry.reference(&format!("todo:{tag}"))).await {
            Err(OciError::NotWasm { reason, .. }) => assert!(reason.contains(words), "{reason}"),
            other => panic!("{tag}: {other:?}"),
        }
    }
    // The config blob is not a component either, whatever the media type of its layer.
    let mut odd = manifest.clone();
    odd["layers"][0]["digest"] = manifest["config"]["digest"].clone();
    odd["layers"][0]["size"] = manifest["config"]["size"].clone();
    registry.put_manifest("todo", "text", &odd.to_string());
    match pull(&registry.reference("todo:text")).await {
        Err(OciError::NotWasm { reason, .. }) => {
            assert!(reason.contains("not a WebAssembly component"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn oversized_artifacts_are_rejected() {
    let Some((registry, manifest)) = registry_with_component() else {
        return;
    };
    for (tag, size) in [("large", 65 << 20), ("negative", -1), ("small", 3)] {
        let mut odd = manifest.clone();
        odd["layers"][0]["size"] = json!(size);
        registry.put_manifest("todo", tag, &odd.to_string());
    }
    for tag in ["large", "negative"] {
        let reference = registry.reference(&format!("todo:{tag}"));
        assert_eq!(
            pull(&reference).await,
            Err(OciError::TooLarge(reference.clone()))
        );
    }
    // The body is longer than announced.
    match pull(&registry.reference("todo:small")).await {
        Err(OciError::Failed { reason, .. }) => {
            assert!(reason.contains("more than the allowed 3 bytes"), "{reason}")
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unreachable_and_unresolvable_registries_are_distinguished() {
    assert_eq!(
        pull("oci://127.0.0.1:1/todo:1").await,
        Err(OciError::Refused("127.0.0.1:1".into()))
    );
    // A reserved name that never resolves.
    match pull("oci://registry.invalid/todo:1").await {
        Err(OciError::NoSuchHost(host)) => assert_eq!(host, "registry.invalid"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn plain_http_is_limited_to_loopback() {
    // Non-loopback addresses of this machine require TLS, and this registry has none.
    let listener = match std::net::TcpListener::bind("0.0.0.0:0") {
        Ok(listener) => listener,
        Err(error) => return eprintln!("skipped: no address to listen at: {error}"),
    };
    let port = listener.local_addr().expect("an address").port();
    let (sender, first_bytes) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        use std::io::{Read as _, Write as _};
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut first = [0; 1];
            let _ = stream.read(&mut first);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
            if sender.send(first[0]).is_err() {
                return;
            }
        }
    });
    let outcome = pull(&format!("oci://0.0.0.0:{port}/todo:1")).await;
    assert!(
        matches!(outcome, Err(OciError::Unreachable { .. })),
        "{outcome:?}"
    );
    // The first byte of a TLS handshake, not the `G` of `GET`.
    let first = first_bytes.recv_timeout(std::time::Duration::from_secs(60));
    let first: Vec<u8> = first.into_iter().chain(first_bytes.try_iter()).collect();
    assert!(
        !first.is_empty() && first.iter().all(|byte| *byte == 0x16),
        "{first:?}"
    );
}
