//! Integration tests with the built program, real components and real clients.
//!
//! `attacks`: attacks on the security guarantees. `authors`: workflows of domain authors. `commands`: the command line.
//! `component_conformance`: the conformance suite for components. `component_sources`: signatures and registries.
//! `component_store`: installed components. `concurrency` and `crash`: no lost updates. `contract_versions`: components
//! of every contract version. `examples`: the examples in the help. `external_clients`: official MCP SDKs. `hostile`:
//! hostile guests. `long_calls`: progress, cancellation and tasks. `outgoing_http`: outgoing requests of components.
//! `policy`: permissions, authentication, confirmation, limits and records. `resources`: resources, completion, prompts
//! and subscriptions. `scenarios`: recorded transcripts. `search_index`: search. `shared_vault`: several programs on one
//! vault. `surface`: the tool list. `tidy`:
//! rules for the repository. `wire`: every transport. `support` and `transcript`: shared code.

mod attacks;
mod authors;
mod commands;
mod component_conformance;
mod component_sources;
mod component_store;
mod concurrency;
mod contract_versions;
mod crash;
mod examples;
mod external_clients;
mod hostile;
mod long_calls;
mod outgoing_http;
mod policy;
mod resources;
mod scenarios;
mod search_index;
mod shared_vault;
mod support;
mod surface;
mod tidy;
mod transcript;
mod wire;
