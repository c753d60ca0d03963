//! Resource test: hostile requests, judged by what another caller notices. One server is attacked with each entry of the
//! list while another caller pings it and reads a note. Judged are the medians and the longest sample against those of the
//! same run without an attack, the answer that the attacker gets, and the memory of the server in the end.
//!
//! This is the one test with a bound on time, and it is relative: a slow machine is slow in both measurements.

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
use crate::support::http::{HttpClient, SESSIONS, STATELESS, Server, wait_until};
use crate::support::place::Place;

/// How much slower another caller may be served during an attack.
const MAX_SLOWDOWN: u32 = 5;
/// Less than this is noise of a busy machine.
const NOISE: Duration = Duration::from_millis(20);
/// What a single request may take: longer than this is a stall, whatever the median is. In the same run without an attack
/// the slowest one is measured as well.
const STALL_NOISE: Duration = Duration::from_millis(400);
/// On how many threads the server waits: what blocks one of them is noticed on any machine.
const WORKER_THREADS: &str = "2";
/// How many notes have as many properties as are read.
const WIDE_NOTES: usize = 20;
/// How many samples are taken of each request at least.
const SAMPLES: usize = 30;
/// How long an attack lasts at least, so that it is under way.
const ATTACK_TIME: Duration = Duration::from_millis(400);
/// What the memory of the server may grow by, beside a third of what it was after the warm-up.
const MEMORY_SLACK: u64 = 16 << 20;
/// Replies that show who made what mistake: codes of ours and of JSON-RPC. Anything else is a defect that was found.
const CLEAR_CODES: [&str; 17] = [
    "too_large",
    "validation_error",
    "not_found",
    "already_exists",
    "ambiguous_name",
    "conflict",
    "throttled",
    "unauthorized",
    "unsupported",
    "timeout",
    "unavailable",
    "-32700",
    "-32600",
    "-32601",
    "-32602",
    "-32002",
    "-32020",
];

#[test]
fn hostile_requests_do_not_slow_down_other_callers() {
    let setup = LatencySetup::new();
    let mut victim = warm_up(&setup);
    let memory = setup.memory();
    let quiet =
        victim.samples(|count, began| count >= 2 * SAMPLES || began.elapsed() > ATTACK_TIME * 10);
    println!("quiet: {quiet}; memory {} MiB", memory >> 20);

    let mut findings = Vec::new();
    for attack in ATTACKS.iter().chain(INDEX_ATTACKS) {
        let (mut noticed, mut answers) = setup.attacked(attack, &mut victim);
        // Another test may have used the processors at that moment; what an attack causes, it causes again.
        for _ in 0..2 {
            if noticed.judged(&quiet).next().is_none() {
                break;
            }
            (noticed, answers) = setup.attacked(attack, &mut victim);
        }
        println!(
            "{}: {noticed}; memory {} MiB; {} answers, such as {}",
            attack.name,
            setup.memory() >> 20,
            answers.count,
            answers.first
        );
        findings.extend(
            noticed
                .judged(&quiet)
                .map(|problem| format!("{}: {problem}", attack.name)),
        );
        findings.extend(
            answers
                .judged(attack)
                .map(|problem| format!("{}: {problem}", attack.name)),
        );
    }
    assert!(findings.is_empty(), "{findings:#?}");
    let most = memory * 13 / 10 + MEMORY_SLACK;
    wait_until("the memory is given back", || setup.memory() <= most);
}

