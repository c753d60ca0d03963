//! The zip archive of a package, and the Zstandard compression that newer packages use inside it.

use std::io::{Cursor, Read, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::PackageError;

/// Maximum decompressed size of a package: the memory of a component is limited.
const MAX_BYTES: u64 = 32 << 20;

/// An open package.
pub(crate) struct Archive {
    zip: ZipArchive<Cursor<Vec<u8>>>,
    /// Remaining decompression budget in bytes.
    left: u64,
}

impl Archive {
    /// Opens a package.
    pub(crate) fn open(bytes: Vec<u8>) -> Result<Archive, PackageError> {
        let zip = ZipArchive::new(Cursor::new(bytes))
            .map_err(|error| PackageError::invalid(format!("not a zip archive: {error}")))?;
        Ok(Archive {
            zip,
            left: MAX_BYTES,
        })
    }

    /// Whether it contains a file with this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.zip.index_for_name(name).is_some()
    }

    /// Reads a file.
    pub(crate) fn file(&mut self, name: &str) -> Result<Vec<u8>, PackageError> {
        let file = self.zip.by_name(name).map_err(|error| {
            PackageError::invalid(format!("cannot read `{name}` in the package: {error}"))
        })?;
        read(file, name, &mut self.left)
    }

    /// Reads a file that is also compressed with Zstandard, as in newer packages.
    pub(crate) fn packed_file(&mut self, name: &str) -> Result<Vec<u8>, PackageError> {
        let packed = self.file(name)?;
        let bad = |error: String| {
            PackageError::invalid(format!(
                "cannot decompress `{name}` in the package: {error}"
            ))
        };
        let decoder = ruzstd::decoding::StreamingDecoder::new(packed.as_slice())
            .map_err(|error| bad(error.to_string()))?;
        read(decoder, name, &mut self.left)
    }
}

/// Reads to the end, within the remaining budget.
fn read(reader: impl Read, name: &str, left: &mut u64) -> Result<Vec<u8>, PackageError> {
    let mut bytes = Vec::new();
    let count = reader.take(*left + 1).read_to_end(&mut bytes);
    let count = count.map_err(|error| {
        PackageError::invalid(format!(
            "cannot decompress `{name}` in the package: {error}"
        ))
    })? as u64;
    *left = left.checked_sub(count).ok_or_else(|| {
        PackageError::TooLarge(format!(
            "the package exceeds {} MiB when decompressed",
            MAX_BYTES >> 20
        ))
    })?;
    Ok(bytes)
}

/// Creates a zip archive of files.
pub(crate) fn pack(files: &[(String, Vec<u8>)]) -> Result<Vec<u8>, PackageError> {
    let bad = |error: String| PackageError::invalid(format!("cannot write the package: {error}"));
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
