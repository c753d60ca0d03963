//! Says that it only writes, and removes.

use guest_ceiling::{Look, Put, Wipe};
use notehost_sdk::prelude::*;

notehost_sdk::manifest! {"effect": "write"}

domain! {
    /// Looks, writes and removes.
    "ceiling" {
        "look" => Look,
        "put" => Put,
        "wipe" => Wipe,
    }
}
