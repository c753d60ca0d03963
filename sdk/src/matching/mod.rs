//! Regex search over the text of notes; the index only narrows down the candidates. `search` and `fs` share it, so that
//! they find the same lines.

mod lines;
mod literals;
mod pattern;
mod places;

pub use lines::{Hit, Lines, Looked, SEARCH_TIME_LIMIT, look};
pub use pattern::{Pattern, Skipped, Written, read};
pub use places::{Glob, Place, escape, glob, is_glob};
