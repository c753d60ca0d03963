//! Named fail points at which tests stop the process during an installation. Release builds contain none.

/// Every step at which a test may stop the process, in order.
pub const FAIL_POINTS: &[&str] = &[
    "package-begin",
    "package-content-written",
    "package-content-placed",
    "package-lock-written",
    "package-lock-placed",
    "package-swept",
];

/// Stops the process here, if the environment asks for it (`NOTEHOST_FAIL_POINT=name`).
#[cfg(debug_assertions)]
pub(super) fn fail_point(name: &str) {
    debug_assert!(FAIL_POINTS.contains(&name), "`{name}` is not listed");
    if std::env::var("NOTEHOST_FAIL_POINT").is_ok_and(|wanted| wanted == name) {
        std::process::abort();
    }
}

/// In a release, nothing can be stopped here.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub(super) fn fail_point(_name: &str) {}
