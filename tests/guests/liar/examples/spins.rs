//! Never ends its description.

guest_liar::describes!(loop {
    std::hint::spin_loop();
});
