//! Declares the effect `write`, and only writes.

use guest_ceiling::{Look, Put};
use notehost_sdk::prelude::*;

notehost_sdk::manifest! {
    "effect": "write",
    "store_bytes": 4096,
    "http": ["api.example.com", "*.example.org"],
    "limits": {"memory_bytes": 33554432, "call_ms": 2000}
}

domain! {
    /// Reads and writes.
    "ceiling" {
        "look" => Look,
        "put" => Put,
    }
}
