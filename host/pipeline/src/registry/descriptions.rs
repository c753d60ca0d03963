//! Cached descriptions of components, by the digest of their content: a component is described once.

use std::path::{Path, PathBuf};

use notehost_runtime::{Component, Description, LoadError, Runtime};

/// The folder of descriptions.
pub(super) struct Descriptions {
    folder: PathBuf,
}

impl Descriptions {
    /// The cached descriptions of a state folder.
    pub(super) fn of_state(state: &Path) -> Descriptions {
        Descriptions {
            folder: state.join("descriptions"),
        }
    }

    /// The cached description for a digest.
    pub(super) fn kept(&self, digest: &str) -> Option<Description> {
        let json = std::fs::read_to_string(self.path_of(digest)).ok()?;
        Description::parse(&json).ok()
    }

    /// Caches a description, so that listing tools need not run the component.
    pub(super) fn remember(&self, digest: &str, description: &Description) {
        if let Err(error) = self.keep(&self.path_of(digest), description) {
            tracing::warn!("a description could not be stored: {error}");
        }
    }

    /// The description of a component: cached, or read now.
    pub(super) async fn of(
        &self,
        component: &Component,
        runtime: &Runtime,
    ) -> Result<Description, LoadError> {
        if let Some(description) = self.kept(component.digest()) {
            return Ok(description);
        }
        let description = runtime.describe(component).await?;
        self.remember(component.digest(), &description);
        Ok(description)
    }

    fn path_of(&self, digest: &str) -> PathBuf {
        self.folder.join(format!("{digest}.json"))
    }

    fn keep(&self, path: &Path, description: &Description) -> std::io::Result<()> {
        notehost_platform::private::create_folder(&self.folder)?;
        let new = path.with_extension(format!("new-{}", std::process::id()));
        std::fs::write(&new, serde_json::to_string(description)?)?;
        std::fs::rename(&new, path)
    }
}
