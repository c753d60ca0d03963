//! Resource test: hostile requests, measured by their effect on another caller. One server is attacked with each entry
//! of the list while another caller pings it and reads a note. The test compares the medians and the longest sample
//! with those of the same run without an attack, and checks the attacker's replies and the server's memory at the end.
//!
//! This is the only test with a bound on time. The bound is relative: a slow machine is slow in both measurements.

mod attack_list;
mod attack_model;

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use self::attack_list::ATTACKS;
use self::attack_model::{Attack, ExpectedReply, INDEX_ATTACKS, Transmission};
use crate::support::http::{HttpClient, STATELESS, Server, wait_until};
use crate::support::place::Place;

/// Maximum slowdown of another caller during an attack.
const MAX_SLOWDOWN: u32 = 5;
/// Differences below this are noise of a busy machine.
const NOISE: Duration = Duration::from_millis(40);
/// Maximum latency of a single request: anything longer is a stall, whatever the median. The slowest request of the
/// quiet run is taken into account.
const STALL_NOISE: Duration = Duration::from_secs(1);
/// Number of notes with the maximum number of properties.
const WIDE_NOTES: usize = 20;
/// Minimum number of samples per request.
const SAMPLES: usize = 30;
/// Minimum duration of an attack.
const ATTACK_TIME: Duration = Duration::from_millis(400);
/// Allowed growth of the server's memory, besides a third of its initial size: caches that fill once.
const MEMORY_SLACK: u64 = 64 << 20;

#[test]
fn hostile_requests_do_not_slow_down_other_callers() {
    let setup = LatencySetup::new();
    let mut victim = Victim::of(&setup);
    warm_up(&setup, &mut victim);
    let memory = setup.memory();
    let baseline =
        victim.samples(|count, began| count >= 2 * SAMPLES || began.elapsed() > ATTACK_TIME * 10);
    println!("quiet: {baseline}; memory {} MiB", memory >> 20);

    let mut findings = Vec::new();
    for attack in ATTACKS.iter().chain(INDEX_ATTACKS) {
        let (noticed, answers) = setup.measure_attack(attack, &mut victim);
        println!(
            "{}: {noticed}; memory {} MiB; {} answers, such as {}",
            attack.name,
            setup.memory() >> 20,
            answers.count,
            answers.first
        );
        findings.extend(
            noticed
                .violations(&baseline)
                .map(|problem| format!("{}: {problem}", attack.name)),
        );
        findings.extend(
            answers
                .violations(attack)
                .map(|problem| format!("{}: {problem}", attack.name)),
        );
    }
    assert!(findings.is_empty(), "{findings:#?}");
    let most = memory * 13 / 10 + MEMORY_SLACK;
    wait_until("the memory is released", || setup.memory() <= most);
}

/// The list is long enough, and every attack has a unique name.
#[test]
fn attack_list_is_complete_and_names_are_unique() {
    let mut names: Vec<&str> = ATTACKS
        .iter()
        .chain(INDEX_ATTACKS)
        .map(|attack| attack.name)
        .collect();
    assert!(names.len() >= 30, "{}", names.len());
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), ATTACKS.len() + INDEX_ATTACKS.len());
}

/// A server, an attacker and another caller.
struct LatencySetup {
    server: Server,
    mallory: String,
    ana: String,
    process: u32,
    _place: Place,
}

