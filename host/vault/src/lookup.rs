//! Resolves a guest's path to a file: spelling, links and visibility.
//!
//! A path is followed name by name, over the staged changes and the disk; the system never resolves a path. The result
//! is canonical: without links, spelt as on disk. Rules are checked for the path as given and for the canonical one.

use std::{collections::VecDeque, path::Path, sync::Arc};

use super::{
    access::{Rules, Tier},
    disk::{Folder, Node, Status, is_absent},
    error::VaultError,
    path::{check_new_name, composed, folded, is_closed, join, parse, split},
    transaction::Transaction,
    types::Kind,
};

const MAX_LINKS: usize = 40;

/// What a path leads to.
pub(super) struct Found {
    /// Canonical: what staging, reading and rules go by.
    pub(super) path: String,
    /// The path as given, spelt as the disk does, links not followed.
    pub(super) spelt: String,
    pub(super) kind: Kind,
    /// Whether the path names a link, and not only leads through one.
    pub(super) is_link: bool,
    /// Where it is on disk; `None` if it is only staged.
    pub(super) disk: Option<OnDisk>,
}

/// A name in an open folder.
pub(super) struct OnDisk {
    pub(super) folder: Arc<Folder>,
    pub(super) name: String,
    pub(super) status: Status,
}

/// Where something new may be put.
pub(super) struct Destination {
    /// Canonical.
    pub(super) path: String,
    /// What already has this name, or a twin of it.
    pub(super) occupant: Option<String>,
}

/// One step along a path.
struct Child {
    name: String,
    node: Node,
    status: Option<Status>,
}

/// How far a path could be followed.
struct Walk {
    path: String,
    spelt: String,
    folder: Option<Arc<Folder>>,
    last: Option<(Arc<Folder>, Child)>,
    kind: Kind,
    is_link: bool,
}

impl Transaction {
    /// Follows a path; `None` if nothing is there that this caller may see.
    pub(super) fn find(&self, path: &str) -> Result<Option<Found>, VaultError> {
        let parts = match parse(path) {
            Ok(parts) => parts,
            Err(None) => return Ok(None),
            Err(Some(refused)) => return Err(refused),
        };
        let Some(walk) = self.walk(&parts)? else {
            return Ok(None);
        };
        let is_seen = |path: &str| path.is_empty() || self.sees(path, walk.kind);
        if !is_seen(&walk.path) || !is_seen(&walk.spelt) {
            return Ok(None);
        }
        let disk = walk.last.and_then(|(folder, child)| {
            child.status.map(|status| OnDisk {
                folder,
                name: child.name,
                status,
            })
        });
        Ok(Some(Found {
            path: walk.path,
            spelt: walk.spelt,
            kind: walk.kind,
            is_link: walk.is_link,
            disk,
        }))
    }

    /// What the caller may do at a canonical path.
    pub(super) fn tier(&self, path: &str) -> Tier {
        self.tier_by(&self.access.rules, path)
    }

    /// What these rules allow at a canonical path.
    pub(super) fn tier_by(&self, rules: &Arc<dyn Rules>, path: &str) -> Tier {
        let spelt = composed(path);
        let kind = if path.contains('/') {
            None
        } else {
            self.kind_at_the_top(path)
        };
        let tier = kind.map_or_else(|| rules.tier(&spelt), |kind| rules.tier_of(&spelt, kind));
        // The vault itself is always there: what is in it is asked name by name.
        if path.is_empty() {
            tier.max(Tier::Read)
        } else {
            tier
        }
    }

    /// Whether the caller sees a file or folder at a canonical path.
    pub(super) fn sees(&self, path: &str, kind: Kind) -> bool {
        self.access.rules.tier_of(&composed(path), kind) != Tier::None
    }

    /// Whether the caller sees what is found on the disk. A link is either: both must be seen.
    pub(super) fn sees_node(&self, path: &str, node: Node) -> bool {
        (node == Node::Folder || self.sees(path, Kind::File))
            && (!matches!(node, Node::Folder | Node::Link) || self.sees(path, Kind::Folder))
    }

    /// What lies in the vault's root under a name, if it can be told.
    fn kind_at_the_top(&self, name: &str) -> Option<Kind> {
        let on_disk = || {
            let status = self.vault.root.status_below(name).ok().flatten();
            status.map(|status| status.node)
        };
        match self.staged_node(name).or_else(on_disk)? {
            Node::Folder => Some(Kind::Folder),
            Node::File => Some(Kind::File),
            Node::Link | Node::Special => None,
        }
    }

