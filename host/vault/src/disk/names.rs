//! Operations that change the names in a folder: rename, exchange, hard links, removal.

use std::{fs::File, io};

use rustix::{
    fs::{AtFlags, RenameFlags},
    io::Errno,
};

use super::{Folder, single, widen};

impl Folder {
    /// Gives a file another name where nothing has that name yet (`AlreadyExists`).
    pub(crate) fn rename_new(&self, name: &str, to: &Folder, to_name: &str) -> io::Result<()> {
        let (name, to_name) = (single(name)?, single(to_name)?);
        match rustix::fs::renameat_with(&self.dir, name, &to.dir, to_name, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                if to.status(to_name)?.is_some() {
                    return Err(Errno::EXIST.into());
                }
                Ok(rustix::fs::renameat(&self.dir, name, &to.dir, to_name)?)
            }
            done => Ok(done?),
        }
    }

    /// Swaps two files, at once. Whether the file system can.
    pub(crate) fn exchange(&self, name: &str, with: &Folder, with_name: &str) -> io::Result<bool> {
        #[cfg(test)]
        if crate::fail::injected::is_exchange_off() {
            return Ok(false);
        }
        match rustix::fs::renameat_with(
            &self.dir,
            single(name)?,
            &with.dir,
            single(with_name)?,
            RenameFlags::EXCHANGE,
        ) {
            Ok(()) => Ok(true),
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Replaces another file.
    pub(crate) fn rename_over(&self, name: &str, to: &Folder, to_name: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(
            &self.dir,
            single(name)?,
            &to.dir,
            single(to_name)?,
        )?)
    }

    /// Forgets a file. Whether it was there.
    pub(crate) fn unlink(&self, name: &str) -> io::Result<bool> {
        match rustix::fs::unlinkat(&self.dir, single(name)?, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Forgets a folder if it is empty. Whether it is gone.
    pub(crate) fn unlink_folder(&self, name: &str) -> io::Result<bool> {
        match rustix::fs::unlinkat(&self.dir, single(name)?, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => Ok(true),
            Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR | Errno::BUSY) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Gives a file a second name, or makes a copy where the disk has no hard links.
    pub(crate) fn keep(&self, name: &str, at: &Folder, kept: &str) -> io::Result<()> {
        at.unlink(kept)?;
        let (name, kept) = (single(name)?, single(kept)?);
        match rustix::fs::linkat(&self.dir, name, &at.dir, kept, AtFlags::empty()) {
            Err(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL | Errno::MLINK) => {}
            done => return Ok(done?),
        }
        self.copy(name, at, kept, |_| {})
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
            return Err(Errno::NOENT.into());
        };
        let mut copy = at.create(kept)?;
        io::copy(&mut file, &mut copy)?;
        check(&copy);
        widen(&copy, Some(status.mode), Some(status.owner))?;
        copy.sync_all()
    }
}
