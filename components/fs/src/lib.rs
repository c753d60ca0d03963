//! The fs domain: the vault as a shell shows it, for models that think in `ls`, `cat` and `grep`.
//!
//! Nothing is decided here but what a command means: `notehost_sdk::documents` and `notehost_sdk::matching` do the work, as
//! they do it for the domains `document` and `search`, so that results never differ. What a path forgives is in `paths`.

pub mod changing;
pub mod finding;
pub mod grepping;
pub mod listing;
pub mod moving;
mod paths;
pub mod reading;
pub mod removing;

#[cfg(test)]
mod tests;

use notehost_sdk::domain;

domain! {
    /// Files as in a shell: ls, tree, cat, write, edit, mv, cp, rm, mkdir, grep, find.
    /// Paths are relative to the vault root `/`: `a`, `/a`, `./a` and `a/` are equal; `.md` is optional. `mv` rewrites
    /// links, `rm` moves to the trash. Line numbers are those of the file, 1-based.
    "fs" {
        "ls" => listing::Ls,
        "tree" => listing::Tree,
        "cat" => reading::Cat,
        "write" => changing::Write,
        "edit" => changing::EditFile,
        "mv" => moving::Mv,
        "cp" => moving::Cp,
        "rm" => removing::Rm,
        "mkdir" => changing::Mkdir,
        "grep" => grepping::Grep,
        "find" => finding::Find,
    }
}
