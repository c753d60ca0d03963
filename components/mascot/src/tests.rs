//! Tests of every action, called by name with JSON as the host does.

use notehost_sdk::prelude::*;
use notehost_sdk::{Level, MemoryVault};

use crate::Domain;

notehost_sdk::calls!(Domain);

fn after(calls: u64) -> MemoryVault {
    Vault::in_memory().after_calls(calls)
}

#[test]
fn every_call_earns_a_coin() {
    let balance = ok(&after(7), "balance", json!({}));
    assert_eq!(
        balance,
        json!({ "coins": 7, "earned": 7, "spent": 0, "items": [] })
    );
    assert_eq!(
        text_of(&after(1), "balance", json!({})),
        "1 coin; the puppy has nothing yet"
    );
}

#[test]
fn an_item_is_paid_for_once() {
    let vault = after(31);
    let bought = ok(&vault, "buy", json!({ "item": " Ball" }));
    assert_eq!(bought, json!({ "item": "ball", "price": 10, "coins": 21 }));
    ok(&vault, "buy", json!({ "item": "bone" }));
    let balance = ok(&vault, "balance", json!({}));
    assert_eq!(
        balance,
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
    let shop = ok(&vault, "shop", json!({}));
    let owned: Vec<_> = shop["items"].as_array().unwrap().iter().collect();
    assert_eq!(owned[0]["owned"], false);
    assert_eq!(owned[1]["owned"], true);
}

#[test]
fn buying_needs_enough_coins() {
    let vault = after(9);
    let error = refused(&vault, "buy", json!({ "item": "ball" }));
    assert_eq!(
        error.message(),
        "a ball costs 10 coins, but you have 9 (1 too few): every call earns one"
    );
    let error = refused(&vault, "buy", json!({ "item": "cat" }));
    assert!(
        error
            .message()
            .starts_with("no item `cat` in the shop: it has biscuit, ball")
    );
    assert_eq!(ok(&vault, "balance", json!({}))["spent"], 0);
    assert!(vault.notices().is_empty());
}

#[test]
fn an_unreadable_wallet_is_empty() {
    let vault = after(9);
    vault.store_set("wallet/tester", b"{broken").unwrap();
    assert_eq!(ok(&vault, "balance", json!({}))["coins"], 9);
}
