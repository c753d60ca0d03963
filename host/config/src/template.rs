//! The template of `notehost config init`: every key with a comment.

use std::path::Path;

const TEMPLATE: &str = include_str!("template.toml");
const VAULT_LINE: &str = "path = \"~/notes\"\n";

/// A config file in which every key has a comment, for the vault in this folder.
pub fn template(vault: Option<&Path>) -> String {
    let Some(vault) = vault else {
        return TEMPLATE.to_owned();
    };
    let quoted = toml::Value::String(vault.display().to_string());
    TEMPLATE.replacen(VAULT_LINE, &format!("path = {quoted}\n"), 1)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::{Settings, file};
    use super::*;

    /// The file with what it offers switched on: an offered line begins with `#` and no space, prose with `# `.
    fn switched_on() -> String {
        let offered =
            |line: &str| line.starts_with('#') && !line.starts_with("# ") && line.len() > 1;
        TEMPLATE
            .lines()
            .map(|line| format!("{}\n", if offered(line) { &line[1..] } else { line }))
            .collect()
    }

    #[test]
    fn the_template_has_defaults_and_one_vault() {
        let written = file::parse(&template(None), Path::new("n.toml"))
            .expect("settings")
            .settings;
        assert_eq!(written.vaults.len(), 1);
        let expected = Settings {
            vaults: written.vaults.clone(),
            ..Settings::default()
        };
        assert_eq!(
            serde_json::to_value(written).ok(),
            serde_json::to_value(expected).ok()
        );
    }

    #[test]
    fn the_template_quotes_any_folder() {
        let odd = Path::new("/a \"b\"\\c");
        let written = file::parse(&template(Some(odd)), Path::new("n.toml")).expect("settings");
        assert_eq!(written.settings.vaults[0].path, odd);
    }

    #[test]
    fn every_key_is_explained() {
        let all = file::parse(&switched_on(), Path::new("n.toml"))
            .expect("the offered lines are right as well");
        let settings = serde_json::to_value(&all.settings).expect("settings");
        let mut missing = Vec::new();
        collect_missing("", &settings, &all.lines, &mut missing);
        assert!(missing.is_empty(), "the template leaves out {missing:?}");
    }

    fn collect_missing(
        prefix: &str,
        value: &serde_json::Value,
        lines: &std::collections::BTreeMap<String, usize>,
        missing: &mut Vec<String>,
    ) {
        match value {
            serde_json::Value::Object(map) if !map.is_empty() => {
                for (name, inner) in map {
                    collect_missing(&file::join(prefix, name), inner, lines, missing);
                }
            }
            serde_json::Value::Array(items) if !items.is_empty() => {
                for (index, inner) in items.iter().enumerate() {
                    collect_missing(&format!("{prefix}[{index}]"), inner, lines, missing);
                }
            }
            // What components from files have more than others is explained with one of those.
            _ if lines.contains_key(prefix) => {}
            _ if lines.contains_key(&prefix.replace("components.document", "components.todo")) => {}
            _ => missing.push(prefix.to_owned()),
        }
    }
}
