//! Two minimal clients with little overhead: JSON lines over pipes, and HTTP over one connection.

use std::fmt;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use notehost::registry::EMBEDDED;
use serde_json::{Value, json};

const REVISION: &str = "2026-07-28";

/// Maximum time for compiling every component.
const COMPILE_TIMEOUT: Duration = Duration::from_secs(300);

/// Waits until a freshly started server has compiled its components, so that the compiler does not distort the
/// measurements.
pub(crate) fn wait_for_compiler(state: &Path) -> Result<()> {
    let began = Instant::now();
    loop {
        let compiled = std::fs::read_dir(state.join("compiled"))
            .into_iter()
            .flatten();
        let sealed = compiled
            .flatten()
            .filter(|entry| entry.path().extension().is_some_and(|end| end == "digest"));
        if sealed.count() >= EMBEDDED.len() {
            return Ok(());
        }
        ensure!(
            began.elapsed() < COMPILE_TIMEOUT,
            "the components are never compiled"
        );
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// The program as a child process, over its pipes.
pub(crate) struct Pipes {
    pub(crate) child: Child,
    /// `None` after it was closed.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Pipes {
    /// Starts the program on a vault.
    pub(crate) fn start(program: &Path, vault: &Path, state: &Path) -> Result<Pipes> {
        let mut command = Command::new(program);
        command
            .arg("serve")
            .arg(vault)
            .args(["--allow", "rwd", "--confirm", "never"])
            .args(["--log", "error", "--state"])
            .arg(state);
        Pipes::spawn(&mut command, Stdio::inherit())
    }

    /// Starts any program that speaks MCP over its pipes.
    pub(crate) fn spawn(command: &mut Command, errors: Stdio) -> Result<Pipes> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors)
            .spawn()?;
        let input = Some(child.stdin.take().context("a pipe")?);
        let output = BufReader::new(child.stdout.take().context("a pipe")?);
        Ok(Pipes {
            child,
            input,
            output,
        })
    }

    /// The handshake of the session-based revisions.
    pub(crate) fn initialize(&mut self) -> Result<()> {
        self.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "0"}}}))?;
        self.receive()?;
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
    }

    /// Sends one message.
    pub(crate) fn send(&mut self, message: &Value) -> Result<()> {
        let mut line = message.to_string();
        line.push('\n');
        let input = self.input.as_mut().context("an open pipe")?;
        input.write_all(line.as_bytes())?;
        Ok(())
    }

    /// Waits for one message.
    pub(crate) fn receive(&mut self) -> Result<String> {
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            bail!("the program closed its output");
        }
        Ok(line)
    }

    /// Sends a request and waits for its result. The returned time does not include parsing the result.
    pub(crate) fn ask(&mut self, message: &Value) -> Result<(Duration, Value)> {
        let began = Instant::now();
        self.send(message)?;
        loop {
            let line = self.receive()?;
            let took = began.elapsed();
            let mut reply: Value = serde_json::from_str(&line)?;
            if reply["id"] == message["id"] && reply.get("method").is_none() {
                let is_good = reply["error"].is_null() && reply["result"]["isError"] != true;
                ensure!(is_good, "{} failed: {reply}", message["params"]);
                return Ok((took, reply["result"].take()));
            }
        }
    }

    /// Closes its input, as clients do, and waits until it has written its state.
    pub(crate) fn stop(mut self) -> Result<()> {
        self.input = None;
        let began = Instant::now();
        while self.child.try_wait()?.is_none() {
            ensure!(
                began.elapsed() < Duration::from_secs(60),
                "the program does not stop"
            );
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// The memory of the process.
    pub(crate) fn memory(&self) -> Result<Memory> {
        memory(self.child.id())
    }
}

impl Drop for Pipes {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The memory of a process, in MiB.
///
/// Resident memory (RSS) counts every page in full, also those that other processes share; the proportional set size
/// (PSS) divides those. The file-backed part are pages of the program and of mapped files, which the system can drop at
/// any time; the anonymous part is what the process itself has allocated.
pub(crate) struct Memory {
    pub(crate) resident: u64,
    resident_anonymous: u64,
    resident_file_backed: u64,
    proportional: u64,
    proportional_anonymous: u64,
    proportional_file_backed: u64,
    peak: u64,
}

impl fmt::Display for Memory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "RSS {} MiB (anonymous {}, file-backed {}), PSS {} MiB ({}, {}), peak RSS {} MiB",
            self.resident,
            self.resident_anonymous,
            self.resident_file_backed,
            self.proportional,
            self.proportional_anonymous,
            self.proportional_file_backed,
            self.peak
        )
    }
}

/// Reads the memory of a process.
pub(crate) fn memory(process: u32) -> Result<Memory> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let rollup = std::fs::read_to_string(format!("/proc/{process}/smaps_rollup"))?;
    let field = |text: &str, name: &'static str| -> Result<u64> {
        let line = text.lines().find(|line| line.starts_with(name));
        let kib = line.and_then(|line| line.split_whitespace().nth(1));
        Ok(kib.context(name)?.parse::<u64>()? >> 10)
    };
    Ok(Memory {
        resident: field(&rollup, "Rss:")?,
        resident_anonymous: field(&rollup, "Anonymous:")?,
        resident_file_backed: field(&rollup, "Rss:")?.saturating_sub(field(&rollup, "Anonymous:")?),
        proportional: field(&rollup, "Pss:")?,
        proportional_anonymous: field(&rollup, "Pss_Anon:")?,
        proportional_file_backed: field(&rollup, "Pss_File:")?,
        peak: field(&status, "VmHWM:")?,
    })
}

/// A tool call.
pub(crate) fn tool_call(id: usize, tool: &str, arguments: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
    "name": tool, "arguments": arguments,
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": REVISION,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "0"},
    }}})
}

/// A persistent HTTP connection.
pub(crate) struct Http {
    address: String,
    stream: BufReader<TcpStream>,
}

impl Http {
    /// Connects.
    pub(crate) fn connect(address: &str) -> Result<Http> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Http {
            address: address.to_owned(),
            stream: BufReader::new(stream),
        })
    }

    /// Calls a tool and waits for the reply.
    pub(crate) fn call(&mut self, message: &Value) -> Result<String> {
        let body = message.to_string();
        let name = message["params"]["name"].as_str().unwrap_or_default();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {REVISION}\r\n\
             Mcp-Method: tools/call\r\nMcp-Name: {name}\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes())?;
        let mut length = None;
        let mut chunked = false;
        let mut status = String::new();
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line)?;
            if status.is_empty() {
                status = line.trim().to_owned();
            }
            let header = line.to_ascii_lowercase();
            if let Some(value) = header.strip_prefix("content-length:") {
                length = Some(value.trim().parse::<usize>()?);
            }
            chunked |= header.starts_with("transfer-encoding: chunked");
            if line.trim().is_empty() {
                break;
            }
        }
        let body = if chunked {
            self.chunks()?
        } else {
            self.bytes(length.unwrap_or(0))?
        };
        if !status.contains(" 200 ") {
            bail!("{status}: {}", String::from_utf8_lossy(&body));
        }
        Ok(String::from_utf8_lossy(&body).into_owned())
    }

    fn bytes(&mut self, length: usize) -> Result<Vec<u8>> {
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        Ok(body)
    }

    fn chunks(&mut self) -> Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line)?;
            let length = usize::from_str_radix(line.trim(), 16)?;
            body.extend(self.bytes(length)?);
            self.bytes(2)?;
            if length == 0 {
                return Ok(body);
            }
        }
    }
}
