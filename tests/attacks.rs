//! Attacks on the security guarantees, each through the built program: what a hostile vault, caller, client or other
//! local user tries, and how it is stopped.
//!
//! `journals`: a vault that contains forged journals. `writers`: two processes on one vault. `approvals`: a program
//! that tries to approve in place of a person. `privacy`: other users of the machine, untrusted files and listeners.
//! `deciding`: an admin token that decides, or widens, without a person.
//! `content`: notes and queries that are expensive to process. `requests`: requests that are expensive to receive.
//! `latency`: the effect of all of them on other callers. `sandbox`: what the operating system's sandbox blocks when
//! everything else fails.

mod approvals;
mod content;
mod deciding;
mod journals;
mod latency;
mod privacy;
mod requests;
mod sandbox;
mod trust;
mod writers;
