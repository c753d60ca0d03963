//! Traps in `describe`.

guest_liar::describes!(std::process::abort());
