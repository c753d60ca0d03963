//! The frozen components must keep working with every later host.

use std::sync::Arc;

use notehost::config::Settings;
use notehost::dispatch::{Content, Host};
use notehost::runtime::{SPOKEN, Track, inspect};
use serde_json::{Value, json};

use super::{everything, frozen};
use crate::support::client::Client;
use crate::support::place::{Place, call, component};

const BOTH: [(&str, &str); 2] = [("frozen_one", "0.1"), ("frozen_two", "0.2")];

fn settings(place: &Place, components: &[(&str, &str)]) -> Settings {
    let mut settings = place.settings();
    for (name, track) in components {
        let switches = component(frozen(track), everything());
        settings.components.insert((*name).to_owned(), switches);
    }
    settings
}

async fn host(place: &Place, components: &[(&str, &str)]) -> Arc<Host> {
    let host = place.host(settings(place, components)).await;
    let snapshot = host.registry().snapshot();
    assert!(snapshot.broken().is_empty(), "{:?}", snapshot.broken());
    host
}

/// One action of each effect, using every interface that a component may import.
async fn use_it(host: &Host, place: &Place, name: &str) {
    let path = format!("Work/{name}.md");
    let ask = async |action: &str, arguments: Value| {
        call(host, &format!("{name}.{action}"), arguments).await
    };
    let put = ask("put", json!({"path": path, "text": "seven b"})).await;
    let put = put.expect("it writes");
    assert_eq!(put.structured["changes"][0]["kind"], "create");
    assert_eq!(place.read(&path).as_deref(), Some(&b"seven b"[..]));

    let look = ask("look", json!({"path": path})).await.expect("it reads");
    assert_eq!(look.structured["size"], 7);
    assert_eq!(look.structured["etag"], put.structured["etag"]);
    let link = Content::Link {
        vault: "main".into(),
        path: path.clone(),
    };
    assert_eq!(look.content[0], link);

    for before in [0, 1] {
        let reply = ask("everything", json!({"path": path})).await;
        let report = reply.expect("the call succeeds").structured;
        assert_eq!(report["before"], before, "what it kept: {report:?}");
        assert_eq!(report["count"], 1);
        assert!(
            report["files"]
                .as_array()
                .is_some_and(|files| files.contains(&json!(path)))
        );
        for part in ["found", "clock", "caller", "host", "habits"] {
            assert_eq!(report[part], true, "{part}: {report:?}");
        }
    }

    let refused = ask("put", json!({"path": path, "text": ""})).await;
    assert_eq!(refused.expect_err("it is there").code, "already_exists");
    let refused = ask("look", json!({"path": "Work/Nobody.md"})).await;
    assert_eq!(refused.expect_err("nothing is there").code, "not_found");

    let shown = ask("wipe", json!({"path": path, "dry_run": true})).await;
    assert_eq!(shown.expect("it shows").structured["dry_run"], true);
    assert!(place.read(&path).is_some(), "a dry run changes nothing");
    ask("wipe", json!({"path": path}))
        .await
        .expect("it removes");
    assert_eq!(place.read(&path), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_contract_track_runs_alone() {
    for (name, track) in BOTH {
        let place = Place::new();
        let host = host(&place, &[(name, track)]).await;
        use_it(&host, &place, name).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn both_contract_tracks_run_side_by_side() {
    let place = Place::new();
    let host = host(&place, &BOTH).await;
    tokio::join!(
        use_it(&host, &place, "frozen_one"),
        use_it(&host, &place, "frozen_two"),
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn newer_track_offers_limits_and_audio_content() {
    let place = Place::new();
    place.write("Sound.md", "not a sound");
    let mut settings = settings(&place, &BOTH);
    settings.limits.call_ms = 40_000;
    settings.limits.reply_bytes = 123_456;
    let host = place.host(settings).await;
    let look = call(&host, "frozen_two.look", json!({"path": "Sound.md"})).await;
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
fn clients_see_no_difference_between_tracks() {
    let place = Place::new();
    place.write("Note.md", "a note\n");
    let config = place.config_file(&settings(&place, &BOTH));
    let mut client = Client::start(&config, &place.state());
    for (name, _) in BOTH {
        let id = client.send_call(&format!("{name}.look"), json!({"path": "Note.md"}));
        let answer = client.answer(id);
        let result = &answer["result"];
        assert_eq!(result["structuredContent"]["size"], 7, "{answer}");
        assert_eq!(result["content"][1]["type"], "resource_link", "{answer}");
        if name == "frozen_two" {
            assert_eq!(result["content"][2]["type"], "audio", "{answer}");
            assert_eq!(result["content"][2]["data"], "YSBub3RlCg==", "{answer}");
        }
    }
}

/// Each track that the host supports has a component here.
#[test]
fn every_contract_track_has_a_frozen_component() {
    for track in SPOKEN {
        let bytes = std::fs::read(frozen(&track.to_string())).expect("a frozen component");
        assert_eq!(inspect(&bytes).expect("a component").track(), Ok(track));
        assert!(bytes.len() < 150 << 10, "it is small: {}", bytes.len());
    }
    assert_eq!(SPOKEN, [Track::V0_1, Track::V0_2]);
}
