//! The document domain.
