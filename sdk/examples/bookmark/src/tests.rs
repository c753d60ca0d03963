//! Tests of the actions, with fake responses.

use notehost_sdk::prelude::*;

use crate::url::Url;
use crate::web::Response;
use crate::web::fake::respond;
use crate::{Add, Check, links};

fn page(body: &str) -> Response {
    Response {
        status: 200,
        body: body.as_bytes().to_vec(),
        ..Response::default()
    }
}

fn redirect_to(location: &str) -> Response {
    Response {
        status: 302,
        location: Some(location.to_owned()),
        ..Response::default()
    }
}

#[test]
fn add_appends_a_link_with_title_and_description() {
    respond(
        "https://example.org/a",
        page(
            "<html><head><TITLE lang=en>\n Tea &amp; [scones]\n</TITLE>\
             <meta content='How to\nbake.' name=\"Description\"></head>",
        ),
    );
    let vault = Vault::in_memory().with("Reading.md", "# Reading");
    let add = |path: &str| {
        Add {
            url: " https://EXAMPLE.org/a#top ".into(),
            path: path.into(),
        }
        .run(&vault)
        .expect("added")
    };
    assert_eq!(add("Reading").title, "Tea & [scones]");
    let line = "- [Tea & \\[scones\\]](https://example.org/a): How to bake.\n";
    assert_eq!(
        vault.read_note("Reading").expect("a note").text,
        format!("# Reading\n{line}")
    );
    assert_eq!(add("New/Links").path, "New/Links.md");
    assert_eq!(vault.read_note("Links").expect("a note").text, line);
}

#[test]
fn redirects_are_followed_only_to_granted_hosts() {
    respond("https://a.org/", redirect_to("/b"));
    respond("https://a.org/b", redirect_to("https://c.org/d/e"));
    respond("https://c.org/d/e", redirect_to("f"));
    respond("https://c.org/d/f", page("no title"));
    respond("https://a.org/round", redirect_to("/round"));
    respond("https://a.org/away", redirect_to("https://secret.example/"));
    let vault = Vault::in_memory().with("L.md", "");
    let add = |url: &str| {
        Add {
            url: url.into(),
            path: "L".into(),
        }
        .run(&vault)
    };
    let added = add("https://a.org").expect("added");
    assert_eq!(added.title, "a.org");
    assert_eq!(added.moved_to.as_deref(), Some("https://c.org/d/f"));
    assert_eq!(
        add("https://a.org/round")
            .expect_err("redirect loop")
            .code(),
        "unsupported"
    );
    let denied = add("https://a.org/away").expect_err("denied");
    assert_eq!(denied.code(), "permission_denied");
    assert!(denied.message().contains("https://secret.example"));
    for odd in ["ftp://a.org", "a.org", "https://", "https://u@a.org/"] {
        assert_eq!(add(odd).expect_err(odd).code(), "validation_error");
    }
}

#[test]
fn each_url_of_a_note_is_found_once() {
    let text = "[a](https://a.org/x_(y)) and <http://b.org>.\n\
                https://c.org, https://a.org/x_(y)\n![[local]] `https://d.org`";
    let found: Vec<(usize, String)> = links::of(text);
    let found: Vec<(usize, &str)> = found
        .iter()
        .map(|(line, url)| (*line, url.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            (1, "https://a.org/x_(y)"),
            (1, "http://b.org"),
            (2, "https://c.org"),
            (3, "https://d.org"),
        ]
    );
}

#[test]
fn check_reports_broken_links() {
    respond("https://good.org/", page(""));
    respond(
        "https://gone.org/",
        Response {
            status: 404,
            ..Response::default()
        },
    );
    let vault = Vault::in_memory().with(
        "L.md",
        "https://good.org\nhttps://gone.org\nhttps://closed.org\n",
    );
    let checked = Check { path: "L".into() }.run(&vault).expect("checked");
    assert_eq!((checked.total, checked.broken), (3, 2));
    assert_eq!(checked.items[1].status, Some(404));
    assert!(
        checked.items[2]
            .problem
            .as_deref()
            .is_some_and(|why| why.contains("may not send requests"))
    );
}

#[test]
fn pasted_urls_are_percent_encoded() {
    let url = Url::parse("https://de.wikipedia.org/wiki/Müller (Beruf)?a=b").expect("a URL");
    assert_eq!(url.path_and_query, "/wiki/M%C3%BCller%20(Beruf)?a=b");
    assert_eq!(
        Url::parse("http://a.org?q").expect("a URL").path_and_query,
        "/?q"
    );
    assert_eq!(
        Url::parse("http://a.org:81").expect("a URL").grant_entry(),
        "http://a.org:81"
    );
}
