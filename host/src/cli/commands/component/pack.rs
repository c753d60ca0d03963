//! `notehost component pack`: embeds a manifest in a built component, for languages whose tools cannot do it
//! themselves; in Rust `notehost_sdk::manifest!` does.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use crate::cli::ui::failure::Failure;
use crate::cli::ui::terminal::Terminal;
use notehost_runtime::{Manifest, digest, inspect, with_manifest};

#[derive(Debug, Args)]
pub(super) struct Pack {
    /// The component
    file: PathBuf,
    /// The manifest, as JSON: effect, store_bytes, http, limits
    #[arg(long, value_name = "FILE")]
    manifest: PathBuf,
    /// The output file [the component's own file]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Pack {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let json = read(&self.manifest)?;
        let manifest = Manifest::parse(&json)
            .map_err(|error| file_error(&self.manifest, &format!("is not a manifest: {error}")))?;
        let component = read(&self.file)?;
        // A component that no host can load is refused.
        let inspected = inspect(&component).and_then(|inspected| {
            inspected.track()?;
            Ok(inspected)
        });
        inspected.map_err(|error| file_error(&self.file, &error.to_string()))?;
        let packed = with_manifest(&component, &manifest)
            .map_err(|error| file_error(&self.file, &error.to_string()))?;
        let output = self.output.as_deref().unwrap_or(&self.file);
        write(output, &packed)?;
        Terminal::stdout().print(&format!(
            "{}: {} bytes, sha256:{}\n",
            output.display(),
            packed.len(),
            digest(&packed)
        ));
        Ok(ExitCode::SUCCESS)
    }
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(file).map_err(|error| file_error(file, &format!("cannot be read: {error}")))
}

/// Writes the file atomically, so that a watcher never sees a partial component.
fn write(file: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".new-{}", std::process::id()));
    let new = file.with_file_name(name);
    let written = fs::write(&new, bytes).and_then(|()| fs::rename(&new, file));
    written.map_err(|error| {
        let _ = fs::remove_file(&new);
        file_error(file, &format!("cannot be written: {error}"))
    })
}

fn file_error(file: &Path, what: &str) -> Failure {
    Failure::call(format!("`{}` {what}", file.display()))
}
