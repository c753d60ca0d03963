//! What components said of themselves, kept by the digest of their content: a component is asked once.

use std::path::{Path, PathBuf};

use notehost_runtime::{Component, Description, LoadError, Runtime};

/// The folder of descriptions.
pub(super) struct Descriptions {
    folder: PathBuf,
}

impl Descriptions {
    /// The descriptions that a state folder has.
    pub(super) fn of_state(state: &Path) -> Descriptions {
        Descriptions {
            folder: state.join("descriptions"),
        }
    }

    /// What the component with this digest said, if it was ever asked.
    pub(super) fn kept(&self, digest: &str) -> Option<Description> {
        let json = std::fs::read_to_string(self.path_of(digest)).ok()?;
        Description::parse(&json).ok()
    }

    /// Remember what a component said: whoever lists its tools need not ask it.
    pub(super) fn remember(&self, digest: &str, description: &Description) {
        if let Err(error) = self.keep(&self.path_of(digest), description) {
            tracing::warn!("a description could not be stored: {error}");
        }
    }

    /// What a component says of itself: as kept, or asked now.
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
