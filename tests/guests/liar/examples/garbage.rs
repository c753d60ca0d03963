//! Describes itself with something that is not JSON.

guest_liar::describes!("not JSON { at all".to_owned());
