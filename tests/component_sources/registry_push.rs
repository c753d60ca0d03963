//! `notehost component push` through the built program.

use super::{Workspace, component, output_text, pull};
use crate::support::registry::Registry;
use crate::support::signer::Signer;

#[tokio::test(flavor = "multi_thread")]
async fn pushed_component_can_be_pulled_with_its_signature() {
    let Some(registry) = Registry::start() else {
        return;
    };
    let workspace = Workspace::new();
    let bytes = component("todo");
    let file = workspace.file("todo.wasm", &bytes);
    let reference = registry.reference("team/todo:1.0.0");
    let unsigned = workspace.push_successfully(&file, &reference);
    assert!(unsigned["key"].is_null());
    let pulled = pull(&reference).await.expect("it is there");
    assert_eq!(
        (pulled.bytes.as_slice(), &pulled.signature),
        (bytes.as_slice(), &None)
    );
    assert_eq!(unsigned["digest"], pulled.digest);
    // Pushing again gives the same digest.
    assert_eq!(workspace.push_successfully(&file, &reference), unsigned);

    let signature = Signer::number(1).sign(&bytes, "todo 1.0.0");
    workspace.file("todo.wasm.minisig", signature.as_bytes());
    let signed = workspace.push_successfully(&file, &reference);
    assert_eq!(signed["key"], "0101010101010101");
    assert_ne!(signed["digest"], unsigned["digest"]);
    let pulled = pull(&reference).await.expect("it is there");
    assert_eq!(pulled.signature.as_ref(), Some(&signature));
    let pinned = signed["pinned"].as_str().expect("a reference");
    assert_eq!(pull(pinned).await.expect("it is there"), pulled);
    // The earlier version is still available by its digest.
    let before = unsigned["pinned"].as_str().expect("a reference");
    assert_eq!(pull(before).await.expect("it is there").signature, None);
}

#[test]
fn invalid_components_are_not_pushed() {
    let publisher = Signer::number(1);
    let workspace = Workspace::with(&format!(
        "[[trust.publishers]]\nname = 'ana'\nkey = '{}'\n",
        publisher.public_key()
    ));
    // Nobody listens there: none of these may even connect.
    let reference = "oci://127.0.0.1:1/todo:1";
    let bytes = component("todo");
    let module = workspace.file("module.wasm", b"\0asm\x01\0\0\0");
    let output = workspace.push(&module, reference);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        output_text(&output).contains("is not a WebAssembly component"),
        "{}",
        output_text(&output)
    );

    let file = workspace.file("todo.wasm", &bytes);
    for (signature, words) in [
        ("nonsense".to_owned(), "not a valid minisign signature"),
        (
            publisher.sign(b"something else", ""),
            "the signature of `ana` does not match",
        ),
    ] {
        workspace.file("todo.wasm.minisig", signature.as_bytes());
        let output = workspace.push(&file, reference);
        assert_eq!(output.status.code(), Some(1));
        assert!(
            output_text(&output).contains(words),
            "{}",
            output_text(&output)
        );
    }
    workspace.file("todo.wasm.minisig", publisher.sign(&bytes, "").as_bytes());
    let output = workspace.push(&file, reference);
    assert_eq!(output.status.code(), Some(3));
    assert!(
        output_text(&output).contains("`127.0.0.1:1` refused the connection"),
        "{}",
        output_text(&output)
    );

    for (reference, words) in [
        ("todo", "does not start with `oci://`"),
        (
            &format!("oci://127.0.0.1:1/todo@sha256:{}", "0".repeat(64)),
            "a push needs a tag",
        ),
    ] {
        let output = workspace.push(&file, reference);
        assert_eq!(output.status.code(), Some(2), "{}", output_text(&output));
        assert!(
            output_text(&output).contains(words),
            "{}",
            output_text(&output)
        );
    }
}

#[test]
fn push_authenticates_with_docker_credentials() {
    let Some(registry) = Registry::start_locked() else {
        return;
    };
    let workspace = Workspace::new();
    let file = workspace.file("todo.wasm", &component("todo"));
    let reference = registry.reference("todo:1");
    let output = workspace.push(&file, &reference);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        output_text(&output).contains("denied access"),
        "{}",
        output_text(&output)
    );

    // `ana:a:secret`, as `docker login` writes it.
    let known = format!(
        r#"{{"auths": {{"{}": {{"auth": "YW5hOmE6c2VjcmV0"}}}}}}"#,
        registry.address()
    );
    workspace.file("config.json", known.as_bytes());
    workspace.push_successfully(&file, &reference);
}
