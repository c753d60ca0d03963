//! Its action has a name that is not valid for tools.

guest_liar::describes!(guest_liar::described(
    "liar",
    vec![guest_liar::action("Read; rm -rf", "{}")]
));
