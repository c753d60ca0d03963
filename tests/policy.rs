//! Permissions, authentication, confirmation, limits and records: through the built program, over HTTP, stdio and the
//! command line.

mod admin;
mod approval;
mod attacks;
mod audit;
mod auth;
mod budget;
mod collector;
mod confirmation;
mod door;
mod events;
mod floods;
mod hidden;
mod history;
mod idempotency;
mod matrix;
mod paths;
mod permission;
mod rates;
mod reload;
mod revoking;
mod setup;
mod supervision;
mod switching;
mod tags;
mod telemetry;
mod tls;