/// The list is long enough, and each attack has a name of its own.
#[test]
fn the_attack_list_is_complete() {
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

/// A server, a caller who attacks it and one who works.
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
        // Limits on the number of calls would hide what one of them costs.
        (
            settings.rates.read,
            settings.rates.write,
            settings.rates.delete,
        ) = (0, 0, 0);
        settings.limits.call_ms = 3000;
        // What a flood of sessions leaves is gone when memory is measured again.
        settings.http.session_idle_seconds = 15;
        let config = place.config_file(&settings);
        let token = |name: &str| {
            let mut command = Command::new(crate::support::program());
            command.args([
                "token",
                "new",
                "--name",
                name,
                "--scopes",
                "read,write,delete",
            ]);
            let ended = command
                .arg("--config")
                .arg(&config)
                .arg("--state")
                .arg(place.state())
                .output();
            let output = ended.expect("the program runs").stdout;
            let answer: Value = serde_json::from_slice(&output).expect("JSON");
            answer["token"].as_str().expect("a token").to_owned()
        };
        let (mallory, ana) = (token("mallory"), token("ana"));
        let mut server = Server::start_at("127.0.0.1:0", &config, &place.state(), |command| {
            command
                .arg("--no-auth")
                .env("TOKIO_WORKER_THREADS", WORKER_THREADS);
        });
        let process = server.process().id();
        LatencySetup {
            server,
            mallory,
            ana,
            process,
            _place: place,
        }
    }

    /// How many bytes of memory the server has.
    fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process));
        let status = status.expect("the server lives");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
        kib.expect("VmRSS") << 10
    }

    /// What the victim notices of an attack, and what the attacker is answered.
    fn attacked(&self, attack: &Attack, victim: &mut Victim) -> (Noticed, Replies) {
        let is_over = AtomicBool::new(false);
        let (rounds, kept) = (
            AtomicUsize::new(0),
            Arc::new(Mutex::new(Replies::default())),
        );
        let noticed = std::thread::scope(|scope| {
            for _ in 0..attack.threads {
                scope.spawn(|| {
                    // Each thread has a session of its own: two requests with one id in a session are the client's mistake.
                    let message = attack.message(&self.server, &self.mallory);
                    while !is_over.load(Ordering::Relaxed) {
                        let answer = attacks(&self.server, attack.way, &message, &is_over);
                        kept.lock().expect("no panic").add(answer);
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
        let answers = std::mem::take(&mut *kept.lock().expect("no panic"));
        (noticed, answers)
    }
}

/// What is done once so that nothing is done for the first time in an attack.
fn warm_up(setup: &LatencySetup) -> Victim {
    let mut mallory = HttpClient::stateless(setup.server.address()).with_token(&setup.mallory);
    wait_until("the index is built", || {
        let found = mallory.call("search.text", json!({ "query": "water" }));
        found["structuredContent"]["total"] == 1
    });
    let replaced = json!({ "find": "line", "replace": "row", "path": "Long", "dry_run": true });
    mallory.call("search.replace", replaced);
    mallory.call("document.list", json!({}));
    // What is kept for the next one is there before memory is measured: pools, caches, the space of an allocator.
    let long = json!({ "path": "Giant", "dry_run": true, "content": "word ".repeat(3_300_000) });
    for _ in 0..3 {
        mallory.call("document.create", long.clone());
    }
    let mut victim = Victim::of(setup);
    victim.samples(|count, _| count >= 5);
    victim
}

/// Another caller.
struct Victim {
    client: HttpClient,
}

/// What it notices: the medians of its samples, and the longest of all.
struct Noticed {
    ping: Duration,
    read: Duration,
    longest: Duration,
}

impl std::fmt::Display for Noticed {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Noticed {
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

    /// Samples until it is enough.
    fn samples(&mut self, is_enough: impl Fn(usize, Instant) -> bool) -> Noticed {
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
        Noticed {
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

impl Noticed {
    /// What is wrong, compared with the same run without an attack.
    fn judged(&self, quiet: &Noticed) -> impl Iterator<Item = String> {
        let pairs = [
            ("ping", self.ping, quiet.ping.max(NOISE)),
            ("read", self.read, quiet.read.max(NOISE)),
            ("the longest", self.longest, quiet.longest.max(STALL_NOISE)),
        ];
        pairs.into_iter().filter_map(|(what, now, before)| {
            let most = before * MAX_SLOWDOWN;
            (now > most).then(|| format!("{what} took {now:?} instead of {before:?}"))
        })
    }
}

/// What the attacker was answered.
#[derive(Default)]
struct Replies {
    count: usize,
    first: String,
    unanswered: usize,
    accepted: usize,
    /// The first code that is none of the clear ones.
    unclear: Option<String>,
}

/// An answer with its status, or none.
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
        // One that was cut short by a reset is neither.
        self.accepted += usize::from(!is_refused && body.contains("\"result\""));
        if is_refused && self.unclear.is_none() {
            let code = code_of(&body).unwrap_or_else(|| status.to_string());
            let is_clear = CLEAR_CODES.contains(&&*code) || code.starts_with('4');
            self.unclear = (!is_clear).then_some(code);
        }
        if self.first.is_empty() {
            self.first = format!("{status} {}", body.chars().take(160).collect::<String>());
        }
    }

    fn judged(&self, attack: &Attack) -> Option<String> {
        if let Some(code) = &self.unclear {
            return Some(format!("it was answered with `{code}`: {}", self.first));
        }
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

/// The code of a refusal, wherever the answer has it.
fn code_of(body: &str) -> Option<String> {
    let (_, rest) = body.split_once("\"code\":")?;
    let end = rest.find([',', '}'])?;
    Some(rest[..end].trim_matches('"').to_owned())
}

/// One round of an attack.
fn attacks(server: &Server, way: Transmission, message: &[u8], is_over: &AtomicBool) -> Answer {
    let mut stream = TcpStream::connect(server.address()).ok()?;
    let time_limit = Some(Duration::from_secs(60));
    stream.set_read_timeout(time_limit).ok()?;
    stream.set_write_timeout(time_limit).ok()?;
    match way {
        // A server that refuses a body does not wait for all of it.
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
    // An answer that was cut short by a reset is one all the same.
    drop(read);
    Some((status, body.to_owned()))
}

/// The same in a session.
fn session_request(server: &Server, token: &str, session: &str, body: &str) -> Vec<u8> {
    format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nMCP-Protocol-Version: {SESSIONS}\r\n\
         Mcp-Session-Id: {session}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
        server.address(),
        body.len()
    )
    .into_bytes()
}

/// A request with these headers and this body, after which the connection ends.
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
