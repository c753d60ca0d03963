//! What one running call may use, and for how long: its environment, its rights while it runs, its outgoing requests,
//! its progress reports.

pub(crate) mod call_environment;
pub(crate) mod egress;
pub(crate) mod live_rights;
pub(crate) mod progress;
