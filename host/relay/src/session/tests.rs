//! Single messages of each kind, and random sequences of them with holders that are replaced.

use proptest::prelude::*;

use super::*;

fn line(message: Value) -> Vec<u8> {
    to_line(&message)
}

fn parsed(line: &[u8]) -> Value {
    assert!(line.ends_with(b"\n"));
    serde_json::from_slice(line).expect("JSON")
}

fn request(id: Value, method: &str, params: Value) -> Vec<u8> {
    line(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
}

fn result(id: Value) -> Vec<u8> {
    line(json!({"jsonrpc": "2.0", "id": id, "result": {}}))
}

/// A session whose client has initialized.
fn begun() -> Session {
    let mut session = Session::new();
    assert!(session.connected().is_empty());
    session.from_client(request(json!(0), "initialize", json!({})));
    assert!(session.from_holder(result(json!(0))).is_some());
    session.from_client(line(json!({"method": "notifications/initialized"})));
    session
}

fn reconnected(session: &mut Session) -> Vec<Value> {
    session.disconnected();
    session
        .connected()
        .iter()
        .map(|line| parsed(line))
        .collect()
}

#[test]
fn a_new_holder_learns_of_the_session() {
    let mut session = begun();
    let uri = json!({"uri": "notehost://vault/main/A.md"});
    session.from_client(request(json!("s"), "resources/subscribe", uri.clone()));
    session.from_holder(result(json!("s")));
    let unknown = json!({"uri": "x"});
    session.from_client(request(json!(8), "resources/subscribe", unknown));
    session.from_holder(line(json!({"id": 8, "error": {"code": 1, "message": ""}})));
    session.from_client(request(json!(9), "tools/list", json!({})));
    let replay = reconnected(&mut session);
    let methods: Vec<&str> = replay
        .iter()
        .filter_map(|line| line["method"].as_str())
        .collect();
    assert_eq!(
        methods,
        [
            "initialize",
            "notifications/initialized",
            "resources/subscribe",
            "tools/list"
        ]
    );
    assert_eq!(replay[2]["params"], uri);
    assert_eq!(replay[3]["id"], 9);
    // Its answers are not the client's.
    for own in [&replay[0], &replay[2]] {
        assert!(session.from_holder(result(own["id"].clone())).is_none());
    }
    assert!(session.from_holder(result(json!(9))).is_some());
    assert!(session.is_idle());
    session.from_client(request(json!(10), "resources/unsubscribe", uri));
    session.from_holder(result(json!(10)));
    assert_eq!(reconnected(&mut session).len(), 2);
}

#[test]
fn a_request_that_no_holder_answers_is_sent_to_a_few_only() {
    let mut session = begun();
    session.from_client(request(json!(7), "tools/call", json!({"name": "x"})));
    session.from_client(request(json!(8), "subscriptions/listen", json!({})));
    for _ in 1..MAX_HOLDERS {
        assert!(session.fail_often_sent().is_empty());
        let replay = reconnected(&mut session);
        assert!(replay.iter().any(|line| line["id"] == 7));
    }
    let failed = session.fail_often_sent();
    assert_eq!(failed.len(), 1);
    assert_eq!(parsed(&failed[0])["id"], 7);
    assert!(parsed(&failed[0])["error"]["message"].is_string());
    let replay = reconnected(&mut session);
    let ids: Vec<&Value> = replay.iter().map(|line| &line["id"]).collect();
    assert!(
        ids.contains(&&json!(8)) && !ids.contains(&&json!(7)),
        "{replay:?}"
    );
}

#[test]
fn a_call_has_one_id_of_its_relay_with_any_metadata() {
    for meta in [json!(null), json!({}), json!({CALL_KEY: [1, 1]})] {
        let mut session = begun();
        let params = json!({"name": "x", "_meta": meta});
        let sent = session.from_client(request(json!(7), "tools/call", params));
        let sent = parsed(&sent.expect("a line"));
        assert_eq!(sent["params"]["_meta"][CALL_KEY][1], 0, "{sent}");
        let again = reconnected(&mut session);
        let again = again
            .iter()
            .find(|line| line["id"] == 7)
            .expect("sent again");
        assert_eq!(again["params"]["_meta"][CALL_KEY][1], 1, "{again}");
    }
}

#[test]
fn requests_that_are_answered_without_their_id_are_not_kept() {
    for message in [
        json!({"id": 7, "method": "ping"}),
        json!({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}),
        json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"_meta": 1}}),
    ] {
        let mut session = begun();
        assert!(session.from_client(line(message.clone())).is_some());
        assert!(session.is_idle(), "{message}");
    }
}

