//! The program is killed, at random moments and at every step of a commit, and a disk fills up at every step. After
//! each restart a transaction is wholly there or wholly absent, what was answered is there, and nothing is left over.

mod fail_points;
mod garden;
mod random_kills;
