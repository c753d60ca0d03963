//! `notehost component new`: creates a project for a tool domain that builds and passes its tests.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::template::{self, Language};
use crate::cli::ui::failure::Failure;
use crate::cli::ui::terminal::Terminal;
use notehost_pipeline::registry::EMBEDDED;
use notehost_platform::shell::quoted;
use notehost_runtime::check_name;

/// Create a project for a new tool domain.
#[derive(Debug, Args)]
pub(super) struct New {
    /// The domain's name: a-z, 0-9 and _, beginning with a letter
    name: String,
    /// The language of the project
    #[arg(long, value_name = "LANGUAGE", default_value = "rust")]
    lang: Language,
    /// Where to create the project's folder [current folder]
    #[arg(
        long,
        value_name = "DIR",
        default_value = ".",
        hide_default_value = true
    )]
    path: PathBuf,
    /// For Rust: use the SDK in this folder, instead of a copy in the project
    #[arg(long, value_name = "DIR")]
    sdk: Option<PathBuf>,
}

impl New {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        check_name(&self.name).map_err(|error| Failure::usage(error.to_string()))?;
        let is_taken = self.name == "admin" || EMBEDDED.iter().any(|known| known.name == self.name);
        if is_taken {
            let words = format!("`{}` is the name of a built-in domain", self.name);
            return Err(Failure::usage(words).with_hint("choose another name"));
        }
        let sdk = self.sdk.as_deref().map(sdk_folder).transpose()?;
        if sdk.is_some() && self.lang != Language::Rust {
            return Err(Failure::usage(
                "`--sdk` is for Rust: projects in other languages contain their SDK",
            ));
        }
        let folder = self.path.join(&self.name);
        let files = template::project(self.lang, &self.name, sdk.as_deref())
            .map_err(|error| Failure::start(error.to_string()))?;
        make(
            &folder,
            files
                .iter()
                .map(|(path, text)| (path.as_str(), text.as_str())),
        )?;
        Terminal::stdout().print(&next_steps(
            &Terminal::stdout(),
            self.lang,
            &self.name,
            &folder,
        ));
        Ok(ExitCode::SUCCESS)
    }
}

/// The absolute path of an SDK folder.
fn sdk_folder(path: &Path) -> Result<String, Failure> {
    let folder = path
        .canonicalize()
        .ok()
        .filter(|folder| folder.join("Cargo.toml").is_file());
    let folder = folder.ok_or_else(|| {
        Failure::usage(format!("no SDK in `{}`", path.display())).with_hint(
            "use the folder `sdk` of Notehost's sources; without `--sdk` the project gets a copy",
        )
    })?;
    Ok(folder.display().to_string())
}

/// Writes the files to a new or empty folder. An incomplete project is removed.
/// lying around half made.
fn make<'a>(folder: &Path, files: impl Iterator<Item = (&'a str, &'a str)>) -> Result<(), Failure> {
    let shown = folder.display();
    let is_free =
        std::fs::read_dir(folder).map_or(!folder.exists(), |mut entries| entries.next().is_none());
    if !is_free {
        return Err(
            Failure::usage(format!("`{shown}` already exists and is not overwritten"))
                .with_hint("choose another name, or another folder with `--path`"),
        );
    }
    let written = files.into_iter().try_for_each(|(path, text)| {
        let file = folder.join(path);
        file.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        std::fs::write(file, text)
    });
    written.map_err(|error: std::io::Error| {
        // It was made by us, a moment ago.
        let _ = std::fs::remove_dir_all(folder);
        Failure::start(format!("cannot create `{shown}`: {error}"))
    })
}

fn next_steps(terminal: &Terminal, language: Language, name: &str, folder: &Path) -> String {
    let place = quoted(&folder.to_string_lossy());
    let (source, steps): (&str, &[(&str, &str)]) = match language {
        Language::Rust => (
            "src/lib.rs",
            &[
                ("cargo test", "run its tests, without WebAssembly"),
                (
                    "cargo build --release --target wasm32-wasip2",
                    "build the component",
                ),
            ],
        ),
        Language::Javascript => (
            "src/domain.js",
            &[
                ("npm test", "run its tests, with Node"),
                ("npm install && npm run build", "build the component"),
            ],
        ),
        Language::Python => (
            "domain.py",
            &[
                ("python3 -m unittest", "run its tests, with Python"),
                ("python3 build.py", "build the component"),
            ],
        ),
    };
    let enter = format!("cd {place}");
    let all = [(enter.as_str(), "")]
        .into_iter()
        .chain(steps.iter().copied());
    let all = all.chain([(
        "notehost component dev .",
        "try it; rebuilds on every change",
    )]);
    let lines: Vec<String> = all
        .map(|(command, meaning)| {
            let gap = " ".repeat(48_usize.saturating_sub(command.chars().count()));
            let line = format!(
                "  {}{gap}{}",
                terminal.good(command),
                terminal.faint(meaning)
            );
            line.trim_end().to_owned()
        })
        .collect();
    format!(
        "{} was created; start with {}.\n\n{}\n",
        terminal.strong(name),
        quoted(&folder.join(source).to_string_lossy()),
        lines.join("\n")
    )
}
