//! Its `describe` never ends.

guest_liar::describes!(loop {
    std::hint::spin_loop();
});
