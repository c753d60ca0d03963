//! A minimal OTLP collector for traces.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::setup::TIMEOUT;

/// A minimal OTLP collector that keeps what it received.
pub(super) struct Collector {
    /// Host and port.
    pub(super) address: String,
    bodies: Arc<Mutex<Vec<u8>>>,
}

impl Collector {
    /// Listens on any free port.
    pub(super) fn start() -> Collector {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let bodies = Arc::new(Mutex::new(Vec::new()));
        let received = bodies.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let received = received.clone();
                std::thread::spawn(move || {
                    let mut stream = BufReader::new(stream);
                    while let Some((head, body)) = request(&mut stream) {
                        assert!(head.starts_with("POST /v1/traces "), "{head}");
                        assert!(
                            head.to_lowercase().contains("application/x-protobuf"),
                            "{head}"
                        );
                        received.lock().expect("no panic").extend(body);
                        let answer = "HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nContent-Length: 0\r\n\r\n";
                        if stream.get_mut().write_all(answer.as_bytes()).is_err() {
                            return;
                        }
                    }
                });
            }
        });
        Collector { address, bodies }
    }

    fn got(&self) -> Vec<u8> {
        self.bodies.lock().expect("no panic").clone()
    }

    /// Whether these bytes were received.
    pub(super) fn has(&self, bytes: &[u8]) -> bool {
        contains(&self.got(), bytes)
    }

    /// Waits until these bytes were received.
    #[track_caller]
    pub(super) fn wait_for(&self, bytes: &[u8]) {
        let until = Instant::now() + TIMEOUT;
        while !self.has(bytes) {
            assert!(
                Instant::now() < until,
                "it never came: {:?}",
                String::from_utf8_lossy(bytes)
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn contains(whole: &[u8], part: &[u8]) -> bool {
    whole.windows(part.len()).any(|window| window == part)
}

/// Reads the next request of a connection.
fn request(stream: &mut BufReader<std::net::TcpStream>) -> Option<(String, Vec<u8>)> {
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    Some((head, body))
}
