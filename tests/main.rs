//! The tests that drive the real thing: the built program, real components, a real client.
//!
//! `attacks` breaks the promise if it can, `scenarios` replays transcripts through the host, `hostile` sets enemies on it, `outside` lets components send
//! requests, `wire` speaks to it over every transport, `judges` are clients that others wrote, `long_work` takes its time,
//! `finding` asks its index, `concurrency` and `crash` see that nothing is lost, `versions` runs components of every
//! contract there was, `authors` writes new ones, `resources` reads, completes and listens, `examples` runs what help
//! shows, `surface` looks at the tools, `commands` is somebody at a terminal, `tidy` holds the repository to its own rules.
//! `support` is what they share.

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
