//! Mismatched components: of an unknown future contract, with other types than their contract, of another world. Most
//! are the frozen component with replaced names, so that everything else is valid.

use notehost::runtime::{Component, LoadError, Runtime, inspect};

use super::{frozen, reason, with_words};
use crate::support::guests::guest;
use crate::support::place::Place;

const VERSION: &str = "@1.0.0-rc.1";

fn frozen_bytes() -> Vec<u8> {
    std::fs::read(frozen("1.0.0-rc.1")).expect("a frozen component")
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_contracts_are_named() {
    for (version, advice) in [
        ("@1.0.0-rc.2", "upgrade notehost"),
        ("@1.0.1-rc.1", "upgrade notehost"),
        (
            "@0.9.0-rc.1",
            "rebuild the component for a supported version",
        ),
    ] {
        let other = with_words(&frozen_bytes(), &[(VERSION, version)]);
        let needs = version.trim_start_matches('@');
        assert_eq!(
            reason("frozen", &other).await,
            format!(
                "component `frozen` needs contract {needs}; this host supports 1.0.0-rc.1: {advice}"
            )
        );
    }
}

/// The contract is checked first: invalid code after it is never compiled.
#[tokio::test(flavor = "multi_thread")]
async fn contract_is_checked_before_compilation() {
    let place = Place::new();
    let compiled = place.root().join("nothing-compiled");
    let runtime = Runtime::new(&place.settings().limits, &compiled).expect("a runtime");
    let future = with_words(&frozen_bytes(), &[(VERSION, "@7.0.0-rc.1")]);
    let component = Component::new("frozen", future).expect("bytes");
    let refused = component
        .prepare(&runtime)
        .await
        .expect_err("it is refused");
    assert!(matches!(*refused, LoadError::Unfit { .. }), "{refused}");
    assert!(!compiled.exists(), "nothing was compiled");
}

#[tokio::test(flavor = "multi_thread")]
async fn mismatched_interface_types_are_reported() {
    let stranger = std::fs::read(guest("stranger")).expect("a component");
    assert_eq!(
        reason("stranger", &stranger).await,
        "component `stranger` does not match contract 1.0.0-rc.1: its function `describe` does not have the signature \
         `describe() -> description`"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_functions_are_named() {
    let other = with_words(&frozen_bytes(), &[("describe", "describf")]);
    assert_eq!(
        reason("frozen", &other).await,
        "component `frozen` does not match contract 1.0.0-rc.1: its `notehost:domain/domain@1.0.0-rc.1` has no function \
         `describe`; it should have `describe() -> description`"
    );
    let other = with_words(&frozen_bytes(), &[("vault.stat", "vault.sift")]);
    assert_eq!(
        reason("frozen", &other).await,
        "component `frozen` does not match contract 1.0.0-rc.1: it imports `[method]vault.sift` of \
         `notehost:domain/vault@1.0.0-rc.1`, which this host does not provide with that type"
    );
}

/// Interfaces of a pre-release match exactly: one of another version in a component of this one is not provided.
#[tokio::test(flavor = "multi_thread")]
async fn import_of_another_version_is_named() {
    let other = with_words(
        &frozen_bytes(),
        &[(
            "notehost:domain/store@1.0.0-rc.1",
            "notehost:domain/store@1.0.0-rc.2",
        )],
    );
    assert_eq!(
        reason("frozen", &other).await,
        "component `frozen` does not match contract 1.0.0-rc.1: it imports `get` of `notehost:domain/store@1.0.0-rc.2`, \
         which this host does not provide with that type"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn component_of_another_world_is_rejected_with_a_hint() {
    let other = with_words(
        &frozen_bytes(),
        &[("notehost:domain/domain@", "notehost:domain/dimain@")],
    );
    assert_eq!(
        inspect(&other).expect("a component").exports,
        ["notehost:domain/dimain@1.0.0-rc.1"]
    );
    assert_eq!(
        reason("frozen", &other).await,
        "component `frozen` is not a domain: a domain exports `notehost:domain/domain@1.0.0-rc.1` with the functions \
         `describe` and `call`; this one exports `notehost:domain/dimain@1.0.0-rc.1`"
    );
}
