//! `notehost component inspect`: shows a component from its bytes. It is not run; the actions are those of the stored
//! description of an installed component.

use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};

use super::fetch::to_json;
use crate::cli::options::{self, Common, OutputFlags};
use crate::cli::ui::failure::Failure;
use crate::cli::ui::output::print_json;
use crate::cli::ui::terminal::Terminal;
use notehost_pipeline::registry::{EMBEDDED, Offer, known_description};
use notehost_runtime::packages::signature;
use notehost_runtime::packages::{Packages, PackagesError};
use notehost_runtime::{Description, Inspected, inspect};

/// Show a component: actions, imports, manifest, size, digest, signature.
///
/// The component is not run. Its actions are shown if its description is already known: if it is installed or built in.
#[derive(Debug, Args)]
pub(super) struct Inspect {
    /// A `.wasm` file, oci://…, or the name of a component
    #[arg(value_name = "FILE|REF|NAME")]
    what: String,
    #[command(flatten)]
    output: OutputFlags,
    #[command(flatten)]
    common: Common,
}

/// The component to inspect.
struct Inspectable {
    bytes: Vec<u8>,
    signature: Option<String>,
    source: String,
    publisher: Option<String>,
}

impl Inspect {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let loaded = options::load(self.common.given())?;
        let state = &loaded.running.state;
        let found = match installed(&Packages::of(state), &self.what)? {
            Some(found) => found,
            None => {
                let offer = options::block_on(Offer::fetch(&self.what, None))??;
                Inspectable {
                    bytes: offer.bytes,
                    signature: offer.signature,
                    source: offer.source,
                    publisher: None,
                }
            }
        };
        let inspected = inspect(&found.bytes)
            .map_err(|error| Failure::call(format!("`{}` {error}", self.what)))?;
        let description = known_description(&inspected.digest, state);
        let signed = signed(&found, &loaded.settings.trust);
        let terminal = Terminal::stdout();
        if self.output.is_json(&terminal) {
            let mut report = to_json(&inspected);
            report["source"] = found.source.into();
            report["signature"] = signed.into();
            if let Some(description) = &description {
                report["name"] = description.name.clone().into();
                report["version"] = description.version.clone().into();
                report["actions"] = actions(description);
            }
            if let Err(error) = inspected.track() {
                report["problem"] = error.to_string().into();
            }
            print_json(&terminal, report);
            return Ok(ExitCode::SUCCESS);
        }
        terminal.print(&page(
            &terminal,
            &inspected,
            description.as_ref(),
            &found.source,
            &signed,
        ));
        Ok(ExitCode::SUCCESS)
    }
}

/// The installed or built-in component with that name.
fn installed(packages: &Packages, name: &str) -> Result<Option<Inspectable>, PackagesError> {
    if let Some(installed) = packages.installed()?.components.get(name) {
        return Ok(Some(Inspectable {
            bytes: packages.content(name, &installed.current)?,
            signature: packages.signature(&installed.current)?,
            source: installed.current.source.clone(),
            publisher: installed.current.publisher.clone(),
        }));
    }
    let embedded = EMBEDDED.iter().find(|embedded| embedded.name == name);
    Ok(embedded.map(|embedded| Inspectable {
        bytes: embedded.wasm(),
        signature: None,
        source: "built in".into(),
        publisher: None,
    }))
}

/// Its signature, in words.
fn signed(found: &Inspectable, trust: &notehost_config::TrustSettings) -> String {
    match (&found.signature, &found.publisher) {
        (None, Some(publisher)) => {
            format!("signed by {publisher} when it was installed; the signature was not stored")
        }
        (None, None) => "none".to_owned(),
        (Some(signature), _) => match signature::verify(&found.bytes, signature, &trust.publishers)
        {
            Ok(signed) => format!("signed by {} (key {})", signed.publisher, signed.key_id),
            Err(error) => error.to_string(),
        },
    }
}

fn actions(description: &Description) -> Value {
    let actions = description.actions.iter();
    actions
        .map(|action| json!({ "name": action.name, "effect": action.effect.as_str() }))
        .collect()
}

fn page(
    terminal: &Terminal,
    inspected: &Inspected,
    description: Option<&Description>,
    source: &str,
    signed: &str,
) -> String {
    let mut lines = Vec::new();
    let mut line = |name: &str, value: String| {
        lines.push(format!(
            "{:10} {}\n",
            terminal.faint(name),
            terminal.safe(&value)
        ));
    };
    if let Some(description) = description {
        line(
            "name",
            format!("{} {}", description.name, description.version),
        );
        line("about", description.description.clone());
        let actions: Vec<String> = description
            .actions
            .iter()
            .map(|action| format!("{} ({})", action.name, action.effect.as_str()))
            .collect();
        line("actions", actions.join(", "));
    }
    line("source", source.to_owned());
    line("digest", format!("sha256:{}", inspected.digest));
    line("size", format!("{} bytes", inspected.size));
    line("signature", signed.to_owned());
    let contract = inspected.contract();
    let contract = match (contract, inspected.track()) {
        (Some(contract), Ok(_)) => format!("notehost:domain@{contract}"),
        (_, Err(error)) => error.to_string(),
        (None, Ok(_)) => "none".to_owned(),
    };
    line("contract", contract);
    let manifest = inspected
        .manifest
        .as_ref()
        .map(|manifest| serde_json::to_string(manifest).unwrap_or_default());
    line(
        "manifest",
        manifest.unwrap_or_else(|| "none: no limits of its own, no HTTP requests".into()),
    );
    for import in &inspected.imports {
        line("imports", import.clone());
    }
    for producer in &inspected.producers {
        line(
            "built with",
            format!("{} {}", producer.name, producer.version),
        );
    }
    lines.concat()
}
