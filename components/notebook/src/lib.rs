//! The notebook domain.
