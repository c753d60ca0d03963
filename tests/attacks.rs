//! Attacks on the promise, each through the built program: what a hostile vault, caller, client or neighbour on the same
//! machine tries, and what it gets.
//!
//! `journals`: a vault that brings its own journals. `writers`: two processes on one vault. `approvals`: a program that
//! wants to answer for a person. `deciding`: an admin's token that decides, or widens, without one. `privacy`: other users of the machine, untrusted files and listeners. `content`: notes
//! and questions that are expensive to process. `requests`: requests that are expensive to receive. `latency`: what
//! another caller notices of all of them. `sandbox`: what the operating system stops when everything else failed.

mod approvals;
mod content;
mod deciding;
mod journals;
mod latency;
mod privacy;
mod requests;
mod sandbox;
mod trusting;
mod writers;
