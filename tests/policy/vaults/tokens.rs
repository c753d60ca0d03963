//! Tokens and vaults: without a vault a token is for the default one.

use serde_json::{Value, json};

use super::{TwoVaults, text};
use crate::support::client::error_code;
use crate::support::http::{HttpClient, Server, wait_until};
use crate::support::issuer::{AUDIENCE, ISSUER, Key, claims, claims_with, publish};

fn new_token(vaults: &TwoVaults, name: &str, flags: &[&str]) -> String {
    let arguments = [
        &["token", "new", "--name", name, "--scopes", "read,write"],
        flags,
    ];
    let made = vaults.run(&arguments.concat());
    assert_eq!(made.code, Some(0), "{made:?}");
    let report = made.json();
    report["token"].as_str().expect("a token").to_owned()
}

/// The vaults that a token reaches: of those named, and of a call that names none.
fn reached(server: &Server, token: &str) -> Vec<String> {
    let mut client = HttpClient::stateless(server.address()).with_token(token);
    let mut found = Vec::new();
    for vault in [json!(null), json!("work"), json!("archive")] {
        let read = client.call(
            "document.read",
            json!({"path": "Work/Plan", "vault": vault}),
        );
        let reply = &read["structuredContent"];
        found.extend(match reply["content"].as_str() {
            Some(content) if content.contains("in work") => Some("work".to_owned()),
            Some(_) => Some("archive".to_owned()),
            None => {
                assert_eq!(error_code(&read), Some("not_found"), "{read}");
                None
            }
        });
        let lists_several = reply.get("vault").is_some();
        assert!(
            !lists_several || reply["vault"] == json!(found.last()),
            "{read}"
        );
    }
    found
}

#[test]
fn tokens_are_confined_to_the_default_vault_unless_made_for_others() {
    let vaults = TwoVaults::new();
    let plain = new_token(&vaults, "plain", &[]);
    let all = new_token(&vaults, "all", &["--all-vaults"]);
    let archive = new_token(&vaults, "archive", &["--vault", "archive"]);
    let widened = new_token(&vaults, "widened", &[]);
    let listed = vaults.run(&["token", "list"]).json();
    let bound = listed["items"].as_array().expect("items").iter();
    let bound: Vec<&Value> = bound.map(|token| &token["vaults"]).collect();
    let expected = [
        &json!("default"),
        &json!("all"),
        &json!(["archive"]),
        &json!("default"),
    ];
    assert_eq!(bound, expected, "{listed}");
    let both = vaults.run(&[
        "token",
        "new",
        "--name",
        "x",
        "--all-vaults",
        "--vault",
        "work",
    ]);
    assert_eq!(both.code, Some(2), "{both:?}");

    vaults.write("", "[callers.widened]\nvaults = [\"archive\"]\n");
    let server = Server::start_authenticated(&vaults.config, &vaults.place.state());
    assert_eq!(reached(&server, &plain), ["work", "work"]);
    assert_eq!(reached(&server, &all), ["work", "work", "archive"]);
    assert_eq!(reached(&server, &archive), ["archive", "archive"]);
    // The config names the vaults of a caller.
    assert_eq!(reached(&server, &widened), ["archive", "archive"]);
    let mut client = HttpClient::stateless(server.address()).with_token(&plain);
    let info = client.call("system.info", json!({}));
    assert_eq!(
        info["structuredContent"]["vaults"],
        json!(["work"]),
        "{info}"
    );
    assert!(!text(&info).contains("archive"), "{info}");
    // Another default vault confines it to that one, at once.
    vaults.write("default_vault = \"archive\"", "");
    wait_until("another default vault", || {
        reached(&server, &plain) == ["archive", "archive"]
    });
    assert_eq!(reached(&server, &all), ["archive", "work", "archive"]);
    drop(server);

    // A server of the other vault only has nothing for it.
    vaults.write("", "");
    let server = Server::start_at(
        "127.0.0.1:0",
        &vaults.config,
        &vaults.place.state(),
        |command| {
            command.arg("archive");
        },
    );
    assert_eq!(reached(&server, &plain), [""; 0]);
    assert_eq!(reached(&server, &archive), ["archive", "archive"]);
}

#[test]
fn signed_tokens_without_a_vault_are_confined_unless_the_config_says_otherwise() {
    let vaults = TwoVaults::new();
    let jwks = vaults.place.root().join("jwks.json");
    let key = Key::ed25519("d");
    publish(&jwks, &[&key]);
    let auth = |all: &str| {
        format!(
            "[auth]\nmode = \"jwt\"\nresource = {AUDIENCE:?}\n[auth.jwt]\nissuer = {ISSUER:?}\njwks_file = {jwks:?}\n{all}\n"
        )
    };
    let plain = key.sign(&claims());
    let archive = key.sign(&claims_with("notehost_vaults", json!(["archive"])));
    vaults.write("", &auth(""));
    let server = Server::start_authenticated(&vaults.config, &vaults.place.state());
    assert_eq!(reached(&server, &plain), ["work", "work"]);
    assert_eq!(reached(&server, &archive), ["archive", "archive"]);
    drop(server);
    vaults.write("", &auth("all_vaults = true"));
    let server = Server::start_authenticated(&vaults.config, &vaults.place.state());
    assert_eq!(reached(&server, &plain), ["work", "work", "archive"]);
    assert_eq!(reached(&server, &archive), ["archive", "archive"]);
}
