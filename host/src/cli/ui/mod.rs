//! The terminal side of the commands: tables, colours and pager (`terminal`), questions, progress, replies, failures,
//! and the fields of an action as flags with their help.

pub(crate) mod action_help;
pub(crate) mod bar;
pub(crate) mod failure;
pub(crate) mod fields;
pub(crate) mod output;
pub(crate) mod pages;
pub(crate) mod question;
pub(crate) mod reply;
pub(crate) mod terminal;
