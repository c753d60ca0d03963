//! The list of hostile requests that are expensive to receive, to check or to answer.

use crate::support::http::{SESSIONS, STATELESS};

use super::attack_model::ExpectedReply::{Answer, Refusal};
use super::attack_model::Payload::{Body, Call, Raw, Request, Session};
use super::attack_model::Transmission::{Connections, Pieces, Slowly, Unread, Whole};
use super::attack_model::{
    Attack, EDIT, attack, flood, keys, long_keys, nested_glob, shuffled, tool_call, tools_list,
};

/// What is expensive to receive, to check or to answer.
pub(super) const ATTACKS: &[Attack] = &[
    // Wide and deep JSON.
    attack(
        "4 MB of zeros as tags",
        Call("search.text", || {
            format!(r#"{{"query":"a","tags":[{}0]}}"#, "0,".repeat(2 << 20))
        }),
        Refusal,
    ),
    attack(
        "30 MB of zeros in a call that writes",
        Call("document.create", || {
            format!(r#"{{"path":"a","tags":[{}0]}}"#, "0,".repeat(15 << 20))
        }),
        Refusal,
    ),
    attack(
        "half a million empty objects",
        Call("document.create", || {
            format!(r#"{{"path":"a","x":[{}{{}}]}}"#, "{},".repeat(500_000))
        }),
        Refusal,
    ),
    attack(
        "half a million keys",
        Call("document.create", || format!("{{{}}}", keys(500_000))),
        Refusal,
    ),
    attack(
        "a million open brackets",
        Call("document.create", || "[".repeat(1 << 20)),
        Refusal,
    ),
    attack(
        "objects nested 100,000 deep",
        Call("document.create", || {
            format!("{}1{}", r#"{"a":"#.repeat(100_000), "}".repeat(100_000))
        }),
        Refusal,
    ),
    attack(
        "arrays nested up to the bound",
        Call("document.create", || {
            format!(
                r#"{{"path":"a","properties":{{"x":{}{}}}}}"#,
                "[".repeat(58),
                "]".repeat(58)
            )
        }),
        Answer,
    ),
    attack(
        "as many values as there may be",
        Call("document.create", || {
            format!(r#"{{"path":"a","x":[{}0]}}"#, "0,".repeat(60_000))
        }),
        Refusal,
    ),
    attack(
        "an unknown-field storm",
        Call("document.read", || format!("{{{}}}", keys(30_000))),
        Refusal,
    ),
    attack(
        "unknown fields with long names",
        Call("document.read", || format!("{{{}}}", long_keys(200, 4000))),
        Refusal,
    ),
    attack(
        "a number of a million digits",
        Call("document.read", || {
            format!(r#"{{"path":{}}}"#, "9".repeat(1_000_000))
        }),
        Refusal,
    ),
    attack(
        "16 MB that are no JSON",
        Body(|| "x".repeat(16 << 20)),
        Refusal,
    ),
    attack(
        "an unfinished string of 900 KB",
        Body(|| format!("\"{}", "\\\"".repeat(450_000))),
        Refusal,
    ),
    // Long words where short ones belong.
    attack(
        "a method of 900 KB",
        Body(|| {
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"{}"}}"#,
                "m".repeat(900_000)
            )
        }),
        Refusal,
    ),
    attack(
        "a tool of 900 KB",
        Body(|| tool_call(&"t".repeat(900_000), "{}")),
        Refusal,
    ),
    attack(
        "an action of 900 KB",
        Body(|| {
            tool_call(
                "document",
                &format!(r#"{{"action":"{}"}}"#, "a".repeat(900_000)),
            )
        }),
        Refusal,
    ),
    attack(
        "a path of 900 KB",
        Call("document.read", || {
            format!(r#"{{"path":"{}"}}"#, "p".repeat(900_000))
        }),
        Refusal,
    ),
    attack(
        "a path of 200,000 folders",
        Call("document.read", || {
            format!(r#"{{"path":"{}"}}"#, "p/".repeat(200_000))
        }),
        Refusal,
    ),
    attack(
        "an id of 900 KB",
        Body(|| {
            format!(
                r#"{{"jsonrpc":"2.0","id":"{}","method":"no/such"}}"#,
                "i".repeat(900_000)
            )
        }),
        Refusal,
    ),
    attack(
        "8 MB for an action that reads",
        Call("document.read", || {
            format!(r#"{{"path":"{}"}}"#, "p".repeat(8 << 20))
        }),
        Refusal,
    ),
    attack(
        "8 MB for a list of tools",
        Request("tools/list", || {
            format!(r#""cursor":"{}""#, "c".repeat(8 << 20))
        }),
        Refusal,
    ),
    attack(
        "a completion of 900 KB",
        Request("completion/complete", || {
            format!(
                r#""ref":{{"type":"ref/prompt","name":"x"}},"argument":{{"name":"a","value":"{}"}}"#,
                "v".repeat(900_000)
            )
        }),
        Refusal,
    ),
    attack(
        "a resource with a name of 900 KB",
        Request("resources/read", || {
            format!(r#""uri":"notehost://main/{}""#, "u".repeat(900_000))
        }),
        Refusal,
    ),
    // Large and many-sided changes.
    attack(
        "many names at once",
        Call("document.read_many", || {
            format!(
                r#"{{"paths":[{}"Work/Plan"]}}"#,
                r#""Nowhere/x","#.repeat(30_000)
            )
        }),
        Answer,
    ),
    attack(
        "10,000 edits",
        Call("document.edit", || {
            format!(
                r#"{{"path":"Long/1","dry_run":true,"edits":[{}{}]}}"#,
                format!("{EDIT},").repeat(10_000),
                EDIT
            )
        }),
        Answer,
    ),
    attack(
        "10,000 properties",
        Call("document.set_properties", || {
            format!(
                r#"{{"path":"Work/Plan","dry_run":true,"set":{{{}}}}}"#,
                keys(10_000)
            )
        }),
        Answer,
    ),
    attack(
        "a note of 16 MB",
        Call("document.create", || {
            format!(
                r#"{{"path":"Giant","dry_run":true,"content":"{}"}}"#,
                "word ".repeat(3_300_000)
            )
        }),
        Answer,
    ),
    attack(
        "a note of four million lines",
        Call("document.create", || {
            format!(
                r#"{{"path":"Lines","dry_run":true,"content":"{}"}}"#,
                r"\n".repeat(4 << 20)
            )
        }),
        Answer,
    ),
    attack(
        "a note of escapes",
        Call("document.create", || {
            format!(
                r#"{{"path":"Escapes","dry_run":true,"content":"{}"}}"#,
                r"\u00e9".repeat(1 << 20)
            )
        }),
        Answer,
    ),
    attack(
        "a diff of many lines",
        Call("document.update", || {
            format!(
                r#"{{"path":"Long/1","dry_run":true,"content":"{}"}}"#,
                shuffled(30_000)
            )
        }),
        Answer,
    ),
    attack(
        "20,000 words that no note had",
        Call("document.append", || {
            let words: String = (0..20_000).map(|word| format!("w{word} ")).collect();
            format!(r#"{{"path":"Long/9","content":"{words}"}}"#)
        }),
        Answer,
    ),
    attack(
        "a replacement in ten long notes",
        Call("search.replace", || {
            r#"{"find":"line","replace":"row","path":"Long","dry_run":true}"#.to_owned()
        }),
        Answer,
    ),
    attack(
        "a replacement of every character",
        Call("search.replace", || {
            r#"{"find":"[a-z]","replace":"$0$0","regex":true,"path":"Long","dry_run":true}"#
                .to_owned()
        }),
        Answer,
    ),
    // Patterns and questions.
    attack(
        "a pattern that backtracks",
        Call("search.regex", || {
            r#"{"pattern":"(l|i|n|e|[a-z]+)+[0-9]*$x","multiline":true}"#.to_owned()
        }),
        Answer,
    ),
    attack(
        "a pattern that repeats repetitions",
        Call("search.regex", || {
            r#"{"pattern":"((a{1,1000}){1,1000}){1,1000}"}"#.to_owned()
        }),
        Refusal,
    ),
    attack(
        "a pattern of 500 KB",
        Call("search.regex", || {
            format!(r#"{{"pattern":"{}x"}}"#, "(a|b)?".repeat(80_000))
        }),
        Refusal,
    ),
    attack(
        "a question of 500 KB",
        Call("search.text", || {
            format!(r#"{{"query":"{}"}}"#, "word ".repeat(100_000))
        }),
        Answer,
    ),
    attack(
        "a context for 100 KB of words",
        Call("search.context", || {
            format!(
                r#"{{"query":"{}","budget_tokens":20000}}"#,
                "line word ".repeat(10_000)
            )
        }),
        Answer,
    ),
    attack(
        "braces nested 1,900 deep in a query",
        Call("search.text", || nested_glob("query", "path:", 1900)),
        Refusal,
    ),
    attack(
        "braces nested 32,000 deep in a path",
        Call("search.regex", || {
            format!(
                r#"{{"pattern":"a",{}"#,
                &nested_glob("path", "", 32_000)[1..]
            )
        }),
        Refusal,
    ),
    // Sessions and what they hold.
    attack(
        "a subscription with a name of 900 KB",
        Session("resources/subscribe", || {
            format!(r#""uri":"notehost://vault/main/{}""#, "u".repeat(900_000))
        }),
        Refusal,
    ),
    flood(
        "a session for each request",
        Raw(|| {
            let body = format!(
                r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{SESSIONS}","capabilities":{{}},"clientInfo":{{"name":"m","version":"0"}}}}}}"#
            );
            format!(
                "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {{token}}\r\nContent-Type: application/json\r\n\
                 Accept: application/json, text/event-stream\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            )
        }),
        Whole,
        2,
    ),
    // Floods, slow clients, clients that do not read.
    flood(
        "a flood of calls",
        Call("document.read", || r#"{"path":"Work/Plan"}"#.to_owned()),
        Whole,
        6,
    ),
    flood(
        "a flood of refusals",
        Call("document.read", || r#"{"nothing":1}"#.to_owned()),
        Whole,
        6,
    ),
    flood(
        "lists of tools that nobody reads",
        Raw(|| {
            let body = tools_list();
            format!(
                "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {{token}}\r\nMCP-Protocol-Version: {STATELESS}\r\n\
                 Mcp-Method: tools/list\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
                 Content-Length: {}\r\n\r\n{body}",
                body.len()
            )
        }),
        Unread(200),
        2,
    ),
    flood(
        "a body byte by byte",
        Call("document.read", || r#"{"path":"Work/Plan"}"#.to_owned()),
        Slowly,
        8,
    ),
    flood(
        "a body in tiny pieces",
        Call("document.create", || {
            format!(
                r#"{{"path":"a","dry_run":true,"content":"{}"}}"#,
                "x".repeat(40_000)
            )
        }),
        Pieces(7),
        2,
    ),
    flood(
        "connections on which nothing is asked",
        Raw(String::new),
        Connections(300),
        1,
    ),
    flood(
        "connections with half a head",
        Raw(|| "POST /mcp HTTP/1.1\r\nHost: localhost\r\nX: ".to_owned()),
        Connections(300),
        1,
    ),
    flood(
        "connections that announce 30 MB",
        Raw(|| {
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: 31457280\r\n\r\n{".to_owned()
        }),
        Connections(200),
        1,
    ),
    flood(
        "a head of 1 MB",
        Raw(|| {
            format!(
                "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n",
                "x".repeat(1 << 20)
            )
        }),
        Whole,
        2,
    ),
    flood(
        "strangers",
        Raw(|| {
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer nh_wrong\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}".to_owned()
        }),
        Whole,
        6,
    ),
];
