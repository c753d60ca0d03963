//! Tests of `rewrite`.

use proptest::prelude::*;

use super::*;

#[test]
fn links_to_a_note_are_redirected_and_keep_their_syntax() {
    let vault = Vault::in_memory()
        .with("Work/Old.md", "self [[Old]]")
        .with("Work/New one.md", "# Goal\ntext ^b\n[[Old]]")
        .with(
            "Index.md",
            "---\nup: \"[[Old]]\"\n---\n[[old|it]] ![[Work/Old#Goal]] [o](Work/Old.md#gone) [[Old#^b]] `[[Old]]` Old\r\n",
        )
        .with("Locked/L.md", "\n[[Old]]")
        .with_bytes("Latin.md", b"\xe9")
        .with("Hidden/H.md", "[[Old]]")
        .allow("Locked", Tier::Read)
        .allow("Hidden", Tier::None);
    let done = ok(&vault, "rewrite", json!({ "from": "Old", "to": "New one" }));
    assert_eq!(
        vault.text("Index.md").unwrap(),
        "---\nup: \"[[New one]]\"\n---\n[[New one|it]] ![[Work/New one#Goal]] [o](Work/New%20one.md#gone) [[New one#^b]] `[[Old]]` Old\r\n"
    );
    assert_eq!(vault.text("Work/Old.md").unwrap(), "self [[Old]]");
    assert!(
        vault
            .text("Work/New one.md")
            .unwrap()
            .ends_with("[[New one]]")
    );
    assert_eq!(vault.text("Hidden/H.md").unwrap(), "[[Old]]");
    assert_eq!(
        (&done["links_rewritten"], &done["notes"]),
        (&json!(6), &json!(2))
    );
    assert_eq!(
        done["links_left"],
        json!([{"path": "Locked/L.md", "line": 2, "link": "[[Old]]", "reason": "no write permission"}])
    );
    assert_eq!(
        done["fragments_missing"],
        json!([{"path": "Index.md", "line": 4, "fragment": "#gone"}])
    );
}

#[test]
fn broken_links_are_redirected_to_a_note() {
    let vault = Vault::in_memory()
        .with("Notes/Ideas list.md", "")
        .with("A.md", "[[ideas]] [[Ideas|x]] [[X/Ideas]] [i](Ideas.md)")
        .with("Sub/B.md", "[i](./Ideas.md) ![[lost.png]]")
        .with("pic/found.png", "");
    let done = ok(
        &vault,
        "rewrite",
        json!({ "from": "[[Ideas]]", "to": "Ideas list" }),
    );
    assert_eq!(done["links_rewritten"], 4);
    assert_eq!(
        vault.text("A.md").unwrap(),
        "[[Ideas list]] [[Ideas list|x]] [[X/Ideas]] [i](Notes/Ideas%20list.md)"
    );
    ok(
        &vault,
        "rewrite",
        json!({ "from": "lost.png", "to": "found.png" }),
    );
    assert!(vault.text("Sub/B.md").unwrap().contains("![[found.png]]"));
    ok(
        &vault,
        "rewrite",
        json!({ "from": "X/Ideas", "to": "Ideas list" }),
    );
    assert!(!vault.text("A.md").unwrap().contains("X/Ideas"));
}

#[test]
fn failed_rewrites_change_nothing() {
    let vault = Vault::in_memory()
        .with("A.md", "[[B]] [[Twin]]")
        .with("B.md", "")
        .with("x/Twin.md", "")
        .with("y/Twin.md", "")
        .with("Hidden/S.md", "[[Nowhere]]")
        .allow("Hidden", Tier::None);
    for (from, to, code) in [
        ("B", "B.md", "validation_error"),
        ("B", "Nobody", "not_found"),
        ("B", "S", "not_found"),
        ("Nowhere", "B", "not_found"),
        ("", "B", "validation_error"),
        ("Twin", "B", "ambiguous_name"),
        ("B", "Twin", "ambiguous_name"),
    ] {
        let error = refused(&vault, "rewrite", json!({ "from": from, "to": to }));
        assert_eq!(error.code(), code, "{from} {to}: {error}");
    }
    assert_eq!(vault.text("A.md").unwrap(), "[[B]] [[Twin]]");
    let none = ok(&vault, "rewrite", json!({ "from": "A", "to": "B" }));
    assert_eq!(none["links_rewritten"], 0);
}

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("[[Old]]".to_owned()),
        Just("![[old|x]]".to_owned()),
        Just("[[Work/Old#H]]".to_owned()),
        Just("[t](Work/Old.md)".to_owned()),
        Just("[[Other]]".to_owned()),
        Just("`[[Old]]`".to_owned()),
        Just("\r\n- ".to_owned()),
        Just("```\n".to_owned()),
        Just("%%".to_owned()),
        "[a-z \n$<>|#é]{0,6}",
    ]
}

proptest! {
    /// Afterwards no link points to the old note, all of them point to the new one, and the text between links is
    /// unchanged.
    #[test]
    fn only_link_targets_change(pieces in proptest::collection::vec(piece(), 0..12)) {
        let note = pieces.concat();
        let vault = Vault::in_memory()
            .with("Work/Old.md", "")
            .with("Work/New.md", "# H")
            .with("Other.md", "")
            .with("Note.md", &note);
        let counted = |path: &str| ok(&vault, "backlinks", json!({ "path": path }))["total"].as_u64().unwrap();
        let before = counted("Work/Old.md");
        let done = ok(&vault, "rewrite", json!({ "from": "Work/Old", "to": "Work/New" }));
        let left = done["links_left"].as_array().unwrap().len() as u64;
        prop_assert_eq!(counted("Work/Old.md"), left);
        prop_assert_eq!(counted("Work/New.md"), before - left);
        let text = vault.text("Note.md").unwrap();
        if left == 0 {
            let undone = ok(&vault, "rewrite", json!({ "from": "Work/New", "to": "Work/Old" }));
            prop_assert_eq!(&undone["links_rewritten"], &done["links_rewritten"]);
            let back = vault.text("Note.md").unwrap();
            prop_assert_eq!(back.to_lowercase(), note.to_lowercase());
        }
        prop_assert_eq!(text.matches('\n').count(), note.matches('\n').count());
    }
}
