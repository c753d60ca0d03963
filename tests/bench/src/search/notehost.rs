//! The program itself, queried over its pipes.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::query::{Answer, Contestant, VaultQuery};
use crate::client::{Memory, Pipes, tool_call};

/// Maximum time for building an index.
const MAX_INDEX_TIME: Duration = Duration::from_secs(900);

/// The parameters of a server.
pub(crate) struct Setting {
    pub(crate) program: PathBuf,
    pub(crate) vault: PathBuf,
    pub(crate) state: PathBuf,
}

/// A running server.
pub(crate) struct Notehost {
    pipes: Pipes,
    began: Instant,
    calls: usize,
}

impl Setting {
    /// Starts it; returns the time from process start to the reply to `initialize`.
    pub(crate) fn start(&self) -> Result<(Notehost, Duration)> {
        let began = Instant::now();
        let mut pipes = Pipes::start(&self.program, &self.vault, &self.state)?;
        pipes.initialize()?;
        let took = began.elapsed();
        let server = Notehost {
            pipes,
            began,
            calls: 0,
        };
        Ok((server, took))
    }

    /// Deletes the index but keeps the compiled code.
    pub(crate) fn forget_index(&self) -> Result<()> {
        fn forget(folder: &Path) -> Result<usize> {
            let mut forgotten = 0;
            for entry in std::fs::read_dir(folder)? {
                let entry = entry?;
                if !entry.file_type()?.is_dir() {
                    continue;
                }
                if entry.file_name() == "index" {
                    std::fs::remove_dir_all(entry.path())?;
                    forgotten += 1;
                } else {
                    forgotten += forget(&entry.path())?;
                }
            }
            Ok(forgotten)
        }
        ensure!(
            forget(&self.state)? > 0,
            "no folder `index` in `{}`",
            self.state.display()
        );
        Ok(())
    }
}

impl Notehost {
    /// Calls a tool; returns its time and structured content.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Result<(Duration, Value)> {
        self.calls += 1;
        let (took, mut result) = self.pipes.ask(&tool_call(self.calls, tool, arguments))?;
        Ok((took, result["structuredContent"].take()))
    }

    /// Searches for a word.
    pub(crate) fn search(&mut self, query: &str) -> Result<(Duration, Value)> {
        self.call(
            "search",
            json!({"action": "text", "query": query, "limit": 20}),
        )
    }

    /// Waits until searches no longer report a running index build; returns the time since the process started.
    pub(crate) fn wait_for_index(&mut self) -> Result<Duration> {
        loop {
            let (_, reply) = self.search("index")?;
            if reply["index"].is_null() {
                return Ok(self.began.elapsed());
            }
            ensure!(
                self.began.elapsed() < MAX_INDEX_TIME,
                "the index is never complete: {}",
                reply["index"]
            );
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// The memory of the process.
    pub(crate) fn memory(&self) -> Result<Memory> {
        self.pipes.memory()
    }

    /// Stops it as a client does.
    pub(crate) fn stop(self) -> Result<()> {
        self.pipes.stop()
    }
}

impl Contestant for Notehost {
    fn name(&self) -> &'static str {
        "Notehost"
    }

    fn run(&mut self, query: &VaultQuery) -> Result<Option<Answer>> {
        let (tool, arguments) = match query {
            VaultQuery::Word(word) | VaultQuery::Unspaced(word) => (
                "search",
                json!({"action": "text", "query": word, "limit": 20}),
            ),
            VaultQuery::Phrase(phrase) => (
                "search",
                json!({"action": "text", "query": format!("\"{phrase}\""), "limit": 20}),
            ),
            VaultQuery::Prefix(prefix) => (
                "search",
                json!({"action": "text", "query": format!("{prefix}*"), "limit": 20}),
            ),
            VaultQuery::Pattern(pattern) => (
                "search",
                json!({"action": "regex", "pattern": pattern, "limit": 20}),
            ),
            VaultQuery::Backlinks(path) => (
                "link",
                json!({"action": "backlinks", "path": path, "limit": 20}),
            ),
            VaultQuery::Tags => ("tag", json!({"action": "list", "limit": 50})),
            VaultQuery::Tagged(tag) => ("tag", json!({"action": "notes", "tag": tag, "limit": 20})),
            VaultQuery::Unresolved => ("link", json!({"action": "unresolved", "limit": 20})),
            VaultQuery::Read(path) => ("document", json!({"action": "read", "path": path})),
        };
        let (took, reply) = self.call(tool, arguments)?;
        let found = match query {
            VaultQuery::Read(_) => usize::from(reply["content"].is_string()),
            _ => {
                let items = reply["items"].as_array();
                let items = items.with_context(|| format!("`{tool}` gave no list: {reply}"))?;
                match reply["total"].as_u64() {
                    Some(total) => usize::try_from(total)?,
                    None => items.len(),
                }
            }
        };
        Ok(Some(Answer { took, found }))
    }
}
