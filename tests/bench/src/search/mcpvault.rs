//! mcpvault from npm, over its pipes: `npm install @bitbonsai/mcpvault` in the folder that `MCPVAULT` names.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::query::{Answer, Contestant, VaultQuery};
use crate::client::{Memory, Pipes};

/// A running server.
pub(crate) struct Mcpvault {
    pipes: Pipes,
    calls: usize,
}

impl Mcpvault {
    /// The program in `MCPVAULT`, if it exists.
    pub(crate) fn program() -> Option<PathBuf> {
        let folder = PathBuf::from(std::env::var_os("MCPVAULT")?);
        let program = folder.join("node_modules/.bin/mcpvault");
        program.exists().then_some(program)
    }

    /// Starts it, if it exists; returns the time of the reply to `initialize`.
    pub(crate) fn start(vault: &Path) -> Result<Option<(Mcpvault, Duration)>> {
        let Some(program) = Mcpvault::program() else {
            return Ok(None);
        };
        let began = Instant::now();
        let mut pipes = Pipes::spawn(Command::new("node").arg(program).arg(vault), Stdio::null())
            .context("mcpvault needs `node`")?;
        pipes.initialize()?;
        let took = began.elapsed();
        Ok(Some((Mcpvault { pipes, calls: 0 }, took)))
    }

    /// Calls a tool; returns its time and text.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Result<(Duration, String)> {
        self.calls += 1;
        let (took, result) = self.pipes.ask(&json!({
            "jsonrpc": "2.0", "id": self.calls, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        }))?;
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        Ok((took, text.to_owned()))
    }

    /// The memory of the process.
    pub(crate) fn memory(&self) -> Result<Memory> {
        self.pipes.memory()
    }
}

impl Contestant for Mcpvault {
    fn name(&self) -> &'static str {
        "mcpvault"
    }

    fn run(&mut self, query: &VaultQuery) -> Result<Option<Answer>> {
        let (tool, arguments) = match query {
            // It has no syntax for phrases and prefixes, so it gets the same words.
            VaultQuery::Word(words)
            | VaultQuery::Phrase(words)
            | VaultQuery::Prefix(words)
            | VaultQuery::Unspaced(words) => ("search_notes", json!({"query": words, "limit": 20})),
            VaultQuery::Tags => ("list_all_tags", json!({})),
            VaultQuery::Read(path) => ("read_note", json!({"path": path})),
            VaultQuery::Pattern(_)
            | VaultQuery::Backlinks(_)
            | VaultQuery::Tagged(_)
            | VaultQuery::Unresolved => return Ok(None),
        };
        let (took, text) = self.call(tool, arguments)?;
        let found = match serde_json::from_str(&text) {
            Ok(Value::Array(hits)) => hits.len(),
            _ => 1,
        };
        Ok(Some(Answer { took, found }))
    }
}
