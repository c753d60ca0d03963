//! Loads domains from the program itself, from the component store, and from files named in the config, all in the same
//! way.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::descriptions::Descriptions;
use super::domain::{self, Domain, Origin};
use super::snapshot::Snapshot;
use notehost_config::{ComponentSettings, GrantSettings, Settings, vault_of};
use notehost_embedded::{EMBEDDED, Embedded};
use notehost_policy::{BadGlob, BadHost, Grant, HostGrant};
use notehost_runtime::packages::signature::{self, SignatureError};
use notehost_runtime::packages::{Packages, PackagesError};
use notehost_runtime::{Component, Description, LoadError, Manifest, Runtime};

/// The import of a component that sends requests.
const REQUESTS: &str = "wasi:http/outgoing-handler@";

/// Why a component cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum AddError {
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error(transparent)]
    Compile(#[from] Arc<LoadError>),
    #[error(transparent)]
    Store(#[from] PackagesError),
    #[error(transparent)]
    Signature(#[from] SignatureError),
    #[error("its file `{}` is inside the vault `{vault}`, where note tools could write it", .path.display())]
    InVault { path: PathBuf, vault: String },
    #[error("its signature cannot be read: {0}")]
    NoSignature(std::io::Error),
    #[error(transparent)]
    Glob(#[from] BadGlob),
    #[error(transparent)]
    Host(#[from] BadHost),
    #[error("its name is `{found}`, but must be `{expected}`")]
    OtherName { found: String, expected: String },
    #[error("this name is reserved for the host's own domain")]
    OfHost,
    #[error(transparent)]
    Domain(#[from] domain::DomainError),
}

impl AddError {
    /// A hint for the operator.
    pub(super) fn hint(&self) -> Option<String> {
        match self {
            AddError::Signature(error) => Some(error.hint()),
            AddError::Store(PackagesError::Untrusted { reason, .. }) => Some(reason.hint()),
            AddError::Load(LoadError::Unreadable { source, .. })
                if source.kind() == std::io::ErrorKind::PermissionDenied =>
            {
                Some(
                    "let the server's user read it; a server in the OS sandbox can open only paths that its config \
                    named at the start: restart it"
                        .to_owned(),
                )
            }
            AddError::InVault { .. } => Some("move the file out of the vault".to_owned()),
            _ => None,
        }
    }
}

/// The components loaded from files: those named in the config, and those of the component folder, by name.
pub(super) fn files(settings: &Settings) -> Vec<(String, PathBuf)> {
    let named = settings.components.iter();
    let mut files: Vec<(String, PathBuf)> = named
        .filter_map(|(name, switches)| Some((name.clone(), switches.path.clone()?)))
        .collect();
    let folder = settings.component_folder.as_deref();
    let found = folder.and_then(|folder| std::fs::read_dir(folder).ok());
    let mut found: Vec<PathBuf> = found
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    found.sort();
    for path in found {
        let is_component = path.extension().is_some_and(|end| end == "wasm");
        let name = path.file_stem().and_then(|name| name.to_str());
        if let (true, Some(name)) = (is_component, name)
            && !files.iter().any(|(known, _)| known == name)
        {
            files.push((name.to_owned(), path));
        }
    }
    files
}

/// A component's bytes and their signature.
struct Content {
    wasm: Vec<u8>,
    signature: Option<String>,
    origin: Origin,
}

/// The inputs of loading.
struct Loading<'a> {
    settings: &'a Settings,
    runtime: &'a Runtime,
    kept: Descriptions,
    /// The current snapshot, if any.
    before: Option<&'a Snapshot>,
}

impl Snapshot {
    /// Loads everything. A replacement for a running component is compiled first, and one that cannot be used replaces
    /// nothing.
    pub(super) async fn load(
        settings: &Settings,
        runtime: &Runtime,
        state: &Path,
        before: Option<&Snapshot>,
    ) -> Snapshot {
        let loading = Loading {
            settings,
            runtime,
            kept: Descriptions::of_state(state),
            before,
        };
        let mut snapshot = Snapshot::default();
        for embedded in EMBEDDED {
            let added = loading.embedded(embedded);
            if let Ok(domain) = &added {
                snapshot.keep_embedded(domain);
            }
            snapshot.add(embedded.name, &loading.switches(embedded.name), added, None);
        }
        snapshot.add_own();
        let files = files(settings);
        let packages = Packages::of(state);
        match packages.installed() {
            Ok(lock) => {
                for (name, installed) in &lock.components {
                    // A file that the config names stands before what is installed.
                    if files.iter().any(|(named, _)| named == name) {
                        continue;
                    }
                    let version = &installed.current;
                    let added = match packages.verified(name, version, &settings.trust) {
                        Ok((wasm, signature)) => {
                            let content = Content {
                                wasm,
                                signature,
                                origin: Origin::Installed,
                            };
                            loading.domain(name, content).await
                        }
                        Err(error) => Err(error.into()),
                    };
                    loading.add(&mut snapshot, name, added);
                }
            }
            Err(error) => {
                let before = before.into_iter().flat_map(Snapshot::domains);
                let trusted = before.filter(|domain| loading.trusts(domain));
                snapshot.keep_installed(error.to_string(), settings, trusted);
            }
        }
        for (name, path) in &files {
            let added = match loading.file(name, path) {
                Ok(content) => loading.domain(name, content).await,
                Err(error) => Err(error),
            };
            loading.add(&mut snapshot, name, added);
        }
        if let Some(before) = before {
            snapshot.keep_compiled(before);
        }
        snapshot
    }
}

impl Loading<'_> {
    fn switches(&self, name: &str) -> ComponentSettings {
        let switches = self.settings.components.get(name).cloned();
        switches.unwrap_or_default()
    }

    fn several_vaults(&self) -> bool {
        self.settings.vaults.len() > 1
    }

    fn embedded(&self, embedded: &'static Embedded) -> Result<Domain, AddError> {
        let before = self
            .before
            .and_then(|before| before.embedded(embedded.name));
        if let Some(same) = before {
            return Ok(same.clone());
        }
        let description = Description::parse(embedded.description).map_err(LoadError::from)?;
        let component = Component::embedded(embedded);
        Ok(Domain::new(
            description,
            component,
            Manifest::default(),
            Grant::everything(),
            self.several_vaults(),
        )?)
    }

    /// Adds a loaded component. If it cannot be used, the previous version stays in use, unless that is no longer
    /// trusted either.
    fn add(&self, snapshot: &mut Snapshot, name: &str, added: Result<Domain, AddError>) {
        let running = self.before.and_then(|before| before.domain(name));
        let running = running.filter(|running| added.is_err() && self.trusts(running));
        snapshot.add(name, &self.switches(name), added, running);
    }

    /// Whether a running component would still be accepted: the trust settings may have changed.
    fn trusts(&self, domain: &Domain) -> bool {
        let Some(component) = &domain.component else {
            return true;
        };
        let signature = domain.signature.as_deref();
        let checked = || {
            signature::check_named(
                &component.wasm(),
                signature,
                &domain.name,
                &self.settings.trust,
            )
        };
        domain.origin == Origin::Embedded || checked().is_ok()
    }

    /// A component that is a file, verified by the signature beside it.
    fn file(&self, name: &str, path: &Path) -> Result<Content, AddError> {
        // Checked each time: a link in the folder of components can lead anywhere.
        if let Some(vault) = vault_of(self.settings, path) {
            return Err(AddError::InVault {
                path: path.to_owned(),
                vault: vault.id.clone(),
            });
        }
        let unreadable = |source| LoadError::Unreadable {
            name: name.to_owned(),
            source,
        };
        let wasm = std::fs::read(path).map_err(unreadable)?;
        let beside = signature::file_beside(path);
        let signature = signature::read(&beside).map_err(AddError::NoSignature)?;
        let trust = &self.settings.trust;
        signature::check_named(&wasm, signature.as_deref(), name, trust)?;
        Ok(Content {
            wasm,
            signature,
            origin: Origin::File,
        })
    }

    async fn domain(&self, name: &str, content: Content) -> Result<Domain, AddError> {
        let Content {
            wasm,
            signature,
            origin,
        } = content;
        let component = Component::new(name, wasm)?;
        // Also where its description is known from before: another host may have asked for it.
        let inspected = component.inspect()?;
        let description = self.kept.of(&component, self.runtime).await?;
        if description.name != name {
            return Err(AddError::OtherName {
                found: description.name,
                expected: name.to_owned(),
            });
        }
        let running = self.before.and_then(|before| before.domain(name));
        let running = running.and_then(|running| running.component.as_ref());
        let runs_already = running.is_some_and(|running| running.is_same_as(&component));
        if self.before.is_some() && !runs_already {
            // No call shall wait for the compiler.
            component.prepare(self.runtime).await?;
        }
        let switches = self.switches(name);
        let manifest = inspected.manifest.unwrap_or_default();
        // Who cannot send a request reaches nothing, whatever it is granted.
        let sends = inspected
            .imports
            .iter()
            .any(|import| import.starts_with(REQUESTS));
        let reach = match sends {
            true => HostGrant::new(&switches.grant.http, &manifest.http)?,
            false => HostGrant::default(),
        };
        let grant = grant(name, origin, &switches.grant)?;
        let mut domain = Domain::new(
            description,
            component,
            manifest,
            grant,
            self.several_vaults(),
        )?;
        domain.reach = Arc::new(reach);
        domain.origin = origin;
        domain.signature = signature.map(Arc::from);
        Ok(domain)
    }
}

/// The grant of a component. A component installed in place of an embedded one keeps that one's grant until another is
/// set.
fn grant(name: &str, origin: Origin, said: &GrantSettings) -> Result<Grant, BadGlob> {
    let is_embedded = EMBEDDED.iter().any(|embedded| embedded.name == name);
    match origin == Origin::Installed && is_embedded && *said == GrantSettings::default() {
        true => Ok(Grant::everything()),
        false => Grant::from_settings(said),
    }
}