    fn walk(&self, parts: &[&str]) -> Result<Option<Walk>, VaultError> {
        if let Some(walk) = self.walk_at_once(parts) {
            return Ok(Some(walk));
        }
        let mut walk = self.start();
        let mut ahead: VecDeque<(String, bool)> = parts
            .iter()
            .map(|part| ((*part).to_owned(), true))
            .collect();
        let mut links = 0;
        while let Some((part, is_given)) = ahead.pop_front() {
            if walk.kind == Kind::File {
                return Ok(None);
            }
            if !is_given {
                match part.as_str() {
                    "" | "." => continue,
                    ".." => {
                        let Some(parent) =
                            (!walk.path.is_empty()).then(|| split(&walk.path).0.to_owned())
                        else {
                            return Ok(None);
                        };
                        walk.folder = self.open_folder(&parent)?;
                        walk.path = parent;
                        continue;
                    }
                    closed if is_closed(closed) => return Ok(None),
                    _ => {}
                }
            }
            let Some(child) = self.child(walk.folder.as_deref(), &walk.path, &part, true)? else {
                return Ok(None);
            };
            if is_given {
                walk.spelt = join(&walk.spelt, &child.name);
            }
            if child.node == Node::Link {
                links += 1;
                let target = match &walk.folder {
                    Some(folder) if links <= MAX_LINKS => self.link_target(folder, &child.name)?,
                    _ => None,
                };
                let Some((is_absolute, target)) = target else {
                    return Ok(None);
                };
                if is_absolute {
                    walk.path = String::new();
                    walk.folder = Some(Arc::clone(&self.vault.root));
                }
                walk.is_link = ahead.is_empty() || walk.is_link && !is_given;
                for part in target.rsplit('/') {
                    ahead.push_front((part.to_owned(), false));
                }
                continue;
            }
            self.step_into(&mut walk, child)?;
            walk.is_link &= !is_given;
        }
        Ok(Some(walk))
    }

    /// Most paths are spelt as the disk does and lead through no link: those need not be followed name by name.
    fn walk_at_once(&self, parts: &[&str]) -> Option<Walk> {
        let (name, above) = parts.split_last()?;
        // A disk that takes any case does not tell how a name is spelt.
        if !self.is_read_only() || self.vault.is_forgiving {
            return None;
        }
        let parent = match above {
            [] => Arc::clone(&self.vault.root),
            above => Arc::new(self.vault.root.descend(&above.join("/")).ok()?),
        };
        let status = parent.status(name).ok()??;
        let kind = match status.node {
            Node::File => Kind::File,
            Node::Folder => Kind::Folder,
            Node::Link | Node::Special => return None,
        };
        let folder = match kind {
            Kind::File => None,
            Kind::Folder => Some(Arc::new(parent.folder(name).ok()?)),
        };
        let path = parts.join("/");
        let child = Child {
            name: (*name).to_owned(),
            node: status.node,
            status: Some(status),
        };
        Some(Walk {
            spelt: path.clone(),
            path,
            folder,
            last: Some((parent, child)),
            kind,
            is_link: false,
        })
    }

    fn start(&self) -> Walk {
        Walk {
            path: String::new(),
            spelt: String::new(),
            folder: Some(Arc::clone(&self.vault.root)),
            last: None,
            kind: Kind::Folder,
            is_link: false,
        }
    }

    fn step_into(&self, walk: &mut Walk, child: Child) -> Result<(), VaultError> {
        walk.path = join(&walk.path, &child.name);
        let folder = walk.folder.take();
        walk.kind = if child.node == Node::Folder {
            Kind::Folder
        } else {
            Kind::File
        };
        if walk.kind == Kind::Folder
            && let (Some(folder), Some(_)) = (&folder, child.status)
        {
            walk.folder = match folder.folder(&child.name) {
                Ok(opened) => Some(Arc::new(opened)),
                Err(error) if is_absent(&error) => None,
                Err(error) => return Err(VaultError::io(&walk.path, &error)),
            };
        }
        walk.last = folder.map(|folder| (folder, child));
        Ok(())
    }

    pub(super) fn open_folder(&self, path: &str) -> Result<Option<Arc<Folder>>, VaultError> {
        match self.vault.root.descend(path) {
            Ok(folder) => Ok(Some(Arc::new(folder))),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(VaultError::io(path, &error)),
        }
    }

    /// Where a link leads: relative to its folder, or (`true`) to the vault. `None` if it leads elsewhere.
    fn link_target(
        &self,
        folder: &Folder,
        name: &str,
    ) -> Result<Option<(bool, String)>, VaultError> {
        let Ok(Some(target)) = folder.link(name) else {
            return Ok(None);
        };
        if !target.starts_with('/') {
            return Ok(Some((false, target)));
        }
        let inside = Path::new(&target)
            .strip_prefix(&self.vault.canonical)
            .ok()
            .and_then(Path::to_str);
        Ok(inside.map(|inside| (true, inside.to_owned())))
    }

