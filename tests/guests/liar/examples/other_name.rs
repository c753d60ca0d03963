//! Uses the name of a domain that exists already.

guest_liar::describes!(guest_liar::described(
    "document",
    vec![guest_liar::action("read", "{}")]
));
