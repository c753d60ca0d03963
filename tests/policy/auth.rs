//! Authentication over HTTP: tokens from the command line, signed tokens, and servers that require none.

use std::fs;

use notehost::config::{AuthMode, Settings};
use serde_json::{Value, json};

use super::auth_setup::{
    PLAN, assert_refused, code, listed, place_with_notes, request_with_token, revoke, run,
    send_request, send_request_to, serve, serve_open, token,
};
use crate::support::http::{Connection, HttpClient, Server, wait_until};
use crate::support::issuer::{
    AUDIENCE, ISSUER, Key, SECRET, claims, claims_with, private, publish,
};

#[test]
fn token_is_shown_once_and_stored_as_a_hash() {
    let place = place_with_notes();
    let arguments = [
        "--scopes",
        "read,document:write",
        "--vault",
        "main",
        "--permission",
        "Work=rw",
        "--permission",
        "Diary=none",
        "--ttl",
        "30d",
    ];
    let secret = token(&place, "laptop", &arguments);
    assert!(secret.starts_with("nh_") && secret.len() >= 35, "{secret}");
    let shown = &listed(&place)[0];
    assert_eq!(shown["name"], "laptop");
    assert_eq!(shown["state"], "active");
    assert_eq!(shown["scopes"], json!(["read", "document:write"]));
    assert_eq!(shown["vaults"], json!(["main"]));
    assert_eq!(
        shown["permissions"],
        json!({ "Work": "rw", "Diary": "none" })
    );
    assert_eq!(shown["last_used"], Value::Null);
    assert!(
        shown["expires"].as_str().expect("a moment") > shown["created"].as_str().expect("a moment")
    );
    assert!(!shown.to_string().contains(&secret));
    for file in fs::read_dir(place.state()).expect("a folder") {
        let path = file.expect("a file").path();
        if path.is_file() {
            let bytes = fs::read(path).expect("its bytes");
            assert!(
                !bytes
                    .windows(secret.len())
                    .any(|part| part == secret.as_bytes())
            );
        }
    }
    revoke(&place, "laptop");
    assert_eq!(listed(&place)[0]["state"], "revoked");
}

#[test]
fn invalid_token_options_are_rejected() {
    let place = place_with_notes();
    token(&place, "taken", &[]);
    for (arguments, expected) in [
        (&["--name", "a b"][..], "is not a valid token name"),
        (&["--name", "stdio"], "is not a valid token name"),
        (&["--name", "taken"], "already"),
        (&["--name", "x", "--scopes", "reed"], "is not a scope"),
        (&["--name", "x", "--scopes", ""], "is empty"),
        (&["--name", "x", "--permission", "Work=x"], "is not a tier"),
        (
            &["--name", "x", "--permission", "Work"],
            "invalid permission",
        ),
        (
            &[
                "--name",
                "x",
                "--permission",
                "Work=r",
                "--permission",
                "Work=rw",
            ],
            "twice",
        ),
        (
            &["--name", "x", "--vault", "other"],
            "unknown vault `other`",
        ),
        (&["--name", "x", "--ttl", "soon"], "invalid duration"),
        (&[], "--name"),
    ] {
        let result = run(&place, &[&["token", "new"], arguments].concat());
        assert_eq!(result.code, Some(2), "{arguments:?}: {result:?}");
        assert!(
            result.errors.contains(expected),
            "{arguments:?}: {result:?}"
        );
        assert_eq!(result.output, "");
    }
    assert_eq!(listed(&place).len(), 1);
    let result = run(&place, &["token", "revoke", "takn"]);
    assert_eq!(result.code, Some(1), "{result:?}");
    assert!(
        result.errors.contains("did you mean `taken`?"),
        "{result:?}"
    );
}

#[test]
fn requests_without_a_valid_token_are_rejected() {
    let place = place_with_notes();
    let good = token(&place, "laptop", &[]);
    let server = serve(&place, &place.settings());
    assert_refused(&send_request(&server, &[]), false);
    // A token in the URL would end up in logs; it is ignored.
    assert_refused(
        &send_request_to(&server, &format!("/mcp?access_token={good}"), &[]),
        false,
    );
    assert_refused(
        &send_request(&server, &[("Authorization", "Basic bm90ZXM6aG9zdA==")]),
        false,
    );
    let wrong = format!("{}x", &good[..good.len() - 1]);
    let longer = format!("{good}x");
    for bad in ["", "nh_", "nh_guess", &wrong, &longer, "a.b.c", "hello"] {
        assert_refused(&request_with_token(&server, bad), true);
    }
    let right = format!("Bearer {good}");
    let two = [
        ("Authorization", right.as_str()),
        ("Authorization", right.as_str()),
    ];
    assert_refused(&send_request(&server, &two), true);

    assert_eq!(request_with_token(&server, &good).status, 200);
    let small = format!("bearer  {good}");
    assert_eq!(
        send_request(&server, &[("Authorization", &small)]).status,
        200
    );
    // A rejected request leaves no trace of its token.
    assert!(!server.log().contains("guess") && !server.log().contains(&good));
}

