//! Invalid replies.

use std::io::Write as _;

use notehost_sdk::guest::notehost::domain::progress;
use notehost_sdk::guest::notehost::domain::types::{Content, Error, Reply};
use notehost_sdk::guest::notehost::domain::vault::Vault;
use notehost_sdk::serde_json::{Value, json};

use crate::{answer, refusal, text};

/// Prints a line that looks like a message of the server.
pub fn print(_: &Vault, _: &Value) -> Result<Reply, Error> {
    let forged = json!({"jsonrpc": "2.0", "method": "notifications/forged"});
    println!("{forged}");
    eprintln!("{forged}");
    // Also without a line feed: it must not be joined with the next line.
    print!("{forged}");
    let _ = std::io::stdout().flush();
    Ok(answer(&json!({})))
}

/// Reports progress all the time: forwards and backwards, always at the end, and with overlong messages.
pub fn nag(_: &Vault, _: &Value) -> Result<Reply, Error> {
    let words = "\u{1b}[2J\n".repeat(1000);
    for number in 0..20_000 {
        progress::report(number, Some(number), &words);
        progress::report(20_000 - number, None, "");
    }
    progress::report(u64::MAX, Some(0), "");
    Ok(answer(&json!({})))
}

/// A reply of as many megabytes as the test asks for.
pub fn giant_reply(_: &Vault, arguments: &Value) -> Result<Reply, Error> {
    let megabytes = arguments["megabytes"].as_u64().unwrap_or(1);
    Ok(Reply {
        text: "x".repeat((megabytes as usize) << 20),
        structured: "{}".to_owned(),
        content: Vec::new(),
    })
}

/// The same as a refusal: what it says, and details of many values.
pub fn giant_refusal(_: &Vault, arguments: &Value) -> Result<Reply, Error> {
    let size = (arguments["megabytes"].as_u64().unwrap_or(0) as usize) << 20;
    let values = arguments["values"].as_u64().unwrap_or(0) as usize;
    Err(Error {
        hint: Some("x".repeat(size)),
        details: Some(format!("{{\"values\":[{}0]}}", "0,".repeat(values))),
        ..refusal("not_found", "no such thing")
    })
}

/// As many links to a note as the test wants.
pub fn link_often(_: &Vault, arguments: &Value) -> Result<Reply, Error> {
    let links = arguments["links"].as_u64().unwrap_or(1) as usize;
    Ok(Reply {
        content: vec![Content::Link("Open/Note.md".to_owned()); links],
        ..answer(&json!({}))
    })
}

pub fn broken_json(_: &Vault, _: &Value) -> Result<Reply, Error> {
    Ok(Reply {
        text: String::new(),
        structured: "{\"half\": ".to_owned(),
        content: Vec::new(),
    })
}

pub fn no_object(_: &Vault, _: &Value) -> Result<Reply, Error> {
    Ok(answer(&json!([1, 2, 3])))
}

pub fn unknown_code(_: &Vault, _: &Value) -> Result<Reply, Error> {
    Err(refusal("all_your_base", "belongs to us"))
}

/// Links to a file outside of what the caller may see.
pub fn link_away(_: &Vault, arguments: &Value) -> Result<Reply, Error> {
    Ok(Reply {
        content: vec![Content::Link(text(arguments, "path").to_owned())],
        ..answer(&json!({}))
    })
}
