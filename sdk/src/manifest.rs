//! A component's manifest: the maximum that an admin can grant it, embedded in the component.

/// Declares the maximum that this component needs. The host reads it before running the component, shows it to the admin
/// who installs it, and never grants more. Missing entries are unlimited, except HTTP: only declared hosts can be granted.
///
/// ```
/// notehost_sdk::manifest! {
///     "effect": "write",
///     "store_bytes": 65536,
///     "http": ["api.example.com", "*.example.org"],
///     "limits": {"memory_bytes": 33554432, "call_ms": 2000}
/// }
/// ```
///
/// It is JSON and occurs once in a crate, next to `domain!`. If an action's `EFFECT` exceeds `effect`, the component does
/// not load.
#[macro_export]
macro_rules! manifest {
    ($($key:literal: $value:tt),* $(,)?) => {
        #[doc(hidden)]
        #[allow(dead_code, unsafe_code)]
        mod notehost_manifest {
            const JSON: &str = stringify!({ $($key: $value),* });

            // A custom section, which takes no memory of an instance.
            #[cfg(target_family = "wasm")]
            #[used]
            #[unsafe(link_section = "notehost:manifest")]
            static MANIFEST: [u8; JSON.len()] = $crate::bytes_of(JSON);

            #[test]
            fn the_manifest_is_json() {
                let _: $crate::serde_json::Value = $crate::serde_json::from_str(JSON).expect("JSON");
            }
        }
    };
}

/// The bytes of a text as an array, for the section.
#[doc(hidden)]
pub const fn bytes_of<const LENGTH: usize>(text: &str) -> [u8; LENGTH] {
    let mut bytes = [0; LENGTH];
    let mut at = 0;
    while at < LENGTH {
        bytes[at] = text.as_bytes()[at];
        at += 1;
    }
    bytes
}
