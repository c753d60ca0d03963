//! The program is killed at random moments and at every step of a commit, and a disk fills up at every step. After each
//! restart a transaction is completely applied or not at all, acknowledged changes are present, and nothing is left
//! over.

mod fail_points;
mod notebooks;
mod random_kills;
