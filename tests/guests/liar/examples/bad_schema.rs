//! Has a schema that is none.

guest_liar::describes!(guest_liar::described(
    "liar",
    "read",
    r#"{"path": {"type": "stringy"}}"#
));
