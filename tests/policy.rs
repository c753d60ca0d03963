//! Permissions, authentication, confirmation, limits and records: through the built program, over HTTP, stdio and the
//! command line.

mod admin;
mod approval;
mod audit;
mod auth;
mod auth_setup;
mod budget;
mod circuit_breaker;
mod collector;
mod confirmation;
mod events;
mod floods;
mod forged_requests;
mod hidden;
mod history;
mod idempotency;
mod matrix;
mod paths;
mod permission;
mod rate_limits;
mod reload;
mod revocation;
mod setup;
mod switches;
mod tags;
mod telemetry;
mod tls;
mod vaults;
