//! Notehost.