#[test]
fn each_token_is_a_separate_caller() {
    let place = place_with_notes();
    let reader = token(&place, "reader", &["--permission", "Diary=none"]);
    let writer = token(&place, "writer", &["--scopes", "read,write"]);
    let stranger = token(&place, "stranger", &["--scopes", "document:read"]);
    let server = serve(&place, &place.settings());
    let before = place.snapshot();
    let both = |token: &str| {
        [
            HttpClient::stateless(server.address()).with_token(token),
            HttpClient::with_session_and_token(server.address(), Some(token)),
        ]
    };
    for mut client in both(&reader) {
        let plan = client.call("document.read", json!({"path": "Work/Plan"}));
        assert_eq!(plan["structuredContent"]["content"], PLAN, "{plan}");
        let diary = client.call("document.read", json!({"path": "Diary/Monday"}));
        assert_eq!(code(&diary), "not_found", "{diary}");
        let write = client.call(
            "document.create",
            json!({"path": "Work/New", "content": "x"}),
        );
        assert_eq!(write["isError"], true, "{write}");
    }
    assert!(place.snapshot() == before, "nothing was written");
    for mut client in both(&stranger) {
        let listed = client.ask("tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().expect("a list");
        assert!(
            tools.iter().all(|tool| tool["name"] == "document"),
            "{listed}"
        );
    }
    for (number, mut client) in both(&writer).into_iter().enumerate() {
        let diary = client.call("document.read", json!({"path": "Diary/Monday"}));
        assert_eq!(
            diary["structuredContent"]["content"], "It rained.\n",
            "{diary}"
        );
        let path = format!("Work/New {number}.md");
        let write = client.call("document.create", json!({"path": path, "content": "x"}));
        assert_eq!(write["isError"], false, "{write}");
        assert!(place.read(&path).is_some());
    }
}

#[test]
fn revoked_and_expired_tokens_are_rejected() {
    let place = place_with_notes();
    let laptop = token(&place, "laptop", &[]);
    let server = serve(&place, &place.settings());
    let mut session = HttpClient::with_session_and_token(server.address(), Some(&laptop));
    assert_eq!(request_with_token(&server, &laptop).status, 200);
    assert!(listed(&place)[0]["last_used"].is_string());

    // A token created while the server runs.
    let brief = token(&place, "brief", &["--ttl", "2s"]);
    assert_eq!(request_with_token(&server, &brief).status, 200);
    wait_until("the token ends", || {
        request_with_token(&server, &brief).status == 401
    });

    revoke(&place, "laptop");
    assert_refused(&request_with_token(&server, &laptop), true);
    session.send("tools/list", json!({}));
    assert_refused(&session.response(), true);
    // Without any valid token the server stays closed.
    assert_refused(&send_request(&server, &[]), false);
}

#[test]
fn server_without_tokens_rejects_everyone_until_one_exists() {
    let place = place_with_notes();
    let server = serve(&place, &place.settings());
    assert_refused(&send_request(&server, &[]), false);
    assert_refused(&request_with_token(&server, "nh_made-up"), true);
    let laptop = token(&place, "laptop", &[]);
    assert_refused(&send_request(&server, &[]), false);
    assert_eq!(request_with_token(&server, &laptop).status, 200);
}

#[test]
fn invalid_token_is_rejected_even_without_authentication() {
    let place = place_with_notes();
    let mut settings = place.settings();
    settings.auth.mode = AuthMode::None;
    let server = serve(&place, &settings);
    let laptop = token(&place, "laptop", &["--permission", "Diary=none"]);
    assert_eq!(send_request(&server, &[]).status, 200);
    assert_refused(&request_with_token(&server, "nh_made-up"), true);
    assert_refused(
        &request_with_token(&server, &Key::secret(SECRET.as_bytes()).sign(&claims())),
        true,
    );
    let mut client = HttpClient::stateless(server.address()).with_token(&laptop);
    let diary = client.call("document.read", json!({"path": "Diary/Monday"}));
    assert_eq!(code(&diary), "not_found", "{diary}");
}

#[test]
fn non_loopback_address_requires_tokens() {
    let place = place_with_notes();
    let mut settings = place.settings();
    let start = |settings: &Settings, arguments: &[&str]| {
        place.config_file(settings);
        run(
            &place,
            &[&["serve", "--http", "0.0.0.0:0"], arguments].concat(),
        )
    };
    let result = start(&settings, &[]);
    assert_eq!(result.code, Some(3), "{result:?}");
    assert!(
        result.errors.contains("reached from other machines"),
        "{result:?}"
    );
    assert!(result.errors.contains("notehost token new"), "{result:?}");
    settings.auth.mode = AuthMode::None;
    token(&place, "laptop", &[]);
    let result = start(&settings, &[]);
    assert_eq!(result.code, Some(3), "{result:?}");
    assert!(
        result.errors.contains("`auth.mode` is `none`"),
        "{result:?}"
    );

    settings.auth.mode = AuthMode::Auto;
    let config = place.config_file(&settings);
    let server = Server::start_at("0.0.0.0:0", &config, &place.state(), |_| {});
    let port = server.address().rsplit_once(':').expect("a port").1;
    let answer = Connection::open(&format!("127.0.0.1:{port}")).ask("POST", "/mcp", &[], "{}");
    assert_refused(&answer, false);
    server.wait_for_log("tokens travel unencrypted");
}

#[test]
fn protected_resource_metadata_is_public() {
    let place = place_with_notes();
    let phone = token(&place, "phone", &[]);
    let mut settings = place.settings();
    settings.auth.jwt.issuer = Some(ISSUER.into());
    let server = serve(&place, &settings);
    for path in [
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/mcp",
    ] {
        let answer = Connection::open(server.address()).ask("GET", path, &[], "");
        let report = answer.message();
        assert_eq!(report["resource"], server.url(), "{report}");
        assert_eq!(
            report["scopes_supported"],
            json!(["read", "write", "delete", "admin"])
        );
        assert_eq!(report["bearer_methods_supported"], json!(["header"]));
        assert_eq!(report["authorization_servers"], json!([ISSUER]));
    }
    drop(server);
    settings.auth.resource = Some(AUDIENCE.into());
    let server = serve(&place, &settings);
    let answer = send_request(&server, &[]);
    let challenge = answer.header("www-authenticate").expect("a challenge");
    let expected =
        "resource_metadata=\"https://notes.example.org/.well-known/oauth-protected-resource/mcp\"";
    assert!(challenge.contains(expected), "{challenge}");
    assert_eq!(request_with_token(&server, &phone).status, 200);
}

#[test]
fn metrics_require_admin_even_without_authentication() {
    let place = place_with_notes();
    let server = serve_open(&place, &place.settings());
    let ask = |headers: &[(&str, &str)]| {
        Connection::open(server.address()).ask("GET", "/metrics", headers, "")
    };
    assert_eq!(ask(&[]).status, 401);
    let reader = format!("Bearer {}", token(&place, "reader", &[]));
    let admin = format!("Bearer {}", token(&place, "admin", &["--scopes", "admin"]));
    let answer = ask(&[("Authorization", &reader)]);
    assert_eq!(answer.status, 403, "{answer:?}");
    let challenge = answer.header("www-authenticate").expect("a challenge");
    assert!(
        challenge.contains("insufficient_scope") && challenge.contains("scope=\"admin\""),
        "{challenge}"
    );
    assert_eq!(ask(&[("Authorization", &admin)]).status, 200);
    // Health is public.
    let answer = Connection::open(server.address()).ask("GET", "/healthz", &[], "");
    assert_eq!(answer.status, 200, "{answer:?}");
}

#[test]
fn signed_tokens_are_checked_against_keys_and_secret() {
    let place = place_with_notes();
    let mut settings = place.settings();
    let jwks = place.root().join("jwks.json");
    let keys = [Key::rsa("r"), Key::p256("e"), Key::ed25519("d")];
    publish(&jwks, &keys.iter().collect::<Vec<_>>());
    settings.auth.resource = Some(AUDIENCE.into());
    settings.auth.jwt.issuer = Some(ISSUER.into());
    settings.auth.jwt.jwks_file = Some(jwks);
    settings.auth.jwt.secret_env = Some("TEST_SECRET".into());
    let server = Server::start_at(
        "127.0.0.1:0",
        &place.config_file(&settings),
        &place.state(),
        |command| {
            command.env("TEST_SECRET", SECRET);
        },
    );
    assert_refused(&send_request(&server, &[]), false);
    let mut permitted = claims_with("notehost_permissions", json!({ "Diary": "none" }));
    permitted["notehost_vaults"] = json!(["main"]);
    for key in keys.iter().chain([&Key::secret(SECRET.as_bytes())]) {
        let mut client = HttpClient::stateless(server.address()).with_token(&key.sign(&permitted));
        let plan = client.call("document.read", json!({"path": "Work/Plan"}));
        assert_eq!(plan["structuredContent"]["content"], PLAN, "{plan}");
        let diary = client.call("document.read", json!({"path": "Diary/Monday"}));
        assert_eq!(code(&diary), "not_found", "{diary}");
    }
    let key = &keys[2];
    // Bound to an unknown vault: nothing is visible.
    let bound = key.sign(&claims_with("notehost_vaults", json!(["other"])));
    let read = HttpClient::stateless(server.address())
        .with_token(&bound)
        .call("document.read", json!({"path": "Work/Plan"}));
    assert_eq!(read["isError"], true, "{read}");
    // A list of scopes; unknown scopes of the issuer are ignored.
    let mut lists = claims();
    lists.as_object_mut().expect("an object").remove("scope");
    lists["scopes"] = json!(["profile", "document:read"]);
    let mut client = HttpClient::stateless(server.address()).with_token(&key.sign(&lists));
    let write = client.call(
        "document.create",
        json!({"path": "Work/New", "content": "x"}),
    );
    assert_eq!(write["isError"], true, "{write}");
    assert_eq!(place.read("Work/New.md"), None);
    let plan = client.call("document.read", json!({"path": "Work/Plan"}));
    assert_eq!(plan["structuredContent"]["content"], PLAN, "{plan}");
}

#[test]
fn unusable_authentication_settings_fail_at_startup() {
    let place = place_with_notes();
    let short = place.root().join("short");
    fs::write(&short, "only a few bytes\n").expect("a file");
    private(&short);
    let secret = place.root().join("secret");
    fs::write(&secret, SECRET).expect("a file");
    private(&secret);
    let symmetric = place.root().join("symmetric.json");
    let key = json!({ "keys": [{ "kty": "oct", "kid": "o", "k": "c2VjcmV0" }] });
    fs::write(&symmetric, key.to_string()).expect("a file");
    type Change<'a> = &'a dyn Fn(&mut Settings);
    let cases: [(Change<'_>, &str); 8] = [
        (
            &|s| s.auth.mode = AuthMode::Jwt,
            "neither a secret nor keys",
        ),
        (
            &|s| s.auth.jwt.secret_file = Some(short.clone()),
            "has 16 bytes",
        ),
        (
            &|s| s.auth.jwt.secret_env = Some("NOT_SET_ANYWHERE".into()),
            "NOT_SET_ANYWHERE",
        ),
        (
            &|s| s.auth.jwt.jwks_file = Some(symmetric.clone()),
            "symmetric",
        ),
        (
            &|s| s.auth.jwt.jwks_file = Some(place.root().join("absent")),
            "absent",
        ),
        (
            &|s| {
                s.auth.jwt.secret_file = Some(secret.clone());
                s.auth.resource = None;
            },
            "without an audience",
        ),
        // A path where a note tool could write its own keys.
        (
            &|s| s.auth.jwt.jwks_file = Some(place.vault().join("jwks.json")),
            "`auth.jwt.jwks_file` is inside the vault",
        ),
        (
            &|s| s.http.tls_cert = Some(secret.clone()),
            "`http.tls_key` is not",
        ),
    ];
    for (change, expected) in cases {
        let mut settings = place.settings();
        settings.auth.resource = Some(AUDIENCE.into());
        change(&mut settings);
        place.config_file(&settings);
        let result = run(&place, &["serve", "--http", "127.0.0.1:0"]);
        assert_eq!(result.code, Some(3), "{expected}: {result:?}");
        assert!(result.errors.contains(expected), "{expected}: {result:?}");
        assert!(
            !result.errors.contains("listening"),
            "{expected}: {result:?}"
        );
    }
}

#[test]
fn command_line_call_with_a_token_has_the_tokens_rights() {
    let place = place_with_notes();
    let mut settings = place.settings();
    // The config can only reduce a token's scopes.
    let scopes = ["read", "write", "admin"].map(str::to_owned);
    settings.callers.entry("phone".into()).or_default().scopes = Some(scopes.into());
    place.config_file(&settings);
    token(&place, "phone", &["--scopes", "read"]);
    let call = |arguments: &[&str]| run(&place, &[&["call", "document"], arguments].concat());
    let read = ["read", "--path", "Work/Plan", "--caller"];
    let append = ["append", "--path", "Work/Plan", "--text", "x", "--caller"];
    assert_eq!(call(&[&read[..], &["phone"]].concat()).code, Some(0));
    let refused = call(&[&append[..], &["phone"]].concat());
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.output.contains("forbidden"), "{refused:?}");
    let unknown_token = call(&[&read[..], &["nobody"]].concat());
    assert_eq!(unknown_token.code, Some(2), "{unknown_token:?}");
    // A token can be revoked while the config is broken; meanwhile no permissions apply.
    fs::write(place.root().join("notehost.toml"), "broken").expect("the config");
    revoke(&place, "phone");
    place.config_file(&settings);
    let revoked = call(&[&read[..], &["phone"]].concat());
    assert_eq!(revoked.code, Some(1), "{revoked:?}");
    assert!(revoked.errors.contains("was revoked"), "{revoked:?}");
}
