//! Files that lie in two places, because a project has to stand alone, are the same in both.

use crate::support::repository;

#[test]
fn the_examples_have_the_sdk_of_the_templates() {
    for file in [
        "javascript/src/component.js",
        "javascript/src/notehost.js",
        "python/component.py",
        "python/notehost.py",
        "python/requirements.txt",
    ] {
        let of = |folder: &str| {
            std::fs::read_to_string(repository().join("sdk").join(folder).join(file))
                .expect("a file")
        };
        assert!(
            of("templates") == of("examples"),
            "`{file}` differs: copy that of `sdk/templates`"
        );
    }
}

#[test]
fn no_lock_file_names_a_registry() {
    let lock =
        std::fs::read_to_string(repository().join("sdk/examples/javascript/package-lock.json"));
    assert!(
        !lock.expect("the lock file").contains("\"resolved\""),
        "npm's `omit-lockfile-registry-resolved` leaves it out"
    );
}
