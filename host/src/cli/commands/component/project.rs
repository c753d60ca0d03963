//! A domain project: its language, and how it is built.

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::SystemTime;

use serde_json::Value;
use tokio::process::Command;

use super::template::Language;
use crate::cli::ui::failure::Failure;

/// The target of Rust builds.
const TARGET: &str = "wasm32-wasip2";
/// Folders of build output or dependencies.
const NOT_SOURCES: [&str; 5] = ["target", "dist", "node_modules", "__pycache__", "vendor"];

/// A folder with the sources of a domain.
#[derive(Debug, Clone)]
pub(super) struct Project {
    folder: PathBuf,
    language: Language,
}

impl Project {
    /// Opens the project in a folder.
    pub(super) fn at(folder: &Path) -> Result<Project, Failure> {
        let found = folder.canonicalize().map_err(|error| {
            Failure::usage(format!("cannot read `{}`: {error}", folder.display()))
        })?;
        let marks = [
            ("Cargo.toml", Language::Rust),
            ("package.json", Language::Javascript),
            ("build.py", Language::Python),
        ];
        let mark = marks
            .into_iter()
            .find(|(file, _)| found.join(file).is_file());
        let Some((_, language)) = mark else {
            return Err(Failure::usage(format!("`{}` is not a domain project", folder.display())).with_hint(
                "a project has a `Cargo.toml`, `package.json` or `build.py`; `notehost component new NAME` creates one",
            ));
        };
        Ok(Project {
            folder: found,
            language,
        })
    }

    /// Its folder.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The name of its language.
    pub(super) fn language(&self) -> &'static str {
        match self.language {
            Language::Rust => "Rust",
            Language::Javascript => "JavaScript",
            Language::Python => "Python",
        }
    }

    /// Whether a change of this file can change the component.
    pub(super) fn is_source(&self, path: &Path) -> bool {
        let Ok(inside) = path.strip_prefix(&self.folder) else {
            return false;
        };
        // Editors keep their own files beside the sources, hidden or with a tilde.
        let is_foreign = |part: &str| {
            part.starts_with('.') || part.ends_with('~') || NOT_SOURCES.contains(&part)
        };
        let mut parts = inside.iter().map(|part| part.to_string_lossy());
        let is_lock = ["Cargo.lock", "package-lock.json"]
            .iter()
            .any(|lock| inside == Path::new(lock));
        inside != Path::new("") && !is_lock && !parts.any(|part| is_foreign(&part))
    }

    /// Builds the project; compiler output goes to stderr. Returns the component's file.
    pub(super) async fn build(&self) -> Result<PathBuf, Failure> {
        match self.language {
            Language::Rust => self.build_rust().await,
            Language::Javascript => {
                // Node also searches the parent folders.
                let has_packages = self
                    .folder
                    .ancestors()
                    .any(|folder| folder.join("node_modules").is_dir());
                if !has_packages {
                    self.run("npm", &["install", "--no-audit", "--no-fund"])
                        .await?;
                }
                self.build_by("npm", &["run", "--silent", "build"]).await
            }
            Language::Python => self.build_by("python3", &["build.py"]).await,
        }
    }

    async fn build_rust(&self) -> Result<PathBuf, Failure> {
        self.ask_for_target().await?;
        let words = ["build", "--release", "--target", TARGET];
        let mut cargo = self.command("cargo");
        cargo
            .args(words)
            .arg("--message-format=json-render-diagnostics");
        let built = capture_stdout(cargo)
            .await
            .map_err(|error| missing("cargo", &error))?;
        if !built.status.success() {
            return Err(Failure::call("the build failed"));
        }
        let manifest = self.folder.join("Cargo.toml");
        let messages = String::from_utf8_lossy(&built.stdout);
        let component = messages
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .filter(|message| message["reason"] == "compiler-artifact")
            .filter(|message| message["manifest_path"].as_str().map(Path::new) == Some(&*manifest))
            .flat_map(|message| message["filenames"].as_array().cloned().unwrap_or_default())
            .filter_map(|file| Some(PathBuf::from(file.as_str()?)))
            .find(|file| {
                file.extension()
                    .is_some_and(|extension| extension == "wasm")
            });
        component.ok_or_else(|| {
            Failure::call("the build produces no `.wasm` file").with_hint(
                "a domain is a library: set `crate-type = [\"cdylib\"]` under `[lib]` in `Cargo.toml`",
            )
        })
    }

    /// Installs the target with rustup if it is missing; rustup's automatic installation may be switched off.
    async fn ask_for_target(&self) -> Result<(), Failure> {
        let mut rustc = self.command("rustc");
        rustc.args(["--print", "target-libdir", "--target", TARGET]);
        let output = capture_stdout(rustc)
            .await
            .map_err(|error| missing("rustc", &error))?;
        let folder = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        match Path::new(&folder).exists() {
            true => Ok(()),
            false => self.run("rustup", &["target", "add", TARGET]).await,
        }
    }

    /// Builds with a script that writes its result to `dist`.
    async fn build_by(&self, program: &str, words: &[&str]) -> Result<PathBuf, Failure> {
        self.run(program, words).await?;
        let newest = std::fs::read_dir(self.folder.join("dist"))
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| {
                path.extension()
                    .is_some_and(|extension| extension == "wasm")
            })
            .max_by_key(|path| {
                let modified = path.metadata().and_then(|found| found.modified());
                modified.unwrap_or(SystemTime::UNIX_EPOCH)
            });
        newest.ok_or_else(|| Failure::call("the build produces no `.wasm` file in `dist`"))
    }

    async fn run(&self, program: &str, words: &[&str]) -> Result<(), Failure> {
        let status = self
            .command(program)
            .args(words)
            .status()
            .await
            .map_err(|error| missing(program, &error))?;
        match status.success() {
            true => Ok(()),
            false => Err(Failure::call("the build failed")),
        }
    }

    /// A program that runs in the project, with its output on stderr. It is killed when this process ends.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(std::io::stderr())
            .kill_on_drop(true);
        notehost_platform::private::restore_umask(command.as_std_mut());
        command
    }
}

