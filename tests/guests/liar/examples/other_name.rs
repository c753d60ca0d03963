//! Calls itself as a domain that is there already.

guest_liar::describes!(guest_liar::described("document", "read", "{}"));
