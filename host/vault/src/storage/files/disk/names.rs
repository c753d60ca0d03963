//! Operations that change the names in a folder: rename, exchange, hard links, removal.

use std::{fs::File, io};

use notehost_platform::folder;

use super::{Folder, widen};

impl Folder {
    /// Renames a file to a name that nothing has yet (`AlreadyExists` otherwise).
    pub(crate) fn rename_new(&self, name: &str, to: &Folder, to_name: &str) -> io::Result<()> {
        self.dir.rename_new(name, &to.dir, to_name)
    }

    /// Exchanges two files in one step. `false` if the file system cannot.
    pub(crate) fn exchange(&self, name: &str, with: &Folder, with_name: &str) -> io::Result<bool> {
        #[cfg(test)]
        if crate::fail::injected::is_exchange_off() {
            return Ok(false);
        }
        self.dir.exchange(name, &with.dir, with_name)
    }

    /// Renames a file over another one.
    pub(crate) fn rename_over(&self, name: &str, to: &Folder, to_name: &str) -> io::Result<()> {
        self.dir.rename_over(name, &to.dir, to_name)
    }

    /// Removes a file. Whether it was there.
    pub(crate) fn unlink(&self, name: &str) -> io::Result<bool> {
        self.dir.unlink(name)
    }

    /// Removes a folder if it is empty. Whether it is gone.
    pub(crate) fn unlink_folder(&self, name: &str) -> io::Result<bool> {
        self.dir.unlink_folder(name)
    }

    /// Gives a file a second name, or copies it if the disk has no hard links.
    pub(crate) fn keep(&self, name: &str, at: &Folder, kept: &str) -> io::Result<()> {
        at.unlink(kept)?;
        match self.dir.hard_link(name, &at.dir, kept)? {
            true => Ok(()),
            false => self.copy(name, at, kept, |_| {}),
        }
    }

    /// `check` is called with the copy as long as it is private.
    pub(super) fn copy(
        &self,
        name: &str,
        at: &Folder,
        kept: &str,
        check: impl FnOnce(&File),
    ) -> io::Result<()> {
        let Some((mut file, status)) = self.open(name)? else {
            return Err(folder::absent());
        };
        let mut copy = at.create(kept)?;
        io::copy(&mut file, &mut copy)?;
        check(&copy);
        widen(&copy, Some(status.mode), Some(status.owner))?;
        copy.sync_all()
    }
}
