//! Integration tests with the built program, real components and real clients.
//!
//! `attacks`: attacks on the security guarantees. `scenarios`: recorded transcripts. `hostile`: hostile guests.
//! `outside`: outgoing HTTP requests of components. `wire`: every transport. `judges`: external clients. `long_work`:
//! progress, cancellation and tasks. `finding`: the search index. `concurrency` and `crash`: no lost updates.
//! `versions`: components of every contract version. `authors`: workflows of domain authors. `resources`: resources,
//! completion, prompts and subscriptions. `examples`: the examples in the help. `surface`: the tool list. `commands`:
//! the command line. `tidy`: rules for the repository. `support`: shared code.

mod attacks;
mod authors;
mod commands;
mod concurrency;
mod crash;
mod examples;
mod finding;
mod hostile;
mod judges;
mod kit;
mod long_work;
mod outside;
mod policy;
mod resources;
mod scenarios;
mod store;
mod support;
mod surface;
mod tidy;
mod transcript;
mod trust;
mod versions;
mod wire;
