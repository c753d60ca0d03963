//! Writes files.

use notehost_sdk::Kind;
use notehost_sdk::prelude::*;

use crate::encoding::decode;
use crate::file_type::{self, FileKind};
use crate::image_size::dimensions;
use crate::list::readable_size;
use crate::paths::new_file;

/// The maximum size of a written file.
const MAX_WRITE_BYTES: usize = 24 << 20;

/// Write a file that is not a note, from text or base64; makes missing folders.
///
/// Example: `{"path": "Garden/harvest.csv", "text": "month,kg\nJuly,3\n"}`
#[args]
pub struct Write {
    /// Its path, with extension.
    pub path: String,
    /// Content as base64.
    pub base64: Option<String>,
    /// Or as text.
    pub text: Option<String>,
    /// If the file exists (default `fail`):
    pub if_exists: Option<IfExists>,
}

/// What to do if the file exists.
#[args]
#[derive(Copy, PartialEq, Eq)]
pub enum IfExists {
    /// return an error.
    Fail,
    /// replace it.
    Overwrite,
}

/// The result of writing a file.
#[reply]
pub struct WriteResult {
    /// Its path.
    pub path: String,
    /// Whether it is new.
    pub created: bool,
    /// The kind, detected from the content.
    pub kind: FileKind,
    /// The MIME type, detected from the content.
    pub mime: String,
    /// Size in bytes.
    pub size: u64,
    /// Its etag.
    pub etag: String,
    /// Image width in pixels.
    pub width: Option<u64>,
    /// Image height in pixels.
    pub height: Option<u64>,
    /// Set if the content does not match the extension.
    pub warning: Option<String>,
}

impl Action for Write {
    type Output = WriteResult;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<WriteResult> {
        let path = new_file(&self.path, "path")?;
        let bytes = match (self.base64, self.text) {
            (Some(base64), None) => decode(&base64)?,
            (None, Some(text)) => text.into_bytes(),
            (Some(_), Some(_)) => {
                return Err(Error::validation(
                    "`base64` and `text` are mutually exclusive: give one of them",
                ));
            }
            (None, None) => {
                return Err(Error::validation(
                    "missing content: give `text`, or `base64` for binary content",
                ));
            }
        };
        if bytes.len() > MAX_WRITE_BYTES {
            return Err(Error::too_large(format!(
                "the content has {}; the limit is {}",
                readable_size(bytes.len() as u64),
                readable_size(MAX_WRITE_BYTES as u64)
            )));
        }
        let may_replace = self.if_exists == Some(IfExists::Overwrite);
        let (path, created, etag) = write_file(vault, &path, &bytes, may_replace)?;
        let found = file_type::by_content(&path, &bytes);
        let named = file_type::by_name(&path);
        let size = dimensions(found.mime, &bytes);
        let warning = (found.mime != named.mime && named.kind != FileKind::Other).then(|| {
            format!(
                "the extension indicates {}, the content {}",
                named.mime, found.mime
            )
        });
        Ok(WriteResult {
            created,
            kind: found.kind,
            mime: found.mime.to_owned(),
            size: bytes.len() as u64,
            etag,
            width: size.map(|size| size.width),
            height: size.map(|size| size.height),
            warning,
            path,
        })
    }

    fn text(output: &WriteResult) -> String {
        let verb = match output.created {
            true => "created",
            false => "replaced",
        };
        ReplyText::new(format!(
            "{verb} `{}`: {}, {}",
            output.path,
            output.mime,
            readable_size(output.size)
        ))
        .line_if(output.warning.as_ref())
        .into()
    }
}

/// Writes bytes to a path. Returns the path as spelt on disk, whether the file is new, and its etag.
pub(crate) fn write_file(
    vault: &Vault,
    path: &str,
    bytes: &[u8],
    may_replace: bool,
) -> Result<(String, bool, String)> {
    match vault.entry(path)? {
        Some(entry) if entry.kind == Kind::Folder => Err(Error::already_exists(format!(
            "`{}` is a folder: give the path of a file in it",
            entry.path
        ))),
        Some(entry) if !may_replace => Err(Error::already_exists(format!(
            "`{}` already exists: choose another path, or set `if_exists` to `overwrite`",
            entry.path
        ))),
        Some(entry) => {
            let etag = vault.write(&entry.path, bytes, None)?;
            Ok((entry.path, false, etag))
        }
        None => {
            let etag = vault.create(path, bytes)?;
            // Return the spelling on disk, which may differ from the caller's.
            Ok((vault.stat(path)?.path, true, etag))
        }
    }
}
