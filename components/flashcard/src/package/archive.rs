//! The zip around a package, and the Zstandard that newer packages have within it.

use std::io::{Cursor, Read, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::Broken;

/// How much a package may hold when unpacked, in bytes: a component has little memory.
const MOST: u64 = 32 << 20;

/// A package that is being read.
pub(crate) struct Archive {
    zip: ZipArchive<Cursor<Vec<u8>>>,
    /// How much may still be unpacked.
    left: u64,
}

impl Archive {
    /// Open a package.
    pub(crate) fn open(bytes: Vec<u8>) -> Result<Archive, Broken> {
        let zip = ZipArchive::new(Cursor::new(bytes))
            .map_err(|error| Broken::not(format!("it is no zip: {error}")))?;
        Ok(Archive { zip, left: MOST })
    }

    /// Whether it has a file of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.zip.index_for_name(name).is_some()
    }

    /// A file of it.
    pub(crate) fn file(&mut self, name: &str) -> Result<Vec<u8>, Broken> {
        let file = self
            .zip
            .by_name(name)
            .map_err(|error| Broken::not(format!("`{name}` in it cannot be read: {error}")))?;
        read(file, name, &mut self.left)
    }

    /// A file of it that is packed once more, as newer packages have it.
    pub(crate) fn packed_file(&mut self, name: &str) -> Result<Vec<u8>, Broken> {
        let packed = self.file(name)?;
        let bad =
            |error: String| Broken::not(format!("`{name}` in it cannot be unpacked: {error}"));
        let decoder = ruzstd::decoding::StreamingDecoder::new(packed.as_slice())
            .map_err(|error| bad(error.to_string()))?;
        read(decoder, name, &mut self.left)
    }
}

/// All that a reader gives, as far as there is room.
fn read(reader: impl Read, name: &str, left: &mut u64) -> Result<Vec<u8>, Broken> {
    let mut bytes = Vec::new();
    let count = reader.take(*left + 1).read_to_end(&mut bytes);
    let count = count
        .map_err(|error| Broken::not(format!("`{name}` in it cannot be unpacked: {error}")))?
        as u64;
    *left = left.checked_sub(count).ok_or_else(|| {
        Broken::TooLarge(format!(
            "it holds more than {} MiB when unpacked",
            MOST >> 20
        ))
    })?;
    Ok(bytes)
}

/// A zip of files.
pub(crate) fn pack(files: &[(String, Vec<u8>)]) -> Result<Vec<u8>, Broken> {
    let bad = |error: String| Broken::not(format!("the package cannot be made: {error}"));
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (name, bytes) in files {
        zip.start_file(name.as_str(), options)
            .map_err(|error| bad(error.to_string()))?;
        zip.write_all(bytes)
            .map_err(|error| bad(error.to_string()))?;
    }
    Ok(zip
        .finish()
        .map_err(|error| bad(error.to_string()))?
        .into_inner())
}
