//! Calls its action what no tool can be called.

guest_liar::describes!(guest_liar::described("liar", "Read; rm -rf", "{}"));
