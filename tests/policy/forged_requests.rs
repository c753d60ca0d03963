//! Attacks over HTTP and their results: forged tokens, stolen sessions, web pages. Floods and slow clients are in
//! `floods`.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::Algorithm;
use notehost::config::Settings;
use serde_json::{Value, json};

use super::auth_setup::{
    assert_refused, place_with_notes, request_with_token, send_request, serve, serve_open, token,
};
use crate::support::http::{Connection, HttpClient, SESSIONS, wait_until};
use crate::support::issuer::{
    AUDIENCE, ISSUER, Key, SECRET, claims, claims_with, key_file, now, private, publish,
};
use crate::support::place::Place;

/// Settings that accept tokens of the tests' issuer.
fn with_issuer(place: &Place) -> Settings {
    let mut settings = place.settings();
    settings.auth.resource = Some(AUDIENCE.into());
    settings.auth.jwt.issuer = Some(ISSUER.into());
    settings.auth.jwt.jwks_file = Some(place.root().join("jwks.json"));
    settings
}

/// Settings that also accept tokens signed with the secret.
fn with_issuer_and_secret(place: &Place) -> Settings {
    let mut settings = with_issuer(place);
    let file = place.root().join("secret");
    std::fs::write(&file, format!("{SECRET}\n")).expect("a file");
    private(&file);
    settings.auth.jwt.secret_file = Some(file);
    settings
}

