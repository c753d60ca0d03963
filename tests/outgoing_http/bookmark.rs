//! The SDK's example `bookmark`, from its user's view.

use std::sync::Arc;

use notehost::config::{GrantSettings, Settings};
use notehost::dispatch::{CallError, Host, Reply};
use serde_json::json;

use crate::support::guests::example_bookmark;
use crate::support::place::{Place, call, component};
use crate::support::web_server::Server;

struct BookmarkSetup {
    place: Place,
    host: Arc<Host>,
    server: Server,
}

fn settings(place: &Place, hosts: &[String]) -> Settings {
    let mut settings = place.settings();
    let grant = GrantSettings {
        write: vec!["Reading/**".into()],
        http: hosts.to_vec(),
        ..GrantSettings::default()
    };
    settings
        .components
        .insert("bookmark".into(), component(example_bookmark(), grant));
    settings.limits.call_ms = 60_000;
    settings
}

impl BookmarkSetup {
    async fn new(change: impl FnOnce(&mut Settings)) -> BookmarkSetup {
        let place = Place::new();
        place.write("Reading/List.md", "# To read\n");
        let server = Server::start().await;
        let mut settings = settings(&place, &[server.authority()]);
        change(&mut settings);
        let host = place.host(settings).await;
        let snapshot = host.registry().snapshot();
        assert!(snapshot.broken().is_empty(), "{:?}", snapshot.broken());
        BookmarkSetup {
            place,
            host,
            server,
        }
    }

    async fn add(&self, url: &str) -> Result<Reply, CallError> {
        let arguments = json!({"url": url, "path": "Reading/List"});
        call(&self.host, "bookmark.add", arguments).await
    }

    fn list(&self) -> String {
        let bytes = self.place.read("Reading/List.md").expect("the list");
        String::from_utf8(bytes).expect("text")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn page_is_added_with_its_title() {
    let setup = BookmarkSetup::new(|_| {}).await;
    let reply = setup.add(&setup.server.url("/page")).await.expect("added");
    assert_eq!(reply.structured["title"], "Tea & scones");
    let line = format!(
        "- [Tea & scones]({}): How to bake.\n",
        setup.server.url("/page")
    );
    assert_eq!(setup.list(), format!("# To read\n{line}"));
    // Also through a redirect; the link keeps the requested URL.
    let reply = setup
        .add(&setup.server.url("/to?/page"))
        .await
        .expect("added");
    assert_eq!(reply.structured["moved_to"], setup.server.url("/page"));
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_fetch_changes_nothing_and_reports_the_reason() {
    let setup = BookmarkSetup::new(|settings| {
        settings.limits.call_ms = 8_000;
        settings.limits.http_bytes = 100_000;
    })
    .await;
    let port = setup.server.address.port();
    for (url, code, expected) in [
        (
            setup.server.url("/to?https://refused.example/secret"),
            "permission_denied",
            "may not send requests to `https://refused.example`",
        ),
        (
            setup
                .server
                .url(&format!("/to?http://localhost:{port}/page")),
            "permission_denied",
            "may not send requests",
        ),
        (setup.server.url("/large?200000"), "too_large", "too large"),
        (setup.server.url("/flood?200000"), "too_large", "too large"),
        (setup.server.url("/silent"), "unavailable", "timed out"),
        (setup.server.url("/nothing"), "unavailable", "status 404"),
        (
            "mailto:ana@example.com".into(),
            "validation_error",
            "is not a web URL",
        ),
    ] {
        let error = setup.add(&url).await.expect_err(&url);
        assert_eq!(error.code, code, "{url}: {error}");
        assert!(error.message.contains(expected), "{url}: {error}");
    }
    assert_eq!(setup.list(), "# To read\n");
    assert!(!setup.server.received().contains(&"GET /page".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn private_address_is_not_covered_by_a_public_grant() {
    let setup = BookmarkSetup::new(|settings| {
        let bookmark = settings.components.get_mut("bookmark").expect("bookmark");
        let port = bookmark.grant.http[0].rsplit(':').next().expect("a port");
        bookmark.grant.http = vec![format!("http://*:{port}")];
    })
    .await;
    let error = setup.add(&setup.server.url("/page")).await;
    let error = error.expect_err("it is private");
    assert_eq!(error.code, "permission_denied", "{error}");
    assert!(error.message.contains("not a public address"), "{error}");
    assert!(setup.server.received().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn revoked_grant_takes_effect() {
    let setup = BookmarkSetup::new(|_| {}).await;
    setup.add(&setup.server.url("/page")).await.expect("added");
    let revoked = settings(&setup.place, &[]);
    setup.host.apply(revoked).await.expect("settings");
    let error = setup.add(&setup.server.url("/page")).await;
    let error = error.expect_err("it is revoked");
    assert_eq!(error.code, "permission_denied");
    let granting = format!("http = [\"{}\"]", setup.server.url(""));
    assert!(error.hint.is_some_and(|hint| hint.contains(&granting)));
    assert_eq!(setup.server.received().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn links_of_a_note_are_checked() {
    let setup = BookmarkSetup::new(|_| {}).await;
    let text = format!(
        "[tea]({}) and {}\n<{}>\nhttps://elsewhere.example\n",
        setup.server.url("/page"),
        setup.server.url("/gone"),
        setup.server.url("/to?/page"),
    );
    setup.place.write("Reading/Links.md", text);
    let arguments = json!({"path": "Reading/Links.md"});
    let reply = call(&setup.host, "bookmark.check", arguments)
        .await
        .expect("checked");
    assert_eq!(reply.structured["broken"], 2, "{reply:?}");
    let items = &reply.structured["items"];
    assert_eq!(
        (&items[0]["status"], &items[0]["line"]),
        (&json!(200), &json!(1))
    );
    assert_eq!(items[1]["status"], 404);
    assert_eq!(items[2]["moved_to"], setup.server.url("/page"));
    assert_eq!(items[3]["line"], 3);
    assert!(
        items[3]["problem"]
            .as_str()
            .is_some_and(|why| why.contains("may not send requests"))
    );
}