impl LatencySetup {
    fn new() -> LatencySetup {
        let place = Place::new();
        place.write("Work/Plan.md", "# Plan\n\nWater the plants.\n");
        for number in 0..10 {
            place.write(
                &format!("Long/{number}.md"),
                attack_model::long_note(number),
            );
        }
        let wide = attack_model::wide_frontmatter();
        for number in 0..WIDE_NOTES {
            place.write(&format!("Wide/{number}.md"), &wide);
        }
        let mut settings = place.settings();
        // Rate limits would hide the cost of a single call.
        (
            settings.rates.read,
            settings.rates.write,
            settings.rates.delete,
        ) = (0, 0, 0);
        settings.limits.call_ms = 3000;
        let config = place.config_file(&settings);
        let token = |name: &str| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_notehost"));
            command.args([
                "token",
                "new",
                "--name",
                name,
                "--scopes",
                "read,write,delete",
            ]);
            let result = command
                .arg("--config")
                .arg(&config)
                .arg("--state")
                .arg(place.state())
                .output();
            let output = result.expect("the program runs").stdout;
            let report: Value = serde_json::from_slice(&output).expect("JSON");
            report["token"].as_str().expect("a token").to_owned()
        };
        let (mallory, ana) = (token("mallory"), token("ana"));
        let mut server = Server::start(&config, &place.state());
        let process = server.process().id();
        LatencySetup {
            server,
            mallory,
            ana,
            process,
            _place: place,
        }
    }

    /// The server's memory in bytes.
    fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process));
        let status = status.expect("the server lives");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
        kib.expect("VmRSS") << 10
    }

    /// The victim's measurements during an attack, and the attacker's replies.
    fn measure_attack(&self, attack: &Attack, victim: &mut Victim) -> (Latencies, Replies) {
        let message = attack.message(&self.server, &self.mallory);
        let is_over = AtomicBool::new(false);
        let (rounds, collected) = (
            AtomicUsize::new(0),
            Arc::new(Mutex::new(Replies::default())),
        );
        let noticed = std::thread::scope(|scope| {
            for _ in 0..attack.threads {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        let answer = attacks(&self.server, attack.way, &message, &is_over);
                        collected.lock().expect("no panic").add(answer);
                        rounds.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
            let noticed = victim.samples(|count, began| {
                let is_under_way =
                    rounds.load(Ordering::Relaxed) > 0 || attack.expected == ExpectedReply::Nothing;
                let is_enough = count >= SAMPLES && began.elapsed() > ATTACK_TIME && is_under_way;
                is_enough || began.elapsed() > ATTACK_TIME * 20
            });
            is_over.store(true, Ordering::Relaxed);
            noticed
        });
        let answers = std::mem::take(&mut *collected.lock().expect("no panic"));
        (noticed, answers)
    }
}

/// Runs one-time work before anything is measured.
fn warm_up(setup: &LatencySetup, victim: &mut Victim) {
    let mut mallory = HttpClient::stateless(setup.server.address()).with_token(&setup.mallory);
    wait_until("the index is built", || {
        let found = mallory.call("search.text", json!({ "query": "water" }));
        found["structuredContent"]["total"] == 1
    });
    let replaced = json!({ "find": "line", "replace": "row", "path": "Long", "dry_run": true });
    mallory.call("search.replace", replaced);
    mallory.call("document.list", json!({}));
    victim.samples(|count, _| count >= 5);
}

/// Another caller.
struct Victim {
    client: HttpClient,
}

/// Measurements: the median per request, and the longest sample of all.
struct Latencies {
    ping: Duration,
    read: Duration,
    longest: Duration,
}

impl std::fmt::Display for Latencies {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Latencies {
            ping,
            read,
            longest,
        } = self;
        write!(
            formatter,
            "ping {ping:?}, read {read:?}, longest {longest:?}"
        )
    }
}

impl Victim {
    fn of(setup: &LatencySetup) -> Victim {
        let client = HttpClient::with_session_and_token(setup.server.address(), Some(&setup.ana));
        Victim { client }
    }

    /// Takes samples until `is_enough`.
    fn samples(&mut self, is_enough: impl Fn(usize, Instant) -> bool) -> Latencies {
        let began = Instant::now();
        let (mut pings, mut reads) = (Vec::new(), Vec::new());
        while !is_enough(pings.len(), began) {
            let start = Instant::now();
            let answer = self.client.ask("ping", json!({}));
            pings.push(start.elapsed());
            assert!(answer["result"].is_object(), "{answer}");
            let start = Instant::now();
            let note = self
                .client
                .call("document.read", json!({ "path": "Work/Plan.md" }));
            reads.push(start.elapsed());
            assert_ne!(note["isError"], true, "{note}");
        }
        Latencies {
            longest: pings
                .iter()
                .chain(&reads)
                .max()
                .copied()
                .unwrap_or_default(),
            ping: median(pings),
            read: median(reads),
        }
    }
}

