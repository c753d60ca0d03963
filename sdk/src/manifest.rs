//! A component's manifest: what an admin can ever grant it, written into the component itself.

/// Say the most that this component will ever need. A host reads it before it runs anything, shows it to whoever installs
/// the component, and never grants more. What is not mentioned is not limited, but for HTTP: a host that is not named
/// cannot be granted.
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
/// It is JSON, and stands once in a crate, beside `domain!`. An action whose `EFFECT` is above `effect` keeps the whole
/// component from being loaded.
#[macro_export]
macro_rules! manifest {
    ($($key:literal: $value:tt),* $(,)?) => {
        #[doc(hidden)]
        #[allow(dead_code, unsafe_code)]
        mod notehost_manifest {
            const JSON: &str = stringify!({ $($key: $value),* });

            // A section of its own: it takes no room in the memory of an instance.
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

/// A text as an array, which is what a section can hold.
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
