//! Validates permissions, callers and grants: a line that silently matches nothing would
//! leave open what its author intended to close.

use std::collections::{BTreeMap, HashMap};

use super::check::InvalidSetting;
use super::file::join;
use super::{
    CallerPermissions, CallerSettings, ComponentLimits, ConfigError, GrantSettings, HostPattern,
    PermissionRule, Settings, glob, nearest,
};
use notehost_vault::{Tier, fold_path};

/// The scopes of a caller.
const SCOPES: [&str; 4] = ["read", "write", "delete", "admin"];

/// Validates permissions, callers and grants; `vaults` are the ids of all configured vaults.
pub(super) fn check_rules(settings: &Settings, vaults: &[String]) -> Result<(), InvalidSetting> {
    let everybody = &settings.permissions;
    check_notebooks("permissions.notebooks", &everybody.notebooks)?;
    check_globs("permissions.rules", &everybody.rules)?;
    check_default_vault(settings, vaults)?;
    for (index, vault) in settings.vaults.iter().enumerate() {
        let key = format!("vaults[{index}]");
        check_permissions(&format!("{key}.permissions"), &vault.permissions)?;
        for (name, caller) in &vault.callers {
            let key = format!("{}.permissions", join(&format!("{key}.callers"), name));
            check_permissions(&key, &caller.permissions)?;
        }
    }
    for (name, caller) in &settings.callers {
        let key = join("callers", name);
        check_caller(&key, caller, vaults)?;
        // Every client without a token is this caller: there is nobody to trust.
        if name == "http" && caller.attended == Some(true) {
            let problem = ConfigError::new("callers without a token cannot be attended")
                .with_hint("create a token with `notehost token new --attended`");
            return Err(InvalidSetting::new(format!("{key}.attended"), problem));
        }
    }
    for (name, component) in &settings.components {
        let key = join("components", name);
        check_grant(&format!("{key}.grant"), &component.grant)?;
        check_limits(&format!("{key}.limits"), &component.limits)?;
    }
    Ok(())
}

fn check_caller(
    key: &str,
    caller: &CallerSettings,
    vaults: &[String],
) -> Result<(), InvalidSetting> {
    check_permissions(&format!("{key}.permissions"), &caller.permissions)?;
    for (index, scope) in caller.scopes.iter().flatten().enumerate() {
        check_scope(scope)
            .map_err(|problem| InvalidSetting::new(format!("{key}.scopes[{index}]"), problem))?;
    }
    for (index, id) in caller.vaults.iter().flatten().enumerate() {
        check_vault(id, vaults)
            .map_err(|problem| InvalidSetting::new(format!("{key}.vaults[{index}]"), problem))?;
    }
    Ok(())
}

fn check_default_vault(settings: &Settings, vaults: &[String]) -> Result<(), InvalidSetting> {
    let Some(id) = &settings.default_vault else {
        return Ok(());
    };
    check_vault(id, vaults).map_err(|problem| InvalidSetting::new("default_vault", problem))
}

fn check_vault(id: &str, vaults: &[String]) -> Result<(), ConfigError> {
    if vaults.iter().any(|known| known == id) {
        return Ok(());
    }
    let near = nearest(id, vaults.iter().map(String::as_str))
        .map(|near| format!(": did you mean `{near}`?"))
        .unwrap_or_default();
    Err(ConfigError::new(format!("unknown vault `{id}`{near}"))
        .with_hint(format!("configured vaults: {}", vaults.join(", "))))
}

fn check_permissions(key: &str, stated: &CallerPermissions) -> Result<(), InvalidSetting> {
    check_notebooks(&format!("{key}.notebooks"), &stated.notebooks)?;
    check_globs(&format!("{key}.rules"), &stated.rules)
}

