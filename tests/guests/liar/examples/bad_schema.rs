//! Its schema is invalid.

guest_liar::describes!(guest_liar::described(
    "liar",
    "read",
    r#"{"path": {"type": "stringy"}}"#
));
