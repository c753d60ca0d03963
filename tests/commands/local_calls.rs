//! Typed command lines, and their output at a terminal.

use super::{PLAN, Workspace, at_a_terminal, run};

#[test]
fn call_subcommand_is_optional() {
    let workspace = Workspace::new();
    let vault = workspace.vault();
    let read = workspace
        .run(&["document", "read", "--path", "Work/Plan", "--vault", &vault])
        .expect_success();
    assert_eq!(read.json()["content"], PLAN);
    let help = workspace
        .run(&["document", "read", "--help"])
        .expect_success();
    assert!(help.output.contains("--path"), "{help:#?}");
    let help = workspace
        .run(&["call", "document", "read", "--help"])
        .expect_success();
    assert!(help.output.contains("--path"), "{help:#?}");
    let help = workspace.run(&["document"]).expect_success();
    assert!(help.output.contains("read_section"), "{help:#?}");
    // A misspelt command is not taken for a domain.
    workspace
        .run(&["profle", "list"])
        .expect_failure(2, "profile");
    workspace
        .run(&["unheard", "of", "--vault", &vault])
        .expect_failure(1, "unheard");
}

#[test]
fn call_works_with_a_limited_address_space() {
    let workspace = Workspace::new();
    // 60 GB: enough for the memory of all guests, but not for their reserved address space.
    let limited = r#"ulimit -v 60000000 && exec "$0" "$@""#;
    let mut shell = std::process::Command::new("sh");
    workspace.cleanly(&mut shell);
    shell.args(["-c", limited, crate::support::program()]);
    shell.args(["document", "read", "--path", "Work/Plan"]);
    shell.args(["--vault", &workspace.vault()]);
    let read = run(&mut shell, "").expect_success();
    assert_eq!(read.json()["content"], PLAN);
}

#[test]
fn flag_values_are_parsed_according_to_the_schema() {
    let workspace = Workspace::new();
    let vault = workspace.vault();
    let call = |arguments: &[&str]| {
        workspace.run(&[arguments, &["--vault", &vault, "--allow", "rwd", "--yes"]].concat())
    };
    // Numbers, enum values, booleans, lists and objects.
    let read = call(&["document", "list", "--path", "Work", "--limit", "1"]).expect_success();
    assert_eq!(read.json()["items"].as_array().map(Vec::len), Some(1));
    call(&["document", "list", "--limit", "many"]).expect_failure(2, "an integer, not `many`");
    call(&["document", "list", "--format", "loud"]).expect_failure(1, "concise");
    let listed = call(&["document", "list", "--recursive", "--limit", "50"]).expect_success();
    assert!(listed.output.contains("Work/Sub/Deep.md"), "{listed:#?}");
    let listed = call(&["document", "list", "--recursive=false"]).expect_success();
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
    .expect_success();
    assert_eq!(removed.json()["changes"].as_array().map(Vec::len), Some(2));
    let removed = call(&[
        "document",
        "remove",
        "--paths",
        r#"["Top", "Work/Plan"]"#,
        "--dry-run",
    ])
    .expect_success();
    assert_eq!(removed.json()["changes"].as_array().map(Vec::len), Some(2));
    let edit = r#"{"old": "milk", "new": "tea"}"#;
    call(&["document", "edit", "--path", "Work/Plan", "--edits", edit]).expect_success();
    let after = workspace.place.read("Work/Plan.md").expect("the note");
    assert!(String::from_utf8_lossy(&after).contains("buy tea"));
    call(&["document", "read", "Work/Plan"])
        .expect_failure(2, "`notehost call document read --path Work/Plan`");
    call(&["document", "read", "--path"]).expect_failure(2, "`--path` needs a value");
}

#[test]
fn terminal_output_uses_tables_color_and_pager() {
    let workspace = Workspace::new();
    for number in 0..60 {
        workspace
            .place
            .write(&format!("Many/{number:02}.md"), "x\n");
    }
    let vault = workspace.vault();
    let list = [
        "document", "list", "--path", "Many", "--limit", "60", "--vault", &vault,
    ];
    let shown = |arguments: &[&str], pager: Option<&str>, no_colour: bool| {
        let mut command = workspace.program(&[&list[..], arguments].concat());
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
    // A custom pager shows that it was used.
    let pager = workspace.home().join("pager");
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
    // Output to a pipe has no color and no pager.
    let mut command = workspace.program(&list);
    command.env("PAGER", pager.as_ref());
    let piped = run(&mut command, "").expect_success();
    assert_eq!(piped.json()["items"].as_array().map(Vec::len), Some(60));
}

#[test]
fn similar_errors_have_the_same_exit_code() {
    let workspace = Workspace::new();
    // Unknown names: valid usage, but the command fails.
    for arguments in [
        &["token", "revoke", "nosuch"][..],
        &["approval", "show", "nosuch"],
        &["profile", "remove", "nosuch"],
        &["component", "enable", "nosuch"],
    ] {
        workspace.run(arguments).expect_failure(1, "nosuch");
    }
    for arguments in [
        &["token", "revoke"][..],
        &["profile", "add", "a"],
        &["connect", "emacs"],
    ] {
        assert_eq!(workspace.run(arguments).code, Some(2), "{arguments:?}");
    }
}
