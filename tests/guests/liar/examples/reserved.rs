//! Declares an argument that the host handles itself.

guest_liar::describes!(guest_liar::described(
    "liar",
    "read",
    r#"{"approval": {"type": "string"}}"#
));
