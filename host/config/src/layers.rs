//! Merges the layers of settings: flags override variables, variables the file, the file the defaults. Each value keeps its
//! origin. Flags and variables configure this process; everything else is configured in the file.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::Value;

use super::check_rules::check_rules;
use super::check_serving::check_serving;
use super::file::{self, join};
use super::trust::check_trust;
use super::variables::from_variables;
use super::{
    AuthMode, ConfigError, Confirm, Edit, Settings, Source, Surface, VaultEntry, check,
    config_file, expand_home, state_folder,
};
use notehost_vault::Tier;

/// The id of a vault from the command line that is not in the config.
const ONLY_VAULT: &str = "main";

/// The format of log lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Plain text.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

/// The values of one layer (command line or variables); `None` leaves a value to the next layer.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// The config file.
    pub config: Option<PathBuf>,
    /// The state folder.
    pub state: Option<PathBuf>,
    /// A folder of notes, or the id of a configured vault.
    pub vault: Option<PathBuf>,
    /// The tier of notebooks not listed in the config.
    pub allow: Option<Tier>,
    /// Serve over HTTP at this address.
    pub http: Option<SocketAddr>,
    /// Serve without authentication, only on loopback.
    pub no_auth: Option<bool>,
    /// How the tools are presented to a client.
    pub surface: Option<Surface>,
    /// When a change needs confirmation by a person.
    pub confirm: Option<Confirm>,
    /// The log level or filter.
    pub log: Option<String>,
    /// The log format.
    pub log_format: Option<LogFormat>,
    /// Accept only components signed by a trusted publisher. It can only tighten the config.
    pub require_signed: bool,
    /// Ignore the config file.
    pub ignore_file: bool,
}

/// The origin of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The command line.
    Flag(&'static str),
    /// The environment.
    Variable(&'static str),
    /// A line of the config file.
    File(usize),
    /// The built-in default.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Flag(name) => write!(formatter, "flag {name}"),
            Origin::Variable(name) => write!(formatter, "variable {name}"),
            Origin::File(line) => write!(formatter, "file, line {line}"),
            Origin::Default => formatter.write_str("default"),
        }
    }
}

/// The settings of this process, which only flags and variables set.
#[derive(Debug, Clone)]
pub struct Running {
    /// The state folder.
    pub state: PathBuf,
    /// Serve over HTTP at this address instead of stdio.
    pub http: Option<SocketAddr>,
    /// The log level or filter, if one was set.
    pub log: Option<String>,
    /// The log format.
    pub log_format: LogFormat,
}

/// One value for display.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownSetting {
    /// Its dotted key.
    pub key: String,
    /// The value.
    pub value: Value,
    /// Its origin.
    pub origin: Origin,
}

/// The merged settings.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The settings.
    pub settings: Settings,
    /// The settings of this process.
    pub running: Running,
    /// The config file, if one was read.
    pub file: Option<PathBuf>,
    lines: BTreeMap<String, usize>,
    overridden: BTreeMap<&'static str, Origin>,
    /// The ids of all vaults of the file, even if only one is served.
    configured: Vec<String>,
    /// The flags of the command line.
    flags: Overrides,
    /// The length of the shared secret in its variable, if set; the secret itself is not kept.
    secret: Option<usize>,
}

/// Merges flags, variables, the config file and the defaults. `variable` looks up an environment variable.
pub fn load(
    flags: Overrides,
    variable: &dyn Fn(&str) -> Option<OsString>,
) -> Result<Loaded, ConfigError> {
    load_with(flags, variable, None)
}

