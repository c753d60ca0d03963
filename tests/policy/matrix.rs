//! Every tier × every effect × several domains × every kind of caller, with the expected outcome. The tiers of each
//! caller have another source: its section of the config, or its token.

use std::collections::BTreeMap;
use std::sync::Arc;

use notehost::auth::{Caller, Scopes, VaultBinding};
use notehost::config::{CallerPermissions, CallerSettings, GrantSettings, Settings};
use notehost::dispatch::{self, Host};
use notehost::vault::{Effect, Tier};
use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::guests::guest;
use crate::support::http::{HttpClient, Server};
use crate::support::place::{Place, component, request};

const TIERS: [Tier; 4] = [Tier::None, Tier::Read, Tier::Write, Tier::Delete];
const EFFECTS: [Effect; 3] = [Effect::Read, Effect::Write, Effect::Delete];
const DOMAINS: [&str; 3] = ["document", "notebook", "hostile"];

/// The notebook in which callers have this tier.
fn notebook(tier: Tier) -> String {
    format!("Tier-{tier}")
}

/// A call with this effect in a notebook. Nothing is committed, so that cells do not affect each other.
fn call_of(domain: &str, effect: Effect, notebook: &str) -> (&'static str, Value) {
    let path = format!("{notebook}/Note.md");
    match (domain, effect) {
        ("document", Effect::Read) => ("document.read", json!({"path": path})),
        ("document", Effect::Write) => (
            "document.append",
            json!({"path": path, "text": "x", "dry_run": true}),
        ),
        ("document", Effect::Delete) => {
            ("document.remove", json!({"paths": [path], "dry_run": true}))
        }
        ("notebook", Effect::Read) => ("notebook.get", json!({"notebook": notebook})),
        ("notebook", Effect::Write) => (
            "notebook.configure",
            json!({"notebook": notebook, "icon": "x", "dry_run": true}),
        ),
        ("notebook", Effect::Delete) => (
            "notebook.remove",
            json!({"notebook": notebook, "dry_run": true}),
        ),
        (_, Effect::Read) => (
            "hostile.reach_reading",
            json!({"with": "read", "path": path}),
        ),
        (_, Effect::Write) => (
            "hostile.reach_writing",
            json!({"with": "write", "path": path, "dry_run": true}),
        ),
        (_, Effect::Delete) => (
            "hostile.reach_deleting",
            json!({"with": "remove", "path": path, "dry_run": true}),
        ),
    }
}

/// The expected outcome: hidden notes are not found, insufficient tiers are denied.
fn expected(tier: Tier, effect: Effect) -> &'static str {
    let needed = match effect {
        Effect::Read => Tier::Read,
        Effect::Write => Tier::Write,
        Effect::Delete => Tier::Delete,
    };
    match tier {
        Tier::None => "not_found",
        tier if tier < needed => "permission_denied",
        _ => "ok",
    }
}

/// The error code of a reply; the hostile guest reports a denial in its result.
fn code(structured: &Value) -> String {
    let refused = structured["refused"].as_str();
    let failed = structured["error"]["code"].as_str();
    failed.or(refused).unwrap_or("ok").to_owned()
}

fn place_with_tiers() -> Place {
    let place = Place::new();
    for tier in TIERS {
        place.write(&format!("{}/Note.md", notebook(tier)), "one\n");
    }
    place
}

fn tiers() -> BTreeMap<String, Tier> {
    TIERS.map(|tier| (notebook(tier), tier)).into()
}

fn granted(tier: Tier) -> GrantSettings {
    let everything = vec!["**".to_owned()];
    let mut grant = GrantSettings::default();
    match tier {
        Tier::None => {}
        Tier::Read => grant.read = everything,
        Tier::Write => grant.write = everything,
        Tier::Delete => grant.delete = everything,
    }
    grant
}

/// Unlisted callers see nothing; the named callers have their tiers.
fn settings(place: &Place, grant: Tier) -> Settings {
    let mut settings = place.settings();
    settings.permissions.default = Tier::None;
    let named = CallerSettings {
        permissions: CallerPermissions {
            notebooks: tiers(),
            ..CallerPermissions::default()
        },
        ..CallerSettings::default()
    };
    for name in ["stdio", "http", "phone"] {
        settings.callers.insert(name.into(), named.clone());
    }
    let hostile = component(guest("hostile"), granted(grant));
    settings.components.insert("hostile".into(), hostile);
    settings.rates.read = 0;
    settings.rates.write = 0;
    settings.rates.delete = 0;
    settings
}

