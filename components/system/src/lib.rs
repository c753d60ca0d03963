//! The system domain: what a model should know about this server and these notes before it works in them.

pub mod guide;

#[cfg(test)]
mod tests;

use notehost_sdk::domain;

domain! {
    /// Guidance: what these notes are about, how they are kept, and which action suits which task.
    /// Call `guide` when you begin.
    "system" {
        "guide" => guide::Guide,
    }
}
