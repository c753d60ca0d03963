//! Its schema is invalid.

guest_liar::describes!(guest_liar::described(
    "liar",
    vec![guest_liar::action(
        "read",
        r#"{"path": {"type": "stringy"}}"#
    )]
));
