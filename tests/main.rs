//! The tests that drive the real thing: the built program, real components, a real client.
//!
//! `scenarios` replays transcripts through the host, `hostile` sets enemies on it, `outside` lets components send
//! requests, `wire` speaks to it over every
//! transport, `finding` asks its index, `concurrency` and `crash` see that nothing is lost, `versions` runs
//! components of every contract there was, `authors` writes new ones, `commands` is somebody at a terminal, `tidy` holds the repository to its own rules.
//! `support` is what they share.

mod authors;
mod commands;
mod concurrency;
mod crash;
mod finding;
mod hostile;
mod kit;
mod outside;
mod policy;
mod scenarios;
mod store;
mod support;
mod tidy;
mod transcript;
mod trust;
mod versions;
mod wire;
