//! Which layer wins, and what is reported about it.

use super::*;

fn nothing(_: &str) -> Option<OsString> {
    None
}

fn config(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("notehost.toml");
    std::fs::write(&path, text).expect("a file");
    (folder, path)
}

fn given(path: &Path) -> Overrides {
    Overrides {
        config: Some(path.to_owned()),
        state: Some("/state".into()),
        ..Overrides::default()
    }
}

#[test]
fn flags_override_variables_override_file_override_defaults() {
    let (_folder, path) =
        config("tool_surface = 'flat'\nconfirm = 'never'\n[permissions]\ndefault = 'rw'\n");
    let variables = |name: &str| match name {
        "NOTEHOST_ALLOW" => Some("none".into()),
        "NOTEHOST_SURFACE" => Some("split".into()),
        "NOTEHOST_LOG" => Some("".into()),
        _ => None,
    };
    let flags = Overrides {
        allow: Some(Tier::Delete),
        ..given(&path)
    };
    let loaded = load(flags, &variables).expect("settings");
    assert_eq!(loaded.settings.permissions.default, Tier::Delete);
    assert_eq!(loaded.settings.surface, Surface::Split);
    assert_eq!(loaded.settings.confirm, Confirm::Never);
    assert_eq!(loaded.settings.history.keep_days, 90);
    assert_eq!(
        loaded.origin("permissions.default"),
        Origin::Flag("--allow")
    );
    assert_eq!(
        loaded.origin("tool_surface"),
        Origin::Variable("NOTEHOST_SURFACE")
    );
    assert_eq!(loaded.origin("confirm"), Origin::File(2));
    assert_eq!(loaded.origin("history.keep_days"), Origin::Default);
    assert_eq!(loaded.origin("log"), Origin::Default);
}

#[test]
fn every_value_is_shown_with_its_origin() {
    let (_folder, path) =
        config("[[vaults]]\nid = 'a'\npath = '/a'\n[permissions.notebooks]\n'My Work' = 'rw'\n");
    let loaded = load(given(&path), &nothing).expect("settings");
    let shown = loaded.values();
    let find = |key: &str| shown.iter().find(|shown| shown.key == key).expect(key);
    assert_eq!(
        find("permissions.notebooks.\"My Work\"").origin,
        Origin::File(5)
    );
    assert_eq!(find("vaults[0].path").value, "/a");
    assert_eq!(find("limits.call_ms").origin, Origin::Default);
    assert_eq!(find("state").origin, Origin::Flag("--state"));
    assert_eq!(find("http").value, Value::Null);
}

#[test]
fn a_vault_on_the_command_line_replaces_the_configured_ones() {
    let (folder, path) =
        config("[[vaults]]\nid = 'a'\npath = 'one'\n[[vaults]]\nid = 'b'\npath = 'two'\n");
    let with = |vault: PathBuf| {
        let flags = Overrides {
            vault: Some(vault),
            ..given(&path)
        };
        load(flags, &nothing).expect("settings").settings.vaults
    };
    let entry = |id: &str, path: PathBuf| {
        vec![VaultEntry {
            id: id.into(),
            path,
            ..VaultEntry::default()
        }]
    };
    assert_eq!(with("b".into()), entry("b", folder.path().join("two")));
    assert_eq!(
        with(folder.path().join("one")),
        entry("a", folder.path().join("one"))
    );
    assert_eq!(with("/other".into()), entry("main", "/other".into()));
}

#[test]
fn the_lines_of_a_selected_vault_and_the_default_one_are_those_of_the_file() {
    let (_folder, path) = config(
        "[[vaults]]\nid = 'a'\npath = 'one'\n[[vaults]]\nid = 'b'\npath = 'two'\n[vaults.permissions]\ndefault = 'rw'\n",
    );
    let with = |vault: Option<&str>| {
        let flags = Overrides {
            vault: vault.map(PathBuf::from),
            ..given(&path)
        };
        load(flags, &nothing).expect("settings")
    };
    let all = with(None);
    assert_eq!(all.settings.default_vault(), Some("a"));
    let default = all.values().into_iter();
    let default = default.filter(|shown| shown.key == "default_vault");
    let default: Vec<(Value, Origin)> = default.map(|one| (one.value, one.origin)).collect();
    assert_eq!(default, [("a".into(), Origin::Default)]);
    let only = with(Some("b"));
    assert_eq!(only.settings.default_vault(), Some("a"));
    assert_eq!(
        only.origin("vaults[0].permissions.default"),
        Origin::File(8)
    );
    assert_eq!(only.origin("vaults[0].read_only"), Origin::Flag("VAULT"));
    let other = with(Some("/elsewhere"));
    assert_eq!(other.origin("vaults[0].path"), Origin::Flag("VAULT"));
}

#[test]
fn an_invalid_variable_is_reported_by_name() {
    let variables = |name: &str| (name == "NOTEHOST_ALLOW").then(|| "all".into());
    let error = load(Overrides::default(), &variables).expect_err("refused");
    assert_eq!(
        error.to_string(),
        "variable NOTEHOST_ALLOW: `all` is not a tier: expected `none`, `r`, `rw` or `rwd`"
    );
}

#[test]
fn a_specified_config_file_must_exist() {
    let error = load(given(Path::new("/nowhere/notehost.toml")), &nothing).expect_err("refused");
    assert!(
        error
            .to_string()
            .starts_with("/nowhere/notehost.toml: cannot read")
    );
    assert!(
        error
            .hint()
            .is_some_and(|hint| hint.contains("config init"))
    );
}

#[test]
fn vault_errors_report_their_line() {
    let (_folder, path) = config("\n[[vaults]]\nid = 'a'\npath = 'gone'\n");
    let error = load(given(&path), &nothing)
        .expect("settings")
        .check()
        .expect_err("refused");
    assert_eq!(error.line(), Some(4));
}

#[test]
fn require_signed_flag_only_tightens_the_config() {
    let (_folder, path) = config("[trust]\nrequire_signed = true\n");
    let loaded = load(given(&path), &nothing).expect("settings");
    assert!(loaded.settings.trust.require_signed);
    assert_eq!(loaded.origin("trust.require_signed"), Origin::File(2));
    let (_folder, path) = config("");
    let flags = Overrides {
        require_signed: true,
        ..given(&path)
    };
    let loaded = load(flags, &nothing).expect("settings");
    assert!(loaded.settings.trust.require_signed);
    assert_eq!(
        loaded.origin("trust.require_signed"),
        Origin::Flag("--require-signed")
    );
}
