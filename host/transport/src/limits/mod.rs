//! The bounds of what one client can take: the size of a message before anything is built from it (`bounds`,
//! `message_limit`), requests in flight and the end of input (`drain`), the thread of a call and its panics (`pool`,
//! `panic_guard`), and when to stop (`shutdown`).

pub(crate) mod bounds;
pub(crate) mod drain;
pub(crate) mod message_limit;
pub(crate) mod panic_guard;
pub(crate) mod pool;
pub(crate) mod shutdown;
