//! Edits keep everything else in the file, and invalid ones are not written.

use super::*;

fn edited(text: &str, change: impl FnOnce(&mut Edit)) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("n.toml");
    std::fs::write(&file, text).expect("a file");
    let mut edit = Edit::open(&file, false).expect("it can be read");
    change(&mut edit);
    let flags = Overrides {
        state: Some(folder.path().join("state")),
        ..Overrides::default()
    };
    edit.save(&flags).expect("it can be written");
    std::fs::read_to_string(&file).expect("the file")
}

#[test]
fn setting_a_tier_keeps_everything_else() {
    let text = "# mine\nconfirm = 'never' # yes\n\n[permissions.notebooks]\n# work\nWork = 'r' # for now\n\n[rates]\nread = 1_000\n";
    let set = |notebook: &'static str| {
        move |edit: &mut Edit| {
            edit.set_tier(TierScope::default(), Some(notebook), Tier::Write)
                .expect("set")
        }
    };
    assert_eq!(edited(text, set("work")), text.replace("'r'", "\"rw\""));
    assert_eq!(
        edited(text, set("My Own")),
        text.replace("for now\n", "for now\n\"My Own\" = \"rw\"\n")
    );
}

#[test]
fn missing_tables_are_created_and_inline_ones_stay_inline() {
    let set = |edit: &mut Edit| {
        let phone = TierScope {
            caller: Some("phone"),
            vault: None,
        };
        edit.set_tier(phone, Some("Work"), Tier::Read).expect("set");
        edit.set_tier(phone, None, Tier::None).expect("set");
    };
    let made = edited("", set);
    assert_eq!(
        made,
        "[callers.phone.permissions]\ndefault = \"none\"\n\n[callers.phone.permissions.notebooks]\nWork = \"r\"\n"
    );
    let kept = edited("callers = { phone = { scopes = ['read'] } }\n", set);
    let settings: super::super::Settings = toml::from_str(&kept).expect("settings");
    assert_eq!(
        settings.callers["phone"].permissions.notebooks["Work"],
        Tier::Read
    );
    assert!(settings.callers["phone"].scopes.is_some());
}

#[test]
fn read_only_is_set_for_all_or_one_vault() {
    assert_eq!(
        edited("", |edit| edit.set_read_only(None, true).expect("set")),
        "read_only = true\n"
    );
    let folder = tempfile::tempdir().expect("a folder");
    let text = format!(
        "[[vaults]]\nid = 'a'\npath = '{}'\n",
        folder.path().display()
    );
    let closed = edited(&text, |edit| {
        assert!(edit.set_read_only(Some("b"), true).is_err());
        edit.set_read_only(Some("a"), true).expect("set");
    });
    assert_eq!(closed, format!("{text}read_only = true\n"));
}

#[test]
fn tiers_of_a_vault_are_set_in_its_entry() {
    let (one, two) = (
        tempfile::tempdir().expect("a folder"),
        tempfile::tempdir().expect("a folder"),
    );
    let (one, two) = (one.path().display(), two.path().display());
    let set = |edit: &mut Edit| {
        let archive = TierScope {
            vault: Some("archive"),
            caller: None,
        };
        let phone = TierScope {
            caller: Some("phone"),
            ..archive
        };
        edit.set_tier(archive, Some("Work"), Tier::Read)
            .expect("set");
        edit.set_tier(archive, None, Tier::None).expect("set");
        edit.set_tier(phone, None, Tier::Write).expect("set");
        let unknown = TierScope {
            vault: Some("archvie"),
            caller: None,
        };
        assert!(edit.set_tier(unknown, None, Tier::Write).is_err());
    };
    for text in [
        format!(
            "[[vaults]]\nid = 'work'\npath = '{one}'\n\n[[vaults]]\nid = 'archive' # old\npath = '{two}'\n\n[rates]\nread = 5\n"
        ),
        format!(
            "vaults = [{{ id = 'work', path = '{one}' }}, {{ id = 'archive', path = '{two}' }}]\n\n[rates]\nread = 5\n"
        ),
    ] {
        let text = edited(&text, set);
        let settings: super::super::Settings = toml::from_str(&text).expect(&text);
        let [work, archive] = &settings.vaults[..] else {
            panic!("{text}");
        };
        assert!(
            work.permissions.is_empty() && work.callers.is_empty(),
            "{text}"
        );
        assert_eq!(archive.permissions.notebooks["Work"], Tier::Read, "{text}");
        assert_eq!(archive.permissions.default, Some(Tier::None), "{text}");
        let phone = &archive.callers["phone"].permissions;
        assert_eq!(phone.default, Some(Tier::Write), "{text}");
        assert_eq!(settings.rates.read, 5, "{text}");
    }
}

