//! Answers that need no component: the orientation for a new client, why a call would be allowed, completion of
//! arguments, the conventions of a vault.

pub(crate) mod completion;
pub(crate) mod conventions;
pub(crate) mod explain;
pub(crate) mod orientation;
pub(crate) mod vault_data;
