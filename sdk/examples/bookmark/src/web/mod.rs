//! HTTP requests. In the sandbox they use `wasi:http`, which the host permits for granted hosts; in native tests they get
//! fake responses.

#[cfg(not(target_family = "wasm"))]
pub mod fake;
#[cfg(target_family = "wasm")]
mod sandbox;

#[cfg(not(target_family = "wasm"))]
use fake::send;
#[cfg(target_family = "wasm")]
use sandbox::send;

use crate::url::Url;

/// The maximum number of redirects to follow.
const MAX_REDIRECTS: usize = 5;
/// How much of a page is read; enough for its head.
#[cfg(target_family = "wasm")]
const MAX_PAGE_BYTES: usize = 256 << 10;

/// The method of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Get,
    Head,
}

/// A response.
#[derive(Debug, Clone, Default)]
pub struct Response {
    pub status: u16,
    /// The target of a redirect.
    pub location: Option<String>,
    /// The beginning of the page.
    pub body: Vec<u8>,
}

impl Response {
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// Why a request failed, and for which URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestError {
    /// The host is not granted.
    Denied(Url),
    /// The address is not public.
    Private(Url),
    /// The response exceeds the limit.
    TooLarge(Url),
    /// Too many redirects, or an invalid one.
    Redirects(Url),
    /// Any other failure.
    Failed(Url, String),
}

/// Sends a request and follows redirects. The host follows none itself, so that it can check each request.
pub fn follow(method: Method, url: &Url) -> Result<(Url, Response), RequestError> {
    let mut current = url.clone();
    for _ in 0..=MAX_REDIRECTS {
        let response = send(method, &current)?;
        if !matches!(response.status, 301 | 302 | 303 | 307 | 308) {
            return Ok((current, response));
        }
        let next = response.location.as_deref().and_then(|to| current.join(to));
        current = next.ok_or(RequestError::Redirects(current))?;
    }
    Err(RequestError::Redirects(url.clone()))
}