#[test]
fn a_grant_is_replaced_and_removed_as_a_whole() {
    let grant = GrantSettings {
        read: vec!["Work/**".into()],
        http: vec!["api.example.com".into()],
        store_bytes: Some(1000),
        ..GrantSettings::default()
    };
    let limits = ComponentLimits {
        call_ms: Some(500),
        ..ComponentLimits::default()
    };
    let text = "[components.todo]\nenabled = false # mine\n";
    let granted = edited(text, |edit| {
        edit.set_grant("todo", &grant).expect("set");
        edit.set_limits("todo", &limits).expect("set");
    });
    let settings: super::super::Settings = toml::from_str(&granted).expect("settings");
    assert_eq!(settings.components["todo"].grant, grant);
    assert_eq!(settings.components["todo"].limits, limits);
    let narrower = edited(&granted, |edit| {
        let nothing = GrantSettings::default();
        edit.set_grant("todo", &nothing).expect("set");
        edit.set_limits("todo", &ComponentLimits::default())
            .expect("set");
    });
    assert!(!narrower.contains("http") && !narrower.contains("limits"));
    let revoked = edited(&granted, |edit| {
        edit.remove_grant("todo").expect("removed");
        edit.set_limits("todo", &ComponentLimits::default())
            .expect("set");
    });
    assert_eq!(revoked, text);
}

#[test]
fn the_reason_is_removed_when_switched_on() {
    let off = SwitchReason {
        because: Some("too \"loud\"".into()),
        by: Some("ana".into()),
    };
    let text = "[components.echo.grant]\nread = ['**'] # all\n";
    let done = edited(text, |edit| {
        edit.set_enabled("echo", None, Some(&off)).expect("set");
        edit.set_enabled("echo", Some("say"), Some(&off))
            .expect("set");
    });
    let settings: super::super::Settings = toml::from_str(&done).expect("settings");
    let echo = &settings.components["echo"];
    assert_eq!(
        (echo.enabled, &echo.because, &echo.by),
        (false, &off.because, &off.by)
    );
    assert_eq!((echo.actions["say"], &echo.reasons["say"]), (false, &off));
    let undone = edited(&done, |edit| {
        edit.set_enabled("echo", None, None).expect("set");
        edit.set_enabled("echo", Some("say"), None).expect("set");
    });
    assert!(
        !undone.contains("loud") && !undone.contains("reasons"),
        "{undone}"
    );
    // What it was granted is as it was.
    assert!(undone.contains("read = ['**'] # all"), "{undone}");
}

#[test]
fn invalid_edits_are_not_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("n.toml");
    std::fs::write(&file, "read_only = false\n").expect("a file");
    let mut edit = Edit::open(&file, false).expect("it can be read");
    edit.set_tier(TierScope::default(), Some("Work/Private"), Tier::None)
        .expect("set");
    let flags = Overrides {
        state: Some(folder.path().join("state")),
        ..Overrides::default()
    };
    let error = edit.save(&flags).expect_err("refused");
    assert!(error.to_string().contains("not a notebook"), "{error}");
    assert_eq!(
        std::fs::read_to_string(&file).expect("the file"),
        "read_only = false\n"
    );
}
