//! Folders of Windows, through `cap_std`, which keeps a name inside its folder. Compiled and not supported yet: a name is
//! checked before it is opened instead of in one step, files are not exchanged, folders are neither locked nor flushed, and
//! modes and owners are ignored.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::SystemTime;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, OpenOptions};

use super::{Node, Stat, absent};

#[derive(Debug)]
pub(super) struct Folder {
    dir: Dir,
}

impl Folder {
    pub(super) fn open_path(path: &Path) -> io::Result<Folder> {
        let dir = Dir::open_ambient_dir(path, ambient_authority())?;
        Ok(Folder { dir })
    }

    pub(super) fn try_clone(&self) -> io::Result<Folder> {
        let dir = self.dir.try_clone()?;
        Ok(Folder { dir })
    }

    pub(super) fn folder(&self, name: &str) -> io::Result<Folder> {
        match self.dir.symlink_metadata(name)?.is_dir() {
            true => Ok(Folder {
                dir: self.dir.open_dir(name)?,
            }),
            false => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    pub(super) fn descend(&self, _: &str) -> Option<io::Result<Folder>> {
        None
    }

    pub(super) fn stat(&self) -> io::Result<Stat> {
        let inode = index(self.dir.try_clone()?.into_std_file())?;
        Ok(stat(&self.dir.dir_metadata()?, inode))
    }

    pub(super) fn stat_of(&self, name: &str) -> io::Result<Option<Stat>> {
        let found = match self.dir.symlink_metadata(name) {
            Ok(found) => found,
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        let inode = if found.is_dir() {
            index(self.dir.open_dir(name)?.into_std_file())?
        } else if found.is_file() {
            index(self.dir.open(name)?.into_std())?
        } else {
            0
        };
        Ok(Some(stat(&found, inode)))
    }

    pub(super) fn open(&self, name: &str) -> io::Result<Option<(File, Stat)>> {
        match self.dir.symlink_metadata(name) {
            Ok(found) if found.is_file() => {}
            Ok(_) => return Ok(None),
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(error),
        }
        let file = self.dir.open(name)?;
        let metadata = file.metadata()?;
        let file = file.into_std();
        let stat = stat(&metadata, index(&file)?);
        Ok(Some((file, stat)))
    }

    pub(super) fn open_below(&self, _: &str) -> Option<io::Result<Option<(File, Stat)>>> {
        None
    }

    pub(super) fn link(&self, name: &str) -> io::Result<Option<String>> {
        let target = self.dir.read_link_contents(name)?;
        Ok(target.to_str().map(|target| target.replace('\\', "/")))
    }

    pub(super) fn names(&self) -> io::Result<Vec<(String, Option<Node>)>> {
        let mut names = Vec::new();
        for entry in self.dir.entries()? {
            let entry = entry?;
            if let Ok(name) = entry.file_name().into_string() {
                names.push((name, Some(node(&entry.metadata()?))));
            }
        }
        Ok(names)
    }

    pub(super) fn create(&self, name: &str) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        Ok(self.dir.open_with(name, &options)?.into_std())
    }

    pub(super) fn make_folder(&self, name: &str) -> io::Result<bool> {
        match self.dir.create_dir(name) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        }
    }

    pub(super) fn set_mode(&self, _: u32) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn is_writable(&self) -> bool {
        let found = self.dir.dir_metadata();
        found.is_ok_and(|found| !found.permissions().readonly())
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn lock(&self) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn is_locked(&self) -> bool {
        false
    }

    pub(super) fn unlock(&self) {}

    pub(super) fn rename_new(&self, _: &str, _: &Folder, _: &str) -> io::Result<bool> {
        Ok(false)
    }

    pub(super) fn exchange(&self, _: &str, _: &Folder, _: &str) -> io::Result<bool> {
        Ok(false)
    }

    pub(super) fn rename_over(&self, name: &str, to: &Folder, to_name: &str) -> io::Result<()> {
        self.dir.rename(name, &to.dir, to_name)
    }

    pub(super) fn unlink(&self, name: &str) -> io::Result<bool> {
        match self.dir.remove_file(name) {
            Ok(()) => Ok(true),
            Err(error) if is_absent(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    pub(super) fn unlink_folder(&self, name: &str) -> io::Result<bool> {
        use io::ErrorKind;
        match self.dir.remove_dir(name) {
            Ok(()) => Ok(true),
            Err(error) => match error.kind() {
                ErrorKind::NotFound => Ok(true),
                ErrorKind::DirectoryNotEmpty
                | ErrorKind::NotADirectory
                | ErrorKind::ResourceBusy => Ok(false),
                _ => Err(error),
            },
        }
    }

    pub(super) fn hard_link(&self, name: &str, at: &Folder, new: &str) -> io::Result<bool> {
        match self.dir.hard_link(name, &at.dir, new) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
            Err(error) if is_absent(&error) => Err(error),
            Err(_) => Ok(false),
        }
    }
}

pub(super) fn stat_of_file(file: &File) -> io::Result<Stat> {
    Ok(stat(&Metadata::from_file(file)?, index(file)?))
}

pub(super) fn set_file_mode(_: &File, _: u32) -> io::Result<()> {
    Ok(())
}

pub(super) fn set_file_owner(_: &File, _: (u32, u32)) -> io::Result<()> {
    Ok(())
}

fn index(handle: impl winapi_util::AsHandleRef) -> io::Result<u64> {
    Ok(winapi_util::file::information(handle)?.file_index())
}

fn is_absent(error: &io::Error) -> bool {
    error.kind() == absent().kind() || error.kind() == io::ErrorKind::NotADirectory
}

fn node(found: &Metadata) -> Node {
    if found.is_file() {
        Node::File
    } else if found.is_dir() {
        Node::Folder
    } else if found.is_symlink() {
        Node::Link
    } else {
        Node::Special
    }
}

fn stat(found: &Metadata, inode: u64) -> Stat {
    let modified = found.modified().map(|time| {
        let since = time.into_std().duration_since(SystemTime::UNIX_EPOCH);
        since.map_or(0, |since| since.as_nanos() as i128)
    });
    let modified = modified.unwrap_or(0);
    Stat {
        node: node(found),
        inode,
        size: found.len(),
        modified,
        changed: modified,
        mode: if found.permissions().readonly() {
            0o400
        } else {
            0o600
        },
        owner: (0, 0),
        device: (0, 0),
    }
}
