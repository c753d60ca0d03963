//! Resolves a guest's path to a file: spelling, links and visibility.
//!
//! A path is followed name by name, over the staged changes and the disk; the system never resolves a path. The result
//! is canonical: without links, spelt as on disk. Rules are checked for the path as given and for the canonical one.

use std::{collections::VecDeque, sync::Arc};

use crate::{
    access::{Rules, Tier},
    error::VaultError,
    path::{check_new_name, composed, folded, is_closed, join, parse, split},
    storage::{
        LinkTarget,
        stamp::{Node, Status},
    },
    transaction::Transaction,
    types::Kind,
};

const MAX_LINKS: usize = 40;

/// What a path leads to.
pub(crate) struct Found {
    /// Canonical: what staging, reading and rules go by.
    pub(crate) path: String,
    /// The path as given, spelt as the disk does, links not followed.
    pub(crate) spelt: String,
    pub(crate) kind: Kind,
    /// Whether the path names a link, and not only leads through one.
    pub(crate) is_link: bool,
    /// Its status as it is stored; `None` if it is only staged.
    pub(crate) stored: Option<Status>,
}

/// Where something new may be put.
pub(crate) struct Destination {
    /// Canonical.
    pub(crate) path: String,
    /// What already has this name, or a twin of it.
    pub(crate) occupant: Option<String>,
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
    /// Whether `path` is a folder that is stored, and not only staged.
    is_stored_folder: bool,
    /// The status of `path` as it is stored; none for the root.
    stored: Option<Status>,
    kind: Kind,
    is_link: bool,
}

impl Walk {
    fn start() -> Walk {
        Walk {
            path: String::new(),
            spelt: String::new(),
            is_stored_folder: true,
            stored: None,
            kind: Kind::Folder,
            is_link: false,
        }
    }
}

fn step_into(walk: &mut Walk, child: Child) {
    walk.path = join(&walk.path, &child.name);
    walk.kind = match child.node {
        Node::Folder => Kind::Folder,
        _ => Kind::File,
    };
    walk.stored = child.status.filter(|_| walk.is_stored_folder);
    walk.is_stored_folder = walk.kind == Kind::Folder && walk.stored.is_some();
}

impl Transaction {
    /// Follows a path; `None` if nothing is there that this caller may see.
    pub(crate) fn find(&self, path: &str) -> Result<Option<Found>, VaultError> {
        let parts = match parse(path) {
            Ok(parts) => parts,
            Err(None) => return Ok(None),
            Err(Some(refused)) => return Err(refused),
        };
        let Some(walk) = self.walk(&parts)? else {
            return Ok(None);
        };
        let is_seen = |path: &str| path.is_empty() || self.sees(path, walk.kind);
        let is_seen_as_given = || walk.spelt == walk.path || is_seen(&walk.spelt);
        if !is_seen(&walk.path) || !is_seen_as_given() {
            return Ok(None);
        }
        Ok(Some(Found {
            path: walk.path,
            spelt: walk.spelt,
            kind: walk.kind,
            is_link: walk.is_link,
            stored: walk.stored,
        }))
    }

    /// What the caller may do at a canonical path.
    pub(crate) fn tier(&self, path: &str) -> Tier {
        self.tier_by(&self.access.rules, path)
    }

    /// What these rules allow at a canonical path.
    pub(crate) fn tier_by(&self, rules: &Arc<dyn Rules>, path: &str) -> Tier {
        let spelt = composed(path);
        let kind = if path.contains('/') {
            None
        } else {
            self.kind_at_the_top(path)
        };
        let tier = kind.map_or_else(|| rules.tier(&spelt), |kind| rules.tier_of(&spelt, kind));
        // The vault itself is always there: what is in it is checked name by name.
        if path.is_empty() {
            tier.max(Tier::Read)
        } else {
            tier
        }
    }

    /// Whether the caller sees a file or folder at a canonical path.
    pub(crate) fn sees(&self, path: &str, kind: Kind) -> bool {
        self.access.rules.tier_of(&composed(path), kind) != Tier::None
    }

    /// Whether the caller sees what is found on the disk. A link is either: both must be seen.
    pub(crate) fn sees_node(&self, path: &str, node: Node) -> bool {
        (node == Node::Folder || self.sees(path, Kind::File))
            && (!matches!(node, Node::Folder | Node::Link) || self.sees(path, Kind::Folder))
    }

    /// The entry of the vault's root under a name, if it can be determined.
    fn kind_at_the_top(&self, name: &str) -> Option<Kind> {
        let stored = || {
            let status = self.vault.storage.stat(name).ok().flatten();
            status.map(|status| status.node)
        };
        match self.staged_node(name).or_else(stored)? {
            Node::Folder => Some(Kind::Folder),
            Node::File => Some(Kind::File),
            Node::Link | Node::Special => None,
        }
    }

