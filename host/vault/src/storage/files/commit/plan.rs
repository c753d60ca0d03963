//! Turns staged changes into commit steps, ordered so that each step finds its target free.

use notehost_sdk::Code;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    error::VaultError,
    path::{PRIVATE, is_below, split},
    storage::{
        change_set::{ChangeSet, StagedFile},
        files::{
            commit::steps::{Content, Expected, Step},
            disk::{Folder, read_bounded},
        },
        stamp::{Digest, Node},
        trash_id, trash_path,
    },
};

/// The prefix of the names of files that a commit moved out of the way.
pub(crate) const PARKED: &str = "parked-";

/// What a commit will do.
#[derive(Default)]
pub(crate) struct Plan {
    /// Files to be written beforehand, in the order of their numbers.
    pub(crate) temps: Vec<Temp>,
    pub(crate) steps: Vec<Step>,
    /// Ids whose notes must be in the trash before the files are.
    pub(crate) trash: Vec<(String, String, u64)>,
    /// Ids that leave the trash.
    pub(crate) restored: Vec<String>,
    pub(crate) uses_trash: bool,
    /// It changes folders or the components' store, and no note: the files cannot show whether it happened.
    pub(crate) changes_no_note: bool,
}

impl Plan {
    /// Whether it could be interrupted between two steps, or only a journal can show after a crash whether it happened.
    pub(crate) fn needs_journal(&self) -> bool {
        self.steps.len() > 1 || self.changes_no_note
    }

    /// The names in the folder of temporary files that its steps use.
    pub(crate) fn temporary<'plan>(
        &'plan self,
        folder: &'plan str,
    ) -> impl Iterator<Item = &'plan str> {
        let place = |step: &'plan Step| match step {
            Step::Create { temp, .. } | Step::Replace { temp, .. } => Some(temp),
            Step::Move { to, .. } => Some(to),
            Step::MakeFolder { .. } | Step::Prune { .. } => None,
        };
        let names = self.steps.iter().filter_map(place).map(|path| split(path));
        names
            .filter(move |(parent, _)| *parent == folder)
            .map(|(_, name)| name)
    }
}

/// A file to be written.
pub(crate) struct Temp {
    pub(crate) bytes: Arc<[u8]>,
    pub(crate) mode: Option<u32>,
    pub(crate) owner: Option<(u32, u32)>,
    /// The step that gives it its place.
    pub(crate) step: usize,
}

/// Plans a commit. `temps` is what the paths of its temporary files begin with.
pub(crate) fn plan(
    changes: &ChangeSet<'_>,
    root: &Folder,
    temps: &str,
) -> Result<Plan, VaultError> {
    Planner {
        changes,
        root,
        temps,
    }
    .plan()
}

struct Planner<'a> {
    changes: &'a ChangeSet<'a>,
    root: &'a Folder,
    temps: &'a str,
}

