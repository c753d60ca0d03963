//! The allowed imports of a component. Any other import is refused at load, with an error that names it.

/// Interfaces that any component may use: our contract, and of WASI what gives no reach. A standard library
/// imports most of them whether it uses them or not; behind them is nothing (no files, environment, arguments).
/// Requests may be imported by anybody too: each is decided when it is to be sent, and without a grant none is.
const ALLOWED: [&str; 18] = [
    "notehost:domain/types",
    "notehost:domain/vault",
    "notehost:domain/store",
    "notehost:domain/index",
    "notehost:domain/host",
    "notehost:domain/progress",
    "notehost:domain/log",
    "wasi:cli/environment",
    "wasi:cli/exit",
    "wasi:cli/stdin",
    "wasi:cli/stdout",
    "wasi:cli/stderr",
    "wasi:clocks/monotonic-clock",
    "wasi:clocks/wall-clock",
    "wasi:random/random",
    "wasi:random/insecure-seed",
    "wasi:http/types",
    "wasi:http/outgoing-handler",
];

/// Whole packages of that kind.
const ALLOWED_PACKAGES: [&str; 2] = ["wasi:io/", "wasi:cli/terminal-"];

/// The first import that a component has no right to, if there is one.
pub(super) fn first_refused<'a>(mut imports: impl Iterator<Item = &'a str>) -> Option<String> {
    imports.find(|name| !is_allowed(name)).map(str::to_owned)
}

fn is_allowed(import: &str) -> bool {
    let interface = import.split_once('@').map_or(import, |(name, _)| name);
    ALLOWED.contains(&interface)
        || ALLOWED_PACKAGES
            .iter()
            .any(|package| interface.starts_with(package))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_with_ambient_access_are_refused() {
        assert!(is_allowed("notehost:domain/vault@1.0.0-rc.1"));
        assert!(is_allowed("wasi:io/streams@0.2.9"));
        assert!(is_allowed("wasi:http/outgoing-handler@0.2.9"));
        for import in [
            "wasi:sockets/tcp@0.2.0",
            "wasi:http/incoming-handler@0.2.0",
            "wasi:filesystem/types@0.2.0",
            "notehost:domain/vaults",
        ] {
            assert!(!is_allowed(import), "{import}");
        }
    }
}