    fn walk(&self, parts: &[&str]) -> Result<Option<Walk>, VaultError> {
        if let Some(walk) = self.walk_at_once(parts) {
            return Ok(Some(walk));
        }
        let mut walk = Walk::start();
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
                        let status = self.vault.storage.stat(&parent)?;
                        walk.is_stored_folder =
                            status.is_some_and(|status| status.node == Node::Folder);
                        walk.path = parent;
                        continue;
                    }
                    closed if is_closed(closed) => return Ok(None),
                    _ => {}
                }
            }
            let Some(child) = self.child(walk.is_stored_folder, &walk.path, &part, true)? else {
                return Ok(None);
            };
            if is_given {
                walk.spelt = join(&walk.spelt, &child.name);
            }
            if child.node == Node::Link {
                links += 1;
                let link = join(&walk.path, &child.name);
                let target = (walk.is_stored_folder && links <= MAX_LINKS)
                    .then(|| self.vault.storage.link_target(&link));
                let target = match target.flatten() {
                    None => return Ok(None),
                    Some(LinkTarget::FromFolder(target)) => target,
                    Some(LinkTarget::FromRoot(target)) => {
                        walk.path = String::new();
                        walk.is_stored_folder = true;
                        target
                    }
                };
                walk.is_link = ahead.is_empty() || walk.is_link && !is_given;
                for part in target.rsplit('/') {
                    ahead.push_front((part.to_owned(), false));
                }
                continue;
            }
            step_into(&mut walk, child);
            walk.is_link &= !is_given;
        }
        Ok(Some(walk))
    }

    /// Most paths are spelt as they are stored and lead through no link: those need not be followed name by name.
    fn walk_at_once(&self, parts: &[&str]) -> Option<Walk> {
        if parts.is_empty() {
            return None;
        }
        // A storage that accepts any case does not show how a name is spelt.
        if !self.has_no_changes() || self.vault.storage.folds_names() {
            return None;
        }
        let path = parts.join("/");
        let status = self.vault.storage.stat(&path).ok()??;
        let kind = match status.node {
            Node::File => Kind::File,
            Node::Folder => Kind::Folder,
            Node::Link | Node::Special => return None,
        };
        Some(Walk {
            spelt: path.clone(),
            path,
            is_stored_folder: kind == Kind::Folder,
            stored: Some(status),
            kind,
            is_link: false,
        })
    }

    /// What a name in a folder stands for: the exact spelling first, then the same in another normal form, then
    /// in another case where only one fits.
    fn child(
        &self,
        is_stored_folder: bool,
        path: &str,
        name: &str,
        only_visible: bool,
    ) -> Result<Option<Child>, VaultError> {
        let exact = join(path, name);
        if let Some(node) = self.staged_node(&exact) {
            let status = self.folder_under(is_stored_folder, &exact, node)?;
            return Ok(Some(Child {
                name: name.to_owned(),
                node,
                status,
            }));
        }
        if is_stored_folder
            && !self.vault.storage.folds_names()
            && !self.is_gone(&exact)
            && let Some(status) = self.vault.storage.stat(&exact)?
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
        let mut twins = self.twins(is_stored_folder, path, name)?;
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
        let status = match self.staged_node(&twin_path) {
            Some(node) => self.folder_under(is_stored_folder, &twin_path, node)?,
            None if is_stored_folder => self.vault.storage.stat(&twin_path)?,
            None => None,
        };
        Ok(Some(Child {
            name: twin,
            node,
            status,
        }))
    }

    /// The stored folder that a staged folder overlays, if there is one.
    fn folder_under(
        &self,
        is_stored_folder: bool,
        path: &str,
        node: Node,
    ) -> Result<Option<Status>, VaultError> {
        if !is_stored_folder || node != Node::Folder || self.is_gone(path) {
            return Ok(None);
        }
        let status = self.vault.storage.stat(path)?;
        Ok(status.filter(|status| status.node == Node::Folder))
    }

    fn twins(
        &self,
        is_stored_folder: bool,
        path: &str,
        name: &str,
    ) -> Result<Vec<(String, Node)>, VaultError> {
        let mut twins = Vec::new();
        if is_stored_folder {
            let stored = self.vault.storage.twins(path, name)?.into_iter();
            twins.extend(stored.filter(|(twin, _)| !self.is_gone(&join(path, twin))));
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

    /// The location of a new file or folder of this path; requires the right to write there.
    ///
    /// Folders on the way are found as lookups find them; the name itself must have no twin.
    pub(crate) fn destination(&self, path: &str) -> Result<Destination, VaultError> {
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
            walk.is_stored_folder,
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
                if walk.is_stored_folder
                    && let Some(folder) = self.vault.storage.stat(&walk.path)?
                    && !folder.is_writable()
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
