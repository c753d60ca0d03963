//! Has nothing to say of itself.

guest_liar::describes!(String::new());
