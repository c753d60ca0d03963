//! The fs domain: the vault as a shell shows it, for models that think in `ls`, `cat` and `grep`.
//!
//! Nothing is decided here but what a command means: `notehost_sdk::documents` and `notehost_sdk::matching` do the work, as
//! they do it for the domains `document` and `search`, so that results never differ. What a path forgives is in `paths`.

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
