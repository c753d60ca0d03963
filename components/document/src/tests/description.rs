//! The description of the domain.

use notehost_sdk::testing::assert_described;

use super::*;

#[test]
fn description_is_complete_and_within_budget() {
    assert_described::<Domain>(
        &[
            "create",
            "read",
            "read_many",
            "lookup",
            "outline",
            "update",
            "append",
            "prepend",
            "insert",
            "edit",
            "read_section",
            "append_section",
            "replace_section",
            "delete_section",
            "properties",
            "set_properties",
            "rename",
            "move",
            "copy",
            "remove",
            "restore",
            "trash",
            "list",
            "tree",
            "history",
            "diff",
            "restore_version",
            "name_version",
            "undo",
            "extract_section",
            "merge",
        ],
        12_000,
    );
}
