//! Components that look valid but import more of WASI than a domain may. Each file in `examples` is one of them.

#![allow(missing_docs)]
