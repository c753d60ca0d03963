//! MCP over stdin and stdout, stateless and session-based.

use serde_json::{Value, json};

use super::{
    PLAN, handshake, message, place_with_note, program, run, run_conversation, serve_command, tool,
};
use crate::support::http::stateless_meta;

const SURFACES: [&str; 4] = ["domain", "split", "flat", "finder"];

#[test]
fn every_session_based_revision_is_supported() {
    let place = place_with_note();
    for revision in ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] {
        let outcome = run(&mut serve_command(&place), handshake(revision));
        let result = &outcome.answer(0)["result"];
        assert_eq!(result["protocolVersion"], revision);
        assert_eq!(result["serverInfo"]["name"], "notehost");
        assert_eq!(result["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(outcome.code, Some(0), "{outcome:#?}");
    }
    // The reply to an unknown revision is a supported one.
    let outcome = run(&mut serve_command(&place), handshake("1999-01-01"));
    assert_eq!(outcome.answer(0)["result"]["protocolVersion"], "2025-11-25");
}

#[test]
fn stateless_revision_needs_no_handshake() {
    let place = place_with_note();
    let mut read = tool("document", json!({"action": "read", "path": "Work/Plan"}));
    read["_meta"] = stateless_meta();
    let meta = json!({"_meta": stateless_meta()});
    let lines = [
        message(1, "server/discover", meta.clone()),
        message(2, "tools/list", meta),
        message(3, "tools/call", read),
        message(4, "tools/list", json!({})),
    ];
    let result = run(
        &mut serve_command(&place),
        lines.map(|line| format!("{line}\n")).concat(),
    );
    let discovered = &result.answer(1)["result"];
    assert_eq!(discovered["resultType"], "complete");
    let revisions = discovered["supportedVersions"].as_array().expect("a list");
    assert!(
        revisions.contains(&json!("2026-07-28")) && revisions.contains(&json!("2025-11-25")),
        "{discovered}"
    );
    assert!(
        discovered.to_string().contains(r#""name":"notehost""#),
        "{discovered}"
    );
    let listed = &result.answer(2)["result"];
    assert_eq!(listed["resultType"], "complete");
    assert_eq!(
        names(listed),
        [
            "block",
            "database",
            "document",
            "file",
            "flashcard",
            "fs",
            "link",
            "mascot",
            "notebook",
            "search",
            "system",
            "tag"
        ]
    );
    let answered = &result.answer(3)["result"];
    assert_eq!(answered["resultType"], "complete");
    assert_eq!(answered["structuredContent"]["content"], PLAN);
    // A request without a revision gets an error that names the missing field.
    let refused = &result.answer(4)["error"];
    assert_eq!(refused["code"], -32602, "{refused}");
    assert!(
        refused["message"].to_string().contains("protocolVersion"),
        "{refused}"
    );
}

#[test]
fn tool_list_is_plain_and_deterministic() {
    let place = place_with_note();
    for (surface, most_bytes) in [
        ("domain", 24 << 10),
        ("split", 32 << 10),
        ("flat", 384 << 10),
        ("finder", 2 << 10),
    ] {
        let list = || {
            let mut command = serve_command(&place);
            let result = run_conversation(
                command.args(["--surface", surface]),
                &[("tools/list", json!({}))],
            );
            result.answer(1)["result"]["tools"].take()
        };
        let tools = list();
        assert_eq!(tools, list(), "{surface}: another run lists something else");
        let bytes = tools.to_string().len();
        assert!(bytes <= most_bytes, "{surface}: {bytes} bytes");
        for tool in tools.as_array().expect("a list") {
            let name = tool["name"].as_str().expect("a name");
            assert!(
                name.bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'),
                "{name}"
            );
            assert!(
                name.len() <= 64
                    && tool["description"]
                        .as_str()
                        .is_some_and(|text| text.len() <= 2048),
                "{name}"
            );
            assert_plain(&tool["inputSchema"], name);
            for hint in [
                "readOnlyHint",
                "destructiveHint",
                "idempotentHint",
                "openWorldHint",
            ] {
                assert!(tool["annotations"][hint].is_boolean(), "{name}: {hint}");
            }
        }
    }
}

/// No references, no unions, one explicit type everywhere: supported by every client.
#[track_caller]
fn assert_plain(schema: &Value, place: &str) {
    assert!(schema["type"].is_string(), "{place}: {schema}");
    for keyword in ["$ref", "$defs", "oneOf", "anyOf", "allOf", "nullable"] {
        assert!(schema.get(keyword).is_none(), "{place}: {schema}");
    }
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        assert_plain(inner, &format!("{place}.{name}"));
    }
    if let Some(items) = schema.get("items") {
        assert_plain(items, &format!("{place}[]"));
    }
}

#[test]
fn flat_action_names_work_on_every_surface() {
    let place = place_with_note();
    for surface in SURFACES {
        let read = tool("document__read", json!({"path": "Work/Plan.md"}));
        let outcome = run_conversation(
            serve_command(&place).args(["--surface", surface]),
            &[("tools/call", read)],
        );
        let result = &outcome.answer(1)["result"];
        assert_eq!(result["structuredContent"]["content"], PLAN, "{surface}");
        assert_eq!(result["isError"], false, "{surface}");
        let text = result["content"][0]["text"].as_str().expect("text");
        assert!(text.contains("write tests"), "{surface}: {text}");
    }
}

#[test]
fn failed_call_returns_an_error_result_with_a_hint() {
    let place = place_with_note();
    let call = |name, arguments| ("tools/call", tool(name, arguments));
    let outcome = run_conversation(
        &mut serve_command(&place),
        &[
            call("document", json!({"action": "read", "path": "Work/Absent"})),
            call("document", json!({"action": "raed", "path": "Work/Plan"})),
            call("document", json!({"action": "read", "pth": "Work/Plan"})),
            call("document__append", json!({"path": "Work/Plan", "text": 7})),
            call("weather", json!({})),
            ("weather/forecast", json!({})),
        ],
    );
    for (id, code, words) in [
        (1, "not_found", vec!["Work/Absent"]),
        (2, "not_found", vec!["`raed`", "`read`"]),
        (3, "validation_error", vec!["`pth`", "`path`"]),
        (4, "validation_error", vec!["`text`"]),
    ] {
        let result = &outcome.answer(id)["result"];
        assert_eq!(result["isError"], true, "{result}");
        let error = &result["structuredContent"]["error"];
        assert_eq!(error["code"], code, "{error}");
        assert_eq!(error["retryable"], false, "{error}");
        let text = result["content"][0]["text"].as_str().expect("text");
        let message_text = error["message"].as_str().expect("a message");
        assert!(text.contains(message_text), "{text}");
        assert!(
            words.iter().all(|word| message_text.contains(word)),
            "{message_text}"
        );
    }
    // An unknown tool and an unknown method are protocol errors.
    assert_eq!(outcome.answer(5)["error"]["code"], -32602);
    assert_eq!(outcome.answer(6)["error"]["code"], -32601);
    assert_eq!(place.read("Work/Plan.md").as_deref(), Some(PLAN.as_bytes()));
}

#[test]
fn invalid_lines_do_not_affect_other_requests() {
    let place = place_with_note();
    let mut lines = b"what is this?\n".to_vec();
    lines.extend(handshake("2025-11-25").into_bytes());
    for nonsense in [
        &b"{\"jsonrpc\": \"2.0\", \"id\": 7,"[..],
        b"",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"{}",
    ] {
        lines.extend_from_slice(nonsense);
        lines.push(b'\n');
    }
    lines.extend(format!("{}\n", message(1, "ping", json!({}))).into_bytes());
    let result = run(&mut serve_command(&place), lines);
    assert_eq!(result.answer(1)["result"], json!({}));
    assert_eq!(result.code, Some(0), "{result:#?}");
}

#[test]
fn four_hundred_concurrent_requests_are_answered() {
    const MANY: usize = 400;
    let place = place_with_note();
    let read = (
        "tools/call",
        tool("document__read", json!({"path": "Work/Plan"})),
    );
    // The input ends before most of them have started.
    let result = run_conversation(&mut serve_command(&place), &vec![read; MANY]);
    let mut answers = result.messages();
    answers.retain(|message| message["id"] != 0);
    assert_eq!(answers.len(), MANY);
    let mut ids: Vec<u64> = answers
        .iter()
        .filter_map(|answer| answer["id"].as_u64())
        .collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), MANY);
    for answer in answers {
        assert_eq!(
            answer["result"]["structuredContent"]["content"], PLAN,
            "{answer}"
        );
    }
    assert_eq!(result.code, Some(0), "{result:#?}");
}

