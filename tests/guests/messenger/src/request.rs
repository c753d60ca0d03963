//! One request, described by the test: `method`, `scheme`, `authority`, `path`, `headers`, `body` (number of bytes),
//! `first_byte_ms`.

use notehost_sdk::serde_json::{Value, json};
use wasip2::http::outgoing_handler::handle;
use wasip2::http::types::{
    ErrorCode, Fields, IncomingResponse, Method, OutgoingBody, OutgoingRequest, RequestOptions,
    Scheme, http_error_code,
};
use wasip2::io::streams::StreamError;

/// Sends it; the outcome is `status`, `headers`, `bytes` and `start`, or `refused`.
pub fn send(request_spec: &Value) -> Value {
    match try_to_send(request_spec) {
        Ok(answer) => answer,
        Err(why) => json!({ "refused": why }),
    }
}

fn try_to_send(request_spec: &Value) -> Result<Value, String> {
    let text = |name: &str| request_spec[name].as_str();
    let headers = Fields::new();
    for header in request_spec["headers"].as_array().into_iter().flatten() {
        let [name, value] = [&header[0], &header[1]].map(|part| part.as_str().unwrap_or_default());
        let added = headers.append(name, &value.as_bytes().to_vec());
        added.map_err(|error| format!("{error:?}"))?;
    }
    let request = OutgoingRequest::new(headers);
    let method = Method::Other(text("method").unwrap_or("GET").to_owned());
    let scheme = text("scheme").map(|scheme| Scheme::Other(scheme.to_owned()));
    request
        .set_method(&method)
        .and_then(|()| request.set_scheme(scheme.as_ref()))
        .and_then(|()| request.set_authority(text("authority")))
        .and_then(|()| request.set_path_with_query(Some(text("path").unwrap_or("/"))))
        .map_err(|()| "it cannot be said".to_owned())?;
    let options = RequestOptions::new();
    if let Some(first_byte) = request_spec["first_byte_ms"].as_u64() {
        let _ = options.set_first_byte_timeout(Some(first_byte * 1_000_000));
    }
    let length = request_spec["body"].as_u64();
    let body = length.and_then(|_| request.body().ok());
    let pending = handle(request, Some(options)).map_err(error_text)?;
    if let (Some(body), Some(length)) = (body, length) {
        write(&body, length);
        let _ = OutgoingBody::finish(body, None);
    }
    pending.subscribe().block();
    let answered = pending.get().and_then(Result::ok);
    let response = answered.ok_or("no answer")?.map_err(error_text)?;
    let (bytes, start) = read(&response).map_err(error_text)?;
    let headers: Vec<Value> = response
        .headers()
        .entries()
        .into_iter()
        .map(|(name, value)| json!([name, String::from_utf8_lossy(&value)]))
        .collect();
    Ok(json!({
        "status": response.status(),
        "headers": headers,
        "bytes": bytes,
        "start": start,
    }))
}

fn error_text(code: ErrorCode) -> String {
    format!("{code:?}")
}

/// Writes as many bytes as are accepted.
fn write(body: &OutgoingBody, mut length: u64) {
    let Ok(stream) = body.write() else { return };
    while length > 0 {
        let part = vec![b'x'; length.min(4096) as usize];
        length -= part.len() as u64;
        if stream.blocking_write_and_flush(&part).is_err() {
            return;
        }
    }
}

/// Reads the whole body; returns its length and its start.
fn read(response: &IncomingResponse) -> Result<(usize, String), ErrorCode> {
    let broken = |()| ErrorCode::InternalError(None);
    let body = response.consume().map_err(broken)?;
    let stream = body.stream().map_err(broken)?;
    let (mut length, mut start) = (0, Vec::new());
    loop {
        match stream.blocking_read(1 << 16) {
            Ok(bytes) => {
                length += bytes.len();
                if start.len() < 2000 {
                    start.extend(bytes);
                }
            }
            Err(StreamError::Closed) => break,
            Err(StreamError::LastOperationFailed(error)) => {
                return Err(http_error_code(&error).unwrap_or(ErrorCode::InternalError(None)));
            }
        }
    }
    Ok((length, String::from_utf8_lossy(&start).into_owned()))
}
