//! Components that look like honest domains and import more of WASI than a domain may have. Each file in `examples`
//! is one of them.

#![allow(missing_docs)]