/// Validates that each key is a top-level folder and occurs once.
fn check_notebooks(key: &str, notebooks: &BTreeMap<String, Tier>) -> Result<(), InvalidSetting> {
    let mut known: HashMap<String, &str> = HashMap::new();
    for name in notebooks.keys() {
        let refuse = |problem| Err(InvalidSetting::new(join(key, name), problem));
        if name.is_empty() || name.contains(['/', '\\']) {
            let folder = name.trim_matches(['/', '\\']);
            return refuse(
                ConfigError::new(format!("`{name}` is not a notebook: a notebook is a top-level folder"))
                    .with_hint(format!(
                        "for a folder within a notebook add a rule: `[[permissions.rules]]` with `glob = \"{folder}/**\"`"
                    )),
            );
        }
        if name != "." && name.starts_with('.') {
            return refuse(
                ConfigError::new(format!(
                    "`{name}` is a hidden folder: its tier has no effect"
                ))
                .with_hint(
                    "remove the line: folders whose names begin with a dot are never accessible",
                ),
            );
        }
        if let Some(other) = known.insert(fold_path(name), name) {
            return refuse(
                ConfigError::new(format!("`{other}` and `{name}` are the same notebook"))
                    .with_hint(
                        "names are compared without case and Unicode normalization form; keep one of the lines",
                    ),
            );
        }
    }
    Ok(())
}

fn check_globs(key: &str, rules: &[PermissionRule]) -> Result<(), InvalidSetting> {
    for (index, rule) in rules.iter().enumerate() {
        check_glob(&rule.glob)
            .map_err(|problem| InvalidSetting::new(format!("{key}[{index}].glob"), problem))?;
    }
    Ok(())
}

fn check_grant(key: &str, grant: &GrantSettings) -> Result<(), InvalidSetting> {
    for (effect, globs) in [
        ("read", &grant.read),
        ("write", &grant.write),
        ("delete", &grant.delete),
    ] {
        for (index, glob) in globs.iter().enumerate() {
            check_glob(glob).map_err(|problem| {
                InvalidSetting::new(format!("{key}.{effect}[{index}]"), problem)
            })?;
        }
    }
    for (index, host) in grant.http.iter().enumerate() {
        if let Err(reason) = HostPattern::parse(host) {
            let problem = ConfigError::new(format!("`{host}` cannot be granted: {reason}"))
                .with_hint("examples: `api.example.com`, `*.example.org`, `localhost:8080`, `http://10.0.0.7:9000`");
            return Err(InvalidSetting::new(format!("{key}.http[{index}]"), problem));
        }
    }
    Ok(())
}

/// A limit of nothing would refuse every call.
fn check_limits(key: &str, limits: &ComponentLimits) -> Result<(), InvalidSetting> {
    let limits = serde_json::to_value(limits).unwrap_or_default();
    for (name, value) in limits.as_object().into_iter().flatten() {
        if value.as_u64() == Some(0) {
            let key = format!("{key}.{name}");
            let problem = ConfigError::new(format!("`{key}` is 0: every call would be refused"))
                .with_hint("omit the key to use the value of `[limits]`");
            return Err(InvalidSetting::new(key, problem));
        }
    }
    Ok(())
}

fn check_glob(text: &str) -> Result<(), ConfigError> {
    if let Err(reason) = glob(text) {
        return Err(
            ConfigError::new(format!("`{text}` is not a glob: {reason}"))
                .with_hint("examples: `Work/Contracts/**`, `**/Private`, `Work/*.md`"),
        );
    }
    let has_odd_part = text
        .split('/')
        .any(|part| matches!(part, "" | "." | "..") || part.contains('\\'));
    if has_odd_part {
        return Err(ConfigError::new(format!("`{text}` cannot match any path of a vault"))
            .with_hint("write it relative to the vault's root, without a leading or trailing `/`: `Work/Contracts/**`"));
    }
    Ok(())
}