/// The same with this text in place of the config file's.
pub(super) fn load_with(
    flags: Overrides,
    variable: &dyn Fn(&str) -> Option<OsString>,
    text: Option<&str>,
) -> Result<Loaded, ConfigError> {
    let given = flags.clone();
    let variables = from_variables(variable)?;
    let mut overridden = BTreeMap::new();
    let mut origin = |key, from| overridden.insert(key, from);
    // The uppermost layer with a value wins; its origin is stored under the key it sets.
    macro_rules! layered {
        ($field:ident, $key:literal, $flag:literal, $variable:literal) => {
            match (flags.$field, variables.$field) {
                (Some(given), _) => {
                    origin($key, Origin::Flag($flag));
                    Some(given)
                }
                (None, Some(given)) => {
                    origin($key, Origin::Variable($variable));
                    Some(given)
                }
                (None, None) => None,
            }
        };
    }

    let named =
        layered!(config, "config", "--config", "NOTEHOST_CONFIG").map(|path| expand_home(&path));
    let state =
        layered!(state, "state", "--state", "NOTEHOST_STATE").map(|path| expand_home(&path));
    let state = state.or_else(state_folder).ok_or_else(|| {
        ConfigError::new("this system has no default state folder")
            .with_hint("specify one with `--state DIR`")
    })?;
    let usual = || {
        let places = config_file().into_iter().chain([default_config_in(&state)]);
        places.into_iter().find(|path| path.exists())
    };
    let path = if flags.ignore_file {
        None
    } else {
        named.or_else(usual)
    };
    let (mut settings, mut lines) = match (&path, text) {
        (Some(path), Some(text)) => parse(text, path)?,
        (Some(path), None) => parse(&read(path)?, path)?,
        (None, _) => Default::default(),
    };
    let configured = settings.vaults.iter().map(|vault| vault.id.clone());
    let mut configured: Vec<String> = configured.collect();
    if let Some(vault) = layered!(vault, "vaults", "VAULT", "NOTEHOST_VAULT") {
        // Also if another one is served: a token without a vault is for the default vault of the config only.
        if let Some(first) = configured.first() {
            settings.default_vault.get_or_insert(first.clone());
        }
        let (entry, place) = choose(&settings.vaults, &vault);
        settings.vaults = vec![entry];
        lines = lines_of_only_vault(lines, place);
        configured.extend(settings.vaults.iter().map(|vault| vault.id.clone()));
    }
    if let Some(tier) = layered!(allow, "permissions.default", "--allow", "NOTEHOST_ALLOW") {
        settings.permissions.default = tier;
    }
    if let Some(surface) = layered!(surface, "tool_surface", "--surface", "NOTEHOST_SURFACE") {
        settings.surface = surface;
    }
    if let Some(confirm) = layered!(confirm, "confirm", "--confirm", "NOTEHOST_CONFIRM") {
        settings.confirm = confirm;
    }
    if layered!(no_auth, "auth.mode", "--no-auth", "NOTEHOST_NO_AUTH") == Some(true) {
        settings.auth.mode = AuthMode::None;
    }
    if flags.require_signed {
        origin("trust.require_signed", Origin::Flag("--require-signed"));
        settings.trust.require_signed = true;
    }
    let running = Running {
        state,
        http: layered!(http, "http", "--http", "NOTEHOST_HTTP"),
        log: layered!(log, "log", "--log", "NOTEHOST_LOG"),
        log_format: layered!(
            log_format,
            "log_format",
            "--log-format",
            "NOTEHOST_LOG_FORMAT"
        )
        .unwrap_or_default(),
    };
    let secret = settings.auth.jwt.secret_env.as_deref().and_then(variable);
    Ok(Loaded {
        settings,
        running,
        file: path,
        lines,
        overridden,
        configured,
        flags: given,
        secret: secret.map(|secret| secret.len()),
    })
}

impl Loaded {
    /// Validates the settings and that the vaults exist.
    pub fn check(&self) -> Result<(), ConfigError> {
        let settings = &self.settings;
        // If no file was read, the platform's default file is read as soon as it exists.
        let usual = config_file().filter(|_| !self.flags.ignore_file);
        let file = self.file.clone().or(usual);
        let checked = check::check(settings, file.as_deref(), &self.running.state)
            .and_then(|()| check_rules(settings, &self.configured))
            .and_then(|()| check_serving(settings, self.secret))
            .and_then(|()| check_trust(&settings.trust));
        let Err(error) = checked else {
            return Ok(());
        };
        // A vault from the command line has no line in the file, unless it is configured there.
        let is_from_file =
            !error.key.starts_with("vaults[") || self.lines.contains_key("vaults[0].path");
        match &self.file {
            Some(file) if is_from_file => {
                Err(error.problem.at(file, self.lines.get(&error.key).copied()))
            }
            _ => Err(error.problem),
        }
    }

    /// The source of these settings, for reloading when the file changes. Without a file it is the
    /// one that commands create.
    pub fn source(&self) -> Option<Source> {
        if self.flags.ignore_file {
            return None;
        }
        let flags = self.flags.clone();
        Some(match &self.file {
            Some(file) => Source::new(flags, file.clone()),
            None => Source::not_yet_created(flags, default_config_in(&self.running.state)),
        })
    }

    /// Opens the config file for editing; if there is none, the one in the state folder is created.
    pub fn edit(&self) -> Result<Edit, ConfigError> {
        match &self.file {
            Some(file) => Edit::open(file, false),
            None => Edit::open(&default_config_in(&self.running.state), true),
        }
    }

    /// The flags of the command line.
    pub fn flags(&self) -> &Overrides {
        &self.flags
    }

    /// All values with their origins, in the order of the config file.
    pub fn values(&self) -> Vec<ShownSetting> {
        let mut shown = Vec::new();
        let settings = serde_json::to_value(&self.settings).unwrap_or_default();
        self.flatten("", &settings, &mut shown);
        // A secret is never shown, only whether it is set.
        for shown in &mut shown {
            if let ("auth.jwt.secret_env", Value::String(name)) = (shown.key.as_str(), &shown.value)
            {
                let is_set = if self.secret.is_some() {
                    "set"
                } else {
                    "not set"
                };
                shown.value = format!("{name} ({is_set})").into();
            }
        }
        let running = &self.running;
        let log_format = running.log_format.to_possible_value();
        for (key, value) in [
            (
                "config",
                self.file.as_ref().map(|path| path.display().to_string()),
            ),
            ("state", Some(running.state.display().to_string())),
            ("http", running.http.map(|address| address.to_string())),
            ("log", running.log.clone()),
            (
                "log_format",
                log_format.map(|word| word.get_name().to_owned()),
            ),
            (
                "default_vault",
                self.settings.default_vault().map(str::to_owned),
            ),
        ] {
            if shown.iter().all(|shown| shown.key != key) {
                shown.push(ShownSetting {
                    key: key.into(),
                    value: value.into(),
                    origin: self.origin(key),
                });
            }
        }
        shown
    }