/// Captures the stdout of a command; its stderr is passed through. (`Command::output` would
/// capture both.)
async fn capture_stdout(mut command: Command) -> std::io::Result<Output> {
    let running = command.stdout(Stdio::piped()).spawn()?;
    running.wait_with_output().await
}

fn missing(program: &str, error: &std::io::Error) -> Failure {
    let hint = match program {
        "npm" => "JavaScript needs Node: https://nodejs.org",
        "python3" => "Python needs `python3` with `venv`",
        _ => "Rust needs rustup: https://rustup.rs",
    };
    Failure::call(format!("cannot run `{program}`: {error}")).with_hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_is_detected_by_one_file() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(Project::at(folder.path()).is_err());
        assert!(Project::at(&folder.path().join("none")).is_err());
        for (file, language) in [
            ("build.py", "Python"),
            ("package.json", "JavaScript"),
            ("Cargo.toml", "Rust"),
        ] {
            std::fs::write(folder.path().join(file), "").expect("a file");
            assert_eq!(
                Project::at(folder.path()).expect("a project").language(),
                language
            );
        }
    }

    #[test]
    fn build_output_is_not_a_source() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("build.py"), "").expect("a file");
        let project = Project::at(folder.path()).expect("a project");
        let is_source = |path: &str| project.is_source(&project.folder().join(path));
        for source in [
            "domain.py",
            "src/lib.rs",
            "wit/domain.wit",
            "Cargo.toml",
            "package.json",
        ] {
            assert!(is_source(source), "{source}");
        }
        for other in [
            "",
            "dist/a.wasm",
            "target/x",
            ".git/index",
            "src/.lib.rs.swp",
            "a.py~",
            "Cargo.lock",
            "package-lock.json",
            "__pycache__/a",
        ] {
            assert!(!is_source(other), "{other}");
        }
        assert!(!project.is_source(Path::new("/elsewhere/domain.py")));
    }
}
