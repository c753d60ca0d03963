//! `http-error-code` for guests: why a body ended. wasmtime-wasi-http 48 maps no body errors, so a guest could not
//! distinguish a body that is too large from an interrupted one.

use wasmtime::StoreContextMut;
use wasmtime::component::{Linker, Resource};
use wasmtime_wasi::p2::IoError;
use wasmtime_wasi_http::p2::bindings::http::types::ErrorCode;
use wasmtime_wasi_http::{Error, WasiHttpView as _};

use super::super::state::CallState;

/// The interface, with the version that wasmtime-wasi-http gives it.
const TYPES: &str = "wasi:http/types@0.2.12";

type Parameters = (Resource<IoError>,);
type Results = (Option<ErrorCode>,);

/// Makes the function report the errors of `body`.
pub(in super::super) fn tell_codes(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    linker.allow_shadowing(true);
    linker.instance(TYPES)?.func_wrap(
        "http-error-code",
        |mut store: StoreContextMut<'_, CallState>,
         (error,): Parameters|
         -> wasmtime::Result<Results> {
            let http = store.data_mut().http();
            let error = http.table.get(&error)?;
            Ok((error.downcast_ref::<Error>().map(code),))
        },
    )?;
    linker.allow_shadowing(false);
    Ok(())
}

fn code(error: &Error) -> ErrorCode {
    match error {
        Error::HttpResponseBodySize(size) => ErrorCode::HttpResponseBodySize(*size),
        Error::HttpRequestBodySize(size) => ErrorCode::HttpRequestBodySize(*size),
        Error::ConnectionReadTimeout => ErrorCode::ConnectionReadTimeout,
        Error::ConnectionTerminated => ErrorCode::ConnectionTerminated,
        Error::HttpResponseTimeout => ErrorCode::HttpResponseTimeout,
        Error::HttpResponseIncomplete => ErrorCode::HttpResponseIncomplete,
        _ => ErrorCode::HttpProtocolError,
    }
}
