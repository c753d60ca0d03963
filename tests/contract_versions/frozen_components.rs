//! The frozen components must keep working with every later host.

use std::sync::Arc;

use notehost::config::Settings;
use notehost::dispatch::{Content, Host};
use notehost::runtime::{SUPPORTED, Track, inspect};
use serde_json::{Value, json};

use super::{everything, frozen};
use crate::support::client::Client;
use crate::support::guests::guest;
use crate::support::place::{Place, call, component};

/// The frozen component of each contract track, by the name of its domain.
const FROZEN: [(&str, &str); 1] = [("frozen", "1.0.0-rc.1")];

/// Has what the action `everything` queries.
const NOTE: &str = "---\nstatus: open\n---\n# Seven\n\nseven #open [[Nowhere]]\n- [x] done\n";

fn settings(place: &Place) -> Settings {
    let mut settings = place.settings();
    for (name, track) in FROZEN {
        let switches = component(frozen(track), everything());
        settings.components.insert(name.to_owned(), switches);
    }
    settings
}

async fn host(place: &Place, settings: Settings) -> Arc<Host> {
    let host = place.host(settings).await;
    let snapshot = host.registry().snapshot();
    assert!(snapshot.broken().is_empty(), "{:?}", snapshot.broken());
    host
}

/// One action of each effect, using every interface that a component may import.
async fn use_all_effects(host: &Host, place: &Place, name: &str) {
    let path = format!("Work/{name}.md");
    let run = async |action: &str, arguments: Value| {
        call(host, &format!("{name}.{action}"), arguments).await
    };
    let put = run("put", json!({"path": path, "text": NOTE})).await;
    let put = put.expect("it writes");
    assert_eq!(put.structured["changes"][0]["kind"], "create");
    assert_eq!(place.read(&path).as_deref(), Some(NOTE.as_bytes()));

    let look = run("look", json!({"path": path})).await.expect("it reads");
    assert_eq!(look.structured["size"], NOTE.len());
    assert_eq!(look.structured["etag"], put.structured["etag"]);
    let link = Content::Link {
        vault: "main".into(),
        path: path.clone(),
    };
    assert_eq!(look.content[0], link);

    for before in [0, 1] {
        let reply = run("everything", json!({"path": path})).await;
        let report = reply.expect("the call succeeds").structured;
        assert_eq!(report["before"], before, "its store: {report:?}");
        assert_eq!(report["count"], 1);
        check_index(&report["index"], &path);
        let host = &report["host"];
        assert_eq!(host["milliseconds"], true, "{host}");
        assert_eq!(host["vault"], "main", "{host}");
        assert_eq!(host["tag_policy"], "TagPolicy::Open", "{host}");
        assert_eq!(host["markdown_links"], false, "{host}");
        let scopes = host["scopes"].as_array();
        assert!(
            scopes.is_some_and(|scopes| scopes.contains(&json!("read"))),
            "{host}"
        );
    }

    let refused = run("put", json!({"path": path, "text": ""})).await;
    assert_eq!(refused.expect_err("it exists").code, "already_exists");
    let refused = run("look", json!({"path": "Work/Nobody.md"})).await;
    assert_eq!(refused.expect_err("nothing is there").code, "not_found");

    let shown = run("wipe", json!({"path": path, "dry_run": true})).await;
    assert_eq!(shown.expect("it shows").structured["dry_run"], true);
    assert!(place.read(&path).is_some(), "a dry run changes nothing");
    run("wipe", json!({"path": path}))
        .await
        .expect("it removes");
    assert_eq!(place.read(&path), None);
}

