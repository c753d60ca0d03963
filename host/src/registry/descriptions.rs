//! What components said of themselves, kept by the digest of their content: a component is asked once.

use std::path::{Path, PathBuf};

use crate::runtime::{Component, Description, LoadError, Runtime};

/// The folder of descriptions.
pub(super) struct Descriptions {
    folder: PathBuf,
}

impl Descriptions {
    pub(super) fn new(folder: &Path) -> Descriptions {
        Descriptions {
            folder: folder.to_owned(),
        }
    }

    /// What a component says of itself: as kept, or asked now.
    pub(super) async fn of(
        &self,
        component: &Component,
        runtime: &Runtime,
    ) -> Result<Description, LoadError> {
        let path = self.folder.join(format!("{}.json", component.digest()));
        let kept = std::fs::read_to_string(&path).ok();
        if let Some(description) = kept.and_then(|json| Description::parse(&json).ok()) {
            return Ok(description);
        }
        let description = runtime.describe(component).await?;
        if let Err(error) = self.keep(&path, &description) {
            tracing::warn!("a description could not be kept: {error}");
        }
        Ok(description)
    }

    fn keep(&self, path: &Path, description: &Description) -> std::io::Result<()> {
        std::fs::create_dir_all(&self.folder)?;
        let new = path.with_extension(format!("new-{}", std::process::id()));
        std::fs::write(&new, serde_json::to_string(description)?)?;
        std::fs::rename(&new, path)
    }
}
