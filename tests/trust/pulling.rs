//! Pulling from a registry that has the right thing, another one, or nothing. A registry is not trusted.

use notehost::packages::oci::OciError;
use serde_json::{Value, json};

use super::{Desk, component, pull};
use crate::support::registry::Registry;

/// A registry with a component under `todo:1`, and its manifest.
fn stocked() -> Option<(Registry, Value)> {
    let registry = Registry::start()?;
    let desk = Desk::new();
    let file = desk.file("todo.wasm", &component("todo"));
    desk.pushed(&file, &registry.reference("todo:1"));
    let manifest = registry.manifest("todo", "1");
    Some((registry, serde_json::from_str(&manifest).expect("JSON")))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_blob_that_was_changed_is_refused() {
    let Some((registry, manifest)) = stocked() else {
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
async fn a_pin_holds() {
    let Some((registry, manifest)) = stocked() else {
        return;
    };
    let pulled = pull(&registry.reference("todo:1"))
        .await
        .expect("it is there");
    let pinned = registry.reference(&format!("todo@{}", pulled.digest));
    assert_eq!(pull(&pinned).await.as_ref(), Ok(&pulled));
    let other = registry.reference(&format!("todo@sha256:{}", "0".repeat(64)));
    assert_eq!(pull(&other).await, Err(OciError::NotFound(other.clone())));

    // A registry that gives something else for a digest: its manifest is changed on disk.
    let mut changed = manifest;
    changed["annotations"] = json!({"notehost.signature.minisign": "x"});
    std::fs::write(registry.blob(&pulled.digest), changed.to_string()).expect("it is changed");
    match pull(&pinned).await {
        Err(OciError::DigestDiffers { expected, .. }) => assert_eq!(expected, pulled.digest),
        Err(OciError::Failed { .. } | OciError::NotFound(_)) => {
            // A registry that looks at its own files does not even give it.
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_is_said_to_be_missing() {
    let Some((registry, _)) = stocked() else {
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
async fn what_is_no_component_is_named() {
    let Some((registry, manifest)) = stocked() else {
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
    // The config is no component either, whatever its layer is called.
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
async fn what_is_too_large_is_not_taken() {
    let Some((registry, manifest)) = stocked() else {
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
    // More comes than was announced.
    match pull(&registry.reference("todo:small")).await {
        Err(OciError::Failed { reason, .. }) => {
            assert!(reason.contains("more than the allowed 3 bytes"), "{reason}")
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registry_that_cannot_be_reached_is_told_from_one_that_does_not_exist() {
    assert_eq!(
        pull("oci://127.0.0.1:1/todo:1").await,
        Err(OciError::Refused("127.0.0.1:1".into()))
    );
    // A name that never resolves, by its standard.
    match pull("oci://registry.invalid/todo:1").await {
        Err(OciError::NoSuchHost(host)) => assert_eq!(host, "registry.invalid"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn plain_http_is_for_this_machine_only() {
    // Every address of this machine that is not loopback is spoken to with TLS, and a registry there has none.
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
    // The first byte of a TLS handshake, and not the `G` of `GET`.
    let first = first_bytes.recv_timeout(std::time::Duration::from_secs(60));
    let first: Vec<u8> = first.into_iter().chain(first_bytes.try_iter()).collect();
    assert!(
        !first.is_empty() && first.iter().all(|byte| *byte == 0x16),
        "{first:?}"
    );
}
