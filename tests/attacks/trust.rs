//! Code and files that are checked before they are trusted: signatures at load, compiled code that others could have
//! written, secrets that others can read, components inside a vault, and text that would deceive a reader at a
//! terminal.

use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use notehost::config::{PublisherSettings, Settings};
use serde_json::{Value, json};

use crate::commands::at_a_terminal;
use crate::support::client::{Client, error_code};
use crate::support::guests::guest;
use crate::support::http::wait_until;
use crate::support::issuer::{AUDIENCE, SECRET, key_file};
use crate::support::place::{Place, component};
use crate::support::signer::Signer;

fn program(place: &Place, arguments: &[&str]) -> Command {
    let mut command = Command::new(crate::support::program());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("NOTEHOST_") {
            command.env_remove(name);
        }
    }
    command
        .args(arguments)
        .arg("--config")
        .arg(place.root().join("notehost.toml"))
        .env("HOME", place.outside())
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("XDG_STATE_HOME")
        .env("NOTEHOST_STATE", place.state());
    command
}

fn run(place: &Place, arguments: &[&str]) -> Output {
    program(place, arguments)
        .output()
        .expect("the program runs")
}

/// Runs a command that must succeed; returns its output, parsed as JSON if possible.
#[track_caller]
fn succeed(place: &Place, arguments: &[&str]) -> Value {
    let output = run(place, arguments);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {text}");
    serde_json::from_slice(&output.stdout).unwrap_or_default()
}

/// Runs a command that must fail with this code and reason.
#[track_caller]
fn fail(place: &Place, arguments: &[&str], code: i32, reason: &str) {
    let output = run(place, arguments);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
    assert!(text.contains(reason), "missing `{reason}`: {text}");
}

/// The entry of `steady` in `component list`.
fn list_entry(place: &Place) -> Value {
    let report = succeed(place, &["component", "list"]);
    let items = report["items"].as_array().expect("a list");
    let found = items.iter().find(|item| item["name"] == "steady");
    found.cloned().unwrap_or_default()
}

fn text(path: &Path) -> String {
    path.to_str().expect("a path of text").to_owned()
}

fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("a mode");
}

/// A vault, a folder of components and a publisher.
struct TrustSetup {
    place: Place,
    ana: Signer,
    settings: Settings,
}

impl TrustSetup {
    fn new() -> TrustSetup {
        let place = Place::new();
        let ana = Signer::number(7);
        let mut settings = place.settings();
        settings.trust.publishers = vec![PublisherSettings {
            name: "ana".into(),
            key: ana.public_key(),
            components: None,
        }];
        TrustSetup {
            place,
            ana,
            settings,
        }
    }

    fn require_signed(&mut self, is_required: bool) {
        self.settings.trust.require_signed = is_required;
        self.place.config_file(&self.settings);
    }

    /// A file with this version of `steady`, with its signature beside it if `is_signed`.
    fn file(&self, folder: &Path, version: &str, is_signed: bool) -> PathBuf {
        let file = folder.join("steady.wasm");
        let new = folder.join("steady.new");
        let bytes = std::fs::read(guest(&format!("steady_{version}"))).expect("a guest");
        let beside = folder.join("steady.wasm.minisig");
        match is_signed {
            true => std::fs::write(beside, self.ana.sign(&bytes, version)).expect("a signature"),
            false => drop(std::fs::remove_file(beside)),
        }
        std::fs::write(&new, bytes).expect("a file");
        std::fs::rename(&new, &file).expect("renamed");
        file
    }
}

