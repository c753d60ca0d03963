//! Whether a path is inside a vault. Note tools write there, so nothing that restricts them or is executed may be there:
//! no config, no state folder, no key and no component.
//!
//! Folders are compared by device and inode, not by name: another spelling on a file system that folds case, a symbolic
//! link and a bind mount are all the same folder.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use notehost_platform::files::folder_identity;

use super::{Settings, VaultEntry};

/// The number of symbolic links that Linux follows.
const MAX_LINKS: usize = 40;

/// Resolves symbolic links and `..` of a path, even if parts of it are missing: a dangling link
/// may have a target later.
pub fn resolved(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    if let Ok(real) = absolute.canonicalize() {
        return real;
    }
    let mut found = PathBuf::new();
    let mut rest: VecDeque<OsString> = parts(&absolute).collect();
    let mut links = 0;
    while let Some(part) = rest.pop_front() {
        match Path::new(&part).components().next() {
            Some(Component::ParentDir) => {
                found.pop();
            }
            Some(Component::CurDir) | None => {}
            Some(_) => {
                let next = found.join(&part);
                match std::fs::read_link(&next) {
                    Ok(target) if links < MAX_LINKS => {
                        links += 1;
                        for part in parts(&target).collect::<Vec<_>>().into_iter().rev() {
                            rest.push_front(part);
                        }
                    }
                    _ => found = next,
                }
            }
        }
    }
    found
}

fn parts(path: &Path) -> impl Iterator<Item = OsString> {
    path.components().map(|part| part.as_os_str().to_owned())
}

/// Whether a path is a folder or is below it.
pub fn is_inside(path: &Path, folder: &Path) -> bool {
    let (path, folder) = (resolved(path), resolved(folder));
    if path.starts_with(&folder) {
        return true;
    }
    let identity = folder_identity(&folder);
    identity.is_some()
        && path
            .ancestors()
            .any(|ancestor| folder_identity(ancestor) == identity)
}

/// The vault that contains a path, if any.
pub fn vault_of<'settings>(
    settings: &'settings Settings,
    path: &Path,
) -> Option<&'settings VaultEntry> {
    let mut vaults = settings.vaults.iter();
    vaults.find(|vault| is_inside(path, &vault.path))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn all_spellings_of_a_path_inside_are_recognized() {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path().canonicalize().expect("a path");
        let vault = root.join("vault");
        std::fs::create_dir_all(vault.join("in")).expect("folders");
        std::fs::create_dir(root.join("out")).expect("a folder");
        symlink(&vault, root.join("link")).expect("a link");
        symlink("../vault/later", root.join("out/dangling")).expect("a link");
        symlink("circle", root.join("out/circle")).expect("a link");
        for inside in [
            "vault",
            "vault/in/x",
            "vault/missing/x",
            "out/../vault/x",
            "link/x",
            "link/in/../../vault",
            "out/dangling/x.wasm",
            "out/missing/../../vault/x",
            "out/missing/../../link/x",
        ] {
            assert!(is_inside(&root.join(inside), &vault), "{inside}");
            assert!(
                is_inside(&root.join(inside), &root.join("link")),
                "{inside}"
            );
        }
        for outside in [
            "out",
            "vault2",
            "vault/../out",
            "vault/in/../../x",
            "out/circle/x",
        ] {
            assert!(!is_inside(&root.join(outside), &vault), "{outside}");
        }
    }
}