/// Must agree with the parser in `auth`, which depends on this crate and cannot be called.
fn check_scope(word: &str) -> Result<(), ConfigError> {
    let (domain, name) = match word.split_once(':') {
        Some((domain, name)) => (Some(domain), name),
        None => (None, word),
    };
    let is_domain = |domain: &str| {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        !domain.is_empty() && domain.bytes().all(plain)
    };
    let is_known = SCOPES.contains(&name);
    if is_known && domain.is_none_or(|domain| is_domain(domain) && name != "admin") {
        return Ok(());
    }
    let near = nearest(name, SCOPES)
        .filter(|_| !is_known)
        .map(|near| format!(": did you mean `{near}`?"))
        .unwrap_or_default();
    Err(
        ConfigError::new(format!("invalid scope `{word}`{near}")).with_hint(
            "valid scopes: `read`, `write`, `delete`, `admin`, or for one domain such as `document:write`",
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(toml: &str) -> (String, String) {
        let settings: Settings = toml::from_str(toml).expect("settings");
        let found = check_rules(&settings, &["main".into(), "work".into()]).expect_err(toml);
        (found.key, found.problem.to_string())
    }

    #[test]
    fn rules_that_match_nothing_are_refused() {
        for (toml, key, expected) in [
            (
                "[permissions.notebooks]\n\"Work/Private\" = 'none'",
                "permissions.notebooks.\"Work/Private\"",
                "not a notebook",
            ),
            (
                "[permissions.notebooks]\nWork = 'r'\nwork = 'none'",
                "permissions.notebooks.work",
                "the same notebook",
            ),
            (
                "[permissions.notebooks]\n\".git\" = 'rw'",
                "permissions.notebooks.\".git\"",
                "hidden folder",
            ),
            (
                "[[permissions.rules]]\nglob = '/Work/**'\ntier = 'none'",
                "permissions.rules[0].glob",
                "cannot match any path",
            ),
            (
                "[[permissions.rules]]\nglob = 'Work/'\ntier = 'none'",
                "permissions.rules[0].glob",
                "cannot match any path",
            ),
            (
                "[[permissions.rules]]\nglob = 'Work/[a'\ntier = 'none'",
                "permissions.rules[0].glob",
                "not a glob",
            ),
            (
                "[callers.a.permissions.notebooks]\n\"a/\" = 'r'",
                "callers.a.permissions.notebooks.\"a/\"",
                "not a notebook",
            ),
            (
                "[callers.a]\nscopes = ['read', 'wirte']",
                "callers.a.scopes[1]",
                "did you mean `write`?",
            ),
            (
                "[callers.a]\nscopes = ['document:admin']",
                "callers.a.scopes[0]",
                "invalid scope",
            ),
            (
                "[callers.a]\nvaults = ['wrok']",
                "callers.a.vaults[0]",
                "did you mean `work`?",
            ),
            (
                "default_vault = 'mian'",
                "default_vault",
                "did you mean `main`?",
            ),
            (
                "[[vaults]]\nid = 'main'\npath = '/a'\n[vaults.permissions.notebooks]\n'a/' = 'r'",
                "vaults[0].permissions.notebooks.\"a/\"",
                "not a notebook",
            ),
            (
                "[[vaults]]\nid = 'main'\npath = '/a'\n[vaults.callers.a.permissions]\nrules = [{ glob = '/x', tier = 'r' }]",
                "vaults[0].callers.a.permissions.rules[0].glob",
                "cannot match any path",
            ),
            (
                "[components.x.grant]\nwrite = ['../**']",
                "components.x.grant.write[0]",
                "cannot match any path",
            ),
            (
                "[components.x.grant]\nhttp = ['example.com', 'https://example.com/api']",
                "components.x.grant.http[1]",
                "a host must not have a path",
            ),
            (
                "[components.x.limits]\ncall_ms = 0",
                "components.x.limits.call_ms",
                "every call would be refused",
            ),
        ] {
            let found = refused(toml);
            assert_eq!(found.0, key);
            assert!(found.1.contains(expected), "{}", found.1);
        }
    }
}
