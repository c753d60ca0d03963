//! The target of a development build: its own server, which is part of this process, or a server that is
//! already running.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::cli::ui::failure::Failure;
use notehost_config::{ComponentSettings, GrantSettings, Loaded};
use notehost_pipeline::Host;
use notehost_pipeline::registry::{Broken, Candidate, Difference, Offer};
use notehost_platform::clock::now_ms;
use notehost_platform::private;
use notehost_runtime::packages::Packages;
use notehost_runtime::{Component, Description, Inspected, Runtime, digest};

/// The folder of builds, in the state folder.
const FOLDER: &str = "dev";

/// The target of builds.
pub(super) enum Target {
    /// Its own server.
    OwnServer(OwnServer),
    /// A running server.
    RunningServer(Box<RunningServer>),
}

/// A loaded build.
pub(super) struct LoadedBuild {
    /// Its description.
    pub(super) description: Description,
    /// Its inspected bytes.
    pub(super) inspected: Inspected,
    /// The differences to the previous version, if there was one.
    pub(super) difference: Option<Difference>,
    /// Further notes for the author.
    pub(super) notes: Vec<String>,
}

impl Target {
    /// Loads a build in place of the previous one, `current`; `None` if it is the same. An invalid build changes
    /// nothing.
    pub(super) async fn take(
        &self,
        file: &Path,
        current: Option<&LoadedBuild>,
    ) -> Result<Option<LoadedBuild>, Failure> {
        let wasm = std::fs::read(file)
            .map_err(|error| Failure::call(format!("cannot read `{}`: {error}", file.display())))?;
        if current.is_some_and(|current| current.inspected.digest == digest(&wasm)) {
            return Ok(None);
        }
        let taken = match self {
            Target::OwnServer(own) => own.take(file, wasm, current).await,
            Target::RunningServer(running) => running.take(file).await,
        };
        taken.map(Some)
    }
}

/// Its own server.
pub(super) struct OwnServer {
    host: Arc<Host>,
    state: PathBuf,
}

impl OwnServer {
    pub(super) async fn start(loaded: Loaded) -> Result<OwnServer, Failure> {
        let state = loaded.running.state.clone();
        let host = Host::start(loaded.settings, &state).await?;
        Ok(OwnServer { host, state })
    }

    pub(super) fn host(&self) -> &Arc<Host> {
        &self.host
    }

    async fn take(
        &self,
        file: &Path,
        wasm: Vec<u8>,
        current: Option<&LoadedBuild>,
    ) -> Result<LoadedBuild, Failure> {
        let component = Component::new(&stem(file), wasm)?;
        let inspected = component.inspect()?;
        let description = self.host.runtime().describe(&component).await?;
        let kept = keep(&self.state, &component, file, &description.name)?;
        let before = current.map(|current| &current.description);
        let running = self.host.settings();
        let mut settings = (*running).clone();
        if let Some(before) = before.filter(|before| before.name != description.name) {
            settings.components.remove(&before.name);
        }
        let everything = || vec!["**".to_owned()];
        let grant = GrantSettings {
            read: everything(),
            write: everything(),
            delete: everything(),
            ..GrantSettings::default()
        };
        let switches = ComponentSettings {
            path: Some(kept),
            grant,
            ..ComponentSettings::default()
        };
        settings
            .components
            .insert(description.name.clone(), switches);
        self.apply(settings).await?;
        let snapshot = self.host.registry().snapshot();
        let is_this = |broken: &&Broken| broken.name == description.name;
        if let Some(broken) = snapshot.broken().iter().find(is_this) {
            let reason = broken.reason.clone();
            self.apply((*running).clone()).await?;
            return Err(Failure::call(reason));
        }
        let difference = current.map(|current| {
            Difference::between(&current.description, &description)
                .with_capabilities(&current.inspected, &inspected)
        });
        Ok(LoadedBuild {
            description,
            inspected,
            difference,
            notes: Vec::new(),
        })
    }

    async fn apply(&self, settings: notehost_config::Settings) -> Result<(), Failure> {
        let applied = self.host.apply(settings).await;
        applied.map_err(|error| Failure::start(error.to_string()))
    }
}

/// A running server, reached through the component store that it watches.
pub(super) struct RunningServer {
    runtime: Runtime,
    loaded: Loaded,
}

impl RunningServer {
    pub(super) fn open(loaded: Loaded) -> Result<RunningServer, Failure> {
        // The cache of the server: code compiled here is reused there.
        let compiled = loaded.running.state.join("compiled");
        let runtime = Runtime::new(&loaded.settings.limits, &compiled)?;
        Ok(RunningServer { runtime, loaded })
    }

    async fn take(&self, file: &Path) -> Result<LoadedBuild, Failure> {
        let (state, settings) = (&self.loaded.running.state, &self.loaded.settings);
        let offer = Offer::fetch(&file.display().to_string(), None).await?;
        let candidate = Candidate::examine(offer, None, &settings.trust, &self.runtime, state)
            .await
            .map_err(|error| Failure::call(error.to_string()).with_any_hint(error.hint()))?;
        let name = candidate.description.name.clone();
        let switches = settings.components.get(&name);
        if switches.is_some_and(|switches| switches.path.is_some()) {
            return Err(Failure::call(format!(
                "`{name}` is configured with a file: `components.{name}.path`"
            ))
            .with_hint("remove that line to use this build"));
        }
        let mut taken = LoadedBuild {
            description: candidate.description.clone(),
            inspected: candidate.inspected.clone(),
            difference: candidate.difference.clone(),
            notes: vec!["handed to the server".to_owned()],
        };
        let has_grant = switches.is_some_and(|switches| switches.grant != GrantSettings::default());
        if !has_grant && taken.difference.is_none() {
            taken.notes.push(format!(
                "it has no access to notes yet: `notehost component grant {name} --read '**'` lets it read all"
            ));
        }
        candidate.install(&Packages::of(state), now_ms())?;
        Ok(taken)
    }
}

fn stem(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

/// Copies a build to a unique name, so that a loaded file is never written to.
fn keep(state: &Path, component: &Component, file: &Path, name: &str) -> Result<PathBuf, Failure> {
    let folder = state.join(FOLDER);
    let digest: String = component
        .digest()
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .take(24)
        .collect();
    let kept = folder.join(format!("{name}-{digest}.wasm"));
    let copied = private::create_folder(&folder).and_then(|()| {
        let new = folder.join(format!("new-{}", std::process::id()));
        let mut options = private::options();
        let mut copy = options.write(true).create(true).truncate(true).open(&new)?;
        std::io::copy(&mut std::fs::File::open(file)?, &mut copy)?;
        std::fs::rename(new, &kept)
    });
    copied
        .map_err(|error| Failure::start(format!("cannot write `{}`: {error}", kept.display())))?;
    forget_older(&folder, name);
    Ok(kept)
}

/// How many builds are kept: the loaded one, and those that a server may be reading.
const KEPT_BUILDS: usize = 3;

fn forget_older(folder: &Path, name: &str) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut builds: Vec<_> = entries
        .filter(|entry| {
            let file = entry.file_name().to_string_lossy().into_owned();
            file.rsplit_once('-').is_some_and(|(of, _)| of == name)
        })
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    builds.sort();
    for (_, old) in builds.iter().rev().skip(KEPT_BUILDS) {
        // A file that cannot be removed only takes space.
        let _ = std::fs::remove_file(old);
    }
}
