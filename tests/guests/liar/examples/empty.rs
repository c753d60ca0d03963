//! Has no actions.

guest_liar::describes!(guest_liar::described("liar", Vec::new()));
