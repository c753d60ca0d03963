//! Its description is an empty text.

guest_liar::describes!(String::new());