#[test]
fn an_unanswered_initialize_is_sent_as_it_was() {
    let mut session = Session::new();
    session.connected();
    session.from_client(request(json!(0), "initialize", json!({})));
    let replay = reconnected(&mut session);
    assert_eq!((replay.len(), &replay[0]["id"]), (1, &json!(0)));
    assert!(session.from_holder(result(json!(0))).is_some());
}

#[test]
fn calls_have_an_id_and_are_marked_when_sent_again() {
    let mut session = begun();
    for (id, params) in [
        (1, json!({"name": "x"})),
        (2, json!({"_meta": {"progressToken": 5}, "name": "x"})),
        (3, json!({"_meta": {}})),
        (4, json!({})),
    ] {
        let sent = session
            .from_client(request(json!(id), "tools/call", params.clone()))
            .expect("sent");
        let sent = parsed(&sent);
        assert_eq!(sent["params"]["_meta"][CALL_KEY][1], 0, "{sent}");
        assert_eq!(sent["params"]["name"], params["name"]);
        assert_eq!(
            sent["params"]["_meta"]["progressToken"],
            params["_meta"]["progressToken"]
        );
    }
    let numbers = |lines: &[Value]| -> Vec<(u64, u64)> {
        let calls = lines.iter().filter(|line| line["method"] == "tools/call");
        let call = |line: &Value| {
            let id = &line["params"]["_meta"][CALL_KEY];
            (
                id[0].as_u64().expect("a number"),
                id[1].as_u64().expect("a number"),
            )
        };
        calls.map(call).collect()
    };
    let again = numbers(&reconnected(&mut session));
    assert_eq!(
        again.iter().map(|(_, again)| *again).collect::<Vec<_>>(),
        [1; 4]
    );
    assert_eq!(numbers(&reconnected(&mut session)), again);
}

#[test]
fn questions_of_two_holders_have_different_ids() {
    let mut session = begun();
    let ask = |session: &mut Session| {
        let asked = session.from_holder(request(json!(0), "elicitation/create", json!({})));
        parsed(&asked.expect("passed on"))["id"].clone()
    };
    let first = ask(&mut session);
    let cancelled = session.disconnected();
    assert_eq!(parsed(&cancelled[0])["params"]["requestId"], first);
    session.connected();
    let second = ask(&mut session);
    assert_ne!(first, second);
    assert!(session.from_client(result(first)).is_none());
    let answer = session
        .from_client(result(second.clone()))
        .expect("passed on");
    assert_eq!(parsed(&answer)["id"], 0);
    assert!(session.from_client(result(second)).is_none());
    let third = ask(&mut session);
    let cancel = json!({"method": "notifications/cancelled", "params": {"requestId": 0}});
    let cancelled = session.from_holder(line(cancel)).expect("passed on");
    assert_eq!(parsed(&cancelled)["params"]["requestId"], third);
}

#[test]
fn streams_stay_open_and_progress_does_not_go_back() {
    let mut session = begun();
    session.from_client(request(json!("l"), "subscriptions/listen", json!({})));
    let acknowledged = line(json!({
        "method": "notifications/subscriptions/acknowledged",
        "params": {"_meta": {"io.modelcontextprotocol/subscriptionId": "l"}},
    }));
    assert!(session.from_holder(acknowledged.clone()).is_some());
    // The holder stops.
    assert!(session.from_holder(result(json!("l"))).is_none());
    assert!(session.is_idle());
    assert!(
        reconnected(&mut session)
            .iter()
            .any(|line| line["id"] == "l")
    );
    assert!(session.from_holder(acknowledged).is_none());
    let meta = json!({"_meta": {"progressToken": "t"}});
    session.from_client(request(json!(1), "tools/call", meta));
    let progress = |session: &mut Session, done: f64| {
        let params = json!({"progressToken": "t", "progress": done});
        let sent = json!({"method": "notifications/progress", "params": params});
        session.from_holder(line(sent)).is_some()
    };
    assert!(progress(&mut session, 1.0) && progress(&mut session, 2.0));
    reconnected(&mut session);
    assert!(!progress(&mut session, 1.0) && !progress(&mut session, 2.0));
    assert!(progress(&mut session, 3.0));
    session.from_holder(result(json!(1)));
    assert!(session.progress.is_empty());
    let cancel = json!({"method": "notifications/cancelled", "params": {"requestId": "l"}});
    session.from_client(line(cancel));
    assert_eq!(reconnected(&mut session).len(), 2);
}

