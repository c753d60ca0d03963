//! `notehost component push`: pushes a component to a registry, with its signature.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use crate::cli::options::{self, Common, OutputFlags};
use crate::cli::ui::failure::Failure;
use crate::cli::ui::output::print_json;
use crate::cli::ui::terminal::Terminal;
use notehost_runtime::inspect;
use notehost_runtime::packages::oci::{self, Artifact, OciError, Reference};
use notehost_runtime::packages::signature::{self, SignatureError};

#[derive(Debug, Args)]
pub(super) struct Push {
    /// The component: a `.wasm` file
    file: PathBuf,
    /// The reference in the registry: oci://HOST[:PORT]/NAME[:TAG]
    #[arg(value_name = "REF", value_parser = reference)]
    reference: Reference,
    /// Its minisign signature [FILE.minisig, if it exists]
    #[arg(long, value_name = "FILE")]
    signature: Option<PathBuf>,
    #[command(flatten)]
    output: OutputFlags,
    #[command(flatten)]
    common: Common,
}

impl Push {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let loaded = options::load(self.common.clone().given())?;
        let bytes = std::fs::read(&self.file).map_err(|error| unreadable(&self.file, &error))?;
        if !oci::is_component(&bytes) {
            let shown = self.file.display();
            return Err(
                Failure::call(format!("`{shown}` is not a WebAssembly component"))
                    .with_hint("build it for the target wasm32-wasip2"),
            );
        }
        let signature = self.read_signature()?;
        let signed = match &signature {
            // An unknown key is fine, because readers of the registry decide whom to trust; a signature of other bytes is not.
            Some(text) => {
                match signature::verify(&bytes, text, &loaded.settings.trust.publishers) {
                    Ok(signed) => Some(signed.key_id),
                    Err(SignatureError::UnknownKey { key_id }) => Some(key_id),
                    Err(error) => return Err(error.into()),
                }
            }
            None => None,
        };
        let inspected = inspect(&bytes).map_err(|error| {
            let shown = self.file.display();
            Failure::call(format!("`{shown}` {error}"))
        })?;
        let artifact = Artifact {
            bytes,
            signature,
            exports: inspected.exports,
            imports: inspected.imports,
        };
        let digest = options::block_on(oci::push(&self.reference, artifact))??;
        let pinned = self.reference.pinned_to(&digest);
        let terminal = Terminal::stdout();
        if self.output.is_json(&terminal) {
            let report = json!({
                "reference": self.reference.to_string(),
                "digest": digest,
                "pinned": pinned.to_string(),
                "key": signed,
            });
            print_json(&terminal, report);
            return Ok(ExitCode::SUCCESS);
        }
        let by = match signed {
            Some(key) => format!("signed with the key {key}"),
            None => "not signed".to_owned(),
        };
        terminal.print(&format!(
            "{} was pushed, {by}\n{}\n",
            terminal.good(&self.reference.to_string()),
            terminal.faint(&format!("pinned reference: {pinned}")),
        ));
        Ok(ExitCode::SUCCESS)
    }

    fn read_signature(&self) -> Result<Option<String>, Failure> {
        let file = match &self.signature {
            Some(file) => file.clone(),
            None => signature::file_beside(&self.file),
        };
        match signature::read(&file).map_err(|error| unreadable(&file, &error))? {
            None if self.signature.is_some() => {
                Err(Failure::call(format!("no signature `{}`", file.display())))
            }
            found => Ok(found),
        }
    }
}

fn reference(text: &str) -> Result<Reference, String> {
    text.parse()
        .map_err(|error: oci::BadReference| format!("{error} ({})", error.hint()))
}

fn unreadable(file: &Path, error: &std::io::Error) -> Failure {
    Failure::call(format!("cannot read `{}`: {error}", file.display()))
}

impl From<OciError> for Failure {
    fn from(error: OciError) -> Self {
        let words = error.to_string();
        let failure = match error {
            OciError::NoSuchHost(_)
            | OciError::Refused(_)
            | OciError::Unreachable { .. }
            | OciError::TimedOut(_) => Failure::start(words),
            OciError::NeedsTag(_) => Failure::usage(words),
            _ => Failure::call(words),
        };
        failure.with_any_hint(error.hint())
    }
}

impl From<SignatureError> for Failure {
    fn from(error: SignatureError) -> Self {
        Failure::call(error.to_string()).with_hint(error.hint())
    }
}
