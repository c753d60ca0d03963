//! Describes itself differently each time.

guest_liar::describes!({
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let nanoseconds = now.map(|now| now.as_nanos()).unwrap_or_default();
    let action = guest_liar::action(&format!("read_{nanoseconds}"), "{}");
    guest_liar::described("liar", vec![action])
});
