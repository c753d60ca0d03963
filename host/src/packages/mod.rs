//! What is installed, and where it came from.

pub mod oci;
pub mod signature;
