//! Everything that differs between operating systems. Every other crate of the host may use this one, and it uses none of
//! them; none of the others names a system (`cfg(unix)`, `rustix`, `libc`) outside of its tests. Also what all of them need
//! once: the clock, randomness, words for a shell, suggestions for misspelt names.
//!
//! Linux and macOS have all of it. On Windows each module has the simplest honest fallback, stated at the function:
//! Notehost compiles there and is not supported yet (`docs/platforms.md`).

#![cfg_attr(
    not(target_os = "linux"),
    allow(missing_docs, reason = "documented at the implementation for Linux")
)]

pub mod clock;
pub mod errors;
pub mod files;
pub mod folder;
pub mod local_listener;
pub mod local_socket;
pub mod memory;
mod nearest;
pub mod private;
pub mod process;
pub mod random;
pub mod sandbox;
pub mod shell;
pub mod signals;
pub mod stdio;

pub use nearest::{nearest, nearest_names};
