//! The `doctor` checks of valid settings: permissions, HTTP, and the
//! tokens for remote servers.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use crate::cli::commands::doctor::Check;
use crate::cli::commands::profile::store;
use crate::cli::commands::serve;
use notehost_config::{AuthMode, Loaded, Settings, VaultEntry, nearest};
use notehost_policy::Permissions;
use notehost_policy::auth::Tokens;
use notehost_transport::{self as transport, TransportError};
use notehost_vault::{Access, Effect, Kind, Limits, Tier, Vault, fold_path};

/// The maximum number of notebooks to read.
const MAX_NOTEBOOKS: u32 = 10_000;

/// The permissions of clients, and whether the listed notebooks exist.
pub(super) fn permissions(loaded: &Loaded) -> Vec<Check> {
    let settings = &loaded.settings;
    let of_vaults = settings.vaults.iter().map(|vault| &vault.permissions);
    let tiers: Vec<Tier> = of_vaults
        .flat_map(|own| own.default.iter().chain(own.notebooks.values()))
        .chain([&settings.permissions.default])
        .chain(settings.permissions.notebooks.values())
        .copied()
        .collect();
    let mut checks = vec![if tiers.iter().all(|tier| *tier == Tier::None) {
        Check::warn(
            "permissions",
            "no notebook is visible to any client",
            "set permissions: `notehost permission set NOTEBOOK r`, or `default` in `[permissions]`",
        )
    } else if tiers.iter().any(|tier| *tier >= Tier::Write) {
        Check::ok("permissions", summary(settings))
    } else {
        Check::ok(
            "permissions",
            format!(
                "{}; to let clients write: `--allow rw`, or `notehost permission set NOTEBOOK rw`",
                summary(settings)
            ),
        )
    }];
    checks.extend(unknown_notebooks(loaded));
    checks
}

fn summary(settings: &Settings) -> String {
    let general = &settings.permissions;
    let mut summary = tiers(Some(general.default), &general.notebooks);
    for vault in &settings.vaults {
        let own = &vault.permissions;
        if own.default.is_some() || !own.notebooks.is_empty() {
            let own = tiers(own.default, &own.notebooks);
            summary.push_str(&format!("; in {}: {own}", vault.id));
        }
    }
    summary
}

fn tiers(default: Option<Tier>, notebooks: &BTreeMap<String, Tier>) -> String {
    let default = default.map(|tier| format!("default {tier}"));
    let notebooks = notebooks
        .iter()
        .map(|(notebook, tier)| format!("{notebook} {tier}"));
    let parts: Vec<String> = default.into_iter().chain(notebooks).collect();
    parts.join(", ")
}

/// Warns of tiers for notebooks that do not exist, which are probably misspelt.
fn unknown_notebooks(loaded: &Loaded) -> Vec<Check> {
    let settings = &loaded.settings;
    let mut there = BTreeSet::new();
    for vault in &settings.vaults {
        match notebooks(loaded, vault) {
            Some(notebooks) => there.extend(notebooks),
            // Problems of the vault are reported by the vault's checks.
            None => return Vec::new(),
        }
    }
    let of_callers = settings.callers.values().map(|caller| &caller.permissions);
    let of_vaults = settings.vaults.iter().flat_map(|vault| {
        let callers = vault.callers.values().map(|caller| &caller.permissions);
        callers.chain([&vault.permissions])
    });
    let own = of_callers.chain(of_vaults);
    let named: BTreeSet<&String> = settings
        .permissions
        .notebooks
        .keys()
        .chain(own.flat_map(|own| own.notebooks.keys()))
        .collect();
    let folded: Vec<String> = there.iter().map(|name| fold_path(name)).collect();
    named
        .into_iter()
        .filter(|name| name.as_str() != "." && !folded.contains(&fold_path(name)))
        .filter(|_| !settings.vaults.is_empty())
        .map(|name| {
            let near = nearest(name, there.iter().map(String::as_str));
            Check::warn(
                "permissions",
                format!("the notebook `{name}` has a tier but does not exist in any vault"),
                match near {
                    Some(near) => format!("did you mean `{near}`? The tier has no effect"),
                    None => "create the folder, or remove the line from the config".to_owned(),
                },
            )
        })
        .collect()
}