    /// The origin of the value of a key.
    pub fn origin(&self, key: &str) -> Origin {
        let top = key.split(['.', '[']).next().unwrap_or(key);
        // The settings of a configured vault come from the file, even if the command line selects it.
        if let (true, Some(line)) = (key.starts_with("vaults["), self.lines.get(key)) {
            return Origin::File(*line);
        }
        match self
            .overridden
            .get(key)
            .or_else(|| self.overridden.get(top))
        {
            Some(origin) => origin.clone(),
            None => self
                .lines
                .get(key)
                .map_or(Origin::Default, |line| Origin::File(*line)),
        }
    }

    fn flatten(&self, prefix: &str, value: &Value, shown: &mut Vec<ShownSetting>) {
        match value {
            Value::Object(map) if !map.is_empty() => {
                for (name, inner) in map {
                    self.flatten(&join(prefix, name), inner, shown);
                }
            }
            Value::Array(items) if items.iter().any(Value::is_object) => {
                for (index, inner) in items.iter().enumerate() {
                    self.flatten(&format!("{prefix}[{index}]"), inner, shown);
                }
            }
            leaf => shown.push(ShownSetting {
                key: prefix.to_owned(),
                value: leaf.clone(),
                origin: self.origin(prefix),
            }),
        }
    }
}

/// The config file that commands create if there is none: in the state folder, so that a server and
/// a command with the same state folder use the same file.
fn default_config_in(state: &Path) -> PathBuf {
    state.join("notehost.toml")
}

/// Reads the config file.
pub(super) fn read(path: &Path) -> Result<String, ConfigError> {
    std::fs::read_to_string(path).map_err(|error| {
        ConfigError::new(format!("cannot read the config file: {error}"))
            .at(path, None)
            .with_hint("create one with `notehost config init`")
    })
}

/// Parses the settings of a file and makes its relative paths absolute.
fn parse(text: &str, path: &Path) -> Result<(Settings, BTreeMap<String, usize>), ConfigError> {
    let file::ConfigFile {
        mut settings,
        lines,
    } = file::parse(text, path)?;
    // Relative paths are relative to the file, not to the working directory.
    let beside = std::path::absolute(path).ok();
    let beside = beside
        .as_deref()
        .and_then(Path::parent)
        .unwrap_or(Path::new("."));
    for vault in &mut settings.vaults {
        vault.path = beside.join(expand_home(&vault.path));
    }
    let components = settings.components.values_mut();
    let (http, jwt) = (&mut settings.http, &mut settings.auth.jwt);
    let named = [
        &mut http.tls_cert,
        &mut http.tls_key,
        &mut jwt.secret_file,
        &mut jwt.jwks_file,
    ];
    let files = components.map(|component| &mut component.path);
    for path in files.chain(named).chain([&mut settings.component_folder]) {
        *path = path.take().map(|path| beside.join(expand_home(&path)));
    }
    Ok((settings, lines))
}

/// The lines of the file with only this vault of it, as the first one.
fn lines_of_only_vault(
    lines: BTreeMap<String, usize>,
    place: Option<usize>,
) -> BTreeMap<String, usize> {
    let prefix = place.map(|place| format!("vaults[{place}]"));
    let kept = lines.into_iter().filter_map(|(key, line)| {
        if !key.starts_with("vaults[") {
            return Some((key, line));
        }
        let rest = key.strip_prefix(prefix.as_deref()?)?;
        Some((format!("vaults[0]{rest}"), line))
    });
    kept.collect()
}

/// The configured vault with that id or folder and its place in the config, otherwise the folder as the only vault.
fn choose(configured: &[VaultEntry], named: &Path) -> (VaultEntry, Option<usize>) {
    let folder = expand_home(named);
    let same = |vault: &VaultEntry| match (vault.path.canonicalize(), folder.canonicalize()) {
        (Ok(theirs), Ok(ours)) => theirs == ours,
        _ => vault.path == folder,
    };
    let by_id = configured
        .iter()
        .position(|vault| Path::new(&vault.id) == named);
    let place = by_id.or_else(|| configured.iter().position(same));
    let entry = match place {
        Some(place) => configured[place].clone(),
        None => VaultEntry {
            id: ONLY_VAULT.into(),
            path: std::path::absolute(&folder).unwrap_or(folder),
            ..VaultEntry::default()
        },
    };
    (entry, place)
}

#[cfg(test)]
#[path = "layers_tests.rs"]
mod tests;
