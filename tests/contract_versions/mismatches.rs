//! Mismatched components: of an unknown future contract, with other types than their contract, of another world. They
//! are frozen components with replaced names, so that everything else is valid.

use notehost::runtime::{Component, LoadError, Runtime, inspect};

use super::{frozen, reason, with_words};
use crate::support::place::Place;

fn frozen_bytes(track: &str) -> Vec<u8> {
    std::fs::read(frozen(track)).expect("a frozen component")
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_future_contract_is_named() {
    let future = with_words(&frozen_bytes("0.2"), &[("@0.2.0", "@0.3.0")]);
    assert_eq!(
        reason("frozen_two", &future).await,
        "component `frozen_two` needs contract 0.3; this host supports 0.1 and 0.2: upgrade notehost"
    );
    let past = with_words(&frozen_bytes("0.1"), &[("@0.1.0", "@0.0.9")]);
    assert_eq!(
        reason("frozen_one", &past).await,
        "component `frozen_one` needs contract 0.0; this host supports 0.1 and 0.2: rebuild the component for one of these"
    );
}

/// The contract is checked first: invalid code after it is never compiled.
#[tokio::test(flavor = "multi_thread")]
async fn contract_is_checked_before_compilation() {
    let place = Place::new();
    let compiled = place.root().join("nothing-compiled");
    let runtime = Runtime::new(&place.settings().limits, &compiled).expect("a runtime");
    let future = with_words(&frozen_bytes("0.2"), &[("@0.2.0", "@7.0.0")]);
    let component = Component::new("frozen_two", future).expect("bytes");
    let refused = component
        .prepare(&runtime)
        .await
        .expect_err("it is refused");
    assert!(matches!(*refused, LoadError::Unfit { .. }), "{refused}");
    assert!(!compiled.exists(), "nothing was compiled");
}

#[tokio::test(flavor = "multi_thread")]
async fn mismatched_interface_types_are_reported() {
    // The interface of 0.1 under the name of 0.2, and the other way round.
    let as_two = with_words(&frozen_bytes("0.1"), &[("@0.1.0", "@0.2.0")]);
    assert_eq!(
        reason("frozen_one", &as_two).await,
        "component `frozen_one` does not match contract 0.2.0: its function `describe` does not have the \
         signature `describe() -> description`"
    );
    let as_one = with_words(&frozen_bytes("0.2"), &[("@0.2.0", "@0.1.0")]);
    assert_eq!(
        reason("frozen_two", &as_one).await,
        "component `frozen_two` does not match contract 0.1.0: its function `describe` does not have the \
         signature `describe() -> json`"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_imported_function_is_named() {
    let other = with_words(&frozen_bytes("0.1"), &[("describe", "describf")]);
    assert_eq!(
        reason("frozen_one", &other).await,
        "component `frozen_one` does not match contract 0.1.0: its `notehost:domain/domain@0.1.0` has no function \
         `describe`; it should have `describe() -> json`"
    );
    let newer = with_words(
        &frozen_bytes("0.1"),
        &[("@0.1.0", "@0.1.9"), ("vault.stat", "vault.sift")],
    );
    assert_eq!(
        reason("frozen_one", &newer).await,
        "component `frozen_one` does not match contract 0.1.9: it imports `[method]vault.sift` of \
         `notehost:domain/vault@0.1.9`, which this host does not provide with that type; it was built for 0.1.9, and this \
         host has 0.1.0: upgrade notehost"
    );
}

/// A later version of a track that needs nothing new is accepted.
#[tokio::test(flavor = "multi_thread")]
async fn later_patch_version_of_a_track_runs() {
    let place = Place::new();
    let runtime = Runtime::new(&place.settings().limits, &place.state().join("compiled"));
    let runtime = runtime.expect("a runtime");
    for (name, track, later) in [
        ("frozen_one", "0.1", "@0.1.7"),
        ("frozen_two", "0.2", "@0.2.7"),
    ] {
        let version = format!("@{track}.0");
        let bytes = with_words(&frozen_bytes(track), &[(version.as_str(), later)]);
        let component = Component::new(name, bytes).expect("bytes");
        let description = runtime
            .describe(&component)
            .await
            .expect("it describes itself");
        assert_eq!(description.name, name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn component_of_another_world_is_rejected_with_a_hint() {
    let other = with_words(
        &frozen_bytes("0.1"),
        &[("notehost:domain/domain@", "notehost:domain/dimain@")],
    );
    assert_eq!(
        inspect(&other).expect("a component").exports,
        ["notehost:domain/dimain@0.1.0"]
    );
    assert_eq!(
        reason("frozen_one", &other).await,
        "component `frozen_one` is not a domain: a domain exports `notehost:domain/domain@0.2.0` with the functions \
         `describe` and `call`; this one exports `notehost:domain/dimain@0.1.0`"
    );
}
