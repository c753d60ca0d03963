//! Untrusted input that the host parses itself: journals in a vault, messages of clients, manifests of registries, keys
//! of issuers.

/// Bytes as a journal, with and without a valid authentication code.
pub fn journal(input: &[u8]) {
    notehost::vault::fuzz_journal(input);
}

/// Bytes as a client's message before parsing. The scan gives the same result for chunks, and a message that passes can
/// be parsed with our stack size.
pub fn message(input: &[u8]) {
    notehost::transport::fuzz_message(input);
}

/// Bytes as the manifest of a component in a registry, and as a registry's challenge.
pub fn manifest(input: &[u8]) {
    notehost::packages::oci::fuzz_manifest(input);
}

/// Bytes as the public keys of an issuer.
pub fn keys(input: &[u8]) {
    notehost::auth::fuzz_keys(input);
}
