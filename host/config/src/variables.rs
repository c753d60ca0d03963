//! The environment variables that configure this process.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use clap::ValueEnum;

use super::{ConfigError, Confirm, LogFormat, Overrides, Surface, parse_address};
use notehost_vault::Tier;

/// The environment variables, with descriptions for the help.
pub const VARIABLES: [(&str, &str); 10] = [
    ("NOTEHOST_CONFIG", "the config file"),
    (
        "NOTEHOST_STATE",
        "the state folder: index, compiled code, history",
    ),
    (
        "NOTEHOST_VAULT",
        "a folder of notes, or the id of a configured vault",
    ),
    (
        "NOTEHOST_ALLOW",
        "the tier of notebooks not listed in the config: none, r, rw or rwd",
    ),
    ("NOTEHOST_HTTP", "the address to serve HTTP at"),
    (
        "NOTEHOST_NO_AUTH",
        "whether to serve without authentication, only on loopback: true or false",
    ),
    (
        "NOTEHOST_SURFACE",
        "how tools are presented: domain, split, flat or finder",
    ),
    (
        "NOTEHOST_CONFIRM",
        "when a change needs confirmation: floor or never",
    ),
    (
        "NOTEHOST_LOG",
        "the log level: error, warn, info, debug or trace",
    ),
    ("NOTEHOST_LOG_FORMAT", "the log format: text or json"),
];

/// The values of the variables; `variable` looks one up.
pub(super) fn from_variables(
    variable: &dyn Fn(&str) -> Option<OsString>,
) -> Result<Overrides, ConfigError> {
    // An empty variable counts as unset.
    let value = |name: &str| variable(name).filter(|value| !value.is_empty());
    Ok(Overrides {
        config: value("NOTEHOST_CONFIG").map(PathBuf::from),
        state: value("NOTEHOST_STATE").map(PathBuf::from),
        vault: value("NOTEHOST_VAULT").map(PathBuf::from),
        allow: parsed("NOTEHOST_ALLOW", value, Tier::from_str)?,
        http: parsed("NOTEHOST_HTTP", value, parse_address)?,
        // `false` counts as unset: the file may still set it.
        no_auth: parsed("NOTEHOST_NO_AUTH", value, switch)?.filter(|no_auth| *no_auth),
        surface: parsed("NOTEHOST_SURFACE", value, |word| {
            Surface::from_str(word, false)
        })?,
        confirm: parsed("NOTEHOST_CONFIRM", value, |word| {
            Confirm::from_str(word, false)
        })?,
        log: parsed("NOTEHOST_LOG", value, |word| {
            Ok::<_, String>(word.to_owned())
        })?,
        log_format: parsed("NOTEHOST_LOG_FORMAT", value, |word| {
            LogFormat::from_str(word, false)
        })?,
        require_signed: false,
        ignore_file: false,
    })
}

fn switch(word: &str) -> Result<bool, String> {
    match word {
        "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        _ => Err(format!(
            "invalid value `{word}`: expected `true` or `false`"
        )),
    }
}

fn parsed<T, E: fmt::Display>(
    name: &'static str,
    value_of: impl Fn(&str) -> Option<OsString>,
    parse: impl Fn(&str) -> Result<T, E>,
) -> Result<Option<T>, ConfigError> {
    let Some(value) = value_of(name) else {
        return Ok(None);
    };
    let text = value.to_string_lossy();
    let meaning = VARIABLES
        .iter()
        .find(|(known, _)| *known == name)
        .map_or("", |(_, meaning)| meaning);
    parse(&text).map(Some).map_err(|error| {
        ConfigError::new(format!("variable {name}: {error}"))
            .with_hint(format!("{name} is {meaning}"))
    })
}
