//! Its action has a name that is not valid for tools.

guest_liar::describes!(guest_liar::described("liar", "Read; rm -rf", "{}"));
