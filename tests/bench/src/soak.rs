//! Many calls of every kind, with clients that disconnect, cancel and crash: `cargo run --release -p notehost-bench --
//! soak [CALLS [FOLDER]]`. Afterwards memory must be flat, every acknowledged write must exist exactly once, and nothing may be
//! left over: no call in flight, no journal, no temporary file, no claimed key, no lock.

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};

use crate::client::{Http, tool_call};
use crate::vaults::{self, Notes};

const WORKERS: usize = 8;
const NOTES: usize = 500;
/// Maximum ratio of final memory to memory after the warm-up.
const MAX_MEMORY_GROWTH: f64 = 1.15;

/// The results so far.
#[derive(Default)]
struct Progress {
    begun: AtomicUsize,
    outcomes: Mutex<HashMap<String, usize>>,
    /// Lines whose append was acknowledged.
    answered: Mutex<Vec<String>>,
}

impl Progress {
    fn count(&self, outcome: &str) {
        let mut outcomes = self.outcomes.lock().expect("no worker panics");
        *outcomes.entry(outcome.to_owned()).or_default() += 1;
    }
}

/// Runs it.
pub(crate) fn run(program: &Path, calls: usize, folder: Option<&Path>) -> Result<()> {
    let place = tempfile::tempdir()?;
    let notes = vaults::copied_or_synthetic(folder, NOTES, place.path())?;
    let (config, state) = (
        place.path().join("notehost.toml"),
        place.path().join("state"),
    );
    std::fs::write(
        &config,
        format!(
            "[[vaults]]\nid = \"main\"\npath = {}\n[permissions]\ndefault = \"rwd\"\n[http]\nsession_idle_seconds = 2\n[callers.http]\nscopes = [\"read\", \"write\", \"delete\", \"admin\"]\n[rates]\nread = 0\nwrite = 0\ndelete = 0\n",
            json!(notes.folder)
        ),
    )?;
    let mut server = ServedProgram::start(program, &config, &state)?;
    println!(
        "{calls} calls by {WORKERS} clients on {} notes",
        notes.notes.len()
    );
    let progress = Progress::default();
    let began = Instant::now();
    let mut memory = Vec::new();
    std::thread::scope(|scope| -> Result<()> {
        let workers: Vec<_> = (0..WORKERS)
            .map(|number| {
                let (progress, notes, address) = (&progress, &notes, server.address.as_str());
                scope.spawn(move || work(number, address, notes, progress, calls))
            })
            .collect();
        scope.spawn(|| kill_clients(&server.address, &progress, calls));
        for tenth in 1..=10 {
            while progress.begun.load(Ordering::Relaxed) < calls * tenth / 10 {
                if workers.iter().all(|worker| worker.is_finished()) {
                    break;
                }
                std::thread::sleep(Duration::from_millis(50));
            }
            memory.push(server.resident()?);
            println!("  {:3} %   {:6.1} MiB", tenth * 10, memory[tenth - 1]);
        }
        for worker in workers {
            worker
                .join()
                .map_err(|_| anyhow::anyhow!("a client panicked"))??;
        }
        Ok(())
    })?;
    println!(
        "{:.0} calls/s",
        calls as f64 / began.elapsed().as_secs_f64()
    );
    let outcomes = progress.outcomes.lock().expect("no worker panics").clone();
    let mut outcomes: Vec<_> = outcomes.into_iter().collect();
    outcomes.sort();
    for (outcome, count) in &outcomes {
        println!("  {outcome:<24} {count}");
    }
    // Longer than the idle timeout of a session.
    std::thread::sleep(Duration::from_secs(4));
    let (early, last) = (memory[2], server.resident()?);
    println!(
        "memory: {early:.1} MiB after 30 %, {last:.1} MiB at the end ({:.2} ×)",
        last / early
    );
    ensure!(last <= early * MAX_MEMORY_GROWTH, "memory is not flat");
    let in_flight = server.metric("notehost_calls_in_flight")?;
    ensure!(in_flight == 0.0, "{in_flight} calls are still in flight");
    let sessions = server.metric("notehost_sessions")?;
    ensure!(sessions == 0.0, "{sessions} sessions are left");
    println!("calls in flight: 0, sessions: 0");
    server.stop()?;
    println!("stopped on request");
    check_nothing_left(&notes.folder, &state)?;
    check_answered_lines(&notes, &progress)?;
    // The lock is free again.
    ServedProgram::start(program, &config, &state)?.stop()?;
    println!("restarted and stopped: the lock was free");
    Ok(())
}

/// The program as a server.
struct ServedProgram {
    program: Child,
    address: String,
}

