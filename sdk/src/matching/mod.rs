//! Patterns run over notes themselves, for what no index can answer; the index only tells which notes need not be looked
//! at. `search` and `fs` both look through this, so that they find the same lines.

mod lines;
mod literals;
mod pattern;
mod places;

pub use lines::{Hit, LOOKING_TIME, Lines, Looked, look};
pub use pattern::{Pattern, Skipped, Written, read};
pub use places::{Glob, Place, escape, glob, is_glob};
