//! Validates the settings of the server: files that exist and are outside every vault, secrets that
//! are long enough, numbers within bounds.

use notehost_platform::shell::quoted;
use std::fs::Metadata;
use std::path::Path;

use super::check::InvalidSetting;
use super::{ConfigError, JwtSettings, RateSettings, Settings};
use notehost_platform::private::{is_readable_by_others, is_writable_by_everybody};

/// The least number of bytes of a shared secret (HS256).
pub const MIN_SECRET_BYTES: usize = 32;
/// The highest rate limit, in calls per minute.
const MAX_CALLS_PER_MINUTE: u32 = 10_000_000;
/// The highest `burst_seconds`: a day.
const MAX_BURST_SECONDS: u32 = 24 * 60 * 60;

/// Validates authentication, HTTP, rate limits and retention.
///
/// `secret` is the length of the shared secret in its variable, where that is set here.
pub(super) fn check_serving(
    settings: &Settings,
    secret: Option<usize>,
) -> Result<(), InvalidSetting> {
    check_tls(settings)?;
    check_jwt(&settings.auth.jwt, secret)?;
    if let Some(resource) = &settings.auth.resource {
        check_url("auth.resource", resource)?;
    }
    for (index, host) in settings.http.allowed_hosts.iter().enumerate() {
        if host.is_empty() || host.contains(['/', ' ', '@']) {
            let problem = ConfigError::new(format!("`{host}` is not a host name")).with_hint(
                "for example `notes.example.org`, or `notes.example.org:8443` for one port",
            );
            return Err(InvalidSetting::new(
                format!("http.allowed_hosts[{index}]"),
                problem,
            ));
        }
    }
    for (index, origin) in settings.http.allowed_origins.iter().enumerate() {
        check_url(&format!("http.allowed_origins[{index}]"), origin)?;
    }
    check_rates(&settings.rates)?;
    if let Some(endpoint) = &settings.telemetry.otlp_endpoint {
        check_url("telemetry.otlp_endpoint", endpoint)?;
    }
    for (key, value, meaning) in [
        (
            "confirmation.notes",
            settings.confirmation.notes as u64,
            "every change would need confirmation",
        ),
        (
            "confirmation.expires_seconds",
            settings.confirmation.expires_seconds,
            "every approval would expire at once",
        ),
        (
            "confirmation.unattended_expires_seconds",
            settings.confirmation.unattended_expires_seconds,
            "every approval would expire at once",
        ),
        (
            "http.session_idle_seconds",
            settings.http.session_idle_seconds,
            "every session would be closed at once",
        ),
        (
            "idempotency.keep_hours",
            settings.idempotency.keep_hours,
            "idempotency keys would have no effect",
        ),
        (
            "audit.keep_days",
            settings.audit.keep_days,
            "nothing would be recorded",
        ),
        (
            "audit.keep_rows",
            settings.audit.keep_rows,
            "nothing would be recorded",
        ),
    ] {
        if value == 0 {
            let problem = ConfigError::new(format!("`{key}` is 0: {meaning}"))
                .with_hint("omit the key to use its default");
            return Err(InvalidSetting::new(key, problem));
        }
    }
    Ok(())
}

/// The files that the settings name besides vaults and components, by key. Note tools must not reach them.
pub(super) fn named_files(settings: &Settings) -> impl Iterator<Item = (&'static str, &Path)> {
    let (http, jwt) = (&settings.http, &settings.auth.jwt);
    [
        ("http.tls_cert", &http.tls_cert),
        ("http.tls_key", &http.tls_key),
        ("auth.jwt.secret_file", &jwt.secret_file),
        ("auth.jwt.jwks_file", &jwt.jwks_file),
    ]
    .into_iter()
    .filter_map(|(key, path)| Some((key, path.as_deref()?)))
}

fn check_tls(settings: &Settings) -> Result<(), InvalidSetting> {
    let (there, missing) = match (&settings.http.tls_cert, &settings.http.tls_key) {
        (Some(_), None) => ("http.tls_cert", "http.tls_key"),
        (None, Some(_)) => ("http.tls_key", "http.tls_cert"),
        _ => return check_files(settings),
    };
    let problem = ConfigError::new(format!("`{there}` is set and `{missing}` is not"))
        .with_hint("TLS needs the certificate and its private key");
    Err(InvalidSetting::new(there, problem))
}

