//! Sends one request with `wasi:http`.

use wasip2::http::outgoing_handler::handle;
use wasip2::http::types::{
    ErrorCode, Fields, IncomingResponse, Method as WireMethod, OutgoingRequest, Scheme,
    http_error_code,
};
use wasip2::io::streams::StreamError;

use super::{MAX_PAGE_BYTES, Method, RequestError, Response};
use crate::url::Url;

const READ_CHUNK_BYTES: u64 = 64 << 10;

/// Sends a request and waits for the response.
pub fn send(method: Method, url: &Url) -> Result<Response, RequestError> {
    let response = ask(method, url).map_err(|code| request_error(url, &code))?;
    let location = response.headers().get("location").into_iter().next();
    Ok(Response {
        status: response.status(),
        location: location.and_then(|value| String::from_utf8(value).ok()),
        body: match method {
            Method::Head => Vec::new(),
            Method::Get => read(&response).map_err(|code| request_error(url, &code))?,
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
        Method::Get => WireMethod::Get,
        Method::Head => WireMethod::Head,
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
        // Unreachable: the response is ready, and taken once.
        _ => Err(ErrorCode::InternalError(None)),
    }
}

/// The beginning of a page.
fn read(response: &IncomingResponse) -> Result<Vec<u8>, ErrorCode> {
    let broken = |()| ErrorCode::InternalError(None);
    let body = response.consume().map_err(broken)?;
    let stream = body.stream().map_err(broken)?;
    let mut page = Vec::new();
    while page.len() < MAX_PAGE_BYTES {
        match stream.blocking_read(READ_CHUNK_BYTES) {
            Ok(bytes) => page.extend(bytes),
            Err(StreamError::Closed) => break,
            Err(StreamError::LastOperationFailed(error)) => {
                return Err(http_error_code(&error).unwrap_or(ErrorCode::InternalError(None)));
            }
        }
    }
    page.truncate(MAX_PAGE_BYTES);
    Ok(page)
}

fn request_error(url: &Url, code: &ErrorCode) -> RequestError {
    let url = url.clone();
    let why = match code {
        ErrorCode::HttpRequestDenied => return RequestError::Denied(url),
        ErrorCode::DestinationIpProhibited => return RequestError::Private(url),
        ErrorCode::HttpResponseBodySize(_) => return RequestError::TooLarge(url),
        ErrorCode::DestinationNotFound | ErrorCode::DnsError(_) => "host not found",
        ErrorCode::ConnectionRefused => "connection refused",
        ErrorCode::ConnectionTimeout
        | ErrorCode::ConnectionReadTimeout
        | ErrorCode::HttpResponseTimeout => "timed out",
        ErrorCode::TlsCertificateError | ErrorCode::TlsProtocolError => {
            "TLS error: its certificate is not trusted"
        }
        ErrorCode::ConnectionLimitReached => "this call has reached its limit of requests",
        _ => "the connection failed",
    };
    RequestError::Failed(url, why.to_owned())
}
