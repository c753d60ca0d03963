//! Limits on size, time and number of requests.

use serde_json::json;

use super::{EgressSetup, assert_refused, grant};

/// A setup whose calls may transfer 100,000 bytes in 3 requests.
async fn setup_with_limits() -> EgressSetup {
    EgressSetup::with(|settings, server| {
        grant(settings, &[&server.authority()]);
        settings.limits.http_bytes = 100_000;
        settings.limits.http_requests = 3;
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn oversized_response_body_is_cut_off() {
    let setup = setup_with_limits().await;
    let answers = setup
        .fetch(json!([
            setup.request("/large?200000"), // said in advance
            setup.request("/flood?200000"), // found out while it comes
        ]))
        .await;
    assert_refused(&answers[0], "HttpResponseBodySize");
    assert_refused(&answers[1], "HttpResponseBodySize");
    // All responses of a call count together.
    let twice = json!([setup.request("/large?60000"), setup.request("/large?60000")]);
    let answers = setup.fetch(twice).await;
    assert_eq!(answers[0]["bytes"], 60_000, "{answers:?}");
    assert_refused(&answers[1], "HttpResponseBodySize");
}

#[tokio::test(flavor = "multi_thread")]
async fn sent_bytes_are_limited() {
    let setup = setup_with_limits().await;
    let mut request = setup.request("/echo");
    request["method"] = "POST".into();
    request["body"] = 200_000.into();
    let reply = setup.call("send", json!({ "requests": [request] })).await;
    let reply = reply.expect("it answers");
    assert_refused(&reply.structured["answers"][0], "HttpRequestBodySize");
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_per_call_are_limited() {
    let setup = setup_with_limits().await;
    let page = setup.request("/page");
    let answers = setup.fetch(json!([page, page, page, page])).await;
    for answer in &answers[..3] {
        assert_eq!(answer["status"], 200, "{answer}");
    }
    assert_refused(&answers[3], "ConnectionLimitReached");
    assert_eq!(setup.server.received().len(), 3);
    // The next call has its own limit.
    assert_eq!(setup.fetch(json!([page])).await[0]["status"], 200);
}

/// The guest gets the error before its own deadline, so that it can report it.
#[tokio::test(flavor = "multi_thread")]
async fn slow_server_times_out() {
    let setup = EgressSetup::with(|settings, server| {
        grant(settings, &[&server.authority()]);
        settings.limits.call_ms = 8_000;
    })
    .await;
    let mut hurried = setup.request("/silent");
    hurried["first_byte_ms"] = 50.into();
    let answers = setup
        .fetch(json!([hurried, setup.request("/silent")]))
        .await;
    assert_refused(&answers[0], "HttpResponseTimeout");
    assert_refused(&answers[1], "HttpResponseTimeout");
    let answers = setup.fetch(json!([setup.request("/trickle")])).await;
    assert_refused(&answers[0], "ConnectionReadTimeout");
}

#[tokio::test(flavor = "multi_thread")]
async fn connection_errors_are_reported_to_the_guest() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let free = listener.local_addr().expect("an address").to_string();
    let setup = EgressSetup::with(|settings, server| {
        grant(
            settings,
            &[&free, &server.authority(), "http://no-such-host.invalid"],
        );
    })
    .await;
    drop(listener);
    let answer = setup.ask("http", &free, "/").await;
    assert_refused(&answer, "ConnectionRefused");
    let answer = setup.ask("http", "no-such-host.invalid", "/").await;
    assert_refused(&answer, "DestinationNotFound");
    // A server without TLS.
    let answer = setup.ask("https", &setup.server.authority(), "/").await;
    assert_refused(&answer, "TlsProtocolError");
}
