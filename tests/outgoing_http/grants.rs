//! Which requests are allowed.

use serde_json::json;

use super::{EgressSetup, assert_refused, grant, settings};
use crate::support::client::Client;
use crate::support::guests::guest;
use crate::support::place::{Place, call, component};

#[tokio::test(flavor = "multi_thread")]
async fn requests_without_a_grant_are_denied() {
    let setup = EgressSetup::with(|_, _| {}).await;
    for (scheme, authority) in [
        ("http", setup.server.authority()),
        ("https", "example.com".to_owned()),
        ("http", "localhost".to_owned()),
    ] {
        let answer = setup.ask(scheme, &authority, "/page").await;
        assert_refused(&answer, "HttpRequestDenied");
    }
    assert!(setup.server.received().is_empty());
    let metrics = notehost::audit::metrics_text();
    let denied = metrics.lines().find(|line| {
        line.starts_with("notehost_component_requests_total")
            && line.contains("domain=\"messenger\"")
            && line.contains("outcome=\"denied\"")
    });
    assert!(denied.is_some(), "denials are counted: {metrics}");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_granted_hosts_are_reached() {
    let setup = EgressSetup::new().await;
    let authority = setup.server.authority();
    let answer = setup.ask("http", &authority, "/page?a=b").await;
    assert_eq!(answer["status"], 200, "{answer}");
    assert!(
        answer["start"]
            .as_str()
            .is_some_and(|page| page.contains("scones"))
    );
    assert_eq!(setup.server.received(), ["GET /page?a=b"]);
    let port = setup.server.address.port();
    for (scheme, authority, why) in [
        ("http", format!("localhost:{port}"), "HttpRequestDenied"),
        (
            "http",
            format!("[::ffff:127.0.0.1]:{port}"),
            "HttpRequestDenied",
        ),
        ("http", format!("127.0.0.1.:{port}"), "HttpRequestDenied"),
        ("http", format!("127.1:{port}"), "HttpRequestDenied"),
        ("http", "127.0.0.1".to_owned(), "HttpRequestDenied"),
        (
            "http",
            format!("user@127.0.0.1:{port}"),
            "HttpRequestUriInvalid",
        ),
        (
            "http",
            format!("127.0.0.1:{port}@example.com"),
            "HttpRequestUriInvalid",
        ),
        ("ftp", authority.clone(), "HttpProtocolError"),
    ] {
        let answer = setup.ask(scheme, &authority, "/page").await;
        assert_refused(&answer, why);
    }
    assert_eq!(
        setup.server.received().len(),
        1,
        "no other request was sent"
    );
}

/// `*` grants every public host; private addresses are not included, in whatever form they are written.
#[tokio::test(flavor = "multi_thread")]
async fn private_addresses_need_an_explicit_grant() {
    let setup = EgressSetup::with(|settings, server| {
        grant(settings, &[&format!("http://*:{}", server.address.port())]);
    })
    .await;
    let port = setup.server.address.port();
    for host in [
        "127.0.0.1",
        "localhost",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0.0.0.0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "169.254.169.254",
        "10.0.0.1",
        "[fd00::1]",
    ] {
        let answer = setup.ask("http", &format!("{host}:{port}"), "/page").await;
        // An invalid address for this machine's resolver is not found; neither is connected to.
        let refused = answer["refused"].as_str().unwrap_or_default();
        let is_odd = matches!(host, "127.1" | "2130706433" | "0x7f000001");
        assert!(
            refused.contains("DestinationIpProhibited")
                || is_odd && refused.contains("DestinationNotFound"),
            "{host}: {answer}"
        );
    }
    assert!(setup.server.received().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn localhost_can_be_granted_by_name() {
    let setup = EgressSetup::with(|settings, server| {
        grant(settings, &[&format!("localhost:{}", server.address.port())]);
    })
    .await;
    let authority = format!("LocalHost:{}", setup.server.address.port());
    let answer = setup.ask("http", &authority, "/echo").await;
    let echoed = answer["start"].as_str().unwrap_or_default();
    let host = format!("[\"host\",\"{}\"]", authority.to_lowercase());
    assert!(echoed.contains(&host), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn host_does_not_follow_redirects() {
    let setup = EgressSetup::new().await;
    let answer = setup.fetch(json!([setup.request("/to?/page")])).await;
    assert_eq!(answer[0]["status"], 302, "{answer:?}");
    assert!(
        answer[0]["headers"]
            .to_string()
            .contains("[\"location\",\"/page\"]")
    );
    assert_eq!(setup.server.received(), ["GET /to?/page"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn guests_cannot_set_connection_headers() {
    let setup = EgressSetup::new().await;
    for name in [
        "Host",
        "connection",
        "Keep-Alive",
        "transfer-encoding",
        "upgrade",
        "proxy-authorization",
        "te",
        "Expect",
    ] {
        let mut request = setup.request("/echo");
        request["headers"] = json!([[name, "evil.example"]]);
        let answer = setup.fetch(json!([request])).await;
        assert_refused(&answer[0], "Forbidden");
    }
    let mut request = setup.request("/echo");
    request["headers"] = json!([["x-own", "mine"], ["authorization", "Bearer mine"]]);
    let answer = setup.fetch(json!([request])).await;
    let echoed = answer[0]["start"].as_str().unwrap_or_default();
    // The guest's headers, the target, and none of the host's own.
    let headers: serde_json::Value = serde_json::from_str(echoed).expect("an echo");
    let mut names: Vec<&str> = headers["headers"]
        .as_array()
        .expect("headers")
        .iter()
        .filter_map(|header| header[0].as_str())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["authorization", "host", "x-own"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn read_actions_can_only_send_safe_requests() {
    let setup = EgressSetup::new().await;
    for method in [
        "POST", "PUT", "PATCH", "DELETE", "PROPFIND", "CONNECT", "TRACE", "get",
    ] {
        let mut request = setup.request("/echo");
        request["method"] = method.into();
        let answer = setup.fetch(json!([request.clone()])).await;
        let is_known = matches!(method, "POST" | "PUT" | "PATCH" | "DELETE");
        let why = match is_known {
            true => "HttpRequestDenied",
            false => "HttpRequestMethodInvalid",
        };
        assert_refused(&answer[0], why);
        // A dry run of a write action does not either.
        let dry = json!({"requests": [request], "dry_run": true});
        let reply = setup.call("send", dry).await.expect("it answers");
        assert_refused(&reply.structured["answers"][0], why);
    }
    assert!(setup.server.received().is_empty());
    let mut request = setup.request("/echo");
    request["method"] = "POST".into();
    request["body"] = 5000.into();
    let sent = setup.call("send", json!({ "requests": [request] })).await;
    let sent = sent.expect("it answers");
    assert!(
        sent.structured["answers"][0]["start"]
            .as_str()
            .is_some_and(|echo| echo.contains("\"body\":5000")),
        "{sent:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn revoked_grant_takes_effect_during_a_call() {
    let setup = EgressSetup::new().await;
    let mut revoked = settings(&setup.place);
    grant(&mut revoked, &["other.example"]);
    let (host, threads) = (setup.host.clone(), tokio::runtime::Handle::current());
    setup.server.on_request(move |_| {
        let (host, revoked) = (host.clone(), revoked.clone());
        tokio::task::block_in_place(|| threads.block_on(host.apply(revoked)))
            .expect("it is revoked");
    });
    let answers = setup
        .fetch(json!([setup.request("/page"), setup.request("/page")]))
        .await;
    assert_eq!(answers[0]["status"], 200, "{answers:?}");
    assert_refused(&answers[1], "HttpRequestDenied");
    assert_eq!(setup.server.received().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_switch_blocks_unsafe_requests_during_a_call() {
    let setup = EgressSetup::new().await;
    let mut closed = settings(&setup.place);
    grant(&mut closed, &[&setup.server.authority()]);
    closed.read_only = true;
    let (host, threads) = (setup.host.clone(), tokio::runtime::Handle::current());
    setup.server.on_request(move |_| {
        let (host, closed) = (host.clone(), closed.clone());
        tokio::task::block_in_place(|| threads.block_on(host.apply(closed))).expect("it is closed");
    });
    let mut request = setup.request("/echo");
    request["method"] = "POST".into();
    // The outcome of the call does not matter here.
    let _ = setup
        .call("send", json!({ "requests": [request, request] }))
        .await;
    assert_eq!(setup.server.received(), ["POST /echo"]);
}

/// A component with a grant for everything sends no requests in `describe`.
#[tokio::test(flavor = "multi_thread")]
async fn describe_cannot_send_requests() {
    let setup = EgressSetup::with(|settings, _| grant(settings, &["localhost:9"])).await;
    let domains = setup.host.registry().snapshot();
    let described = &domains
        .domain("messenger")
        .expect("it is there")
        .description;
    assert!(described.contains("HttpRequestDenied"), "{described}");
}

/// A host that the manifest does not request cannot be granted; a component that imports sockets is not loaded at all.
#[tokio::test(flavor = "multi_thread")]
async fn grant_cannot_exceed_the_manifest() {
    let place = Place::new();
    let file = place.root().join("narrow.wasm");
    let wide = std::fs::read(guest("messenger")).expect("a component");
    // Of the same length, so that the section's size stays correct.
    let received = br#"notehost:manifest{"http": ["*"]}"#;
    let at = wide
        .windows(received.len())
        .position(|bytes| bytes == received);
    let at = at.expect("its manifest");
    let mut setup_with_limits = wide;
    setup_with_limits[at..at + received.len()]
        .copy_from_slice(br#"notehost:manifest{"http":["a"] }"#);
    std::fs::write(&file, setup_with_limits).expect("a component");
    let mut settings = settings(&place);
    let grant = settings.components["messenger"].grant.clone();
    settings
        .components
        .insert("messenger".into(), component(file, grant));
    super::grant(&mut settings, &["*", "localhost:9"]);
    let host = place.host(settings).await;
    let request = json!({"scheme": "http", "authority": "localhost:9"});
    let reply = call(&host, "messenger.fetch", json!({ "requests": [request] })).await;
    let reply = reply.expect("it answers");
    assert_refused(&reply.structured["answers"][0], "HttpRequestDenied");
}

/// The hint that clients show follows from what is enforced.
#[tokio::test(flavor = "multi_thread")]
async fn open_world_hint_follows_the_granted_hosts() {
    let place = Place::new();
    for (hosts, is_open) in [(&[][..], false), (&["example.com"][..], true)] {
        let mut settings = settings(&place);
        grant(&mut settings, hosts);
        let config = place.config_file(&settings);
        let mut client = Client::start(&config, &place.state());
        let listed = client.ask("tools/list", json!({}));
        let hint = |name: &str| {
            let tools = listed["tools"].as_array().expect("tools");
            let tool = tools.iter().find(|tool| tool["name"] == name);
            tool.expect("the tool")["annotations"]["openWorldHint"].clone()
        };
        assert_eq!(hint("messenger"), is_open);
        assert_eq!(hint("document"), false);
    }
}
