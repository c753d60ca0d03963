//! The commands: one file or folder for each.

pub(crate) mod approval;
pub(crate) mod audit;
pub(crate) mod call;
pub(crate) mod complete;
pub(crate) mod component;
pub(crate) mod config;
pub(crate) mod connect;
pub(crate) mod doctor;
pub(crate) mod help;
pub(crate) mod history;
pub(crate) mod index;
pub(crate) mod man;
pub(crate) mod permission;
pub(crate) mod profile;
pub(crate) mod serve;
pub(crate) mod service;
pub(crate) mod stats;
pub(crate) mod token;
pub(crate) mod tools;
