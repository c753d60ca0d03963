//! Transcripts: text files that tell what a vault holds, what is asked of the host, and what it answers.
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
//! < what the reply says
//! {"path": "Work/Plan.md"}
//!
//! # From here on somebody else calls.
//! @ bob
//! > document.remove {"paths": ["Plan"]}
//! ! permission_denied: may not remove at `Work/Plan.md`
//!
//! # From here on the clock of the components stands at this moment.
//! ~ 2026-01-31T09:00:00+01:00
//!
//! # The bytes on disk; a path that ends with `/` lists a folder.
//! = Work/Plan.md
//! | # Plan\r
//! | no line ending here\
//! ```
//!
//! `script` reads such a file, `replay` plays it through a host of its own and writes the answers anew, `stable`
//! gives ids and times names that are the same in every run, `layout` is how bytes and JSON look.

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
