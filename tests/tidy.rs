//! The repository held to its own rules: who may use whom, how long a file may be, what a file opens with, that the
//! contract is frozen and that every action has its scenarios.

mod contract;
mod coverage;
mod sources;
