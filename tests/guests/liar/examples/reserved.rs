//! Declares an argument that the host handles itself.

guest_liar::describes!(guest_liar::described(
    "liar",
    vec![guest_liar::action(
        "read",
        r#"{"approval": {"type": "string"}}"#
    )]
));
