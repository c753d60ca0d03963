//! Registry credentials from `config.json`, as written by `docker login`. Credential helpers are not supported.

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use oci_client::secrets::RegistryAuth;
use serde_json::Value;

use notehost_config::expand_home;

/// What is sent to a registry: a name and a password where there are some.
pub(super) fn for_registry(registry: &str) -> RegistryAuth {
    std::fs::read_to_string(file())
        .ok()
        .and_then(|text| serde_json::from_str(&text).ok())
        .and_then(|config| entry(&config, registry))
        .map_or(RegistryAuth::Anonymous, |(name, password)| {
            RegistryAuth::Basic(name, password)
        })
}

/// Where they are.
pub fn file() -> PathBuf {
    match std::env::var_os("DOCKER_CONFIG").filter(|folder| !folder.is_empty()) {
        Some(folder) => PathBuf::from(folder).join("config.json"),
        None => expand_home("~/.docker/config.json".as_ref()),
    }
}

fn entry(config: &Value, registry: &str) -> Option<(String, String)> {
    let auths = config.get("auths")?.as_object()?;
    // Older files have whole addresses as keys.
    let host = |key: &str| {
        let rest = key.split_once("://").map_or(key, |(_, rest)| rest);
        rest.split('/').next().unwrap_or(rest).to_owned()
    };
    let (_, found) = auths.iter().find(|(key, _)| host(key) == registry)?;
    let text = String::from_utf8(STANDARD.decode(found.get("auth")?.as_str()?).ok()?).ok()?;
    let (name, password) = text.split_once(':')?;
    Some((name.to_owned(), password.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_entry_of_this_very_host_is_taken() {
        let auth = STANDARD.encode("ana:a:b");
        let config = json!({"auths": {
            "https://registry.example.org/v1/": {"auth": auth},
            "localhost:5000": {"auth": auth},
            "empty.example.org": {},
        }});
        let ana = Some(("ana".to_owned(), "a:b".to_owned()));
        assert_eq!(entry(&config, "registry.example.org"), ana);
        assert_eq!(entry(&config, "localhost:5000"), ana);
        for other in [
            "localhost",
            "localhost:5001",
            "example.org",
            "empty.example.org",
        ] {
            assert_eq!(entry(&config, other), None, "{other}");
        }
    }
}
