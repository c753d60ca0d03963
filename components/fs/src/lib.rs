//! The fs domain: the vault with shell commands, for models that are used to `ls`, `cat` and `grep`.
//!
//! The commands are thin: `notehost_sdk::documents` and `notehost_sdk::matching` do the work, as for the domains `document`
//! and `search`, so that results are the same. Parsing of paths is in `paths`.

pub mod cat;
pub mod find;
pub mod grep;
pub mod ls_tree;
pub mod mv_cp;
mod paths;
pub mod rm;
pub mod write_actions;

#[cfg(test)]
mod tests;

use notehost_sdk::domain;

domain! {
    /// Files as in a shell: ls, tree, cat, write, edit, mv, cp, rm, mkdir, grep, find.
    /// Paths are relative to the vault root `/`: `a`, `/a`, `./a` and `a/` are equal; `.md` is optional. `mv` rewrites
    /// links, `rm` moves to the trash. Line numbers are those of the file, 1-based.
    "fs" {
        "ls" => ls_tree::Ls,
        "tree" => ls_tree::Tree,
        "cat" => cat::Cat,
        "write" => write_actions::Write,
        "edit" => write_actions::EditFile,
        "mv" => mv_cp::Mv,
        "cp" => mv_cp::Cp,
        "rm" => rm::Rm,
        "mkdir" => write_actions::Mkdir,
        "grep" => grep::Grep,
        "find" => find::Find,
    }
}
