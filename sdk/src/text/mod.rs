//! Lossless editing of Markdown notes: pure functions from text to text.
//!
//! Parsers only locate things; every change is a splice of bytes, so everything else is preserved: line endings, a byte
//! order mark, a missing final newline, comments and quoting in the frontmatter. The functions work on a single text;
//! only [`moving`] and [`templates`] use a vault. Line numbers are of the file, from 1.

pub mod blocks;
pub mod body;
pub mod dialect;
pub mod edits;
mod error;
pub mod facts;
pub mod frontmatter;
pub mod html;
pub mod lines;
pub mod links;
pub mod moving;
pub mod newline;
pub mod outline;
pub mod percent;
pub mod properties;
pub mod section;
mod similar_passage;
mod skeleton;
pub mod splice;
pub mod tags;
pub mod templates;
mod yaml;
pub mod yaml_gate;

pub use body::{Place, append, body, insert, prepend, replace_body};
pub use edits::{Edit, Edited, apply_edits};
pub use error::{SectionChoice, TextError};
pub use lines::{Window, approx_tokens, line_of, window};
pub use newline::Newline;
pub use outline::{Heading, Outline, outline};
pub use properties::set_properties;
pub use similar_passage::Passage;
pub use splice::Splice;
pub use tags::{Tag, tags};
