//! Code that differs between operating systems: private files, and returning memory to the system. Every other crate of
//! the host may use this one, and it uses none of them.

pub mod memory;
pub mod private;
pub mod shell;