#[test]
fn log_goes_to_stderr_and_can_be_json() {
    let place = place_with_note();
    let read = (
        "tools/call",
        tool("document__read", json!({"path": "Work/Plan"})),
    );
    let result = run_conversation(
        serve_command(&place).args(["--log", "debug", "--log-format", "json"]),
        &[read],
    );
    result.answer(1);
    let lines: Vec<Value> = result
        .errors
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}")))
        .collect();
    let call = lines
        .iter()
        .find(|line| line["action"] == "read")
        .expect("the call is logged");
    assert_eq!(call["domain"], "document");
    assert!(
        call["level"].is_string() && call["timestamp"].is_string(),
        "{call}"
    );
}

#[test]
fn demo_notes_are_served() {
    let place = place_with_note();
    let list = (
        "tools/call",
        tool("document__list", json!({"recursive": true})),
    );
    let result = run_conversation(program(&place).args(["serve", "--demo"]), &[list]);
    let items = result.answer(1)["result"]["structuredContent"]["items"].take();
    assert!(
        items.as_array().is_some_and(|items| !items.is_empty()),
        "{items}"
    );
    // No messages at all: not a failure.
    let result = run(program(&place).args(["serve", "--demo"]), "");
    assert_eq!(
        (result.code, result.output.as_str()),
        (Some(0), ""),
        "{result:#?}"
    );
}

fn names(listed: &Value) -> Vec<&str> {
    let tools = listed["tools"].as_array().expect("a list");
    tools
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect()
}
