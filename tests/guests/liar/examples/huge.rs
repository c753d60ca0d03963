//! Describes itself at a length that nobody should keep.

guest_liar::describes!(guest_liar::described(
    "liar",
    "read",
    &format!(
        r#"{{"path": {{"type": "string", "description": "{}"}}}}"#,
        "blah ".repeat(1 << 20)
    )
));
