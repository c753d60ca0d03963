//! Tests of every action, called by name with JSON as the host does.

mod graph;
mod link_queries;
mod rewrite;

use notehost_sdk::serde_json::{Value, json};
use notehost_sdk::testing::{each, reply};
use notehost_sdk::{MemoryVault, Tier, Vault};

use crate::Domain;

notehost_sdk::calls!(Domain);
