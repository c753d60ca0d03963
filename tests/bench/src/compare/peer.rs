//! Other MCP servers for folders of notes, as child processes over stdio.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::NoteServer;
use crate::client::{Memory, Pipes};
use crate::search::mcpvault::Mcpvault;

/// The name of the vault's folder in every copy, by which obsidian-mcp-rs knows it.
const VAULT: &str = "vault";

/// Starts every peer that is installed, each on its own copy of the notes; returns it with its time to `initialize`.
pub(super) fn start_all(
    copy: &dyn Fn(&str) -> Result<PathBuf>,
) -> Result<Vec<(Box<dyn NoteServer>, Duration)>> {
    let mut started: Vec<(Box<dyn NoteServer>, Duration)> = Vec::new();
    match ObsidianMcpRs::program() {
        Some(program) => {
            let (server, took) = ObsidianMcpRs::start(&program, &copy("obsidian-mcp-rs")?)?;
            started.push((Box::new(server), took));
        }
        None => println!("obsidian-mcp-rs skipped: `OBSIDIAN_MCP_RS` is not a program"),
    }
    match Mcpvault::program() {
        Some(_) => {
            if let Some((server, took)) = Mcpvault::start(&copy("mcpvault")?)? {
                started.push((Box::new(server), took));
            }
        }
        None => println!("mcpvault skipped: `MCPVAULT` is not a folder that contains it"),
    }
    Ok(started)
}

/// obsidian-mcp-rs from crates.io: `cargo install obsidian-mcp-rs`.
struct ObsidianMcpRs {
    pipes: Pipes,
    calls: usize,
}

impl ObsidianMcpRs {
    fn program() -> Option<PathBuf> {
        let program = PathBuf::from(std::env::var_os("OBSIDIAN_MCP_RS")?);
        program.is_file().then_some(program)
    }

    fn start(program: &Path, vault: &Path) -> Result<(ObsidianMcpRs, Duration)> {
        let began = Instant::now();
        let mut command = Command::new(program);
        command.args(["--log-file", "-"]).arg(vault);
        let mut pipes = Pipes::spawn(&mut command, Stdio::null()).context("obsidian-mcp-rs")?;
        pipes.initialize()?;
        let took = began.elapsed();
        Ok((ObsidianMcpRs { pipes, calls: 0 }, took))
    }

    fn call(&mut self, tool: &str, mut arguments: Value) -> Result<Duration> {
        self.calls += 1;
        arguments["vault"] = VAULT.into();
        let (took, _) = self.pipes.ask(&json!({
            "jsonrpc": "2.0", "id": self.calls, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        }))?;
        Ok(took)
    }
}

impl NoteServer for ObsidianMcpRs {
    fn name(&self) -> &'static str {
        "obsidian-mcp-rs"
    }

    fn is_durable(&self) -> bool {
        false
    }

    fn read(&mut self, path: &str) -> Result<Duration> {
        self.call("read-note", json!({"filename": path}))
    }

    fn search(&mut self, words: &str) -> Result<Duration> {
        self.call("search-vault", json!({"query": words, "limit": 20}))
    }

    fn create(&mut self, path: &str, text: &str) -> Result<Duration> {
        self.call("create-note", json!({"filename": path, "content": text}))
    }

    fn append(&mut self, path: &str, text: &str) -> Result<Duration> {
        let arguments = json!({"filename": path, "operation": "append", "content": text});
        self.call("edit-note", arguments)
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<Option<Duration>> {
        // With the folder in the file name, the note would leave its folder.
        let (folder, name) = from.rsplit_once('/').unwrap_or(("", from));
        let new_name = to.rsplit('/').next().unwrap_or(to);
        let arguments = json!({"filename": name, "folder": folder, "newFilename": new_name});
        self.call("move-note", arguments).map(Some)
    }

    fn memory(&self) -> Result<Memory> {
        self.pipes.memory()
    }
}

impl NoteServer for Mcpvault {
    fn name(&self) -> &'static str {
        "mcpvault"
    }

    fn is_durable(&self) -> bool {
        false
    }

    fn read(&mut self, path: &str) -> Result<Duration> {
        Ok(self.call("read_note", json!({"path": path}))?.0)
    }

    fn search(&mut self, words: &str) -> Result<Duration> {
        let arguments = json!({"query": words, "limit": 20});
        Ok(self.call("search_notes", arguments)?.0)
    }

    fn create(&mut self, path: &str, text: &str) -> Result<Duration> {
        let arguments = json!({"path": path, "content": text});
        Ok(self.call("write_note", arguments)?.0)
    }

    fn append(&mut self, path: &str, text: &str) -> Result<Duration> {
        let arguments = json!({"path": path, "content": text, "mode": "append"});
        Ok(self.call("write_note", arguments)?.0)
    }

    fn rename(&mut self, _: &str, _: &str) -> Result<Option<Duration>> {
        Ok(None)
    }

    fn memory(&self) -> Result<Memory> {
        Mcpvault::memory(self)
    }
}
