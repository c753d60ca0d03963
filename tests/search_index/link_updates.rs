//! Renames a note with five hundred backlinks: every form of link is updated, and no other byte changes.

use serde_json::json;

use super::{reply_of, start_client, wait_for_index};
use crate::support::place::Place;

/// Notes that link to `Hub`, each with its expected text after `Knowledge/Hub.md` became `Knowledge/The Centre.md`.
/// Written by hand, not by the code under test.
const FORMS: [(&str, &str); 14] = [
    (
        "[[Hub]] and [[hub|it]]",
        "[[The Centre]] and [[The Centre|it]]",
    ),
    ("![[Hub]]\r\nnext\r\n", "![[The Centre]]\r\nnext\r\n"),
    ("[[Hub#A heading|there]]", "[[The Centre#A heading|there]]"),
    (
        "[[Knowledge/Hub#^block]]",
        "[[Knowledge/The Centre#^block]]",
    ),
    ("[x](Knowledge/Hub.md)", "[x](Knowledge/The%20Centre.md)"),
    ("[x](<Knowledge/Hub.md>)", "[x](<Knowledge/The Centre.md>)"),
    (
        "![x](Knowledge/Hub.md \"t\")",
        "![x](Knowledge/The%20Centre.md \"t\")",
    ),
    (
        "---\nup: \"[[Hub]]\" # why\n---\nbody",
        "---\nup: \"[[The Centre]]\" # why\n---\nbody",
    ),
    (
        "---\nup:\n  - '[[Hub|h]]'\n---\n",
        "---\nup:\n  - '[[The Centre|h]]'\n---\n",
    ),
    (
        "| a | b |\n|---|---|\n| [[Hub\\|h]] | x |\n",
        "| a | b |\n|---|---|\n| [[The Centre\\|h]] | x |\n",
    ),
    (
        "> [!note] [[Hub]]\n> - [ ] [[Hub]]\n",
        "> [!note] [[The Centre]]\n> - [ ] [[The Centre]]\n",
    ),
    (
        "[r]: Knowledge/Hub.md\n\nsee [r]",
        "[r]: Knowledge/The%20Centre.md\n\nsee [r]",
    ),
    ("\u{feff}一 [[Hub]] 二", "\u{feff}一 [[The Centre]] 二"),
    ("\t[[Other]] [[Hub]]  \n", "\t[[Other]] [[Hub]]  \n"),
];

/// Text that only looks like a link.
const DECOYS: [&str; 7] = [
    "`[[Hub]]`",
    "```\n[[Hub]]\n```\n",
    "%% [[Hub]] %%",
    "\\[[Hub]]",
    "Hub, the hub",
    "[[Hubs]] [[My Hub]] [[Other/Hub]]",
    "[x](https://example.org/Hub.md)",
];

#[test]
fn rename_updates_five_hundred_backlinks_and_nothing_else() {
    let place = Place::new();
    let mut expected = Vec::new();
    place.write(
        "Knowledge/Hub.md",
        "# A heading\ntext ^block [[#A heading]]\n",
    );
    for number in 0..500 {
        // A tab turns a line into code, so that form is a decoy; the file number keeps the others apart.
        let (before, after) = FORMS[number % (FORMS.len() - 1)];
        let path = format!("Notes/{}/Note {number}.md", number % 7);
        place.write(&path, before);
        expected.push((path, after.to_owned()));
    }
    for (number, decoy) in DECOYS.iter().enumerate() {
        let path = format!("Decoys/{number}.md");
        place.write(&path, decoy);
        expected.push((path, (*decoy).to_owned()));
    }
    let (indented, same) = FORMS[FORMS.len() - 1];
    place.write("Decoys/Code.md", indented);
    expected.push(("Decoys/Code.md".into(), same.to_owned()));

    let mut client = start_client(&place);
    wait_for_index(&mut client);
    let before = reply_of(
        &mut client,
        "link",
        json!({"action": "backlinks", "path": "Knowledge/Hub", "limit": 1}),
    );
    let renamed = reply_of(
        &mut client,
        "document",
        json!({"action": "rename", "path": "Knowledge/Hub", "to": "The Centre"}),
    );
    assert!(renamed.get("error").is_none(), "{renamed}");
    for (path, after) in &expected {
        let found = String::from_utf8(place.read(path).expect("it is there")).expect("text");
        assert_eq!(&found, after, "{path}");
    }
    assert_eq!(
        place.read("Knowledge/The Centre.md").as_deref(),
        Some("# A heading\ntext ^block [[#A heading]]\n".as_bytes())
    );
    assert_eq!(place.read("Knowledge/Hub.md"), None);
    // The index is up to date at once, and one undo restores everything.
    let after = reply_of(
        &mut client,
        "link",
        json!({"action": "backlinks", "path": "The Centre", "limit": 1}),
    );
    assert_eq!(before["total"], after["total"]);
    let undone = reply_of(
        &mut client,
        "document",
        json!({"action": "undo", "change": renamed["change"]}),
    );
    assert!(undone.get("error").is_none(), "{undone}");
    assert!(place.read("Knowledge/Hub.md").is_some());
    let again = reply_of(
        &mut client,
        "link",
        json!({"action": "backlinks", "path": "Knowledge/Hub", "limit": 1}),
    );
    assert_eq!(before["total"], again["total"]);
}
