//! Write a tool domain for Notehost.
#[cfg(feature = "markdown")]
pub mod text;
