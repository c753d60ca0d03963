//! `notehost config` and `doctor`: contradictory settings are reported with their line, and secrets are never shown.

use std::process::Command;

use super::{PermissionSetup, RunResult};

#[test]
fn contradictory_config_is_reported_with_its_line() {
    for (rules, expected) in [
        (
            "[permissions.notebooks]\n\"Work/Contracts\" = \"none\"\n",
            "notehost.toml:5: `Work/Contracts` is not a notebook",
        ),
        (
            "[callers.phone]\nscopes = [\"raed\"]\n",
            "notehost.toml:5: invalid scope `raed`: did you mean `read`?",
        ),
        (
            "[callers.phone]\nvaults = [\"man\"]\n",
            "notehost.toml:5: unknown vault `man`: did you mean `main`?",
        ),
        (
            "[http]\ntls_cert = \"c.pem\"\n",
            "notehost.toml:5: `http.tls_cert` is set and `http.tls_key` is not",
        ),
        (
            "[http]\ntls_cert = \"vault/c\"\ntls_key = \"k\"\n",
            "notehost.toml:5: the file of `http.tls_cert` is inside the vault",
        ),
        (
            "[telemetry]\notlp_endpoint = \"localhost:4318\"\n",
            "notehost.toml:5: `localhost:4318` is not a URL",
        ),
        (
            "[auth.jwt]\njwks_file = \"~/nowhere/jwks.json\"\n",
            "notehost.toml:5: cannot use `",
        ),
        (
            "[rates]\nburst_second = 3\n",
            "notehost.toml:5: unknown key `rates.burst_second`: did you mean `burst_seconds`?",
        ),
        (
            "[[permissions.rules]]\nglob = \"/Diary/**\"\ntier = \"none\"\n",
            "notehost.toml:5: `/Diary/**` cannot match any path",
        ),
    ] {
        let setup = PermissionSetup::with(rules);
        setup.run(&["config", "validate"]).refused(expected);
        assert_eq!(setup.run(&["serve"]).code, Some(3), "{rules}");
        let doctor = setup.run(&["doctor"]);
        assert_eq!(doctor.code, Some(1), "{doctor:#?}");
        assert!(
            doctor.output.contains("a running server keeps"),
            "{doctor:#?}"
        );
    }
}

#[test]
fn secrets_are_never_shown() {
    let setup = PermissionSetup::with("[auth.jwt]\nsecret_env = \"OFFICE_SECRET\"\n");
    let show = |secret: Option<&str>, word: &str| {
        let mut command = Command::new(crate::support::program());
        command
            .args(["config", word, "--config"])
            .arg(&setup.config);
        command
            .arg("--state")
            .arg(setup.place.state())
            .env_remove("OFFICE_SECRET");
        if let Some(secret) = secret {
            command.env("OFFICE_SECRET", secret);
        }
        RunResult::of(command.output().expect("the program runs"))
    };
    let value = |result: &RunResult| {
        let all = result.json();
        let items = all["items"].as_array().expect("items").clone();
        let found = items
            .into_iter()
            .find(|item| item["key"] == "auth.jwt.secret_env");
        found.expect("the key")
    };
    let secret = "a-secret-that-is-long-enough-for-hs256";
    let shown = show(Some(secret), "show");
    assert!(!shown.output.contains(secret), "{shown:#?}");
    assert_eq!(value(&shown)["value"], "OFFICE_SECRET (set)");
    assert_eq!(value(&shown)["origin"], "file, line 5");
    assert_eq!(
        value(&show(None, "show"))["value"],
        "OFFICE_SECRET (not set)"
    );
    let short = show(Some("sh0rt-pass"), "validate");
    short.refused("has 10 bytes");
    assert!(!short.errors.contains("sh0rt-pass"), "{short:#?}");
}