/// Tests every cell with one kind of caller.
#[track_caller]
fn assert_cells(who: &str, mut ask: impl FnMut(&str, Value) -> Value) {
    let mut wrong = Vec::new();
    for domain in DOMAINS {
        for tier in TIERS {
            for effect in EFFECTS {
                let (action, arguments) = call_of(domain, effect, &notebook(tier));
                let outcome = ask(action, arguments);
                let (found, expected_code) = (code(&outcome), expected(tier, effect));
                if found != expected_code {
                    wrong.push(format!(
                        "{who}, tier {tier}, {action}: {found}, not {expected_code}: {outcome}"
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn permission_matrix_over_stdio() {
    let place = place_with_tiers();
    let config = place.config_file(&settings(&place, Tier::Delete));
    let mut client = Client::start(&config, &place.state());
    assert_cells("stdio", |action, arguments| {
        client.call(action, arguments)["structuredContent"].take()
    });
}

#[test]
fn permission_matrix_over_http_without_a_token() {
    let place = place_with_tiers();
    let config = place.config_file(&settings(&place, Tier::Delete));
    let server = Server::start(&config, &place.state());
    let mut client = HttpClient::stateless(server.address());
    assert_cells("http", |action, arguments| {
        client.call(action, arguments)["structuredContent"].take()
    });
}

/// The outcome for a caller constructed here.
fn ask(
    threads: &tokio::runtime::Runtime,
    host: &Arc<Host>,
    caller: &Caller,
    action: &str,
    arguments: Value,
) -> Value {
    match threads.block_on(dispatch::call(host, caller, request(action, arguments))) {
        Ok(reply) => reply.structured.into(),
        Err(error) => json!({"error": {"code": error.code, "message": error.message}}),
    }
}

#[test]
fn permission_matrix_for_named_callers_and_tokens() {
    let place = place_with_tiers();
    let threads = tokio::runtime::Runtime::new().expect("threads");
    let host = threads.block_on(place.host(settings(&place, Tier::Delete)));
    let by_token = CallerPermissions {
        notebooks: tiers(),
        ..CallerPermissions::default()
    };
    let everything = Scopes::everything_but_admin();
    for (who, caller) in [
        ("a named caller", Caller::command_line(Some("phone"))),
        (
            "a named caller with a token",
            Caller::with_token("phone", everything.clone(), VaultBinding::All, None),
        ),
        (
            "a token with tiers",
            Caller::with_token(
                "tablet",
                everything.clone(),
                VaultBinding::All,
                Some(by_token),
            ),
        ),
    ] {
        assert_cells(who, |action, arguments| {
            ask(&threads, &host, &caller, action, arguments)
        });
    }
    // An unlisted caller has the default tier: none.
    let stranger = Caller::with_token("stranger", everything, VaultBinding::All, None);
    for tier in TIERS {
        let (action, arguments) = call_of("document", Effect::Read, &notebook(tier));
        assert_eq!(
            code(&ask(&threads, &host, &stranger, action, arguments)),
            "not_found"
        );
    }
}

#[test]
fn component_grant_only_restricts() {
    for grant in TIERS {
        let place = place_with_tiers();
        let threads = tokio::runtime::Runtime::new().expect("threads");
        let host = threads.block_on(place.host(settings(&place, grant)));
        let caller = Caller::command_line(Some("phone"));
        for tier in TIERS {
            for effect in EFFECTS {
                let (action, arguments) = call_of("hostile", effect, &notebook(tier));
                let outcome = ask(&threads, &host, &caller, action, arguments);
                let expected_code = expected(tier.min(grant), effect);
                assert_eq!(
                    code(&outcome),
                    expected_code,
                    "tier {tier}, grant {grant}, {action}: {outcome}"
                );
            }
        }
        // First-party domains are limited by the caller alone.
        assert_cells("a named caller", |action, arguments| {
            match action.starts_with("hostile.") {
                true => {
                    let (tier, effect) = cell(action, &arguments);
                    json!({"refused": Some(expected(tier, effect)).filter(|code| *code != "ok")})
                }
                false => ask(&threads, &host, &caller, action, arguments),
            }
        });
    }
}

/// The cell that a call of the hostile guest belongs to.
fn cell(action: &str, arguments: &Value) -> (Tier, Effect) {
    let path = arguments["path"].as_str().expect("a path");
    let tier = TIERS
        .into_iter()
        .find(|tier| path.starts_with(&format!("{}/", notebook(*tier))));
    let effect = match action {
        "hostile.reach_reading" => Effect::Read,
        "hostile.reach_writing" => Effect::Write,
        _ => Effect::Delete,
    };
    (tier.expect("a tier"), effect)
}

#[test]
fn action_cannot_exceed_its_effect() {
    let place = place_with_tiers();
    let threads = tokio::runtime::Runtime::new().expect("threads");
    let host = threads.block_on(place.host(settings(&place, Tier::Delete)));
    let caller = Caller::command_line(Some("phone"));
    let before = place.snapshot();
    for (action, with) in [
        ("hostile.reach_reading", "write"),
        ("hostile.reach_reading", "create"),
        ("hostile.reach_reading", "create_folder"),
        ("hostile.reach_reading", "remove"),
        ("hostile.reach_writing", "remove"),
    ] {
        for tier in TIERS {
            let path = format!("{}/Note.md", notebook(tier));
            let outcome = ask(
                &threads,
                &host,
                &caller,
                action,
                json!({"with": with, "path": path}),
            );
            assert_eq!(
                code(&outcome),
                "permission_denied",
                "{action} {with} in {tier}: {outcome}"
            );
        }
    }
    place.snapshot().assert_same_as(&before);
}

#[test]
fn scopes_are_checked_before_tiers() {
    let place = place_with_tiers();
    let threads = tokio::runtime::Runtime::new().expect("threads");
    let host = threads.block_on(place.host(settings(&place, Tier::Delete)));
    for (words, domain, allowed) in [
        ("read", "document", [true, false, false]),
        ("read write", "document", [true, true, false]),
        ("write delete", "document", [false, true, true]),
        ("document:write", "document", [false, true, false]),
        ("document:write", "notebook", [false, false, false]),
        ("admin", "document", [false, false, false]),
        ("", "document", [false, false, false]),
    ] {
        let scopes: Scopes = words.parse().expect("scopes");
        let caller = Caller::with_token("phone", scopes, VaultBinding::All, None);
        for (effect, is_allowed) in EFFECTS.into_iter().zip(allowed) {
            for tier in TIERS {
                let (action, arguments) = call_of(domain, effect, &notebook(tier));
                let outcome = ask(&threads, &host, &caller, action, arguments);
                let expected_code = if is_allowed {
                    expected(tier, effect)
                } else {
                    "forbidden"
                };
                assert_eq!(
                    code(&outcome),
                    expected_code,
                    "scopes `{words}`, tier {tier}, {action}: {outcome}"
                );
            }
        }
    }
}
