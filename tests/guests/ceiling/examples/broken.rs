//! Declares the effect `write`, and removes.

use guest_ceiling::{Look, Put, Wipe};
use notehost_sdk::prelude::*;

notehost_sdk::manifest! {"effect": "write"}

domain! {
    /// Reads, writes and removes.
    "ceiling" {
        "look" => Look,
        "put" => Put,
        "wipe" => Wipe,
    }
}
