//! The operating system's sandbox: a server cannot open files that were not known at startup, whatever the reason.

use std::process::Command;

use crate::support::client::Client;
use crate::support::guests::guest;

/// Whether Landlock is available, as reported by the program.
fn is_available(place: &std::path::Path) -> bool {
    let doctor = Command::new(crate::support::program())
        .args(["doctor", "--json-output", "--state"])
        .arg(place.join("doctor"))
        .arg(place.join("notes"))
        .output()
        .expect("the program runs");
    let report = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(report.contains("os sandbox"), "{report}");
    report.contains("Landlock: a server can open only")
}

#[test]
fn sandboxed_server_opens_only_files_known_at_startup() {
    let place = tempfile::tempdir().expect("a folder");
    let elsewhere = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(place.path().join("notes")).expect("a vault");
    let component = elsewhere.path().join("echo.wasm");
    std::fs::copy(guest("echo"), &component).expect("a component");
    if !is_available(place.path()) {
        eprintln!("skipped: this kernel has no Landlock");
        return;
    }
    for (mode, is_confined) in [("auto", true), ("require", true), ("off", false)] {
        let config = place.path().join("config").join("notehost.toml");
        std::fs::create_dir_all(config.parent().expect("a folder")).expect("a folder");
        let text = format!(
            "os_sandbox = {mode:?}\n[[vaults]]\nid = \"main\"\npath = {:?}\n",
            place.path().join("notes")
        );
        std::fs::write(&config, &text).expect("a config");
        let mut client = Client::start(&config, &place.path().join("state"));
        let has_echo = |client: &mut Client| {
            let listed = client.ask("tools/list", serde_json::json!({}));
            listed["tools"]
                .as_array()
                .expect("tools")
                .iter()
                .any(|tool| tool["name"] == "echo")
        };
        assert!(!has_echo(&mut client));
        // The config adds a file that was not known when the server started.
        let more = format!(
            "{text}[components.echo]\npath = {component:?}\n[components.echo.grant]\nread = [\"**\"]\n"
        );
        let beside = config.with_extension("new");
        std::fs::write(&beside, more).expect("a config");
        std::fs::rename(&beside, &config).expect("renamed");
        // The config itself can be re-read: a change of the surface arrives together with the component.
        let looks = if is_confined { 30 } else { 600 };
        let arrived = (0..looks).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(100));
            has_echo(&mut client)
        });
        assert_eq!(arrived, !is_confined, "{mode}");
        client.disconnect();
    }
}

/// Symlinks to files elsewhere: the sandbox rules apply to files and folders, not to names.
#[test]
fn sandboxed_server_follows_symlinks_known_at_startup() {
    let place = tempfile::tempdir().expect("a folder");
    let at = |path: &str| place.path().join(path);
    for folder in [
        "notes", "config", "dotfiles", "tools", "builds", "state", "disk",
    ] {
        std::fs::create_dir(at(folder)).expect("a folder");
    }
    if !is_available(place.path()) {
        eprintln!("skipped: this kernel has no Landlock");
        return;
    }
    std::fs::copy(guest("echo"), at("builds/echo.wasm")).expect("a component");
    for (target, link) in [
        ("dotfiles/notehost.toml", "config/notehost.toml"),
        ("builds/echo.wasm", "tools/echo.wasm"),
        ("disk", "state/compiled"),
    ] {
        std::os::unix::fs::symlink(at(target), at(link)).expect("a link");
    }
    let text = format!(
        "os_sandbox = \"require\"\ncomponent_folder = {:?}\n[[vaults]]\nid = \"main\"\npath = {:?}\n",
        at("tools"),
        at("notes")
    );
    let put = |text: &str| {
        std::fs::write(at("dotfiles/new"), text).expect("a config");
        std::fs::rename(at("dotfiles/new"), at("dotfiles/notehost.toml")).expect("renamed");
    };
    put(&text);
    let mut client = Client::start(&at("config/notehost.toml"), &at("state"));
    let reply = client.call("echo.say", serde_json::json!({"text": "a"}));
    assert_eq!(reply["structuredContent"]["text"], "a", "{reply}");
    let kept = std::fs::read_dir(at("disk")).expect("a folder").count();
    assert!(kept > 0, "compiled code was kept where the link leads");
    // The config is re-read through its symlink.
    put(&format!("{text}[components.echo]\nenabled = false\n"));
    crate::support::http::wait_until("the change is in force", || {
        let reply = client.call("echo.say", serde_json::json!({"text": "a"}));
        crate::support::client::error_code(&reply) == Some("disabled")
    });
    client.disconnect();
}
