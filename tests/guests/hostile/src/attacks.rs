//! Resource exhaustion: time, stack, memory, host calls, log space, staged bytes.

use std::hint::black_box;

use notehost_sdk::guest::notehost::domain::types::{Error, Reply};
use notehost_sdk::guest::notehost::domain::vault::Vault;
use notehost_sdk::guest::notehost::domain::{index, log, store};
use notehost_sdk::serde_json::{Value, json};

use crate::{answer, text};

/// Some attacks take long: they only run if the test passes this path.
const EXPENSIVE: &str = "Open/Note.md";
const MEGABYTE: usize = 1 << 20;

pub fn spin(_: &Vault, _: &Value) -> Result<Reply, Error> {
    for turn in 0_u64.. {
        black_box(turn);
    }
    Ok(answer(&json!({})))
}

pub fn recurse(_: &Vault, _: &Value) -> Result<Reply, Error> {
    #[inline(never)]
    fn deeper(depth: u64) -> u64 {
        if black_box(depth) == u64::MAX {
            return depth;
        }
        // Work remains after the call, so that the compiler cannot turn it into a loop.
        black_box(deeper(depth + 1)).wrapping_add(depth)
    }
    Ok(answer(&json!({ "depth": deeper(0) })))
}

pub fn trap(_: &Vault, _: &Value) -> Result<Reply, Error> {
    std::process::abort()
}

pub fn panic(_: &Vault, _: &Value) -> Result<Reply, Error> {
    panic!("a panic that says /etc/passwd and a backtrace")
}

pub fn exit(_: &Vault, _: &Value) -> Result<Reply, Error> {
    std::process::exit(0)
}

pub fn gorge(_: &Vault, _: &Value) -> Result<Reply, Error> {
    let mut taken = Vec::new();
    loop {
        taken.push(black_box(vec![1_u8; 8 * MEGABYTE]));
    }
}

pub fn flood(vault: &Vault, _: &Value) -> Result<Reply, Error> {
    loop {
        let _ = black_box(vault.stat("Open"));
    }
}

pub fn flood_log(_: &Vault, _: &Value) -> Result<Reply, Error> {
    let line = "spam ".repeat(10_000);
    for _ in 0..1_000 {
        log::write(log::Level::Error, &line);
    }
    Ok(answer(&json!({})))
}

pub fn flood_output(_: &Vault, _: &Value) -> Result<Reply, Error> {
    let line = "spam ".repeat(10_000);
    for _ in 0..1_000 {
        println!("{line}");
        eprintln!("{line}");
    }
    Ok(answer(&json!({})))
}

/// Stages gigabytes, and passes on the error.
pub fn stage_until_refused(vault: &Vault, _: &Value) -> Result<Reply, Error> {
    let bytes = vec![b'x'; MEGABYTE];
    for number in 0..4096 {
        vault.create(&format!("Open/Big/{number}.md"), &bytes)?;
    }
    Ok(answer(&json!({})))
}

/// Stages more than allowed, and reports success.
pub fn stage_regardless(vault: &Vault, _: &Value) -> Result<Reply, Error> {
    let bytes = vec![b'x'; MEGABYTE];
    let mut refused = 0;
    for number in 0..32 {
        let staged = vault.create(&format!("Open/Big/{number}.md"), &bytes);
        refused += u32::from(staged.is_err());
    }
    Ok(answer(&json!({ "refused": refused })))
}

/// Sends one long query after the other, and passes on the error.
pub fn ask_until_refused(vault: &Vault, arguments: &Value) -> Result<Reply, Error> {
    if text(arguments, "path") != EXPENSIVE {
        return Ok(answer(&json!({})));
    }
    for number in 0..4096 {
        let text = format!("{number} {}", "x".repeat(900_000));
        vault.mentioning(&[text])?;
    }
    Ok(answer(&json!({})))
}

/// Looks up missing notes one after the other, and passes on the error.
pub fn miss_until_refused(vault: &Vault, arguments: &Value) -> Result<Reply, Error> {
    if text(arguments, "path") != EXPENSIVE {
        return Ok(answer(&json!({})));
    }
    let folder = format!("Open/{}", "folder/".repeat(500));
    for number in 0..100_000 {
        let missed = vault.stat(&format!("{folder}{number}.md"));
        match missed {
            Err(error) if error.code == "not_found" => {}
            other => drop(other?),
        }
    }
    Ok(answer(&json!({})))
}