impl ServedProgram {
    fn start(program: &Path, config: &Path, state: &Path) -> Result<ServedProgram> {
        let mut program = Command::new(program)
            .args([
                "serve",
                "--http",
                "127.0.0.1:0",
                "--no-auth",
                "--log",
                "error",
                "--config",
            ])
            .arg(config)
            .arg("--state")
            .arg(state)
            .stderr(Stdio::piped())
            .spawn()?;
        let errors = program.stderr.take().context("its stderr")?;
        let mut lines = std::io::BufRead::lines(std::io::BufReader::new(errors));
        loop {
            let line = lines.next().context("the program does not listen")??;
            let url = line.strip_prefix("listening on http://");
            if let Some(address) = url.and_then(|rest| rest.strip_suffix("/mcp")) {
                let address = address.to_owned();
                std::thread::spawn(move || {
                    lines
                        .map_while(Result::ok)
                        .for_each(|line| eprintln!("{line}"))
                });
                return Ok(ServedProgram { program, address });
            }
        }
    }

    /// Resident memory in MiB.
    fn resident(&self) -> Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.program.id()))?;
        let line = status.lines().find(|line| line.starts_with("VmRSS"));
        let number = line.and_then(|line| line.split_whitespace().nth(1));
        Ok(number.context("VmRSS")?.parse::<f64>()? / 1024.0)
    }

    /// The sum of a metric over its labels.
    fn metric(&self, name: &str) -> Result<f64> {
        let mut stream = TcpStream::connect(&self.address)?;
        write!(
            stream,
            "GET /metrics HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
            self.address
        )?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        let values = text
            .lines()
            .filter(|line| line.starts_with(name))
            .filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok());
        let values: Vec<f64> = values.collect();
        ensure!(!values.is_empty(), "no metric `{name}`");
        Ok(values.iter().sum())
    }

    fn stop(&mut self) -> Result<()> {
        let status = Command::new("kill")
            .arg(self.program.id().to_string())
            .status()?;
        ensure!(status.success(), "the program cannot be signalled");
        let ended = self.program.wait()?;
        ensure!(ended.success(), "the program ended with {ended}");
        Ok(())
    }
}

impl Drop for ServedProgram {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// A deterministic pseudorandom generator.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most as u64) as usize
    }
}

fn work(
    number: usize,
    address: &str,
    notes: &Notes,
    progress: &Progress,
    calls: usize,
) -> Result<()> {
    let mut dice = Random(0x9e37_79b9_7f4a_7c15 ^ (number as u64 + 1));
    let mut http = Http::connect(address)?;
    loop {
        let call = progress.begun.fetch_add(1, Ordering::Relaxed);
        if call >= calls {
            return Ok(());
        }
        let path = &notes.notes[dice.below(notes.notes.len())];
        let kind = dice.below(1000);
        let (tool, arguments) = match kind {
            0..600 => ("document__read", json!({"path": path})),
            600..700 => ("document__outline", json!({"path": path})),
            700..750 => ("document__list", json!({"limit": 20})),
            750..760 => ("document__read", json!({"path": "There is no such note"})),
            760..780 => ("document__read", json!({"pth": path})),
            780..800 => ("document__remove", json!({"paths": [path]})),
            800..960 => {
                let line = format!("soaked {number} {call}");
                let mut arguments = json!({"path": path, "text": line});
                if kind.is_multiple_of(2) {
                    arguments["idempotency_key"] = format!("{number}-{call}").into();
                }
                ("document__append", arguments)
            }
            960..980 => {
                disconnect_early(
                    address,
                    &tool_call(
                        call,
                        "document__append",
                        json!({"path": path, "text": "vanished"}),
                    ),
                )?;
                progress.count("(vanished)");
                continue;
            }
            980..990 => {
                abandon_session(address)?;
                progress.count("(left a session)");
                continue;
            }
            _ => {
                cancel(address, path)?;
                progress.count("(cancelled)");
                continue;
            }
        };
        let answer: Value =
            serde_json::from_str(&http.call(&tool_call(call, tool, arguments.clone()))?)?;
        let result = &answer["result"];
        let code = result["structuredContent"]["error"]["code"].as_str();
        progress.count(code.unwrap_or("ok"));
        match (tool, code) {
            ("document__append", None) => {
                let line = arguments["text"].as_str().unwrap_or_default().to_owned();
                progress
                    .answered
                    .lock()
                    .expect("no worker panics")
                    .push(line);
            }
            (_, None | Some("not_found" | "validation_error" | "confirmation_required")) => {}
            // Several clients write to the same note.
            (_, Some("conflict")) => {}
            (tool, _) => bail!("{tool}: {answer}"),
        }
    }
}

