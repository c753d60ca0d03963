//! Rules for the repository: dependencies between rooms, file sizes, module docs, frozen contracts, scenarios for
//! every action, and the book with its links.

mod book;
mod contract;
mod coverage;
mod markdown;
mod sources;
mod wording;
