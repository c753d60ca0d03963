//! The hostile requests as data: content, transmission, number of threads, and the allowed replies.

use super::request;
use crate::support::http::{Server, stateless_meta};

/// One attack.
pub(super) struct Attack {
    pub(super) name: &'static str,
    pub(super) sends: Payload,
    pub(super) way: Transmission,
    pub(super) threads: usize,
    pub(super) expected: ExpectedReply,
}

/// The content of an attack.
pub(super) enum Payload {
    /// A call of `domain.action` with these arguments, as JSON text.
    Call(&'static str, fn() -> String),
    /// A request with these parameters, as the inner part of a JSON object.
    Request(&'static str, fn() -> String),
    /// Any body, sent as if it were a call.
    Body(fn() -> String),
    /// Raw bytes; `{token}` is replaced.
    Raw(fn() -> String),
}

/// How an attack is transmitted.
#[derive(Clone, Copy)]
pub(super) enum Transmission {
    /// In one piece, waiting for the reply.
    Whole,
    /// In pieces of this many bytes.
    Pieces(usize),
    /// Byte by byte, with a pause after each.
    Slowly,
    /// This many times on one connection, without reading any reply.
    Unread(usize),
    /// On this many connections at once, which stay open.
    Connections(usize),
}

/// The reply that an attacker may get.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ExpectedReply {
    /// A clear error, each time.
    Refusal,
    /// Any reply, each time: the request may be valid within the limits.
    Answer,
    /// Possibly no reply: a flood, or a client that does not wait.
    Nothing,
}

use ExpectedReply::{Answer, Nothing};
use Payload::{Body, Call, Raw, Request};
use Transmission::Whole;

pub(super) const fn attack(name: &'static str, sends: Payload, expected: ExpectedReply) -> Attack {
    Attack {
        name,
        sends,
        way: Whole,
        threads: 2,
        expected,
    }
}

pub(super) const fn flood(
    name: &'static str,
    sends: Payload,
    way: Transmission,
    threads: usize,
) -> Attack {
    Attack {
        name,
        sends,
        way,
        threads,
        expected: Nothing,
    }
}

/// Attacks on the index: notes with hostile frontmatter, and queries with many conditions.
pub(super) const INDEX_ATTACKS: &[Attack] = &[
    attack(
        "a note with 200 KB of nested YAML",
        Call("document.create", || {
            format!(
                r#"{{"path":"Bombs/nested","content":"---\na: {}{}\n---\n","if_exists":"open"}}"#,
                "[".repeat(100_000),
                "]".repeat(100_000)
            )
        }),
        Answer,
    ),
    attack(
        "a note with aliases of aliases",
        Call("document.create", || {
            format!(
                r#"{{"path":"Bombs/aliases","content":"---\n{}---\n","if_exists":"open"}}"#,
                aliases(12)
            )
        }),
        Answer,
    ),
    attack(
        "a note with 30,000 keys of YAML",
        Call("document.create", || wide_note(30_000)),
        Answer,
    ),
    attack(
        "a note with as many keys of YAML as are read",
        Call("document.create", || wide_note(14_000)),
        Answer,
    ),
    attack(
        "notes with many keys, sorted by five of them",
        Call("search.query", || {
            let sort = (1..=5).map(|part| format!("k.{part}"));
            let sort: Vec<String> = sort.collect();
            format!(
                r#"{{"filter":{{}},"limit":200,"columns":["k1"],"sort":"{}"}}"#,
                sort.join(",")
            )
        }),
        Answer,
    ),
    attack(
        "words of many notes, sorted by a property",
        Call("search.text", || {
            r#"{"query":"wide","limit":200,"sort":"k.1","format":"detailed"}"#.to_owned()
        }),
        Answer,
    ),
    attack(
        "30,000 conditions on properties",
        Call("search.text", || {
            format!(r#"{{"query":"line","properties":{{{}}}}}"#, keys(30_000))
        }),
        Answer,
    ),
    attack(
        "a filter with 10,000 alternatives",
        Call("search.query", || {
            format!(
                r#"{{"filter":{{"any":[{}{}]}}}}"#,
                r#"{"a":1},"#.repeat(10_000),
                r#"{"a":1}"#
            )
        }),
        Answer,
    ),
    attack(
        "a filter nested 40 deep",
        Call("search.query", || {
            format!(
                r#"{{"filter":{}{{"a":1}}{}}}"#,
                r#"{"not":"#.repeat(40),
                "}".repeat(40)
            )
        }),
        Answer,
    ),
];

pub(super) const EDIT: &str = r#"{"old":"line 1 ","new":"line 1 "}"#;

impl Attack {
    /// The bytes to send.
    pub(super) fn message(&self, server: &Server, token: &str) -> Vec<u8> {
        match &self.sends {
            Call(name, arguments) => {
                let tool = name.replacen('.', "__", 1);
                let headers = format!("Mcp-Name: {tool}\r\n");
                request(
                    server,
                    token,
                    "tools/call",
                    &headers,
                    &tool_call(&tool, &arguments()),
                )
            }
            Request(method, params) => {
                let meta = stateless_meta();
                let body = format!(
                    r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"_meta":{meta},{}}}}}"#,
                    params()
                );
                request(server, token, method, "", &body)
            }
            Body(body) => request(server, token, "tools/call", "", &body()),
            Raw(bytes) => bytes().replace("{token}", token).into_bytes(),
        }
    }
}

pub(super) fn tool_call(tool: &str, arguments: &str) -> String {
    let meta = stateless_meta();
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"_meta":{meta},"name":"{tool}","arguments":{arguments}}}}}"#
    )
}

pub(super) fn tools_list() -> String {
    let meta = stateless_meta();
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{"_meta":{meta}}}}}"#)
}

/// The members of an object with this many keys.
pub(super) fn keys(count: usize) -> String {
    let keys: Vec<String> = (0..count).map(|key| format!(r#""k{key}":{key}"#)).collect();
    keys.join(",")
}

/// The same, with keys of this many bytes.
pub(super) fn long_keys(count: usize, length: usize) -> String {
    let keys: Vec<String> = (0..count)
        .map(|key| format!(r#""{key}{}":1"#, "k".repeat(length)))
        .collect();
    keys.join(",")
}

/// A note with this many properties, for `document.create`.
fn wide_note(count: usize) -> String {
    format!(
        r#"{{"path":"Bombs/wide{count}","content":"---\n{}---\n","if_exists":"open"}}"#,
        (0..count)
            .map(|key| format!(r"k{key}: 1\n"))
            .collect::<String>()
    )
}

/// A note with the maximum number of properties.
pub(super) fn wide_frontmatter() -> String {
    let keys: String = (0..14_000).map(|key| format!("k{key}: 1\n")).collect();
    format!("---\n{keys}---\nA wide note.\n")
}

/// A note with many similar lines.
pub(super) fn long_note(number: usize) -> String {
    (0..20_000)
        .map(|line| format!("line {line} of note {number}\n"))
        .collect()
}

/// The text of many lines in an order that has little in common with the note's, as a JSON string.
pub(super) fn shuffled(count: usize) -> String {
    (0..count)
        .map(|line| format!(r"line {} of note 1\n", line * 7919 % count))
        .collect()
}

/// YAML in which each line repeats the previous one nine times, as a JSON string.
fn aliases(levels: usize) -> String {
    let mut yaml = r"a0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned();
    for level in 1..levels {
        let alias = format!("*a{}", level - 1);
        yaml += &format!(r"a{level}: &a{level} [{}]\n", vec![alias; 9].join(","));
    }
    yaml
}
