//! Every action, called as the host calls it: by name, with JSON.

use notehost_sdk::prelude::*;
use notehost_sdk::{Level, MemoryVault};

use crate::Domain;

notehost_sdk::calls!(Domain);

fn after(calls: u64) -> MemoryVault {
    Vault::in_memory().after_calls(calls)
}

#[test]
fn every_call_earns_a_coin() {
    let purse = ok(&after(7), "balance", json!({}));
    assert_eq!(
        purse,
        json!({ "coins": 7, "earned": 7, "spent": 0, "items": [] })
    );
    assert_eq!(
        told(&after(1), "balance", json!({})),
        "1 coin; the puppy has nothing yet"
    );
}

#[test]
fn what_is_bought_is_paid_for_once() {
    let vault = after(31);
    let bought = ok(&vault, "buy", json!({ "item": " Ball" }));
    assert_eq!(bought, json!({ "item": "ball", "price": 10, "coins": 21 }));
    ok(&vault, "buy", json!({ "item": "bone" }));
    let purse = ok(&vault, "balance", json!({}));
    assert_eq!(
        purse,
        json!({ "coins": 1, "earned": 31, "spent": 30, "items": ["ball", "bone"] })
    );
    assert_eq!(
        refused(&vault, "buy", json!({ "item": "ball" })).code(),
        "already_exists"
    );
    let notices = vault.notices();
    assert_eq!(
        notices[0],
        (Level::Info, "the puppy got a new ball".to_owned())
    );
    let shelf = ok(&vault, "shop", json!({}));
    let owned: Vec<_> = shelf["items"].as_array().unwrap().iter().collect();
    assert_eq!(owned[0]["owned"], false);
    assert_eq!(owned[1]["owned"], true);
}

#[test]
fn nothing_is_bought_on_credit() {
    let vault = after(9);
    let error = refused(&vault, "buy", json!({ "item": "ball" }));
    assert_eq!(
        error.message(),
        "a ball costs 10 coins and you have 9, 1 too few: every call earns one"
    );
    let error = refused(&vault, "buy", json!({ "item": "cat" }));
    assert!(
        error
            .message()
            .starts_with("the shop has no `cat`: it has biscuit, ball")
    );
    assert_eq!(ok(&vault, "balance", json!({}))["spent"], 0);
    assert!(vault.notices().is_empty());
}

#[test]
fn a_wallet_that_cannot_be_read_is_empty() {
    let vault = after(9);
    vault.store_set("wallet/tester", b"{broken").unwrap();
    assert_eq!(ok(&vault, "balance", json!({}))["coins"], 9);
}