#[test]
fn unsigned_component_file_is_not_loaded() {
    let mut setup = TrustSetup::new();
    let folder = setup.place.outside().join("components");
    std::fs::create_dir(&folder).expect("a folder");
    setup.settings.component_folder = Some(folder.clone());
    setup.require_signed(true);
    setup.file(&folder, "one", false);
    let found = list_entry(&setup.place);
    assert_eq!(found["enabled"], false, "{found}");
    let problem = found["problem"].as_str().expect("a problem");
    assert!(problem.contains("not signed"), "{problem}");
    let hint = found["hint"].as_str().expect("a hint");
    assert!(hint.contains("FILE.minisig"), "{hint}");
    let doctor = run(&setup.place, &["doctor", "--json-output"]);
    let doctor = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(doctor.contains("steady: it is not signed"), "{doctor}");

    setup.file(&folder, "one", true);
    assert_eq!(list_entry(&setup.place)["version"], "1.0.0");
    let config = setup.place.root().join("notehost.toml");
    let mut client = Client::start(&config, &setup.place.state());
    let say = |client: &mut Client| client.call("steady.say", json!({"text": "a"}));
    let answers = |client: &mut Client| say(client)["structuredContent"]["version"].clone();
    assert_eq!(answers(&mut client), 1);

    // An unsigned file in its place: the running version stays.
    setup.file(&folder, "two", false);
    wait_until("the problem is reported", || {
        list_entry(&setup.place)["problem"].is_string()
    });
    assert_eq!(answers(&mut client), 1);
    // A signature that is added later is picked up.
    setup.file(&folder, "two", true);
    wait_until("the second version answers", || answers(&mut client) == 2);

    // A publisher that is no longer trusted: the running version is unloaded as well.
    setup.settings.trust.publishers[0].key = Signer::number(8).public_key();
    setup.place.config_file(&setup.settings);
    wait_until("it is gone", || {
        error_code(&say(&mut client)) == Some("not_found")
    });
    let found = list_entry(&setup.place);
    let problem = found["problem"].as_str().expect("a problem");
    assert!(
        problem.contains("does not belong to a trusted publisher"),
        "{problem}"
    );
}

#[test]
fn installed_components_are_verified_at_every_load() {
    let mut setup = TrustSetup::new();
    setup.require_signed(false);
    let folder = setup.place.outside();
    let one = text(&setup.file(&folder, "one", false));
    succeed(&setup.place, &["component", "add", &one]);
    let two = text(&setup.file(&folder, "two", true));
    succeed(&setup.place, &["component", "upgrade", "steady", &two]);
    assert_eq!(list_entry(&setup.place)["version"], "2.0.0");

    // The previous version was never signed, so a rollback is refused.
    setup.require_signed(true);
    assert_eq!(list_entry(&setup.place)["version"], "2.0.0");
    let rollback = ["component", "rollback", "steady"];
    fail(&setup.place, &rollback, 1, "no signature was stored");
    assert_eq!(list_entry(&setup.place)["version"], "2.0.0");

    // An older signed version needs an explicit downgrade flag.
    let one = text(&setup.file(&folder, "one", true));
    let older = ["component", "upgrade", "steady", &one, "--yes"];
    fail(&setup.place, &older, 1, "older than 2.0.0");
    assert_eq!(list_entry(&setup.place)["version"], "2.0.0");
    let allowed = [&older[..], &["--allow-downgrade"]].concat();
    succeed(&setup.place, &allowed);
    assert_eq!(list_entry(&setup.place)["version"], "1.0.0");
    succeed(&setup.place, &rollback);
    assert_eq!(list_entry(&setup.place)["version"], "2.0.0");
    let inspected = succeed(&setup.place, &["component", "inspect", "steady"]);
    let signature = inspected["signature"].as_str().expect("words");
    assert!(signature.starts_with("signed by ana"), "{signature}");

    // A store of an earlier version of Notehost, without signatures.
    let contents = setup.place.state().join("components/contents");
    for entry in std::fs::read_dir(contents).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|end| end == "minisig") {
            std::fs::remove_file(path).expect("removed");
        }
    }
    let found = list_entry(&setup.place);
    assert_eq!(found["enabled"], false, "{found}");
    let hint = found["hint"].as_str().expect("a hint");
    assert!(hint.contains("install it again"), "{hint}");
    let two = text(&setup.file(&folder, "two", true));
    succeed(&setup.place, &["component", "upgrade", "steady", &two]);
    assert_eq!(list_entry(&setup.place)["version"], "2.0.0");
}

