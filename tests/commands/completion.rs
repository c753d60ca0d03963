//! Shell completion of command lines, triggered by a key press. A shell that is not installed is skipped, unless
//! `NOTEHOST_REQUIRE_SHELLS=1`.

use std::path::Path;
use std::process::Command;

use notehost::vault::Tier;

use super::{Workspace, at_a_terminal, run, skip};

/// The shells.
const SHELLS: [&str; 3] = ["bash", "zsh", "fish"];

fn is_installed(shell: &str) -> bool {
    let found = Command::new(shell).arg("--version").output().is_ok();
    if !found {
        skip(
            &format!("{shell} is not installed"),
            "NOTEHOST_REQUIRE_SHELLS",
        );
    }
    found
}

/// A shell with a clean home folder and the program on its path.
fn shell(workspace: &Workspace, shell: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(shell);
    workspace.cleanly(&mut command);
    let program = Path::new(crate::support::program());
    let folder = program.parent().expect("a folder").to_string_lossy();
    let path = std::env::var("PATH").unwrap_or_default();
    command
        .env("PATH", format!("{folder}:{path}"))
        .args(arguments);
    command
}

/// The candidates for a line, as reported by the shell's completion function, without trailing spaces.
fn completions(workspace: &Workspace, name: &str, line: &str) -> Vec<String> {
    let command = match name {
        "bash" => shell(
            workspace,
            "bash",
            &[
                "--norc",
                "-c",
                r#"source <(notehost completions bash)
                COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDS=(notehost) COMP_CWORD=0
                _notehost && printf '%s\n' "${COMPREPLY[@]}""#,
                "bash",
                line,
            ],
        ),
        "zsh" => shell(
            workspace,
            "zsh",
            &[
                "-f",
                "-c",
                r#"compdef() { : }
                compadd() { (( ${#${(P)@[-1]}} )) && print -rl -- "${(@P)@[-1]}" }
                source <(notehost completions zsh)
                words=("${(@z)1}") PREFIX=""
                if [[ $1 == *" " ]]; then words+=(""); else PREFIX=$words[-1]; fi
                CURRENT=$#words
                _notehost"#,
                "zsh",
                line,
            ],
        ),
        "fish" => shell(
            workspace,
            "fish",
            &[
                "--no-config",
                "-c",
                "notehost completions fish | source; complete -C $argv[1]",
                line,
            ],
        ),
        other => panic!("no shell {other}"),
    };
    let mut command = command;
    let result = run(&mut command, "");
    assert_eq!(result.errors, "", "{name}: {line}: {result:#?}");
    let values = result.output.lines().map(|line| {
        let value = line.split('\t').next().unwrap_or_default();
        value.trim_end().to_owned()
    });
    values.filter(|value| !value.is_empty()).collect()
}

#[track_caller]
fn assert_completions(workspace: &Workspace, shell: &str, line: &str, expected: &[&str]) {
    let mut found = completions(workspace, shell, line);
    found.sort();
    assert_eq!(found, expected, "{shell}: {line}");
}

#[test]
fn commands_domains_actions_and_values_are_completed() {
    let workspace = Workspace::new();
    let vault = workspace.vault();
    for shell in SHELLS.into_iter().filter(|shell| is_installed(shell)) {
        assert_completions(&workspace, shell, "notehost prof", &["profile"]);
        assert_completions(&workspace, shell, "notehost docum", &["document"]);
        assert_completions(&workspace, shell, "notehost profile re", &["remove"]);
        assert_completions(&workspace, shell, "notehost call docum", &["document"]);
        assert_completions(
            &workspace,
            shell,
            "notehost call document read_s",
            &["read_section"],
        );
        assert_completions(
            &workspace,
            shell,
            "notehost document read_s",
            &["read_section"],
        );
        assert_completions(
            &workspace,
            shell,
            "notehost help document read_s",
            &["read_section"],
        );
        assert_completions(
            &workspace,
            shell,
            "notehost call document read --pat",
            &["--path"],
        );
        assert_completions(
            &workspace,
            shell,
            "notehost call document read --json-",
            &["--json-output"],
        );
        assert_completions(
            &workspace,
            shell,
            "notehost call document list --format ",
            &["concise", "detailed"],
        );
        assert_completions(
            &workspace,
            shell,
            "notehost serve --surface f",
            &["finder", "flat"],
        );
        assert_completions(
            &workspace,
            shell,
            "notehost call document list --allow r",
            &["r", "rw", "rwd"],
        );
        assert_completions(
            &workspace,
            shell,
            "notehost connect claude-",
            &["claude-code", "claude-desktop"],
        );
        let line = format!("notehost serve {}", &vault[..vault.len() - 1]);
        assert_completions(&workspace, shell, &line, &[&format!("{vault}/")]);
        // A flag that was given is not offered again, unless it takes a list.
        let candidates = completions(&workspace, shell, "notehost call document read --path x --");
        assert!(
            !candidates.contains(&"--path".to_owned()),
            "{shell}: {candidates:?}"
        );
        let candidates = completions(
            &workspace,
            shell,
            "notehost call document remove --paths x --pa",
        );
        assert_eq!(candidates, ["--paths"], "{shell}");
        // Hidden and unknown commands are not offered.
        assert_completions(&workspace, shell, "notehost complet", &["completions"]);
        assert_completions(&workspace, shell, "notehost nothing at all ", &[]);
    }
}

#[test]
fn only_visible_notes_are_completed() {
    let workspace = Workspace::new();
    let mut settings = workspace.place.settings();
    settings
        .permissions
        .notebooks
        .insert("Diary".into(), Tier::None);
    let config = workspace.place.config_file(&settings);
    let vault = workspace.vault();
    for shell in SHELLS.into_iter().filter(|shell| is_installed(shell)) {
        let read = format!("notehost call document read --vault {vault} --path ");
        assert_completions(&workspace, shell, &read, &["Diary/", "Top.md", "Work/"]);
        assert_completions(
            &workspace,
            shell,
            &format!("{read}Work/P"),
            &["Work/Plan.md"],
        );
        assert_completions(
            &workspace,
            shell,
            &format!("{read}Work/Sub/"),
            &["Work/Sub/Deep.md"],
        );
        assert_completions(&workspace, shell, &format!("{read}.ob"), &[]);
        assert_completions(&workspace, shell, &format!("{read}.obsidian/"), &[]);
        assert_completions(&workspace, shell, &format!("{read}../"), &[]);
        let folder = format!("notehost call database add_rows --vault {vault} --folder ");
        assert_completions(&workspace, shell, &folder, &["Diary/", "Work/"]);
        let notebook = format!("notehost notebook get --vault {vault} --notebook ");
        assert_completions(&workspace, shell, &notebook, &["Diary", "Work"]);
        // A notebook that is hidden from the caller is not offered.
        let config = config.to_string_lossy();
        let read = format!("notehost call document read --config {config} --path ");
        assert_completions(&workspace, shell, &read, &["Top.md", "Work/"]);
        assert_completions(&workspace, shell, &format!("{read}Diary/"), &[]);
    }
}

#[test]
fn profiles_are_completed() {
    let workspace = Workspace::new();
    workspace
        .run(&["profile", "add", "team", "https://notes.example"])
        .expect_success();
    for shell in SHELLS.into_iter().filter(|shell| is_installed(shell)) {
        assert_completions(&workspace, shell, "notehost profile use ", &["team"]);
        assert_completions(&workspace, shell, "notehost call --profile t", &["team"]);
    }
}

/// The line after the completion key is pressed in a shell at a terminal.
fn completed(workspace: &Workspace, name: &str, line: &str) -> String {
    let home = workspace.home();
    let write = |file: &str, text: &str| std::fs::write(home.join(file), text).expect("a file");
    let mut command = match name {
        "bash" => {
            write(
                ".bashrc",
                "PS1='READY> '\nsource <(notehost completions bash)\n",
            );
            shell(workspace, "bash", &["-i"])
        }
        "zsh" => {
            write(
                ".zshrc",
                "PS1='READY> '\nautoload -U compinit\ncompinit -u -D\nsource <(notehost completions zsh)\n",
            );
            shell(workspace, "zsh", &["-i"])
        }
        other => panic!("no terminal for {other}"),
    };
    command.env("ZDOTDIR", &home).env("TERM", "dumb");
    // The completed line is printed instead of run.
    let types = format!("{line}\t\x01echo \"<\" \x05 \">\"\nexit\n");
    let (_, shown) = at_a_terminal(&mut command, "READY> ", &types);
    shown
}

#[test]
fn tab_key_completes_names_with_spaces() {
    let workspace = Workspace::new();
    let vault = workspace.vault();
    for shell in ["bash", "zsh"]
        .into_iter()
        .filter(|shell| is_installed(shell))
    {
        let line = format!("notehost document read --vault {vault} --path Work/My");
        let shown = completed(&workspace, shell, &line);
        let expected =
            format!("< notehost document read --vault {vault} --path Work/My list (1).md >");
        let shown = shown.replace("\r\n", "\n");
        assert!(shown.contains(&expected), "{shell}: {shown}");
    }
    if is_installed("bash") {
        for (typed, completed_to) in [
            ("--path=Work/P", "--path=Work/Plan.md"),
            ("--path 'Work/My l", "--path Work/My list (1).md"),
        ] {
            let line = format!("notehost document read --vault {vault} {typed}");
            let shown = completed(&workspace, "bash", &line).replace("\r\n", "\n");
            assert!(
                shown.contains(&format!("{completed_to} >")),
                "{typed}: {shown}"
            );
        }
    }
}
