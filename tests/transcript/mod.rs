//! Transcripts: text files with the contents of a vault, requests to the host, and the recorded replies.
//!
//! ```text
//! #! caller = { name = "ana", permissions = { Work = "rw" } }
//!
//! === Work/Plan.md
//! # Plan\r
//! no line ending here\
//! ===
//!
//! # A comment.
//! > document.read {"path": "Plan"}
//! < the text content of the reply
//! {"path": "Work/Plan.md"}
//!
//! # From here on another caller.
//! @ bob
//! > document.remove {"paths": ["Plan"]}
//! ! permission_denied: may not remove at `Work/Plan.md`
//!
//! # From here on the components' clock shows this time.
//! ~ 2026-01-31T09:00:00+01:00
//!
//! # The bytes on disk; a path that ends with `/` lists a folder.
//! = Work/Plan.md
//! | # Plan\r
//! | no line ending here\
//! ```
//!
//! `script` parses such a file, `replay` runs it on a separate host and rewrites the replies, `stable` replaces ids and
//! times by names that are the same in every run, `layout` formats bytes and JSON.

mod layout;
mod replay;
mod script;
mod stable;

pub(crate) use replay::replay;
pub(crate) use script::{Script, StepKind};
pub(crate) use stable::Stable;

use std::path::{Path, PathBuf};

/// Every transcript below a folder, sorted.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "txt") {
            found.push(path);
        }
    }
    found.sort();
    found
}
