//! Calls over the transports: latency and throughput.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use crate::client::{Http, Pipes, memory, tool_call, wait_for_compiler};
use crate::statistics::Times;
use crate::vaults::Notes;

const CALLS: usize = 4000;

/// Measures over pipes and over HTTP, with one call at a time and with sixteen.
pub(crate) fn measure(program: &Path, notes: &Notes, place: &Path) -> Result<()> {
    let ping = |id: usize| json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    let read = |id: usize| {
        tool_call(
            id,
            "document__read",
            json!({"path": notes.notes[id % notes.notes.len()]}),
        )
    };
    let nothing = |id: usize| tool_call(id, "notebook__permissions", json!({"notebook": "."}));

    let mut pipes = Pipes::start(program, &notes.folder, &place.join("serving"))?;
    pipes.initialize()?;
    wait_for_compiler(&place.join("serving"))?;
    over_pipes("stdio, ping", &mut pipes, 1, &ping)?;
    over_pipes("stdio, one small call", &mut pipes, 1, &nothing)?;
    over_pipes("stdio, read a note", &mut pipes, 1, &read)?;
    over_pipes("stdio, read a note, 16 in flight", &mut pipes, 16, &read)?;
    println!(
        "memory after that                         {}",
        pipes.memory()?
    );
    drop(pipes);

    let mut child = Command::new(program)
        .arg("serve")
        .arg(&notes.folder)
        .args([
            "--allow",
            "rwd",
            "--http",
            "127.0.0.1:0",
            "--no-auth",
            "--state",
        ])
        .arg(place.join("serving"))
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    let address = listening_at(&mut child)?;
    let result = over_http("http, one small call", &address, 1, &nothing)
        .and_then(|()| over_http("http, read a note", &address, 1, &read))
        .and_then(|()| over_http("http, read a note, 16 clients", &address, 16, &read));
    println!(
        "memory after that                         {}",
        memory(child.id())?
    );
    child.kill()?;
    child.wait()?;
    result
}

fn over_pipes(
    what: &str,
    pipes: &mut Pipes,
    in_flight: usize,
    message: &dyn Fn(usize) -> Value,
) -> Result<()> {
    let began = Instant::now();
    let mut sent = Vec::with_capacity(CALLS);
    let mut times = Vec::with_capacity(CALLS);
    for id in 0..CALLS {
        sent.push(Instant::now());
        pipes.send(&message(id))?;
        if id + 1 >= in_flight {
            times.push(answered(pipes, &sent)?);
        }
    }
    while times.len() < CALLS {
        times.push(answered(pipes, &sent)?);
    }
    print_row(what, times, began);
    Ok(())
}

/// Waits for any reply; returns the latency of its call.
fn answered(pipes: &mut Pipes, sent: &[Instant]) -> Result<std::time::Duration> {
    loop {
        let reply: Value = serde_json::from_str(&pipes.receive()?)?;
        if let Some(id) = reply["id"].as_u64() {
            anyhow::ensure!(reply["result"]["isError"] != true, "a call failed: {reply}");
            let began = sent
                .get(usize::try_from(id)?)
                .context("an id that was sent")?;
            return Ok(began.elapsed());
        }
    }
}

fn over_http(
    what: &str,
    address: &str,
    clients: usize,
    message: &(dyn Fn(usize) -> Value + Sync),
) -> Result<()> {
    let began = Instant::now();
    let times = std::thread::scope(|scope| -> Result<Vec<_>> {
        let running: Vec<_> = (0..clients)
            .map(|client| {
                scope.spawn(move || -> Result<Vec<_>> {
                    let mut http = Http::connect(address)?;
                    (0..CALLS / clients)
                        .map(|call| {
                            let message = message(client * (CALLS / clients) + call);
                            let began = Instant::now();
                            http.call(&message)?;
                            Ok(began.elapsed())
                        })
                        .collect()
                })
            })
            .collect();
        let mut times = Vec::new();
        for client in running {
            times.extend(
                client
                    .join()
                    .map_err(|_| anyhow::anyhow!("a client thread panicked"))??,
            );
        }
        Ok(times)
    })?;
    print_row(what, times, began);
    Ok(())
}

fn print_row(what: &str, times: Vec<std::time::Duration>, began: Instant) {
    let per_second = times.len() as f64 / began.elapsed().as_secs_f64();
    println!(
        "{what:<41} {}   {per_second:8.0} calls/s",
        Times::new(times)
    );
}

fn listening_at(child: &mut std::process::Child) -> Result<String> {
    let mut lines = BufReader::new(child.stderr.take().context("a pipe")?).lines();
    for line in lines.by_ref() {
        if let Some((_, address)) = line?.split_once("listening on http://") {
            let address = address.trim().trim_end_matches("/mcp").to_owned();
            // Keeps reading the log, so that the pipe does not fill up.
            std::thread::spawn(move || lines.for_each(drop));
            return Ok(address);
        }
    }
    anyhow::bail!("the program does not print its address")
}