/// Gives one staged note one name after the other, and passes on the refusal.
pub fn rename_until_refused(vault: &Vault, arguments: &Value) -> Result<Reply, Error> {
    if text(arguments, "path") != EXPENSIVE {
        return Ok(answer(&json!({})));
    }
    let folder = format!("Open/{}", format!("{}/", "n".repeat(200)).repeat(15));
    let mut path = format!("{folder}start.md");
    vault.create(&path, b"on the move")?;
    for number in 0..100_000 {
        let next = format!("{folder}{number}.md");
        vault.rename(&path, &next)?;
        path = next;
    }
    Ok(answer(&json!({})))
}

/// Looks for one key after the other that its store does not have, and passes on the refusal.
pub fn keys_until_refused(_: &Vault, arguments: &Value) -> Result<Reply, Error> {
    if text(arguments, "path") != EXPENSIVE {
        return Ok(answer(&json!({})));
    }
    let key = "k".repeat(180);
    for number in 0..150_000 {
        store::get(&format!("{key}{number}"))?;
    }
    Ok(answer(&json!({})))
}

fn find(vault: &Vault, conditions: Vec<index::Condition>) -> Result<index::Found, Error> {
    let query = index::Query {
        where_: conditions,
        sort: Vec::new(),
        offset: 0,
        limit: 1,
        fields: Vec::new(),
        snippets: 0,
    };
    index::find(vault, &query)
}

/// Sends the list of conditions that `shape` names: one that refers to itself, in a circle, outside of the list, twice to
/// one, or too deep. Passes on the error.
pub fn bad_conditions(vault: &Vault, arguments: &Value) -> Result<Reply, Error> {
    use index::Condition::{All, Any, Not};
    let conditions = match text(arguments, "shape") {
        "self" => vec![Not(0)],
        "circle" => vec![Not(1), Any(vec![0])],
        "outside" => vec![All(vec![u32::MAX])],
        "shared" => vec![All(vec![1, 2]), Not(2), Any(Vec::new())],
        "unused" => vec![All(Vec::new()), Any(Vec::new())],
        "deep" => (1..=900).map(Not).chain([Any(Vec::new())]).collect(),
        "many" => vec![Any(Vec::new()); 1001],
        // Each condition refers twice to the next one: as a tree it would have 2^100 parts.
        "wide" => (1..=100)
            .map(|next| All(vec![next, next]))
            .chain([Any(Vec::new())])
            .collect(),
        "sorted" => return sorted_by_much(vault),
        _ => vec![All(Vec::new())],
    };
    find(vault, conditions)?;
    Ok(answer(&json!({})))
}

fn sorted_by_much(vault: &Vault) -> Result<Reply, Error> {
    let sort = index::Sort {
        by: index::SortKey::Property("x".repeat(MEGABYTE)),
        descending: false,
    };
    let query = index::Query {
        where_: Vec::new(),
        sort: vec![sort],
        offset: 0,
        limit: 1,
        fields: Vec::new(),
        snippets: 0,
    };
    index::find(vault, &query)?;
    Ok(answer(&json!({})))
}

/// Asks for the notes of a glob whose braces nest as deep as the test wants, and passes on the refusal.
pub fn deep_glob(vault: &Vault, arguments: &Value) -> Result<Reply, Error> {
    let depth = arguments["depth"].as_u64().unwrap_or(1) as usize;
    let glob = format!("{}a{}", "{".repeat(depth), "}".repeat(depth));
    find(vault, vec![index::Condition::Path(glob)])?;
    Ok(answer(&json!({})))
}

/// Hands much to the host in one host call.
pub fn hand_over(vault: &Vault, arguments: &Value) -> Result<Reply, Error> {
    if text(arguments, "path") != EXPENSIVE {
        return Ok(answer(&json!({})));
    }
    let texts = vec!["x".repeat(MEGABYTE); 100];
    vault.mentioning(&texts)?;
    Ok(answer(&json!({})))
}

/// Fills its private store beyond the quota, and passes on the error.
pub fn store_until_refused(_: &Vault, _: &Value) -> Result<Reply, Error> {
    let bytes = vec![b'x'; MEGABYTE];
    for number in 0..4096 {
        store::set(&format!("key {number}"), &bytes)?;
    }
    Ok(answer(&json!({})))
}

pub fn write_then_trap(vault: &Vault, arguments: &Value) -> Result<Reply, Error> {
    vault.write(text(arguments, "path"), b"half a change", None)?;
    vault.create("Open/Half.md", b"half a change")?;
    std::process::abort()
}

pub fn write_then_spin(vault: &Vault, arguments: &Value) -> Result<Reply, Error> {
    vault.write(text(arguments, "path"), b"half a change", None)?;
    vault.create("Open/Half.md", b"half a change")?;
    spin(vault, arguments)
}
