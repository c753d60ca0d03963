//! Has two actions with the same name.

guest_liar::describes!(guest_liar::described(
    "liar",
    vec![
        guest_liar::action("read", "{}"),
        guest_liar::action("read", "{}")
    ]
));
