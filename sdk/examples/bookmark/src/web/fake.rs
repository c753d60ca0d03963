//! Fake responses for tests.

use std::cell::RefCell;
use std::collections::HashMap;

use super::{Method, RequestError, Response};
use crate::url::Url;

thread_local! {
    static RESPONSES: RefCell<HashMap<String, Response>> = RefCell::default();
}

/// Sets the response of a URL for the current thread.
pub fn respond(url: &str, response: Response) {
    RESPONSES.with_borrow_mut(|pages| pages.insert(url.to_owned(), response));
}

/// Returns the fake response of a URL; every other host counts as not granted.
pub fn send(_: Method, url: &Url) -> Result<Response, RequestError> {
    let found = RESPONSES.with_borrow(|pages| pages.get(&url.to_string()).cloned());
    found.ok_or_else(|| RequestError::Denied(url.clone()))
}
