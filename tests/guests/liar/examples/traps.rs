//! Breaks while it describes itself.

guest_liar::describes!(std::process::abort());
