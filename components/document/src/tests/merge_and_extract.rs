//! `extract_section` and `merge`.

use super::*;

#[test]
fn extract_section_creates_a_note_and_rewrites_links() {
    let text = "# Plan\r\nsee [[#Risks]] and [[#Goals]]\r\n## Risks\r\n[[Plan#Deep]] [[#Goals]] [x](Other.md)\r\n### Deep\r\n- d ^b1\r\n\r\n## Goals\r\ng\r\n";
    let vault = vault().with("Work/Plan.md", text).with(
        "Work/Other.md",
        "[[Plan#Risks|r]] [[Plan#^b1]] [[Plan#Goals]] [[Plan]] [m](Plan.md#Deep)\n",
    );
    let made = ok(
        &vault,
        "extract_section",
        json!({ "path": "Plan", "section": "Risks", "to": "Home/Risks" }),
    );
    assert_eq!(
        (&made["path"], &made["line"], &made["links_rewritten"]),
        (&json!("Home/Risks.md"), &json!(3), &json!(3))
    );
    assert_eq!(
        vault.text("Home/Risks.md").unwrap(),
        "## Risks\r\n[[Risks#Deep]] [[Work/Plan#Goals]] [x](../Work/Other.md)\r\n### Deep\r\n- d ^b1\r\n"
    );
    assert_eq!(
        vault.text("Work/Plan.md").unwrap(),
        "# Plan\r\nsee [[Home/Risks#Risks]] and [[#Goals]]\r\n\r\n[[Risks]]\r\n\r\n## Goals\r\ng\r\n"
    );
    assert_eq!(
        vault.text("Work/Other.md").unwrap(),
        "[[Risks#Risks|r]] [[Risks#^b1]] [[Plan#Goals]] [[Plan]] [m](../Home/Risks.md#Deep)\n"
    );
    let taken = refused(
        &vault,
        "extract_section",
        json!({ "path": "Plan", "section": "Goals", "to": "Other" }),
    );
    assert_eq!(taken.code(), "already_exists");
}

#[test]
fn extract_section_can_embed_and_keeps_trailing_lines() {
    let vault = vault().with("A.md", "## B\nb\nSet\n===\n## C\nc");
    ok(
        &vault,
        "extract_section",
        json!({ "path": "A", "section": "B", "to": "B", "embed": true }),
    );
    ok(
        &vault,
        "extract_section",
        json!({ "path": "A", "section": "C", "to": "C#1" }),
    );
    assert_eq!(vault.text("B.md").unwrap(), "## B\n");
    assert_eq!(vault.text("C#1.md").unwrap(), "## C\nc");
    assert_eq!(
        vault.text("A.md").unwrap(),
        "![[B]]\n\nb\nSet\n===\n\n[C#1](C%231.md)"
    );
}

#[test]
fn merge_creates_a_section_and_redirects_links() {
    let vault = vault()
        .with(
            "Work/Plan.md",
            "---\nowner: Ana\n---\n# Plan\nintro [[#Risks]] [o](Other.md)\n## Risks\nr [[Plan]]\n",
        )
        .with(
            "Home/All.md",
            "# All\n\n## Now\nsee [[Plan]]\n\n## Later\nl",
        )
        .with("Work/Other.md", "[[Plan]] [[Plan#Risks|r]] [p](Plan.md)\n")
        .with("Locked/L.md", "[[Plan]]\n")
        .allow("Locked", Tier::Read);
    let merged = ok(
        &vault,
        "merge",
        json!({ "path": "Plan", "into": "All", "section": "Now" }),
    );
    assert_eq!(
        (&merged["path"], &merged["section"], &merged["line"]),
        (&json!("Home/All.md"), &json!("All > Now > Plan"), &json!(6))
    );
    assert_eq!(merged["properties_left"], json!({ "owner": "Ana" }));
    assert_eq!(merged["links_left"][0]["path"], "Locked/L.md");
    assert_eq!(
        vault.text("Home/All.md").unwrap(),
        "# All\n\n## Now\nsee [[All#Plan]]\n\n### Plan\n\nintro [[#Risks]] [o](../Work/Other.md)\n#### Risks\nr [[All#Plan]]\n\n## Later\nl"
    );
    assert_eq!(
        vault.text("Work/Other.md").unwrap(),
        "[[All#Plan]] [[All#Risks|r]] [p](../Home/All.md#Plan)\n"
    );
    assert!(vault.text("Work/Plan.md").is_none());
    ok(
        &vault,
        "restore",
        json!({ "trash_id": merged["trash_ids"][0] }),
    );
    assert_eq!(
        refused(&vault, "merge", json!({ "path": "Plan", "into": "Plan" })).code(),
        "validation_error"
    );
    assert_eq!(
        refused(
            &vault,
            "merge",
            json!({ "path": "Plan", "into": "All", "section": "No" })
        )
        .code(),
        "not_found"
    );
}

#[test]
fn merge_appends_at_the_end_by_default() {
    for (into, from, merged) in [
        ("", "a\n", "## A\n\na\n"),
        ("x\r\n", "a\nb", "x\r\n\r\n## A\r\n\r\na\r\nb\r\n"),
        ("# T\n## One\n\n", "", "# T\n## One\n\n## A\n"),
        (
            "# One\n# Two",
            "Head\n===\nh\n",
            "# One\n# Two\n\n# A\n\n## Head\nh",
        ),
    ] {
        let vault = vault().with("Into.md", into).with("A.md", from);
        ok(&vault, "merge", json!({ "path": "A", "into": "Into" }));
        assert_eq!(vault.text("Into.md").unwrap(), merged);
    }
}
