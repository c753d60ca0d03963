//! Files get their bytes.

use notehost_sdk::prelude::*;
use notehost_sdk::{Code, Kind};

use crate::encoding::decode;
use crate::kinds::{self, FileKind};
use crate::listing::readable_size;
use crate::pictures::dimensions;
use crate::places::new_file;

/// The largest file that is written.
const LARGEST: usize = 24 << 20;

/// Write a file that is no note, from text or base64; folders are made.
///
/// Example: `{"path": "Garden/harvest.csv", "text": "month,kg\nJuly,3\n"}`
#[args]
pub struct Write {
    /// Its path, with extension.
    pub path: String,
    /// Its bytes.
    pub base64: Option<String>,
    /// Or its text.
    pub text: Option<String>,
    /// If it is there already (default `fail`):
    pub if_exists: Option<IfExists>,
}

/// What becomes of a file that is there already.
#[args]
#[derive(Copy, PartialEq, Eq)]
pub enum IfExists {
    /// an error.
    Fail,
    /// replace it.
    Overwrite,
}

/// A file that was written.
#[reply]
pub struct Written {
    /// Where it is.
    pub path: String,
    /// Whether it is new.
    pub created: bool,
    /// What it is, by its content.
    pub kind: FileKind,
    /// What it is, by its content.
    pub mime: String,
    /// In bytes.
    pub size: u64,
    /// Its etag.
    pub etag: String,
    /// Of a picture, in pixels.
    pub width: Option<u64>,
    /// Of a picture, in pixels.
    pub height: Option<u64>,
    /// If its content is not what its name says.
    pub warning: Option<String>,
}

impl Action for Write {
    type Output = Written;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Written> {
        let path = new_file(&self.path, "path")?;
        let bytes = match (self.base64, self.text) {
            (Some(base64), None) => decode(&base64)?,
            (None, Some(text)) => text.into_bytes(),
            (Some(_), Some(_)) => {
                return Err(Error::validation(
                    "`base64` and `text` cannot both be given: one of them is the content",
                ));
            }
            (None, None) => {
                return Err(Error::validation(
                    "the content is missing: give `text`, or `base64` for anything that is no text",
                ));
            }
        };
        if bytes.len() > LARGEST {
            return Err(Error::too_large(format!(
                "the content has {}, and {} is the most that is written at once",
                readable_size(bytes.len() as u64),
                readable_size(LARGEST as u64)
            )));
        }
        let may_replace = self.if_exists == Some(IfExists::Overwrite);
        let (path, created, etag) = put(vault, &path, &bytes, may_replace)?;
        let found = kinds::by_content(&path, &bytes);
        let named = kinds::by_name(&path);
        let size = dimensions(found.mime, &bytes);
        let warning = (found.mime != named.mime && named.kind != FileKind::Other).then(|| {
            format!(
                "by its name it is {}, by its content {}",
                named.mime, found.mime
            )
        });
        Ok(Written {
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

    fn text(output: &Written) -> String {
        let verb = match output.created {
            true => "created",
            false => "replaced",
        };
        let mut text = format!(
            "{verb} `{}`: {}, {}",
            output.path,
            output.mime,
            readable_size(output.size)
        );
        if let Some(warning) = &output.warning {
            text.push_str(&format!("\n{warning}"));
        }
        text
    }
}

/// Put bytes at a path. Returns the path as it is spelt, whether it is new, and its etag.
pub(crate) fn put(
    vault: &Vault,
    path: &str,
    bytes: &[u8],
    may_replace: bool,
) -> Result<(String, bool, String)> {
    match vault.stat(path) {
        Ok(entry) if entry.kind == Kind::Folder => Err(Error::already_exists(format!(
            "`{}` is a folder: give the path of a file in it",
            entry.path
        ))),
        Ok(entry) if !may_replace => Err(Error::already_exists(format!(
            "`{}` is there already: choose another path, or replace it with `if_exists` `overwrite`",
            entry.path
        ))),
        Ok(entry) => {
            let etag = vault.write(&entry.path, bytes, None)?;
            Ok((entry.path, false, etag))
        }
        Err(error) if error.kind() == Code::NotFound => {
            let etag = vault.create(path, bytes)?;
            // The folders above it are spelt as they are on disk, whatever the caller wrote.
            Ok((vault.stat(path)?.path, true, etag))
        }
        Err(error) => Err(error),
    }
}