#[test]
fn compiled_code_writable_by_others_is_not_run() {
    let setup = TrustSetup::new();
    setup.place.config_file(&setup.settings);
    let place = &setup.place;
    // A separate cache of compiled code, so that other tests are not affected.
    let compiled = place.state().join("compiled");
    std::fs::remove_file(&compiled).expect("the link to the shared folder");
    std::fs::create_dir(&compiled).expect("a folder");
    let code_of = |version: &str| {
        let file = text(&guest(&format!("steady_{version}")));
        let digest = succeed(place, &["component", "inspect", &file])["digest"].clone();
        let digest = digest.as_str().expect("a digest").replace("sha256:", "");
        let found = std::fs::read_dir(&compiled).expect("a folder");
        let mut found = found.map(|entry| entry.expect("an entry").path());
        let is_it = |path: &PathBuf| {
            let name = path.file_name().expect("a name").to_string_lossy();
            name.starts_with(&digest) && !name.ends_with(".digest")
        };
        found.find(is_it).expect("compiled code")
    };
    let say = ["call", "steady", "say", "--text", "a"];
    let (one, two) = (guest("steady_one"), guest("steady_two"));
    succeed(place, &["component", "add", &text(&one)]);
    succeed(place, &["component", "upgrade", "steady", &text(&two)]);
    succeed(place, &["component", "rollback", "steady"]);
    assert_eq!(succeed(place, &say)["version"], 1);

    // Valid code of another component under a matching digest: only the file's permissions reveal that it is forged.
    let forged = std::fs::read(code_of("two")).expect("code");
    let victim = code_of("one");
    let beside = PathBuf::from(format!("{}.digest", victim.display()));
    let plant = || {
        let mut hasher = blake3::Hasher::new();
        hasher.update(victim.file_name().expect("a name").as_encoded_bytes());
        hasher.update(&[0]);
        hasher.update(&forged);
        std::fs::write(&victim, &forged).expect("code");
        std::fs::write(&beside, hasher.finalize().as_bytes()).expect("a digest");
    };
    plant();
    mode(&victim, 0o666);
    assert_eq!(succeed(place, &say)["version"], 1, "it was compiled again");
    let replaced = std::fs::metadata(&victim).expect("a file").permissions();
    assert_eq!(replaced.mode() & 0o777, 0o600);
    assert_ne!(std::fs::read(&victim).expect("code"), forged);

    plant();
    mode(&compiled, 0o777);
    assert_eq!(succeed(place, &say)["version"], 1, "the folder was open");

    plant();
    let elsewhere = place.outside().join("code");
    std::fs::rename(&victim, &elsewhere).expect("renamed");
    symlink(&elsewhere, &victim).expect("a link");
    assert_eq!(succeed(place, &say)["version"], 1, "a link is not followed");

    // A file of another user; only root can create one.
    plant();
    if chown(&victim, Some(65534), None).is_ok() {
        assert_eq!(succeed(place, &say)["version"], 1, "it belonged to another");
    }
}

#[test]
fn secrets_readable_by_others_are_rejected() {
    let place = Place::new();
    let secret = place.root().join("secret");
    std::fs::write(&secret, SECRET).expect("a file");
    let mut settings = place.settings();
    settings.auth.resource = Some(AUDIENCE.into());
    settings.auth.jwt.secret_file = Some(secret.clone());
    place.config_file(&settings);
    let serve = ["serve", "--http", "127.0.0.1:0"];
    mode(&secret, 0o640);
    let mends = format!("chmod 600 {}", secret.display());
    fail(&place, &serve, 3, &mends);
    let doctor = run(&place, &["doctor", "--json-output"]);
    let doctor = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(doctor.contains(&mends), "{doctor}");
    mode(&secret, 0o600);
    succeed(&place, &["config", "validate"]);

    let key = place.root().join("key.pem");
    std::fs::copy(key_file("tls-first.key.pem"), &key).expect("a key");
    mode(&key, 0o644);
    settings.http.tls_cert = Some(key_file("tls-first.cert.pem"));
    settings.http.tls_key = Some(key.clone());
    place.config_file(&settings);
    fail(&place, &serve, 3, &format!("chmod 600 {}", key.display()));
}

