//! What the host reads by itself of what others wrote: journals in a vault, messages of clients, manifests of registries,
//! keys of issuers.

/// Bytes as a journal, with and without a valid authentication code.
pub fn journal(input: &[u8]) {
    notehost::vault::fuzz_journal(input);
}

/// Bytes as a message of a client, before it is parsed: the scan agrees with itself in pieces, and what passes it can be
/// parsed in a stack of ours.
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
