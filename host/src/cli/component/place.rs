//! Where a component that is being written is tried: in a server of its own, which is part of this process, or in one that
//! runs already.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::failure::Failure;
use super::super::permission;
use crate::config::{ComponentSettings, Given, GrantSettings, Loaded};
use crate::dispatch::Host;
use crate::registry::Broken;
use crate::runtime::{Component, Description, Runtime};

/// Where builds lie, in the state folder.
const FOLDER: &str = "dev";

/// Where builds go.
pub(super) enum Place {
    /// A server of its own.
    Own(Own),
    /// A server that runs already.
    Running(Running),
}

impl Place {
    /// What asks a component what it is.
    pub(super) fn runtime(&self) -> &Runtime {
        match self {
            Place::Own(own) => own.host.runtime(),
            Place::Running(running) => &running.runtime,
        }
    }

    /// Put a build in the place of the one before. Returns what the author should know.
    pub(super) async fn put(
        &mut self,
        component: &Component,
        file: &Path,
        description: &Description,
        before: Option<&Description>,
    ) -> Result<Vec<String>, Failure> {
        match self {
            Place::Own(own) => own.put(component, file, description, before).await,
            Place::Running(running) => running.put(component, file, description),
        }
    }
}

/// A server of its own.
pub(super) struct Own {
    host: Arc<Host>,
    state: PathBuf,
}

impl Own {
    pub(super) async fn start(loaded: Loaded) -> Result<Own, Failure> {
        let state = loaded.running.state.clone();
        let host = Host::start(loaded.settings, &state).await?;
        Ok(Own { host, state })
    }

    pub(super) fn host(&self) -> &Arc<Host> {
        &self.host
    }

    async fn put(
        &self,
        component: &Component,
        file: &Path,
        description: &Description,
        before: Option<&Description>,
    ) -> Result<Vec<String>, Failure> {
        let kept = keep(&self.state, component, file, &description.name)?;
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
        Ok(Vec::new())
    }

    async fn apply(&self, settings: crate::config::Settings) -> Result<(), Failure> {
        let applied = self.host.apply(settings).await;
        applied.map_err(|error| Failure::start(error.to_string()))
    }
}

/// A server that runs already, reached by the config that it watches.
pub(super) struct Running {
    runtime: Runtime,
    state: PathBuf,
    given: Given,
}

impl Running {
    pub(super) fn open(loaded: Loaded) -> Result<Running, Failure> {
        let state = loaded.running.state.clone();
        // The folder of the server: what is compiled here need not be compiled there.
        let runtime = Runtime::new(&loaded.settings.limits, &state.join("compiled"))?;
        let given = Given {
            config: loaded.file.clone(),
            state: Some(state.clone()),
            ..Given::default()
        };
        // Before a minute is spent on a build.
        permission::open(&given)?;
        Ok(Running {
            runtime,
            state,
            given,
        })
    }

    fn put(
        &self,
        component: &Component,
        file: &Path,
        description: &Description,
    ) -> Result<Vec<String>, Failure> {
        let kept = keep(&self.state, component, file, &description.name)?;
        let mut edit = permission::open(&self.given)?;
        edit.set_component_file(&description.name, &kept)?;
        edit.save(&self.given)?;
        let loaded = super::super::options::load(self.given.clone())?;
        let switches = loaded.settings.components.get(&description.name);
        let has_grant = switches.is_some_and(|switches| switches.grant != GrantSettings::default());
        let mut told = vec!["handed to the server".to_owned()];
        if !has_grant {
            told.push(format!(
                "it may use no notes yet: grant some under `[components.{}.grant]` in the config",
                description.name
            ));
        }
        Ok(told)
    }
}

/// A copy of a build under a name that no other build has: a file that is loaded is never written to.
fn keep(state: &Path, component: &Component, file: &Path, name: &str) -> Result<PathBuf, Failure> {
    let folder = state.join(FOLDER);
    let digest: String = component
        .digest()
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .take(24)
        .collect();
    let kept = folder.join(format!("{name}-{digest}.wasm"));
    let copied = std::fs::create_dir_all(&folder).and_then(|()| {
        let new = folder.join(format!("new-{}", std::process::id()));
        std::fs::copy(file, &new)?;
        std::fs::rename(new, &kept)
    });
    copied.map_err(|error| {
        Failure::start(format!("`{}` cannot be written: {error}", kept.display()))
    })?;
    forget_older(&folder, name);
    Ok(kept)
}

/// How many builds are kept: the one that runs, and the one that a server may just be reading.
const KEPT: usize = 3;

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
    for (_, old) in builds.iter().rev().skip(KEPT) {
        // What cannot be removed only takes room.
        let _ = std::fs::remove_file(old);
    }
}
