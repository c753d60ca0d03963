//! The operating system's sandbox around a server: on Linux, Landlock limits the files that this process can open to the
//! vaults, the state folder, the config and what the config names.
//!
//! It is the second line of defence. The first is the WebAssembly sandbox (`runtime`) and the vault handle; this one holds
//! if a bug in native code lets a caller or a component name a file. It does not limit the network: which hosts a component
//! reaches is decided in `runtime::http`.

use std::path::{Path, PathBuf};

use notehost_config::{Loaded, OsSandbox, expand_home, resolved};
use notehost_platform::sandbox;
use notehost_runtime::packages::oci::credentials_file;

/// Whether and how this process is (or would be) sandboxed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confinement {
    /// Only the files and folders of [`FileAccess`] can be opened.
    Enforced,
    /// Switched off in the config.
    Off,
    /// Not supported by this system: moving files between folders needs Landlock ABI 2 (Linux 5.19).
    Unavailable,
}

impl std::fmt::Display for Confinement {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Confinement::Enforced => {
                "Landlock: a server can open only the vaults, its state, its config and the files named in it"
            }
            Confinement::Off => "off: `os_sandbox = \"off\"` in the config",
            Confinement::Unavailable => "none: this system has no Landlock (Linux 5.19 or later)",
        })
    }
}

/// The files that a server may open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileAccess {
    /// Folders with full access to everything below them.
    pub write: Vec<PathBuf>,
    /// Files and folders with read access, including everything below them.
    pub read: Vec<PathBuf>,
}

impl FileAccess {
    /// What these settings need. Files that are replaced while a server runs (the config, components, keys) are named by
    /// their folder, because a rule follows the file that it was made for, not the name; and by the folder that a symbolic
    /// link leads to, because a rule knows no names at all.
    pub fn of(loaded: &Loaded) -> FileAccess {
        let settings = &loaded.settings;
        let mut write: Vec<PathBuf> = settings
            .vaults
            .iter()
            .map(|vault| vault.path.clone())
            .collect();
        write.push(loaded.running.state.clone());
        write.extend(links_in(&loaded.running.state));
        write.extend(loaded.file.as_deref().and_then(folder_of));
        let jwt = &settings.auth.jwt;
        let files = settings
            .components
            .values()
            .filter_map(|component| component.path.as_deref())
            .chain(jwt.secret_file.as_deref())
            .chain(jwt.jwks_file.as_deref())
            .chain(settings.http.tls_cert.as_deref())
            .chain(settings.http.tls_key.as_deref());
        let files = files.chain(loaded.file.as_deref());
        let mut read: Vec<PathBuf> = files
            .flat_map(|file| [folder_of(file), folder_of(&resolved(file))])
            .flatten()
            .collect();
        if let Some(folder) = &settings.component_folder {
            read.push(folder.clone());
            let links = links_in(folder);
            read.extend(links.iter().filter_map(|target| folder_of(target)));
        }
        // Pulling from a registry needs credentials, trusted certificates and name resolution.
        read.push(credentials_file());
        for name in ["SSL_CERT_FILE", "SSL_CERT_DIR", "TZDIR"] {
            let places = std::env::var_os(name).unwrap_or_default();
            let places = std::env::split_paths(&places);
            read.extend(places.filter(|place| !place.as_os_str().is_empty()));
        }
        for link in SYSTEM_LINKS {
            read.extend(folder_of(&resolved(link.as_ref())));
        }
        FileAccess { write, read }
    }

    /// A folder among them that contains the user's whole home, and so gives much more access than needed.
    pub fn folder_containing_home(&self) -> Option<&Path> {
        let home = resolved(&expand_home("~".as_ref()));
        let mut folders = self.write.iter().chain(&self.read);
        folders
            .find(|folder| home.starts_with(resolved(folder)))
            .map(PathBuf::as_path)
    }
}

/// System files that are symbolic links on some systems, where they are replaced when the network changes.
const SYSTEM_LINKS: [&str; 3] = ["/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf"];

/// The targets of the symbolic links in a folder, such as one left after moving compiled code or an index to another disk.
fn links_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()))
        .map(|entry| resolved(&entry.path()))
        .collect()
}

/// The folder that contains a file; in the root folder the file itself, because everything is below the root.
fn folder_of(file: &Path) -> Option<PathBuf> {
    let file = std::path::absolute(file).ok()?;
    let folder = file.parent()?.to_owned();
    Some(if folder.parent().is_none() {
        file
    } else {
        folder
    })
}

/// How a process with this setting would be sandboxed; changes nothing.
pub fn available(wanted: OsSandbox) -> Confinement {
    match wanted {
        OsSandbox::Off => Confinement::Off,
        _ if sandbox::is_available() => Confinement::Enforced,
        _ => Confinement::Unavailable,
    }
}

/// Confines this thread and every thread that it starts from now on, for good. Called before any other thread exists.
pub fn confine(wanted: OsSandbox, access: &FileAccess) -> Result<Confinement, String> {
    let found = available(wanted);
    match found {
        Confinement::Enforced => sandbox::confine(&access.write, &access.read).map(|()| found),
        Confinement::Unavailable if wanted == OsSandbox::Require => Err(
            "`os_sandbox = \"require\"`, but Landlock is not available on this system".to_owned(),
        ),
        _ => Ok(found),
    }
}