fn check_files(settings: &Settings) -> Result<(), InvalidSetting> {
    for (key, path) in named_files(settings) {
        let shown = path.display();
        let problem = match std::fs::metadata(path) {
            Err(error) => format!("cannot use `{shown}`: {error}"),
            Ok(found) if !found.is_file() => format!("`{shown}` is not a file"),
            Ok(found) => match check_mode(key, path, &found) {
                Ok(()) => continue,
                Err(problem) => return Err(InvalidSetting::new(key, problem)),
            },
        };
        let problem =
            ConfigError::new(problem).with_hint(format!("`{key}` must name an existing file"));
        return Err(InvalidSetting::new(key, problem));
    }
    Ok(())
}

/// Checks the mode of a file: a secret must not be readable by others, and the keys that verify tokens must not be
/// writable by them.
fn check_mode(key: &str, path: &Path, found: &Metadata) -> Result<(), ConfigError> {
    let is_secret = matches!(key, "http.tls_key" | "auth.jwt.secret_file");
    let (problem, mode) = match is_secret {
        true if is_readable_by_others(found) => ("read", "600"),
        false if is_writable_by_everybody(found) => ("change", "go-w"),
        _ => return Ok(()),
    };
    let shown = path.display();
    Err(ConfigError::new(format!(
        "others on this machine can {problem} `{shown}`, the file of `{key}`"
    ))
    .with_hint(format!(
        "`chmod {mode} {}`",
        quoted(&path.to_string_lossy())
    )))
}

fn check_jwt(jwt: &JwtSettings, secret: Option<usize>) -> Result<(), InvalidSetting> {
    if jwt.secret_env.is_some() && jwt.secret_file.is_some() {
        let problem =
            ConfigError::new("both `auth.jwt.secret_env` and `auth.jwt.secret_file` are set")
                .with_hint("only one shared secret is supported: keep one of the two");
        return Err(InvalidSetting::new("auth.jwt.secret_file", problem));
    }
    if let Some(name) = &jwt.secret_env {
        if name.is_empty() || name.contains(['=', '\0', ' ']) {
            let problem = ConfigError::new(
                "`auth.jwt.secret_env` is not the name of an environment variable",
            )
            .with_hint(
                "use the name of the variable; the secret itself does not belong in this file",
            );
            return Err(InvalidSetting::new("auth.jwt.secret_env", problem));
        }
        // A variable that is not set here may be set where the server runs.
        check_secret(
            "auth.jwt.secret_env",
            &format!("the variable {name}"),
            secret,
        )?;
    }
    if let Some(path) = &jwt.secret_file {
        // The file may be readable by the server's user only.
        let length = std::fs::read_to_string(path)
            .ok()
            .map(|text| text.trim_end().len());
        check_secret("auth.jwt.secret_file", "the file", length)?;
    }
    Ok(())
}

fn check_secret(key: &str, place: &str, length: Option<usize>) -> Result<(), InvalidSetting> {
    match length {
        Some(length) if length < MIN_SECRET_BYTES => {
            let problem = ConfigError::new(format!(
                "the secret in {place} has {length} bytes; the minimum is {MIN_SECRET_BYTES}"
            ))
            .with_hint("generate one: `openssl rand -hex 32`");
            Err(InvalidSetting::new(key, problem))
        }
        _ => Ok(()),
    }
}

fn check_rates(rates: &RateSettings) -> Result<(), InvalidSetting> {
    for (key, value, most) in [
        ("rates.read", rates.read, MAX_CALLS_PER_MINUTE),
        ("rates.write", rates.write, MAX_CALLS_PER_MINUTE),
        ("rates.delete", rates.delete, MAX_CALLS_PER_MINUTE),
        (
            "rates.burst_seconds",
            rates.burst_seconds,
            MAX_BURST_SECONDS,
        ),
    ] {
        if value > most {
            let problem = ConfigError::new(format!("`{key}` is {value}; the maximum is {most}"))
                .with_hint("0 calls per minute means no limit");
            return Err(InvalidSetting::new(key, problem));
        }
    }
    if rates.burst_seconds == 0 {
        let problem = ConfigError::new("`rates.burst_seconds` is 0: every call would be refused")
            .with_hint("omit the key to use its default");
        return Err(InvalidSetting::new("rates.burst_seconds", problem));
    }
    Ok(())
}