#[test]
fn requests_are_bounded() {
    let mut session = Session::new();
    for id in 0..MAX_UNANSWERED {
        assert!(session.has_room());
        session.from_client(request(json!(id), "ping", json!({})));
    }
    assert!(!session.has_room());
    session.from_holder(result(json!(5)));
    assert!(session.has_room());
    let errors = session.fail("no holder");
    assert_eq!(errors.len(), MAX_UNANSWERED - 1);
    assert_eq!(parsed(&errors[0])["error"]["message"], "no holder");
    assert_eq!((session.bytes, session.is_idle()), (0, true));
}

/// What happens to a session, at random.
#[derive(Debug, Clone)]
enum Step {
    Request,
    Answer(usize),
    Cancel(usize),
    Ask,
    Reply(usize),
    Replaced,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => Just(Step::Request),
        3 => any::<usize>().prop_map(Step::Answer),
        1 => any::<usize>().prop_map(Step::Cancel),
        1 => Just(Step::Ask),
        1 => any::<usize>().prop_map(Step::Reply),
        1 => Just(Step::Replaced),
    ];
    proptest::collection::vec(step, 0..80)
}

fn taken<T>(from: &mut Vec<T>, at: usize) -> Option<T> {
    (!from.is_empty()).then(|| from.remove(at % from.len()))
}

proptest! {
    /// Whenever holders are replaced: each holder has every request that the client waits for, once and in order; each
    /// request is answered once; an answer to a question reaches the holder that asked it, and no other.
    #[test]
    fn every_request_is_answered_once(steps in steps()) {
        let mut session = begun();
        let (mut at_holder, mut waiting) = (Vec::<u64>::new(), Vec::<u64>::new());
        let (mut asked, mut last_id, mut last_question) = (Vec::<(Value, Value)>::new(), 0, 0);
        for step in steps {
            match step {
                Step::Request => {
                    last_id += 1;
                    let sent = session.from_client(request(json!(last_id), "tools/call", json!({})));
                    prop_assert_eq!(parsed(&sent.expect("sent"))["id"].as_u64(), Some(last_id));
                    at_holder.push(last_id);
                    waiting.push(last_id);
                }
                Step::Answer(at) => {
                    if let Some(id) = taken(&mut at_holder, at) {
                        prop_assert!(session.from_holder(result(json!(id))).is_some());
                        waiting.retain(|known| *known != id);
                    }
                }
                Step::Cancel(at) => {
                    if let Some(id) = taken(&mut waiting, at) {
                        let params = json!({"requestId": id});
                        let cancel = json!({"method": "notifications/cancelled", "params": params});
                        prop_assert!(session.from_client(line(cancel)).is_some());
                        at_holder.retain(|known| *known != id);
                    }
                }
                Step::Ask => {
                    last_question += 1;
                    let id = json!(last_question);
                    let question = session.from_holder(request(id.clone(), "ping", json!({})));
                    let shown = parsed(&question.expect("passed on"))["id"].clone();
                    prop_assert!(asked.iter().all(|(known, _)| *known != shown));
                    asked.push((shown, id));
                }
                Step::Reply(at) => {
                    if let Some((shown, id)) = taken(&mut asked, at) {
                        let reply = session.from_client(result(shown)).expect("passed on");
                        prop_assert_eq!(&parsed(&reply)["id"], &id);
                    }
                }
                Step::Replaced => {
                    prop_assert_eq!(session.disconnected().len(), asked.len());
                    for (shown, _) in asked.drain(..) {
                        prop_assert!(session.from_client(result(shown)).is_none());
                    }
                    last_question = 0;
                    let replay = session.connected();
                    let calls = replay.iter().map(|line| parsed(line));
                    let calls = calls.filter(|call| call["method"] == "tools/call");
                    let calls: Vec<u64> = calls.filter_map(|call| call["id"].as_u64()).collect();
                    prop_assert_eq!(&calls, &waiting);
                    at_holder = waiting.clone();
                }
            }
        }
        prop_assert_eq!(session.unanswered.len(), waiting.len());
        prop_assert_eq!(session.fail("").len(), waiting.len());
        prop_assert_eq!(session.bytes, 0);
    }

    /// Whatever either side sends, nothing panics.
    #[test]
    fn any_line_is_survived(lines in proptest::collection::vec((any::<bool>(), ".{0,60}"), 0..20)) {
        let mut session = begun();
        for (is_client, text) in lines {
            let text = format!("{text}\n").into_bytes();
            let _ = match is_client {
                true => session.from_client(text),
                false => session.from_holder(text),
            };
        }
        session.disconnected();
        session.connected();
    }
}
