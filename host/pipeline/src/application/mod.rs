//! The application object: what a running Notehost consists of, how its settings are replaced while it runs, and what it
//! reports about itself. Calls are not made here.

pub(crate) mod file_events;
pub(crate) mod host;
pub(crate) mod reload;
pub(crate) mod rights;
pub(crate) mod running_calls;
pub(crate) mod sessions;
pub(crate) mod status;
