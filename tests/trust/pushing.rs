//! `notehost component push` through the built program.

use super::{Desk, component, pull, told};
use crate::support::registry::Registry;
use crate::support::signer::Signer;

#[tokio::test(flavor = "multi_thread")]
async fn what_is_pushed_comes_back_with_its_signature() {
    let Some(registry) = Registry::start() else {
        return;
    };
    let desk = Desk::new();
    let bytes = component("todo");
    let file = desk.file("todo.wasm", &bytes);
    let reference = registry.reference("team/todo:1.0.0");
    let unsigned = desk.pushed(&file, &reference);
    assert!(unsigned["key"].is_null());
    let pulled = pull(&reference).await.expect("it is there");
    assert_eq!(
        (pulled.bytes.as_slice(), &pulled.signature),
        (bytes.as_slice(), &None)
    );
    assert_eq!(unsigned["digest"], pulled.digest);
    // The same once more has the same digest.
    assert_eq!(desk.pushed(&file, &reference), unsigned);

    let signature = Signer::number(1).sign(&bytes, "todo 1.0.0");
    desk.file("todo.wasm.minisig", signature.as_bytes());
    let signed = desk.pushed(&file, &reference);
    assert_eq!(signed["key"], "0101010101010101");
    assert_ne!(signed["digest"], unsigned["digest"]);
    let pulled = pull(&reference).await.expect("it is there");
    assert_eq!(pulled.signature.as_ref(), Some(&signature));
    let pinned = signed["pinned"].as_str().expect("a reference");
    assert_eq!(pull(pinned).await.expect("it is there"), pulled);
    // What was there before is there still, by its digest.
    let before = unsigned["pinned"].as_str().expect("a reference");
    assert_eq!(pull(before).await.expect("it is there").signature, None);
}

#[test]
fn what_is_wrong_is_not_pushed() {
    let publisher = Signer::number(1);
    let desk = Desk::with(&format!(
        "[[trust.publishers]]\nname = 'ana'\nkey = '{}'\n",
        publisher.public_key()
    ));
    // Nobody listens there: none of these may even try.
    let reference = "oci://127.0.0.1:1/todo:1";
    let bytes = component("todo");
    let module = desk.file("module.wasm", b"\0asm\x01\0\0\0");
    let output = desk.push(&module, reference);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        told(&output).contains("is not a WebAssembly component"),
        "{}",
        told(&output)
    );

    let file = desk.file("todo.wasm", &bytes);
    for (signature, words) in [
        ("nonsense".to_owned(), "no minisign signature"),
        (
            publisher.sign(b"something else", ""),
            "not what `ana` signed",
        ),
    ] {
        desk.file("todo.wasm.minisig", signature.as_bytes());
        let output = desk.push(&file, reference);
        assert_eq!(output.status.code(), Some(1));
        assert!(told(&output).contains(words), "{}", told(&output));
    }
    desk.file("todo.wasm.minisig", publisher.sign(&bytes, "").as_bytes());
    let output = desk.push(&file, reference);
    assert_eq!(output.status.code(), Some(3));
    assert!(
        told(&output).contains("`127.0.0.1:1` refuses the connection"),
        "{}",
        told(&output)
    );

    for (reference, words) in [
        ("todo", "does not begin with `oci://`"),
        (
            &format!("oci://127.0.0.1:1/todo@sha256:{}", "0".repeat(64)),
            "a push needs a tag",
        ),
    ] {
        let output = desk.push(&file, reference);
        assert_eq!(output.status.code(), Some(2), "{}", told(&output));
        assert!(told(&output).contains(words), "{}", told(&output));
    }
}

#[test]
fn a_registry_that_asks_is_told_who_we_are() {
    let Some(registry) = Registry::start_locked() else {
        return;
    };
    let desk = Desk::new();
    let file = desk.file("todo.wasm", &component("todo"));
    let reference = registry.reference("todo:1");
    let output = desk.push(&file, &reference);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        told(&output).contains("does not let us in"),
        "{}",
        told(&output)
    );

    // `ana:a:secret`, as `docker login` writes it.
    let known = format!(
        r#"{{"auths": {{"{}": {{"auth": "YW5hOmE6c2VjcmV0"}}}}}}"#,
        registry.address()
    );
    desk.file("config.json", known.as_bytes());
    desk.pushed(&file, &reference);
}
