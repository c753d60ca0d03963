//! The files of a new project: those of `sdk/templates`, those shared with the example in its language,
//! the contract, and for Rust the SDK's sources. All of them are embedded in the program, so only a compiler is
//! needed in addition.

use std::collections::BTreeMap;

use toml_edit::{Array, DocumentMut, Item};

include!(concat!(env!("OUT_DIR"), "/sdk_sources.rs"));

/// The placeholder of the domain's name in the templates.
const PLACEHOLDER: &str = "domain_name";
/// The folder of the SDK in a project.
const VENDOR: &str = "vendor/notehost";
const WORKSPACE: &str = include_str!("../../../../../Cargo.toml");
const LOCK: &str = include_str!("../../../../../Cargo.lock");

/// A language that domains are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Language {
    /// Rust, with the SDK.
    Rust,
    /// JavaScript, by componentize-js.
    Javascript,
    /// Python, by componentize-py.
    Python,
}

/// The files of a template, and those shared with the example in its language.
macro_rules! files {
    ($folder:literal: $($path:literal),*; as the example: $($shared:literal),* $(,)?) => {
        &[
            $(($path, include_str!(concat!("../../../../../sdk/templates/", $folder, "/", $path))),)*
            $(($shared, include_str!(concat!("../../../../../sdk/examples/", $folder, "/", $shared))),)*
        ]
    };
}

const RUST: &[(&str, &str)] =
    files!["rust": ".gitignore", "Cargo.toml", "README.md", "src/lib.rs"; as the example:];
const JAVASCRIPT: &[(&str, &str)] = files!["javascript":
    ".gitignore",
    "README.md",
    "build.mjs",
    "package.json",
    "src/domain.js",
    "test/domain.test.js";
    as the example:
    "src/component.js",
    "src/notehost.js",
];
const PYTHON: &[(&str, &str)] = files!["python":
    ".gitignore",
    "README.md",
    "build.py",
    "domain.py",
    "test_domain.py";
    as the example:
    "component.py",
    "notehost.py",
    "requirements.txt",
];

/// The files of a new project by path. `sdk` is the folder of a Rust project's SDK, if the project does not contain
/// a copy.
pub(super) fn project(
    language: Language,
    name: &str,
    sdk: Option<&str>,
) -> Result<BTreeMap<String, String>, toml_edit::TomlError> {
    let template = match language {
        Language::Rust => RUST,
        Language::Javascript => JAVASCRIPT,
        Language::Python => PYTHON,
    };
    let named = |text: &str| text.replace(PLACEHOLDER, name);
    let mut files: BTreeMap<String, String> = template
        .iter()
        .map(|(path, text)| ((*path).to_owned(), named(text)))
        .collect();
    match (language, sdk) {
        (Language::Rust, Some(sdk)) => {
            let mut manifest: DocumentMut = files["Cargo.toml"].parse()?;
            manifest["dependencies"]["notehost-sdk"]["path"] = toml_edit::value(sdk);
            files.insert("Cargo.toml".into(), manifest.to_string());
        }
        (Language::Rust, None) => {
            let sources = SDK_SOURCES.iter();
            files.extend(
                sources.map(|(path, text)| (format!("{VENDOR}/{path}"), (*text).to_owned())),
            );
            files.insert(format!("{VENDOR}/Cargo.toml"), workspace_of_sdk()?);
            // The versions that the SDK was tested with; cargo removes unused entries.
            files.insert("Cargo.lock".into(), LOCK.to_owned());
        }
        _ => {
            let contract = SDK_SOURCES
                .iter()
                .filter(|(path, _)| *path == "wit/domain.wit");
            files.extend(contract.map(|(path, text)| ((*path).to_owned(), (*text).to_owned())));
        }
    }
    Ok(files)
}

/// The workspace manifest of the SDK's two crates: the parts of this repository's that they inherit.
fn workspace_of_sdk() -> Result<String, toml_edit::TomlError> {
    let mut manifest: DocumentMut = WORKSPACE.parse()?;
    manifest.as_table_mut().remove("profile");
    let Some(workspace) = manifest.get_mut("workspace").and_then(Item::as_table_mut) else {
        return Ok(manifest.to_string());
    };
    workspace.decor_mut().set_prefix(
        "# The SDK of Notehost, in the version of the program that created this project.\n",
    );
    workspace.remove("default-members");
    workspace.remove("exclude");
    workspace.insert(
        "members",
        toml_edit::value(Array::from_iter(["sdk", "sdk/macros"])),
    );
    let used: String = SDK_SOURCES
        .iter()
        .filter(|(path, _)| path.ends_with("Cargo.toml"))
        .map(|(_, text)| *text)
        .collect();
    if let Some(dependencies) = workspace
        .get_mut("dependencies")
        .and_then(Item::as_table_mut)
    {
        let is_used = |name: &str| {
            let of_workspace = [
                format!("\n{name}.workspace"),
                format!("\n{name} = {{ workspace"),
            ];
            of_workspace.iter().any(|line| used.contains(line))
        };
        dependencies.retain(|name, _| is_used(name));
    }
    Ok(manifest.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_has_its_name_everywhere() {
        for language in [Language::Rust, Language::Javascript, Language::Python] {
            let files = project(language, "weather", None).expect("a project");
            assert!(files.contains_key("README.md"), "{language:?}");
            assert!(
                files.keys().any(|path| path.ends_with("wit/domain.wit")),
                "{language:?}"
            );
            for (path, text) in &files {
                assert!(
                    !text.contains(PLACEHOLDER) || path.contains("vendor"),
                    "{path}"
                );
            }
        }
    }

    #[test]
    fn the_sdk_of_a_project_stands_alone() {
        let files = project(Language::Rust, "weather", None).expect("a project");
        let manifest = &files["vendor/notehost/Cargo.toml"];
        let parsed: toml::Table = manifest.parse().expect("a manifest");
        let workspace = parsed["workspace"].as_table().expect("a workspace");
        let dependencies = workspace["dependencies"].as_table().expect("dependencies");
        assert!(
            dependencies.contains_key("wit-bindgen") && !dependencies.contains_key("notehost"),
            "{manifest}"
        );
        assert!(
            dependencies.contains_key("notehost-sdk-macros"),
            "{manifest}"
        );
        for crate_manifest in ["sdk/Cargo.toml", "sdk/macros/Cargo.toml"] {
            assert!(files.contains_key(&format!("vendor/notehost/{crate_manifest}")));
        }
        let elsewhere = project(Language::Rust, "weather", Some("/opt/sdk")).expect("a project");
        assert!(elsewhere["Cargo.toml"].contains("/opt/sdk"));
        assert!(!elsewhere.keys().any(|path| path.starts_with("vendor")));
    }
}
