//! Tests of every action, called by name with JSON as the host does.

mod edit_actions;
mod export;
mod fixtures;
mod html;
mod list;
mod read;
mod templates;
mod usage;