fn check_index(index: &Value, path: &str) {
    assert_eq!(index["readiness"], "Readiness::Ready", "{index}");
    assert_eq!(
        index["found"],
        json!([{
            "path": path,
            "snippets": 1,
            "status": "open",
            "tags": ["open"],
            "headings": 1,
            "links": ["Nowhere"],
            "tasks": "x",
            "broken": 1,
        }]),
        "{index}"
    );
    assert_eq!(index["backlinks"], 0, "{index}");
    assert_eq!(index["unresolved"], json!(["Nowhere"]), "{index}");
    assert_eq!(index["tags"], json!(["open"]), "{index}");
    assert_eq!(index["notes"], 1, "{index}");
    assert_eq!(index["files"], json!([path]), "{index}");
    assert_eq!(index["linking"], 0, "{index}");
    assert_eq!(index["containing"], json!([path]), "{index}");
    assert_eq!(index["names"], 1, "{index}");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_frozen_component_uses_its_whole_contract() {
    let place = Place::new();
    let host = host(&place, settings(&place)).await;
    for (name, _) in FROZEN {
        use_all_effects(&host, &place, name).await;
    }
}

/// A component of the SDK and one that was built against the WIT file run side by side.
#[tokio::test(flavor = "multi_thread")]
async fn frozen_components_run_beside_those_of_the_sdk() {
    let place = Place::new();
    let mut settings = settings(&place);
    let echo = component(guest("echo"), everything());
    settings.components.insert("echo".to_owned(), echo);
    let host = host(&place, settings).await;
    let (_, echoed) = tokio::join!(
        use_all_effects(&host, &place, FROZEN[0].0),
        call(&host, "echo.say", json!({"text": "hello"})),
    );
    assert_eq!(echoed.expect("it answers").structured["text"], "hello");
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_receive_their_limits_and_return_audio() {
    let place = Place::new();
    place.write("Sound.md", "not a sound");
    let mut settings = settings(&place);
    settings.limits.call_ms = 40_000;
    settings.limits.reply_bytes = 123_456;
    let host = place.host(settings).await;
    let look = call(&host, "frozen.look", json!({"path": "Sound.md"})).await;
    let look = look.expect("it reads");
    assert_eq!(look.structured["reply_bytes"], 123_456);
    let left = look.structured["time_left"].as_u64().expect("a number");
    assert!((1..=40_000).contains(&left), "{left}");
    let audio = Content::Audio {
        bytes: b"not a sound".to_vec(),
        mime: "audio/ogg".into(),
    };
    assert_eq!(look.content[1], audio);
}

/// The built program, from a client's view.
#[test]
fn clients_receive_all_content() {
    let place = Place::new();
    place.write("Note.md", "a note\n");
    let config = place.config_file(&settings(&place));
    let mut client = Client::start(&config, &place.state());
    let id = client.send_call("frozen.look", json!({"path": "Note.md"}));
    let answer = client.answer(id);
    let result = &answer["result"];
    assert_eq!(result["structuredContent"]["size"], 7, "{answer}");
    assert_eq!(result["content"][1]["type"], "resource_link", "{answer}");
    assert_eq!(result["content"][2]["type"], "audio", "{answer}");
    assert_eq!(result["content"][2]["data"], "YSBub3RlCg==", "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn prompts_are_part_of_the_description() {
    let place = Place::new();
    let host = host(&place, settings(&place)).await;
    let snapshot = host.registry().snapshot();
    let domain = snapshot.domain("frozen").expect("it is loaded");
    let [prompt] = &*domain.prompts else {
        panic!("one prompt, not {:?}", domain.prompts);
    };
    assert_eq!(prompt.title.as_deref(), Some("Inspect a note"));
    assert_eq!(prompt.arguments[0].kind, notehost_sdk::ArgumentKind::Note);
}

/// Each track that the host supports has a component here.
#[test]
fn every_contract_track_has_a_frozen_component() {
    for track in SUPPORTED {
        let bytes = std::fs::read(frozen(&track.to_string())).expect("a frozen component");
        assert_eq!(inspect(&bytes).expect("a component").track(), Ok(track));
        assert!(bytes.len() < 200 << 10, "it is small: {}", bytes.len());
    }
    assert_eq!(SUPPORTED, [Track::V1Rc1]);
}