fn part(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

/// The valid claims without one of them.
fn claims_without(name: &str) -> Value {
    let mut claims = claims();
    claims.as_object_mut().expect("an object").remove(name);
    claims
}

#[test]
fn forged_and_misused_tokens_are_rejected() {
    let place = place_with_notes();
    let (rsa, p256, ed25519) = (Key::rsa("r"), Key::p256("e"), Key::ed25519("d"));
    publish(&place.root().join("jwks.json"), &[&rsa, &p256]);
    // One server knows only public keys, the other also a secret: neither may use one in place of the other.
    for settings in [with_issuer(&place), with_issuer_and_secret(&place)] {
        let server = serve(&place, &settings);
        let good = rsa.sign(&claims());
        assert_eq!(request_with_token(&server, &good).status, 200);
        assert_eq!(
            request_with_token(&server, &p256.sign(&claims())).status,
            200
        );

        let mut forged: Vec<(&str, String)> = Vec::new();
        // The public key, in each encoding, used as a secret.
        let pem = std::fs::read(key_file("rsa.public.pem")).expect("a key");
        let public = rsa.public();
        let modulus = public["n"].as_str().expect("a modulus");
        let raw = URL_SAFE_NO_PAD.decode(modulus).expect("bytes");
        for secret in [
            &pem[..],
            pem.trim_ascii_end(),
            public.to_string().as_bytes(),
            modulus.as_bytes(),
            &raw,
        ] {
            let key = Key::secret(secret);
            for kid in [Some("r"), None] {
                forged.push((
                    "a public key as a secret",
                    key.sign_as(Algorithm::HS256, kid, &claims()),
                ));
            }
        }
        let header = |header: Value| format!("{}.{}", part(&header), part(&claims()));
        for none in ["none", "None", "NONE", ""] {
            let unsigned = header(json!({ "alg": none, "typ": "JWT", "kid": "r" }));
            forged.push(("no algorithm", format!("{unsigned}.")));
            forged.push(("no algorithm", format!("{unsigned}.c2ln")));
        }
        // A valid signature under another header, and other claims under a valid signature.
        let (head, rest) = good.split_once('.').expect("three parts");
        let (payload, signature) = rest.split_once('.').expect("three parts");
        let swapped = part(&json!({ "alg": "ES256", "typ": "JWT", "kid": "r" }));
        forged.push((
            "another algorithm than the key's",
            format!("{swapped}.{payload}.{signature}"),
        ));
        let more = part(&claims_with("scope", json!("read write delete admin")));
        forged.push(("other words", format!("{head}.{more}.{signature}")));
        let mut bent = signature.to_owned().into_bytes();
        bent[10] = if bent[10] == b'A' { b'B' } else { b'A' };
        let bent = String::from_utf8(bent).expect("text");
        forged.push(("a bent signature", format!("{head}.{payload}.{bent}")));
        forged.push(("no signature", format!("{head}.{payload}.")));
        forged.push(("two parts", format!("{head}.{payload}")));
        let own = json!({ "alg": "EdDSA", "typ": "JWT", "kid": "own", "jwk": ed25519.public() });
        forged.push((
            "a key in the header",
            format!("{}.{signature}", header(own)),
        ));
        // The right key with wrong claims.
        let signed = |claims: Value| rsa.sign(&claims);
        forged.push(("an unknown key", ed25519.sign(&claims())));
        forged.push((
            "an unknown name of a key",
            rsa.sign_as(Algorithm::RS256, Some("x"), &claims()),
        ));
        forged.push((
            "no name of a key",
            rsa.sign_as(Algorithm::RS256, None, &claims()),
        ));
        forged.push((
            "another key's name",
            rsa.sign_as(Algorithm::RS256, Some("e"), &claims()),
        ));
        forged.push((
            "another hash",
            rsa.sign_as(Algorithm::RS512, Some("r"), &claims()),
        ));
        forged.push((
            "another padding",
            rsa.sign_as(Algorithm::PS256, Some("r"), &claims()),
        ));
        forged.push(("expired", signed(claims_with("exp", json!(now() - 600)))));
        forged.push(("without an end", signed(claims_without("exp"))));
        forged.push((
            "an invalid expiry time",
            signed(claims_with("exp", json!("soon"))),
        ));
        forged.push((
            "not yet valid",
            signed(claims_with("nbf", json!(now() + 600))),
        ));
        forged.push((
            "another audience",
            signed(claims_with("aud", json!("https://other.example"))),
        ));
        forged.push(("no audience", signed(claims_without("aud"))));
        forged.push((
            "another issuer",
            signed(claims_with("iss", json!("https://evil.example"))),
        ));
        forged.push(("no issuer", signed(claims_without("iss"))));
        forged.push(("nobody", signed(claims_without("sub"))));
        forged.push(("an empty name", signed(claims_with("sub", json!("")))));
        forged.push((
            "the name of a trusted place",
            signed(claims_with("sub", json!("stdio"))),
        ));
        forged.push((
            "not a tier",
            signed(claims_with(
                "notehost_permissions",
                json!({ "Work": "all" }),
            )),
        ));
        forged.push(("another secret", Key::secret(&[7; 32]).sign(&claims())));
        forged.push((
            "too long",
            signed(claims_with("x", json!("x".repeat(20_000)))),
        ));
        for (what, forged) in &forged {
            let answer = request_with_token(&server, forged);
            assert_eq!(answer.status, 401, "{what}: {forged}: {answer:?}");
            assert_refused(&answer, true);
        }
        assert_eq!(request_with_token(&server, &good).status, 200);
        assert_eq!(
            request_with_token(&server, &Key::secret(SECRET.as_bytes()).sign(&claims())).status,
            if settings.auth.jwt.secret_file.is_some() {
                200
            } else {
                401
            }
        );
        assert!(!server.log().contains(signature), "tokens are not logged");
    }
}

#[test]
fn keys_are_rotated_while_the_server_runs() {
    let place = place_with_notes();
    let file = place.root().join("jwks.json");
    let (old, new) = (Key::ed25519("2025"), Key::rsa("2026"));
    publish(&file, &[&old]);
    let server = serve(&place, &with_issuer(&place));
    let (before, after) = (old.sign(&claims()), new.sign(&claims()));
    assert_eq!(request_with_token(&server, &before).status, 200);
    assert_refused(&request_with_token(&server, &after), true);
    publish(&file, &[&old, &new]);
    assert_eq!(request_with_token(&server, &before).status, 200);
    assert_eq!(request_with_token(&server, &after).status, 200);
    publish(&file, &[&new]);
    assert_refused(&request_with_token(&server, &before), true);
    assert_eq!(request_with_token(&server, &after).status, 200);
    // A token that was valid a moment ago expires on time; clocks may differ by half a minute.
    let brief = new.sign(&claims_with("exp", json!(now() - 26)));
    assert_eq!(request_with_token(&server, &brief).status, 200);
    wait_until("the token ends", || {
        request_with_token(&server, &brief).status == 401
    });
    // A broken key file locks nobody out, and lets nobody in.
    for mistake in [
        "{",
        r#"{"keys": [{"kty": "oct", "kid": "2026", "k": "c2VjcmV0"}]}"#,
    ] {
        std::fs::write(&file, mistake).expect("a file");
        assert_eq!(request_with_token(&server, &after).status, 200);
        assert_refused(&request_with_token(&server, &before), true);
    }
    server.wait_for_log("the previous keys stay in use");
    std::fs::write(&file, r#"{"keys": []}"#).expect("a file");
    assert_refused(&request_with_token(&server, &after), true);
}

#[test]
fn session_cannot_be_used_by_another_caller() {
    let place = place_with_notes();
    let (ana, eve) = (token(&place, "ana", &[]), token(&place, "eve", &[]));
    publish(&place.root().join("jwks.json"), &[&Key::ed25519("d")]);
    let server = serve(&place, &with_issuer(&place));
    // The same name from another authentication method.
    let namesake = Key::ed25519("d").sign(&claims());
    let mut client = HttpClient::with_session_and_token(server.address(), Some(&ana));
    let session = client.session().expect("a session").to_owned();
    let list = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": {}}).to_string();
    let ask = |method: &str, token: Option<&str>| {
        let shown = token.map(|token| format!("Bearer {token}"));
        let mut headers = vec![
            ("MCP-Protocol-Version", SESSIONS),
            ("Mcp-Session-Id", session.as_str()),
        ];
        headers.extend(shown.iter().map(|shown| ("Authorization", shown.as_str())));
        let body = if method == "POST" { &list } else { "" };
        Connection::open(server.address()).ask(method, "/mcp", &headers, body)
    };
    for method in ["POST", "GET", "DELETE"] {
        for other in [&eve, &namesake] {
            let answer = ask(method, Some(other));
            assert_eq!(answer.status, 404, "{method}: {answer:?}");
        }
        assert_refused(&ask(method, None), false);
    }
    let plan = client.call("document.read", json!({"path": "Work/Plan"}));
    assert_eq!(plan["isError"], false, "{plan}");
    assert_eq!(ask("POST", Some(&ana)).status, 200);
    assert!(ask("DELETE", Some(&ana)).status < 300);
    assert_eq!(ask("POST", Some(&ana)).status, 404);
}

#[test]
fn dns_rebinding_is_rejected() {
    let place = place_with_notes();
    let mut settings = place.settings();
    settings.http.allowed_hosts = vec!["notes.example.org".into()];
    settings.http.allowed_origins = vec!["https://app.example.org".into()];
    let server = serve_open(&place, &settings);
    for (header, status) in [
        (("Host", "evil.example"), 403),
        (("Host", "127.0.0.1.evil.example"), 403),
        (("Host", "localhost:1@evil.example"), 400),
        (("Origin", "https://evil.example"), 403),
        (("Origin", "null"), 403),
        (("Origin", "http://127.0.0.1.evil.example"), 403),
        (("Origin", "https://app.example.org.evil.example"), 403),
        (("Host", "notes.example.org"), 200),
        (("Host", "localhost"), 200),
        (("Origin", "https://app.example.org"), 200),
        (("Origin", "http://app.example.org"), 403),
    ] {
        let answer = send_request(&server, &[header]);
        assert_eq!(answer.status, status, "{header:?}: {answer:?}");
        // The same holds for health and metrics.
        for path in [
            "/healthz",
            "/readyz",
            "/metrics",
            "/.well-known/oauth-protected-resource",
        ] {
            let answer = Connection::open(server.address()).ask("GET", path, &[header], "");
            // Metrics require an admin, under any host name.
            let status = match (path, status) {
                ("/metrics", 200) => 401,
                _ => status,
            };
            assert_eq!(answer.status, status, "{path} {header:?}: {answer:?}");
        }
    }
    let mut twice = Connection::open(server.address());
    twice.send_raw(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
    assert_eq!(twice.receive().status, 400);
    let mut absolute = Connection::open(server.address());
    absolute.send_raw(
        b"GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    );
    assert_eq!(absolute.receive().status, 400);
}
