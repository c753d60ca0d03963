//! The first-party components, built for WebAssembly by `build.rs` and part of the program. Their descriptions are
//! files of the repository (`components/*/description.json`): a test holds them to what the components say, so that
//! listing the tools needs neither a compile nor a guest.

/// A component that is part of the program.
pub struct Embedded {
    /// The domain's name.
    pub name: &'static str,
    /// The component.
    pub wasm: &'static [u8],
    /// Names its content.
    pub digest: &'static str,
    /// What it says of itself.
    pub description: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