#[test]
fn components_keys_and_config_inside_a_vault_are_rejected() {
    let place = Place::new();
    let (vault, outside) = (place.vault(), place.outside());
    std::fs::create_dir(vault.join("tools")).expect("a folder");
    std::fs::copy(guest("steady_one"), vault.join("tools/steady.wasm")).expect("a copy");
    symlink(vault.join("tools"), outside.join("link")).expect("a link");
    symlink(vault.join("later"), outside.join("dangling")).expect("a link");
    let list = ["call", "document", "list"];
    for folder in [
        vault.clone(),
        vault.join("tools"),
        outside.join("link"),
        outside.join("dangling"),
        outside.join("../vault/tools"),
        outside.join("missing/../../vault/tools"),
    ] {
        let mut settings = place.settings();
        settings.component_folder = Some(folder.clone());
        place.config_file(&settings);
        fail(&place, &list, 3, "where note tools could write code");
        let mut settings = place.settings();
        let file = component(folder.join("steady.wasm"), Default::default());
        settings.components.insert("steady".into(), file);
        place.config_file(&settings);
        fail(
            &place,
            &list,
            3,
            "`components.steady.path` is inside the vault",
        );
    }

    // A symlink in a component folder is checked when its file is loaded.
    let folder = outside.join("components");
    std::fs::create_dir(&folder).expect("a folder");
    symlink(vault.join("tools/steady.wasm"), folder.join("steady.wasm")).expect("a link");
    let mut settings = place.settings();
    settings.component_folder = Some(folder);
    place.config_file(&settings);
    let found = list_entry(&place);
    let problem = found["problem"].as_str().expect("a problem");
    assert!(problem.contains("is inside the vault `main`"), "{problem}");

    // A config that note tools could write where the next command looks for one.
    let mut bare = Command::new(crate::support::program());
    let output = bare
        .args(["call", "document", "list", "--vault"])
        .arg(&vault)
        .arg("--state")
        .arg(place.state())
        .env("XDG_CONFIG_HOME", &vault)
        .env_remove("NOTEHOST_CONFIG")
        .output()
        .expect("the program runs");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(
        text.contains("the config file is inside the vault"),
        "{text}"
    );

    place.config_file(&place.settings());
    std::fs::write(place.root().join("records.sqlite"), "").expect("a file");
    let mut command = program(&place, &list);
    command.env("NOTEHOST_STATE", place.root());
    let output = command.output().expect("the program runs");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("is inside the state folder"), "{text}");
}

#[test]
fn terminal_output_escapes_hidden_characters() {
    let place = Place::new();
    place.config_file(&place.settings());
    let hostile = "a\u{202e}b\u{200b}c\u{1b}[2Jd\u{9b}2J 👩\u{200d}🌾 e\n";
    place.write("Note.md", hostile);
    let read = ["call", "document", "read", "--path", "Note", "--no-pager"];
    let (code, shown) = at_a_terminal(program(&place, &read).env("TERM", "xterm"), "", "");
    assert_eq!(code, Some(0), "{shown}");
    let expected = "a<U+202E>b<U+200B>c<U+001B>[2Jd<U+009B>2J 👩\u{200d}🌾 e";
    assert!(shown.contains(expected), "{shown}");
    // As JSON the document is the same, and output that a program reads is not changed at all.
    let as_json = [&read[..], &["--json-output"]].concat();
    let (_, shown) = at_a_terminal(program(&place, &as_json).env("TERM", "xterm"), "", "");
    assert!(
        shown.contains(r"a\u202eb\u200bc\u001b[2Jd\u009b2J"),
        "{shown}"
    );
    assert_eq!(succeed(&place, &read)["content"], hostile);
}
