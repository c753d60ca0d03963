//! Has two actions with the same name.

guest_liar::describes!(format!(
    r#"{{"name": "liar", "version": "1.0.0", "description": "A lie.", "actions": [{0}, {0}]}}"#,
    guest_liar::action_described("read", "{}")
));