fn notebooks(loaded: &Loaded, vault: &VaultEntry) -> Option<Vec<String>> {
    let mut everything = Settings::default();
    everything.permissions.default = Tier::Read;
    let rules = Permissions::of_caller(&everything, &vault.id, "doctor", None).ok()?;
    let vault = Vault::open_read_only(&vault.id, &vault.path, &loaded.running.state).ok()?;
    let mut looking = Arc::new(vault).begin(Access {
        rules: Arc::new(rules),
        effect: Effect::Read,
        component: "doctor".into(),
        limits: Limits::default(),
    });
    let entries = looking.list("", false, None, MAX_NOTEBOOKS).ok()?.entries;
    let folders = entries
        .into_iter()
        .filter(|entry| entry.kind == Kind::Folder);
    Some(folders.map(|entry| entry.path).collect())
}

/// Whether `serve --http` could serve at this address.
pub(super) fn http(loaded: &Loaded, address: SocketAddr) -> Vec<Check> {
    let mut checks = Vec::new();
    // Without a vault nothing is served, which another check reports.
    if let (false, Err(refused)) = (loaded.settings.vaults.is_empty(), serve::check(loaded))
        && loaded.check().is_ok()
    {
        let advice = refused.hint().unwrap_or_default();
        checks.push(Check::fail("http", refused.message(), advice));
    }
    match notehost_records::open(&loaded.running.state) {
        Ok(records) => {
            let tokens = Arc::new(Tokens::new(records, &loaded.running.state));
            if let Err(error) = transport::check_http(&loaded.settings, tokens, address) {
                let advice = error.hint().unwrap_or_default();
                checks.push(Check::fail("http", error.to_string(), advice));
            }
        }
        Err(error) => checks.push(Check::fail(
            "http",
            format!("cannot read the tokens: {error}"),
            "repair the state folder, or choose another one with `--state DIR`",
        )),
    }
    if !address.ip().is_loopback() && loaded.settings.http.tls_cert.is_none() {
        checks.push(Check::warn(
            "http",
            format!("{address} is reachable from other machines without encryption"),
            "set `http.tls_cert` and `http.tls_key`, or use a reverse proxy with TLS",
        ));
    }
    if loaded.settings.auth.mode == AuthMode::None && address.ip().is_loopback() {
        checks.push(Check::warn(
            "http",
            "no authentication is required: every user and container of this machine can call",
            "omit `--no-auth`, or set `auth.mode` to `auto`; the first start creates a token",
        ));
    }
    checks.push(match TcpListener::bind(address) {
        Ok(_) => Check::ok("http", format!("{address} is free")),
        Err(reason) => {
            let taken = TransportError::Bind { address, reason };
            Check::fail(
                "http",
                taken.to_string(),
                "stop the program that uses it, or choose another port with `--http ADDR`",
            )
        }
    });
    checks
}

/// The profiles of remote servers.
pub(super) fn profiles() -> Option<Check> {
    let file = store::file().ok()?;
    if !file.exists() {
        return None;
    }
    let shown = file.display();
    Some(match store::Profiles::read() {
        Err(failure) => Check::fail(
            "profiles",
            failure.message(),
            failure.hint().unwrap_or_default(),
        ),
        Ok(_) if store::is_open_to_others(&file) => Check::fail(
            "profiles",
            format!("others on this machine can read the tokens in {shown}"),
            format!("`chmod 600 {shown}`"),
        ),
        Ok(profiles) => match &profiles.in_use {
            Some(name) if !profiles.profiles.contains_key(name) => Check::fail(
                "profiles",
                format!("the selected profile `{name}` does not exist"),
                "select another: `notehost profile use NAME`, or none: `notehost profile use`",
            ),
            Some(name) => Check::ok("profiles", format!("calls go to `{name}`")),
            None => Check::ok(
                "profiles",
                format!("{}, none selected", profiles.profiles.len()),
            ),
        },
    })
}
