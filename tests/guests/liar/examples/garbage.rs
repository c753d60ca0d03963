//! Its schema is not JSON.

guest_liar::describes!(guest_liar::described(
    "liar",
    vec![guest_liar::action_with_input(
        "read",
        "not JSON { at all".to_owned()
    )]
));
