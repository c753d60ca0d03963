//! Its description is larger than the limit.

guest_liar::describes!(guest_liar::described(
    "liar",
    vec![guest_liar::action(
        "read",
        &format!(
            r#"{{"path": {{"type": "string", "description": "{}"}}}}"#,
            "blah ".repeat(1 << 20)
        )
    )]
));
