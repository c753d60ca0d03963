//! Lines as people type them, and what they see at a terminal.

use super::{Desk, PLAN, at_a_terminal, run};

#[test]
fn the_word_call_may_be_left_out() {
    let desk = Desk::new();
    let vault = desk.vault();
    let read = desk
        .run(&["document", "read", "--path", "Work/Plan", "--vault", &vault])
        .well();
    assert_eq!(read.json()["content"], PLAN);
    let help = desk.run(&["document", "read", "--help"]).well();
    assert!(help.output.contains("--path"), "{help:#?}");
    let help = desk.run(&["call", "document", "read", "--help"]).well();
    assert!(help.output.contains("--path"), "{help:#?}");
    let help = desk.run(&["document"]).well();
    assert!(help.output.contains("read_section"), "{help:#?}");
    // A command that is misspelt is no domain.
    desk.run(&["profle", "list"]).failed(2, "profile");
    desk.run(&["unheard", "of", "--vault", &vault])
        .failed(1, "unheard");
}

#[test]
fn a_narrow_address_space_is_enough() {
    let desk = Desk::new();
    // 60 GB: room for what all guests together may use, and not for all that they could name.
    let limited = r#"ulimit -v 60000000 && exec "$0" "$@""#;
    let mut shell = std::process::Command::new("sh");
    desk.cleanly(&mut shell);
    shell.args(["-c", limited, env!("CARGO_BIN_EXE_notehost")]);
    shell.args(["document", "read", "--path", "Work/Plan"]);
    shell.args(["--vault", &desk.vault()]);
    let read = run(&mut shell, "").well();
    assert_eq!(read.json()["content"], PLAN);
}

#[test]
fn words_become_what_the_schema_asks_for() {
    let desk = Desk::new();
    let vault = desk.vault();
    let call = |words: &[&str]| {
        desk.run(&[words, &["--vault", &vault, "--allow", "rwd", "--yes"]].concat())
    };
    // Numbers, words of a list of words, truths, lists and objects.
    let read = call(&["document", "list", "--path", "Work", "--limit", "1"]).well();
    assert_eq!(read.json()["items"].as_array().map(Vec::len), Some(1));
    call(&["document", "list", "--limit", "many"]).failed(2, "an integer, not `many`");
    call(&["document", "list", "--format", "loud"]).failed(1, "concise");
    let listed = call(&["document", "list", "--recursive", "--limit", "50"]).well();
    assert!(listed.output.contains("Work/Sub/Deep.md"), "{listed:#?}");
    let listed = call(&["document", "list", "--recursive=false"]).well();
    assert!(!listed.output.contains("Deep"), "{listed:#?}");
    let removed = call(&[
        "document",
        "remove",
        "--paths",
        "Top",
        "--paths",
        "Work/Plan",
        "--dry-run",
    ])
    .well();
    assert_eq!(removed.json()["changes"].as_array().map(Vec::len), Some(2));
    let removed = call(&[
        "document",
        "remove",
        "--paths",
        r#"["Top", "Work/Plan"]"#,
        "--dry-run",
    ])
    .well();
    assert_eq!(removed.json()["changes"].as_array().map(Vec::len), Some(2));
    let edit = r#"{"old": "milk", "new": "tea"}"#;
    call(&["document", "edit", "--path", "Work/Plan", "--edits", edit]).well();
    let after = desk.place.read("Work/Plan.md").expect("the note");
    assert!(String::from_utf8_lossy(&after).contains("buy tea"));
    call(&["document", "read", "Work/Plan"])
        .failed(2, "`notehost call document read --path Work/Plan`");
    call(&["document", "read", "--path"]).failed(2, "`--path` needs a value");
}

#[test]
fn a_person_gets_tables_colour_and_a_pager() {
    let desk = Desk::new();
    for number in 0..60 {
        desk.place.write(&format!("Many/{number:02}.md"), "x\n");
    }
    let vault = desk.vault();
    let list = [
        "document", "list", "--path", "Many", "--limit", "60", "--vault", &vault,
    ];
    let shown = |words: &[&str], pager: Option<&str>, no_colour: bool| {
        let mut command = desk.program(&[&list[..], words].concat());
        if let Some(pager) = pager {
            command.env("PAGER", pager);
        }
        if no_colour {
            command.env("NO_COLOR", "1");
        }
        let (code, shown) = at_a_terminal(&mut command, "", "");
        assert_eq!(code, Some(0), "{shown}");
        shown
    };
    // A pager of our own shows that it was asked.
    let pager = desk.home().join("pager");
    std::fs::write(&pager, "#!/bin/sh\necho \"paged $(wc -l) lines\"\n").expect("a script");
    std::fs::set_permissions(&pager, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("a mode");
    let pager = pager.to_string_lossy();
    let paged = shown(&[], Some(&pager), false);
    assert!(
        paged.contains("paged 6") && !paged.contains("Many/00.md"),
        "{paged}"
    );
    let plain = shown(&["--no-pager"], Some(&pager), false);
    assert!(
        plain.contains("Many/59.md") && !plain.contains("paged"),
        "{plain}"
    );
    assert!(plain.contains("\x1b[1m"), "a heading is bold: {plain}");
    let plain = shown(&["--no-pager"], None, true);
    assert!(
        plain.contains("Many/59.md") && !plain.contains('\x1b'),
        "{plain}"
    );
    let json = shown(&["--no-pager", "--json-output"], None, false);
    assert!(json.contains("\"items\": ["), "{json}");
    // What is read by a program is never coloured nor paged.
    let mut command = desk.program(&list);
    command.env("PAGER", pager.as_ref());
    let piped = run(&mut command, "").well();
    assert_eq!(piped.json()["items"].as_array().map(Vec::len), Some(60));
}

#[test]
fn like_mistakes_end_alike() {
    let desk = Desk::new();
    // What is not there: the command was understood, and could not be done.
    for words in [
        &["token", "revoke", "nosuch"][..],
        &["approval", "show", "nosuch"],
        &["profile", "remove", "nosuch"],
        &["component", "enable", "nosuch"],
    ] {
        desk.run(words).failed(1, "nosuch");
    }
    for words in [
        &["token", "revoke"][..],
        &["profile", "add", "a"],
        &["connect", "emacs"],
    ] {
        assert_eq!(desk.run(words).code, Some(2), "{words:?}");
    }
}