fn request(address: &str, headers: &str, message: &Value) -> String {
    let body = message.to_string();
    format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Sends a request and disconnects before the reply.
fn disconnect_early(address: &str, message: &Value) -> Result<()> {
    let name = message["params"]["name"].as_str().unwrap_or_default();
    let headers = format!(
        "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {name}\r\n"
    );
    TcpStream::connect(address)?.write_all(request(address, &headers, message).as_bytes())?;
    Ok(())
}

/// Starts a session; returns its id.
fn begin_session(stream: &mut TcpStream, address: &str) -> Result<String> {
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "soak", "version": "0"}}});
    stream.write_all(request(address, "", &initialize).as_bytes())?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    let mut answer = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let length = stream.read(&mut buffer)?;
        ensure!(length > 0, "the program closed the connection");
        answer.extend_from_slice(&buffer[..length]);
        let text = String::from_utf8_lossy(&answer).to_lowercase();
        let session = text
            .lines()
            .find_map(|line| line.strip_prefix("mcp-session-id: "))
            .map(|id| id.trim().to_owned());
        if let (Some(session), true) = (session, text.contains("\"serverinfo\"")) {
            return Ok(session);
        }
    }
}

/// Starts a session, subscribes to its events, and disconnects without ending it.
fn abandon_session(address: &str) -> Result<()> {
    let mut stream = TcpStream::connect(address)?;
    let session = begin_session(&mut stream, address)?;
    let mut events = TcpStream::connect(address)?;
    write!(
        events,
        "GET /mcp HTTP/1.1\r\nHost: {address}\r\nAccept: text/event-stream\r\nMcp-Session-Id: {session}\r\n\r\n"
    )?;
    Ok(())
}

/// Starts a call in a session, cancels it, and ends the session properly.
fn cancel(address: &str, path: &str) -> Result<()> {
    let mut stream = TcpStream::connect(address)?;
    let session = begin_session(&mut stream, address)?;
    let headers = format!("Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n");
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {
        "name": "document__tree", "arguments": {"path": path.split('/').next()}}});
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
    stream.write_all(request(address, &headers, &call).as_bytes())?;
    let mut other = TcpStream::connect(address)?;
    other.write_all(request(address, &headers, &cancelled).as_bytes())?;
    write!(
        other,
        "DELETE /mcp HTTP/1.1\r\nHost: {address}\r\n{headers}\r\n"
    )?;
    let mut buffer = [0; 64];
    other.set_read_timeout(Some(Duration::from_secs(30)))?;
    let _ = other.read(&mut buffer)?;
    Ok(())
}

/// Client processes that are killed in the middle of their work.
fn kill_clients(address: &str, progress: &Progress, calls: usize) -> Result<()> {
    while progress.begun.load(Ordering::Relaxed) < calls {
        let mut client = Command::new(std::env::current_exe()?)
            .args(["soak-client", address])
            .stderr(Stdio::null())
            .spawn()?;
        std::thread::sleep(Duration::from_millis(300));
        client.kill()?;
        client.wait()?;
        progress.count("(killed)");
    }
    Ok(())
}

/// The main loop of such a process.
pub(crate) fn client(address: &str) -> Result<()> {
    let mut http = Http::connect(address)?;
    for call in 0.. {
        http.call(&tool_call(
            call,
            "document__list",
            json!({"recursive": true, "limit": 200}),
        ))?;
    }
    Ok(())
}

fn check_nothing_left(vault: &Path, state: &Path) -> Result<()> {
    for folder in ["journal", "tmp"] {
        let folder = vault.join(".notehost").join(folder);
        let left = std::fs::read_dir(&folder).map_or(0, Iterator::count);
        ensure!(left == 0, "{left} files are left in {}", folder.display());
    }
    println!("journal and temporary files: none left");
    let records: PathBuf = state.join("records.sqlite");
    let claimed: i64 = rusqlite::Connection::open(records)?.query_row(
        "SELECT count(*) FROM idempotency WHERE reply IS NULL",
        [],
        |row| row.get(0),
    )?;
    ensure!(claimed == 0, "{claimed} keys are still claimed");
    println!("claimed keys: none left");
    Ok(())
}

fn check_answered_lines(notes: &Notes, progress: &Progress) -> Result<()> {
    let mut there: HashMap<String, usize> = HashMap::new();
    for path in &notes.notes {
        let text = std::fs::read_to_string(notes.folder.join(path))?;
        for line in text.lines().filter(|line| line.starts_with("soaked ")) {
            *there.entry(line.to_owned()).or_default() += 1;
        }
    }
    let doubled = there.values().filter(|count| **count > 1).count();
    let answered = progress.answered.lock().expect("no worker panics");
    let missing = answered
        .iter()
        .filter(|line| !there.contains_key(*line))
        .count();
    ensure!(
        doubled == 0 && missing == 0,
        "{doubled} lines are doubled, {missing} are missing"
    );
    println!("{} answered appends: each is there, once", answered.len());
    Ok(())
}