impl Planner<'_> {
    fn plan(&self) -> Result<Plan, VaultError> {
        let (changes, temps) = (self.changes, self.temps);
        let mut plan = Plan::default();
        let mut parked = 0;
        let mut park = || {
            parked += 1;
            format!("{temps}{PARKED}{parked}")
        };
        let origins: BTreeMap<&str, &str> = changes
            .staged
            .iter()
            .filter_map(|(path, file)| Some((file.as_ref()?.origin.as_deref()?, path.as_str())))
            .collect();

        // First, what is in the way leaves: into the trash, or aside until its own place is free.
        let mut aside: BTreeMap<&str, String> = BTreeMap::new();
        for (path, id) in changes.trashed {
            let expected = self.expected(path)?;
            plan.trash
                .push((id.clone(), path.clone(), expected.stamp.size));
            plan.steps.push(Step::Move {
                from: path.clone(),
                to: trash_path(id),
                expected,
            });
        }
        for (origin, target) in origins.iter().filter(|(origin, target)| origin != target) {
            let file = changes.staged.get(*target).and_then(Option::as_ref);
            let is_rewritten = file.is_some_and(|file| file.bytes.is_some() || file.mode.is_some());
            if is_rewritten || self.is_awaited(origin) {
                let place = park();
                plan.steps.push(Step::Move {
                    from: (*origin).to_owned(),
                    to: place.clone(),
                    expected: self.expected(origin)?,
                });
                aside.insert(origin, place);
            }
        }
        for (path, _) in changes.staged.iter().filter(|(_, file)| file.is_none()) {
            let is_placed =
                changes.trashed.contains_key(path) || origins.contains_key(path.as_str());
            if !is_placed && changes.read_file(path).is_some() {
                plan.steps.push(Step::Move {
                    from: path.clone(),
                    to: park(),
                    expected: self.expected(path)?,
                });
            }
        }

        // Then folders, then files into their places.
        for path in self.missing_folders()? {
            plan.steps.push(Step::MakeFolder { path });
        }
        for (path, file) in changes.staged {
            if let Some(file) = file {
                self.plan_file(
                    path,
                    file,
                    aside.get(file.origin.as_deref().unwrap_or_default()),
                    &mut plan,
                )?;
            }
        }
        for path in changes.gone_folders.iter().rev() {
            let status = self
                .root
                .status_below(path)
                .map_err(|error| VaultError::io(path, &error))?;
            if status.is_some_and(|status| status.node == Node::Folder) {
                plan.steps.push(Step::Prune { path: path.clone() });
            }
        }
        plan.uses_trash = !plan.trash.is_empty() || !plan.restored.is_empty();
        Ok(plan)
    }

    fn plan_file(
        &self,
        path: &str,
        file: &StagedFile,
        aside: Option<&String>,
        plan: &mut Plan,
    ) -> Result<(), VaultError> {
        let origin = file.origin.as_deref();
        if let Some(id) = origin.and_then(trash_id) {
            plan.restored.push(id.to_owned());
        }
        let before = origin.and_then(|origin| self.changes.read_file(origin));
        let bytes = match (&file.bytes, file.mode, origin) {
            (Some(bytes), ..) => Some(Arc::clone(bytes)),
            (None, Some(mode), Some(origin))
                if before.is_some_and(|before| before.status.mode != mode) =>
            {
                Some(self.bytes_on_disk(origin)?)
            }
            _ => None,
        };
        let Some(bytes) = bytes else {
            let Some(origin) = origin.filter(|origin| *origin != path) else {
                return Ok(());
            };
            let from = aside.map_or(origin, String::as_str).to_owned();
            plan.steps.push(Step::Move {
                from,
                to: path.to_owned(),
                expected: self.expected(origin)?,
            });
            return Ok(());
        };
        let new = Content {
            digest: Digest::of(&bytes),
            inode: 0,
        };
        let temp = format!("{}{}", self.temps, plan.temps.len());
        let step = if origin == Some(path) {
            Step::Replace {
                temp,
                path: path.to_owned(),
                new,
                old: self.expected(path)?,
            }
        } else {
            Step::Create {
                temp,
                path: path.to_owned(),
                new,
            }
        };
        plan.temps.push(Temp {
            bytes,
            // Temporary files are private; a note gets its mode before it gets its place.
            mode: file
                .mode
                .or(before.map(|before| before.status.mode))
                .or_else(|| (!path.starts_with('.')).then(notehost_platform::private::note_mode)),
            owner: before.map(|before| before.status.owner),
            step: plan.steps.len(),
        });
        plan.steps.push(step);
        Ok(())
    }

    fn bytes_on_disk(&self, path: &str) -> Result<Arc<[u8]>, VaultError> {
        if let Some(content) = self
            .changes
            .read_file(path)
            .and_then(|read| read.content.clone())
        {
            return Ok(content);
        }
        let read = || -> std::io::Result<Option<Vec<u8>>> {
            let Some((mut file, status)) = self.root.open_below(path)? else {
                return Ok(None);
            };
            read_bounded(&mut file, status.stamp.size, u64::MAX - 1)
        };
        let bytes = read().map_err(|error| VaultError::io(path, &error))?;
        bytes
            .map(Arc::from)
            .ok_or_else(|| VaultError::conflict(path))
    }

    /// Whether something else will be where this file of the disk is, or below it, or under a twin of its name.
    fn is_awaited(&self, origin: &str) -> bool {
        matches!(self.changes.staged.get(origin), Some(Some(_)))
            || self.changes.has_staged_below(origin)
            || self
                .changes
                .new_folders
                .iter()
                .any(|folder| folder == origin || is_below(folder, origin))
    }

    fn expected(&self, path: &str) -> Result<Expected, VaultError> {
        match self.changes.read_file(path) {
            Some(file) => Ok(Expected::of(file)),
            None => Err(VaultError::internal(
                "plan the commit",
                format!("`{path}` is not in the read set"),
            )),
        }
    }

    /// The folders that staged files and folders need and the disk does not have, those above first.
    fn missing_folders(&self) -> Result<Vec<String>, VaultError> {
        let mut wanted: BTreeSet<&str> = self
            .changes
            .new_folders
            .iter()
            .map(String::as_str)
            .collect();
        wanted.extend(
            self.changes
                .staged
                .iter()
                .filter(|(_, file)| file.is_some())
                .map(|(path, _)| split(path).0),
        );
        let mut missing = BTreeSet::new();
        for folder in wanted {
            let mut folder = folder;
            while !folder.is_empty() && folder != PRIVATE && !missing.contains(folder) {
                let status = self
                    .root
                    .status_below(folder)
                    .map_err(|error| VaultError::io(folder, &error))?;
                match status {
                    Some(status) if status.node == Node::Folder => break,
                    // Nobody else makes anything there, so that it will be the same at the next try.
                    Some(_) if is_below(folder, PRIVATE) => return Err(blocked(folder)),
                    _ => {}
                }
                missing.insert(folder.to_owned());
                folder = split(folder).0;
            }
        }
        Ok(missing.into_iter().collect())
    }
}

/// Something else is where a folder of the vault's own must be.
fn blocked(folder: &str) -> VaultError {
    VaultError::new(
        Code::Unavailable,
        format!("`{folder}` is not a folder; nothing was changed"),
    )
    .with_hint(format!(
        "remove or rename `{folder}` in the vault: notehost keeps its own data in a folder of this name"
    ))
}
