//! One request by `wasi:http`.

use wasip2::http::outgoing_handler::handle;
use wasip2::http::types::{
    ErrorCode, Fields, IncomingResponse, Method as Asked, OutgoingRequest, Scheme, http_error_code,
};
use wasip2::io::streams::StreamError;

use super::{Answer, MOST_BYTES, Method, Refusal};
use crate::url::Url;

/// How much is read at once.
const AT_ONCE: u64 = 64 << 10;

/// Send a request, and wait for its answer.
pub fn send(method: Method, url: &Url) -> Result<Answer, Refusal> {
    let response = ask(method, url).map_err(|code| refusal(url, &code))?;
    let location = response.headers().get("location").into_iter().next();
    Ok(Answer {
        status: response.status(),
        location: location.and_then(|value| String::from_utf8(value).ok()),
        body: match method {
            Method::Head => Vec::new(),
            Method::Get => read(&response).map_err(|code| refusal(url, &code))?,
        },
    })
}

fn ask(method: Method, url: &Url) -> Result<IncomingResponse, ErrorCode> {
    let headers = Fields::new();
    for (name, value) in [
        ("accept", "text/html, */*;q=0.5"),
        ("user-agent", "notehost-bookmark/0.1"),
    ] {
        let value = value.as_bytes().to_vec();
        headers
            .append(name, &value)
            .map_err(|_| ErrorCode::InternalError(None))?;
    }
    let request = OutgoingRequest::new(headers);
    let method = match method {
        Method::Get => Asked::Get,
        Method::Head => Asked::Head,
    };
    let scheme = match url.is_secure {
        true => Scheme::Https,
        false => Scheme::Http,
    };
    request
        .set_method(&method)
        .and_then(|()| request.set_scheme(Some(&scheme)))
        .and_then(|()| request.set_authority(Some(&url.authority)))
        .and_then(|()| request.set_path_with_query(Some(&url.path_and_query)))
        .map_err(|()| ErrorCode::HttpRequestUriInvalid)?;
    let pending = handle(request, None)?;
    pending.subscribe().block();
    match pending.get() {
        Some(Ok(answered)) => answered,
        // It was waited for, and is taken once.
        _ => Err(ErrorCode::InternalError(None)),
    }
}

/// The beginning of a page.
fn read(response: &IncomingResponse) -> Result<Vec<u8>, ErrorCode> {
    let broken = |()| ErrorCode::InternalError(None);
    let body = response.consume().map_err(broken)?;
    let stream = body.stream().map_err(broken)?;
    let mut page = Vec::new();
    while page.len() < MOST_BYTES {
        match stream.blocking_read(AT_ONCE) {
            Ok(bytes) => page.extend(bytes),
            Err(StreamError::Closed) => break,
            Err(StreamError::LastOperationFailed(error)) => {
                return Err(http_error_code(&error).unwrap_or(ErrorCode::InternalError(None)));
            }
        }
    }
    page.truncate(MOST_BYTES);
    Ok(page)
}

fn refusal(url: &Url, code: &ErrorCode) -> Refusal {
    let url = url.clone();
    let why = match code {
        ErrorCode::HttpRequestDenied => return Refusal::Denied(url),
        ErrorCode::DestinationIpProhibited => return Refusal::Private(url),
        ErrorCode::HttpResponseBodySize(_) => return Refusal::TooLarge(url),
        ErrorCode::DestinationNotFound | ErrorCode::DnsError(_) => "there is no such host",
        ErrorCode::ConnectionRefused => "nobody answers there",
        ErrorCode::ConnectionTimeout
        | ErrorCode::ConnectionReadTimeout
        | ErrorCode::HttpResponseTimeout => "it took too long",
        ErrorCode::TlsCertificateError | ErrorCode::TlsProtocolError => {
            "its certificate cannot be trusted"
        }
        ErrorCode::ConnectionLimitReached => "this call has sent as many requests as it may",
        _ => "the exchange broke off",
    };
    Refusal::Failed(url, why.to_owned())
}