    /// What a name in a folder stands for: the exact spelling first, then the same in another normal form, then
    /// in another case where only one fits.
    fn child(
        &self,
        folder: Option<&Folder>,
        path: &str,
        name: &str,
        only_visible: bool,
    ) -> Result<Option<Child>, VaultError> {
        let failed = |error| VaultError::io(&join(path, name), &error);
        let exact = join(path, name);
        if let Some(node) = self.staged_node(&exact) {
            let status = self.folder_under(folder, &exact, node)?;
            return Ok(Some(Child {
                name: name.to_owned(),
                node,
                status,
            }));
        }
        if let Some(folder) = folder
            && !self.vault.is_forgiving
            && !self.is_gone(&exact)
            && let Some(status) = folder.status(name).map_err(failed)?
        {
            return Ok(match status.node {
                Node::Special if only_visible => None,
                node => Some(Child {
                    name: name.to_owned(),
                    node,
                    status: Some(status),
                }),
            });
        }
        let mut twins = self.twins(folder, path, name)?;
        if only_visible {
            twins.retain(|(twin, node)| {
                *node != Node::Special && self.sees_node(&join(path, twin), *node)
            });
        }
        let wanted = composed(name);
        let same_form = twins.iter().position(|(twin, _)| composed(twin) == wanted);
        let (twin, node) = match same_form {
            Some(index) => twins.swap_remove(index),
            None if twins.len() == 1 || !only_visible && !twins.is_empty() => twins.swap_remove(0),
            None => return Ok(None),
        };
        let twin_path = join(path, &twin);
        let status = match (folder, self.staged_node(&twin_path)) {
            (folder, Some(node)) => self.folder_under(folder, &twin_path, node)?,
            (Some(folder), None) => folder.status(&twin).map_err(failed)?,
            (None, None) => None,
        };
        Ok(Some(Child {
            name: twin,
            node,
            status,
        }))
    }

    /// The folder of the disk that a staged folder lies over, if there is one.
    fn folder_under(
        &self,
        parent: Option<&Folder>,
        path: &str,
        node: Node,
    ) -> Result<Option<Status>, VaultError> {
        match parent {
            Some(parent) if node == Node::Folder && !self.is_gone(path) => {
                let status = parent
                    .status(split(path).1)
                    .map_err(|error| VaultError::io(path, &error))?;
                Ok(status.filter(|status| status.node == Node::Folder))
            }
            _ => Ok(None),
        }
    }

    fn twins(
        &self,
        folder: Option<&Folder>,
        path: &str,
        name: &str,
    ) -> Result<Vec<(String, Node)>, VaultError> {
        let mut twins = Vec::new();
        if let Some(folder) = folder {
            let listing = self
                .vault
                .listings
                .of(path, folder)
                .map_err(|error| VaultError::io(path, &error))?;
            twins.extend(
                listing
                    .twins(name)
                    .filter(|(twin, _)| !self.is_gone(&join(path, twin)))
                    .cloned(),
            );
        }
        if !self.staged.is_empty() || !self.new_folders.is_empty() {
            let wanted = folded(name);
            for (twin, node) in self.staged_children(path) {
                if folded(&twin) == wanted && !twins.iter().any(|(known, _)| *known == twin) {
                    twins.push((twin, node));
                }
            }
        }
        Ok(twins)
    }

    /// Where a new file or folder of this path would lie; asks for the right to write there.
    ///
    /// Folders on the way are found as lookups find them; the name itself must have no twin.
    pub(super) fn destination(&self, path: &str) -> Result<Destination, VaultError> {
        let closed =
            || VaultError::invalid(format!("`{path}` is closed: its name begins with a dot"));
        let parts = parse(path).map_err(|refused| refused.unwrap_or_else(closed))?;
        let Some((last, above)) = parts.split_last() else {
            return Err(VaultError::exists(""));
        };
        // What of the folders is there, by the longest beginning that can be followed.
        let mut followed = above.len();
        let walk = loop {
            match self.walk(&above[..followed])? {
                Some(walk) => break walk,
                None => followed -= 1,
            }
        };
        if walk.kind == Kind::File {
            return Err(if self.sees(&walk.path, Kind::File) {
                VaultError::invalid(format!("`{}` is a file, not a folder", walk.spelt))
            } else {
                self.denied(path, Tier::Write)
            });
        }
        let missing = &above[followed..];
        let occupied = self.child(
            walk.folder.as_deref(),
            &walk.path,
            missing.first().unwrap_or(last),
            false,
        )?;
        let target = missing
            .iter()
            .chain([last])
            .fold(walk.path.clone(), |path, name| join(&path, &composed(name)));
        let seen = occupied
            .as_ref()
            .is_none_or(|child| self.sees_node(&join(&walk.path, &child.name), child.node));
        if !seen
            || self.tier(&target) < Tier::Write
            || self.tier(&join(&walk.spelt, &composed(last))) == Tier::None
        {
            return Err(self.denied(&target, Tier::Write));
        }
        match (missing.is_empty(), occupied) {
            // Something has the name of a folder that should be made, and could not be followed: a dead link,
            // a pipe, a file, or names that differ only in case.
            (false, Some(child)) => Err(VaultError::exists(&join(&walk.path, &child.name))),
            (true, Some(child)) => Ok(Destination {
                occupant: Some(join(&walk.path, &child.name)),
                path: target,
            }),
            (_, None) => {
                missing
                    .iter()
                    .chain([last])
                    .try_for_each(|name| check_new_name(name))?;
                if let Some(folder) = &walk.folder
                    && !folder
                        .own_status()
                        .map_err(|error| VaultError::io(&walk.path, &error))?
                        .is_writable()
                {
                    return Err(VaultError::read_only(if walk.path.is_empty() {
                        "."
                    } else {
                        &walk.path
                    }));
                }
                Ok(Destination {
                    path: target,
                    occupant: None,
                })
            }
        }
    }
}
