//! Requests. In the sandbox they are sent by `wasi:http`, which the host answers as far as an admin granted it; natively,
//! in tests, they are answered by pages that the test made up.

#[cfg(not(target_family = "wasm"))]
pub mod made_up;
#[cfg(target_family = "wasm")]
mod sandbox;

#[cfg(not(target_family = "wasm"))]
use made_up::send;
#[cfg(target_family = "wasm")]
use sandbox::send;

use crate::url::Url;

/// How often a page may lead on to another.
const MOST_STEPS: usize = 5;
/// How much of a page is read: its head.
#[cfg(target_family = "wasm")]
const MOST_BYTES: usize = 256 << 10;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Get,
    Head,
}

/// What a server answered.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    pub status: u16,
    /// Where it leads on to.
    pub location: Option<String>,
    /// The beginning of the page.
    pub body: Vec<u8>,
}

impl Answer {
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// Why there is no answer, and for which address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// Nobody granted that host.
    Denied(Url),
    /// It is not a public address.
    Private(Url),
    /// More than a call may receive.
    TooLarge(Url),
    /// It leads on and on.
    Lost(Url),
    /// It did not work.
    Failed(Url, String),
}

/// Ask, and go where the answers lead. The host follows nothing by itself, so that it decides about each step.
pub fn follow(method: Method, url: &Url) -> Result<(Url, Answer), Refusal> {
    let mut here = url.clone();
    for _ in 0..=MOST_STEPS {
        let answer = send(method, &here)?;
        if !matches!(answer.status, 301 | 302 | 303 | 307 | 308) {
            return Ok((here, answer));
        }
        let next = answer.location.as_deref().and_then(|to| here.join(to));
        here = next.ok_or(Refusal::Lost(here))?;
    }
    Err(Refusal::Lost(url.clone()))
}
