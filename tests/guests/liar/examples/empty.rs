//! Has no actions.

guest_liar::describes!(
    r#"{"name": "liar", "version": "1.0.0", "description": "A lie.", "actions": []}"#.to_owned()
);
