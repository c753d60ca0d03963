//! Rules for the repository: dependencies between rooms, file sizes, module docs, frozen contracts, and scenarios for
//! every action.

mod contract;
mod coverage;
mod sources;
mod wording;
