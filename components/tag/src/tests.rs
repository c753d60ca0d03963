//! Tests of every action, called by name with JSON as the host does.

mod byte_preservation;
mod edit_actions;
mod tag_queries;

use notehost_sdk::serde_json::json;
use notehost_sdk::testing::{each, reply};
use notehost_sdk::{Describes as _, Effect, MemoryVault, Tier, Vault};

use crate::Domain;

notehost_sdk::calls!(Domain);