fn check_url(key: &str, url: &str) -> Result<(), InvalidSetting> {
    let rest = url.strip_prefix("http://").or(url.strip_prefix("https://"));
    let parsed: Option<http::Uri> = url.parse().ok();
    let is_url = rest.is_some_and(|rest| !rest.is_empty())
        && parsed.is_some_and(|url| url.host().is_some_and(|host| !host.is_empty()));
    if is_url {
        return Ok(());
    }
    let problem = ConfigError::new(format!(
        "`{url}` is not a URL that begins with `http://` or `https://`"
    ))
    .with_hint(format!(
        "`{key}` is for example `https://notes.example.org`"
    ));
    Err(InvalidSetting::new(key, problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(toml: &str) -> Result<(), (String, String)> {
        let settings: Settings = toml::from_str(toml).expect("settings");
        let secret = match settings.auth.jwt.secret_env.as_deref() {
            Some("SHORT") => Some(9),
            Some("LONG") => Some(32),
            _ => None,
        };
        check_serving(&settings, secret).map_err(|found| (found.key, found.problem.to_string()))
    }

    #[test]
    fn invalid_settings_are_refused_with_their_key() {
        for (toml, key, expected) in [
            (
                "[http]\ntls_cert = '/c'",
                "http.tls_cert",
                "`http.tls_key` is not",
            ),
            (
                "[http]\ntls_cert = '/nowhere/c'\ntls_key = '/nowhere/k'",
                "http.tls_cert",
                "cannot use",
            ),
            (
                "[http]\nallowed_origins = ['notes.example.org']",
                "http.allowed_origins[0]",
                "not a URL",
            ),
            (
                "[http]\nallowed_hosts = ['https://a']",
                "http.allowed_hosts[0]",
                "not a host name",
            ),
            (
                "[auth.jwt]\njwks_file = '/nowhere/jwks'",
                "auth.jwt.jwks_file",
                "cannot use",
            ),
            (
                "[auth.jwt]\nsecret_env = 'SHORT'",
                "auth.jwt.secret_env",
                "has 9 bytes",
            ),
            (
                "[auth.jwt]\nsecret_env = 'A'\nsecret_file = '/'",
                "auth.jwt.secret_file",
                "is not a file",
            ),
            (
                "[telemetry]\notlp_endpoint = 'ftp://a'",
                "telemetry.otlp_endpoint",
                "not a URL",
            ),
            (
                "[rates]\nread = 4_000_000_000",
                "rates.read",
                "the maximum is",
            ),
            (
                "[rates]\nburst_seconds = 0",
                "rates.burst_seconds",
                "every call",
            ),
            (
                "[confirmation]\nexpires_seconds = 0",
                "confirmation.expires_seconds",
                "expire at once",
            ),
            (
                "[audit]\nkeep_rows = 0",
                "audit.keep_rows",
                "nothing would be recorded",
            ),
        ] {
            let (found, message) = checked(toml).expect_err(toml);
            assert_eq!(found, key);
            assert!(message.contains(expected), "{message}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn file_modes_are_checked_by_content() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a key");
        std::fs::write(&file, "x".repeat(MIN_SECRET_BYTES)).expect("a file");
        let shown = file.display();
        let check = |key: &str, mode| {
            let mode = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(&file, mode).expect("a mode");
            let settings = format!("[auth.jwt]\n{key} = '{shown}'");
            let settings: Settings = toml::from_str(&settings).expect("settings");
            check_serving(&settings, None).map_err(|found| {
                let hint = found.problem.hint().map(str::to_owned);
                (found.problem.to_string(), hint.unwrap_or_default())
            })
        };
        for mode in [0o644, 0o640, 0o604, 0o660] {
            let (message, hint) = check("secret_file", mode).expect_err("refused");
            assert!(
                message.contains("others on this machine can read"),
                "{message}"
            );
            assert_eq!(hint, format!("`chmod 600 '{shown}'`"));
        }
        assert_eq!(check("secret_file", 0o600), Ok(()));
        assert_eq!(check("secret_file", 0o400), Ok(()));
        assert_eq!(check("jwks_file", 0o644), Ok(()));
        let (message, hint) = check("jwks_file", 0o646).expect_err("refused");
        assert!(message.contains("can change"), "{message}");
        assert_eq!(hint, format!("`chmod go-w '{shown}'`"));
    }

    #[test]
    fn a_long_or_unset_secret_is_accepted() {
        assert_eq!(checked("[auth.jwt]\nsecret_env = 'LONG'"), Ok(()));
        assert_eq!(checked("[auth.jwt]\nsecret_env = 'NOT_SET'"), Ok(()));
        assert_eq!(
            checked("[telemetry]\notlp_endpoint = 'http://localhost:4318'"),
            Ok(())
        );
    }
}
