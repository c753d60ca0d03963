//! The files of the index. All are memory-mapped except the texts of the notes, which are as large as all other files
//! together and of which an answer needs only a few passages: mapped pages count as memory of the process, while read
//! buffers are freed at once.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use notehost_platform::files::read_exact_at;
use tantivy::HasLen;
use tantivy::directory::error::{
    DeleteError, LockError, OpenDirectoryError, OpenReadError, OpenWriteError,
};
use tantivy::directory::{
    Directory, DirectoryLock, FileHandle, Lock, MmapDirectory, OwnedBytes, WatchCallback,
    WatchHandle, WritePtr,
};

/// What the names of files with texts end with.
const TEXTS: &str = "store";

/// A folder with an index.
#[derive(Debug, Clone)]
pub(super) struct Files {
    folder: PathBuf,
    mapped: MmapDirectory,
}

impl Files {
    pub(super) fn open(folder: &Path) -> Result<Files, OpenDirectoryError> {
        Ok(Files {
            folder: folder.to_owned(),
            mapped: MmapDirectory::open(folder)?,
        })
    }
}

impl Directory for Files {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        if path.extension().is_none_or(|ending| ending != TEXTS) {
            return self.mapped.get_file_handle(path);
        }
        match Read::open(&self.folder.join(path)) {
            Ok(file) => Ok(Arc::new(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(OpenReadError::FileDoesNotExist(path.to_owned()))
            }
            Err(error) => Err(OpenReadError::wrap_io_error(error, path.to_owned())),
        }
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.mapped.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.mapped.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        self.mapped.open_write(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.mapped.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.mapped.atomic_write(path, data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.mapped.sync_directory()
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        self.mapped.acquire_lock(lock)
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.mapped.watch(callback)
    }
}

/// A file that is read on demand.
#[derive(Debug)]
struct Read {
    file: File,
    length: usize,
}

impl Read {
    fn open(path: &Path) -> io::Result<Read> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        Ok(Read {
            file,
            length: usize::try_from(length).map_err(io::Error::other)?,
        })
    }
}

impl HasLen for Read {
    fn len(&self) -> usize {
        self.length
    }
}

impl FileHandle for Read {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        let mut bytes = vec![0; range.len()];
        read_exact_at(&self.file, &mut bytes, range.start as u64)?;
        Ok(OwnedBytes::new(bytes))
    }
}
