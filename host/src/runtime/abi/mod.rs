//! The tracks of the contract that this host speaks, one file each. Nothing outside this folder knows generated
//! bindings.

mod host_functions;
mod index_functions;
mod surrounding_functions;
mod v0_1;

pub(super) use v0_1::{Ready, call, describe, linker, ready};