fn median(mut samples: Vec<Duration>) -> Duration {
    samples.sort_unstable();
    samples[samples.len() / 2]
}

impl Latencies {
    /// Compares with the quiet run and returns the violations.
    fn violations(&self, baseline: &Latencies) -> impl Iterator<Item = String> {
        let pairs = [
            ("ping", self.ping, baseline.ping.max(NOISE)),
            ("read", self.read, baseline.read.max(NOISE)),
            (
                "the longest",
                self.longest,
                baseline.longest.max(STALL_NOISE),
            ),
        ];
        pairs.into_iter().filter_map(|(what, now, before)| {
            let most = before * MAX_SLOWDOWN;
            (now > most).then(|| format!("{what} took {now:?} instead of {before:?}"))
        })
    }
}

/// The replies to the attacker.
#[derive(Default)]
struct Replies {
    count: usize,
    first: String,
    unanswered: usize,
    accepted: usize,
}

/// A reply with its status, or none.
type Answer = Option<(u16, String)>;

impl Replies {
    fn add(&mut self, answer: Answer) {
        self.count += 1;
        let Some((status, body)) = answer else {
            self.unanswered += 1;
            return;
        };
        let is_refused = status >= 400
            || ["\"isError\":true", "\"error\":{"]
                .iter()
                .any(|mark| body.contains(mark));
        self.accepted += usize::from(!is_refused);
        if self.first.is_empty() {
            self.first = format!("{status} {}", body.chars().take(160).collect::<String>());
        }
    }

    fn violations(&self, attack: &Attack) -> Option<String> {
        let is_fine = match attack.expected {
            ExpectedReply::Refusal => self.unanswered == 0 && self.accepted == 0,
            ExpectedReply::Answer => self.unanswered == 0,
            ExpectedReply::Nothing => true,
        };
        (!is_fine).then(|| {
            format!(
                "of {} requests {} got no answer and {} no error; the first answer was {}",
                self.count, self.unanswered, self.accepted, self.first
            )
        })
    }
}

/// One round of an attack.
fn attacks(server: &Server, way: Transmission, message: &[u8], is_over: &AtomicBool) -> Answer {
    let mut stream = TcpStream::connect(server.address()).ok()?;
    let patience = Some(Duration::from_secs(60));
    stream.set_read_timeout(patience).ok()?;
    stream.set_write_timeout(patience).ok()?;
    match way {
        // A server that rejects a body does not read all of it.
        Transmission::Whole => drop(stream.write_all(message)),
        Transmission::Pieces(size) => {
            for piece in message.chunks(size) {
                if is_over.load(Ordering::Relaxed) || stream.write_all(piece).is_err() {
                    return None;
                }
            }
        }
        Transmission::Slowly => {
            for byte in message.chunks(1) {
                if is_over.load(Ordering::Relaxed) || stream.write_all(byte).is_err() {
                    return None;
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        Transmission::Unread(times) => {
            stream
                .set_write_timeout(Some(Duration::from_millis(200)))
                .ok()?;
            for _ in 0..times {
                if is_over.load(Ordering::Relaxed) || stream.write_all(message).is_err() {
                    break;
                }
            }
            return None;
        }
        Transmission::Connections(count) => {
            let address = server.address();
            let held: Vec<TcpStream> = (0..count)
                .filter_map(|_| TcpStream::connect(address).ok())
                .collect();
            held.iter()
                .for_each(|mut stream| drop(stream.write_all(message)));
            while !is_over.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(5));
            }
            return None;
        }
    }
    let mut bytes = Vec::new();
    let read = stream.read_to_end(&mut bytes);
    let _ = stream.shutdown(Shutdown::Both);
    let text = String::from_utf8_lossy(&bytes);
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    // A reply that is cut short by a reset counts as a reply.
    drop(read);
    Some((status, body.to_owned()))
}

/// A request with these headers and this body that closes the connection afterwards.
fn request(server: &Server, token: &str, method: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nMCP-Protocol-Version: {STATELESS}\r\n\
         Mcp-Method: {method}\r\n{headers}Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         Connection: close\r\nContent-Length: {length}\r\n\r\n{body}",
        server.address()
    )
    .into_bytes()
}
