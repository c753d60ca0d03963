//! The actions, on pages that are made up.

use notehost_sdk::prelude::*;

use crate::url::Url;
use crate::web::Answer;
use crate::web::made_up::answers;
use crate::{Add, Check, links};

fn page(body: &str) -> Answer {
    Answer {
        status: 200,
        body: body.as_bytes().to_vec(),
        ..Answer::default()
    }
}

fn leads_to(location: &str) -> Answer {
    Answer {
        status: 302,
        location: Some(location.to_owned()),
        ..Answer::default()
    }
}

#[test]
fn a_page_becomes_a_line_of_the_note() {
    answers(
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
fn what_leads_on_is_followed_and_what_is_not_granted_is_not() {
    answers("https://a.org/", leads_to("/b"));
    answers("https://a.org/b", leads_to("https://c.org/d/e"));
    answers("https://c.org/d/e", leads_to("f"));
    answers("https://c.org/d/f", page("no title"));
    answers("https://a.org/round", leads_to("/round"));
    answers("https://a.org/away", leads_to("https://secret.example/"));
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
        add("https://a.org/round").expect_err("lost").code(),
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
fn the_links_of_a_note_are_found_once_each() {
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
fn links_that_lead_nowhere_are_told() {
    answers("https://good.org/", page(""));
    answers(
        "https://gone.org/",
        Answer {
            status: 404,
            ..Answer::default()
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
            .is_some_and(|why| why.contains("may not be asked"))
    );
}

#[test]
fn an_address_that_people_paste_can_be_asked_for() {
    let url = Url::parse("https://de.wikipedia.org/wiki/Müller (Beruf)?a=b").expect("an address");
    assert_eq!(url.path_and_query, "/wiki/M%C3%BCller%20(Beruf)?a=b");
    assert_eq!(
        Url::parse("http://a.org?q")
            .expect("an address")
            .path_and_query,
        "/?q"
    );
    assert_eq!(
        Url::parse("http://a.org:81")
            .expect("an address")
            .granting(),
        "http://a.org:81"
    );
}
