//! The hostile requests, as data: what each sends, in which way, from how many threads, and what it may be answered.

use super::{request, session_request};
use crate::support::http::{HttpClient, Server, stateless_meta};

/// One attack.
pub(super) struct Attack {
    pub(super) name: &'static str,
    pub(super) sends: Payload,
    pub(super) way: Transmission,
    pub(super) threads: usize,
    pub(super) expected: ExpectedReply,
}

/// What it sends.
pub(super) enum Payload {
    /// A call of `domain.action` with these arguments, as JSON text.
    Call(&'static str, fn() -> String),
    /// A request with these parameters, as the inner part of a JSON object.
    Request(&'static str, fn() -> String),
    /// A body, whatever it is, as if it were a call.
    Body(fn() -> String),
    /// The same in a session of the older era.
    Session(&'static str, fn() -> String),
    /// Bytes, whatever they are; `{token}` is replaced.
    Raw(fn() -> String),
}

/// In which way.
#[derive(Clone, Copy)]
pub(super) enum Transmission {
    /// At once, and the answer is waited for.
    Whole,
    /// In pieces of so many bytes.
    Pieces(usize),
    /// Byte by byte, with a pause after each.
    Slowly,
    /// So many times on one connection, and nothing of what comes back is read.
    Unread(usize),
    /// On so many connections at once, which are held.
    Connections(usize),
}

/// What the attacker may be answered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ExpectedReply {
    /// A clear error, each time.
    Refusal,
    /// Some answer, each time: what it asks for may be possible within the limits.
    Answer,
    /// Perhaps nothing: it is a flood, or it does not wait.
    Nothing,
}

use ExpectedReply::{Answer, Nothing};
use Payload::{Body, Call, Raw, Request, Session};
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

/// What is expensive for the index: notes with hostile frontmatter, and questions with many conditions.
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
    /// The bytes that it sends.
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
            Session(method, params) => {
                let client = HttpClient::with_session_and_token(server.address(), Some(token));
                let session = client.session().unwrap_or_default();
                let body = format!(
                    r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{}}}}}"#,
                    params()
                );
                session_request(server, token, session, &body)
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

/// The members of an object with so many keys.
pub(super) fn keys(count: usize) -> String {
    let keys: Vec<String> = (0..count).map(|key| format!(r#""k{key}":{key}"#)).collect();
    keys.join(",")
}

/// An argument that is a glob with braces in braces.
pub(super) fn nested_glob(argument: &str, before: &str, depth: usize) -> String {
    let (open, close) = ("{".repeat(depth), "}".repeat(depth));
    format!(r#"{{"{argument}":"{before}{open}a{close}"}}"#)
}

/// The same with keys of so many bytes.
pub(super) fn long_keys(count: usize, length: usize) -> String {
    let keys: Vec<String> = (0..count)
        .map(|key| format!(r#""{key}{}":1"#, "k".repeat(length)))
        .collect();
    keys.join(",")
}

/// A note with so many properties, for `document.create`.
fn wide_note(count: usize) -> String {
    format!(
        r#"{{"path":"Bombs/wide{count}","content":"---\n{}---\n","if_exists":"open"}}"#,
        (0..count)
            .map(|key| format!(r"k{key}: 1\n"))
            .collect::<String>()
    )
}

/// A note with as many properties as are read.
pub(super) fn wide_frontmatter() -> String {
    let keys: String = (0..14_000).map(|key| format!("k{key}: 1\n")).collect();
    format!("---\n{keys}---\nA wide note.\n")
}

/// A note with many lines that look alike.
pub(super) fn long_note(number: usize) -> String {
    (0..20_000)
        .map(|line| format!("line {line} of note {number}\n"))
        .collect()
}

/// The text of many lines in an order that has little in common with the note's, for a JSON string.
pub(super) fn shuffled(count: usize) -> String {
    (0..count)
        .map(|line| format!(r"line {} of note 1\n", line * 7919 % count))
        .collect()
}

/// YAML in which each line repeats the one before it nine times, for a JSON string.
fn aliases(levels: usize) -> String {
    let mut yaml = r"a0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned();
    for level in 1..levels {
        let alias = format!("*a{}", level - 1);
        yaml += &format!(r"a{level}: &a{level} [{}]\n", vec![alias; 9].join(","));
    }
    yaml
}
