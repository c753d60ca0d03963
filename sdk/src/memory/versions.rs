//! The versions of a file in a vault in memory: its states after each commit, and those that no commit left.

use std::rc::Rc;

use super::history::{Commit, History, VersionName};
use super::tree::etag;
use super::view::View;
use crate::{Blob, Error, Kind, Result, Tier, Version, fold_name};

/// As in the host.
const MAX_VERSIONS: usize = 500;

/// A state of a file.
struct State<'h> {
    id: String,
    path: String,
    commit: Option<&'h Commit>,
    bytes: Option<Rc<[u8]>>,
    /// Whether it differs from the state that the commit before left.
    is_listed: bool,
    /// Whether nothing was there before it.
    is_first: bool,
}

impl History {
    /// The versions of a file, latest first.
    pub(super) fn versions(
        &self,
        view: &View<'_>,
        path: &str,
        after: Option<&str>,
        limit: u32,
    ) -> Vec<Version> {
        let mut states = self.states(view, path);
        states.retain(|state| state.is_listed);
        let begin = match after {
            None | Some("current") => 0,
            Some(after) => states
                .iter()
                .position(|state| state.id == after)
                .map_or(states.len(), |at| at + 1),
        };
        let page = states.iter().enumerate().skip(begin);
        let page = page.filter(|(_, state)| after != Some(state.id.as_str()));
        page.take((limit as usize).clamp(1, MAX_VERSIONS))
            .map(|(at, state)| {
                let before = match (state.is_first, states.get(at + 1)) {
                    (true, _) => Some(None),
                    (false, Some(older)) => Some(older.bytes.as_deref()),
                    (false, None) => None,
                };
                let counts = before.map(|before| counts(before, state.bytes.as_deref()));
                Version {
                    id: state.id.clone(),
                    path: state.path.clone(),
                    change: state.commit.map(|commit| self.visible_change(commit, view)),
                    etag: state.bytes.as_deref().map(etag),
                    name: self.name_of(path, state),
                    added: counts.map(|(added, _)| added),
                    removed: counts.map(|(_, removed)| removed),
                    kept: state.bytes.is_some(),
                }
            })
            .collect()
    }

    /// The content of a version.
    pub(super) fn read_version(&self, view: &View<'_>, path: &str, version: &str) -> Result<Blob> {
        let states = self.states(view, path);
        let mut states = states.into_iter();
        let state = states.find(|state| {
            state.id == version || self.name_of(path, state).as_deref() == Some(version)
        });
        let state = state.ok_or_else(|| {
            Error::not_found(format!(
                "`{path}` has no version `{version}`: `history` lists its versions"
            ))
        })?;
        match state.bytes {
            Some(bytes) => Ok(Blob {
                etag: etag(&bytes),
                bytes: bytes.to_vec(),
            }),
            None => Err(
                Error::not_found(format!("`{path}` did not exist in version `{version}`"))
                    .with_details(serde_json::json!({ "removed": true })),
            ),
        }
    }

    /// Names a version, or removes its name.
    pub(super) fn name_version(
        &mut self,
        view: &View<'_>,
        path: &str,
        version: &str,
        name: Option<&str>,
    ) -> Result<()> {
        let blob = self.read_version(view, path, version)?;
        view.scope.require(path, Kind::File, Tier::Write)?;
        let states = self.states(view, path);
        let state = states.iter().find(|state| {
            state.id == version || self.name_of(path, state).as_deref() == Some(version)
        });
        let origin = state.map(|state| state.path.clone()).unwrap_or_default();
        let is_this = |other: &VersionName| {
            other.path == path && other.origin == origin && other.etag == blob.etag
        };
        match name.map(str::trim) {
            None if !self.names.iter().any(is_this) => {
                return Err(Error::not_found(format!(
                    "version `{version}` of `{path}` has no name"
                )));
            }
            Some("" | "current") => {
                return Err(Error::validation("a name has 1 to 80 characters"));
            }
            Some(name) if name.chars().count() > 80 || name.starts_with("before-") => {
                return Err(Error::validation("a name has 1 to 80 characters"));
            }
            Some(name) => {
                let mut others = self.names.iter().filter(|other| !is_this(other));
                if others
                    .any(|other| other.path == path && fold_name(&other.name) == fold_name(name))
                {
                    return Err(Error::already_exists(format!(
                        "another version of `{path}` has the name `{name}`"
                    )));
                }
            }
            None => {}
        }
        self.names.retain(|other| !is_this(other));
        self.names.extend(name.map(|name| VersionName {
            path: path.to_owned(),
            origin,
            etag: blob.etag,
            name: name.trim().to_owned(),
        }));
        Ok(())
    }

    fn name_of(&self, path: &str, state: &State<'_>) -> Option<String> {
        let etag = etag(state.bytes.as_deref()?);
        let mut names = self.names.iter();
        let found =
            names.find(|name| name.path == path && name.origin == state.path && name.etag == etag);
        found.map(|name| name.name.clone())
    }

    /// All states of a file, latest first.
    fn states(&self, view: &View<'_>, path: &str) -> Vec<State<'_>> {
        let mut states: Vec<State<'_>> = Vec::new();
        if !view.sees(path, Kind::File) {
            return states;
        }
        let mut path = path.to_owned();
        let mut expected = view.tree.files.get(&path).map(|file| file.bytes.clone());
        let mut replaced_by: Option<&str> = None;
        let outside =
            |replaced_by: Option<&str>, path: &str, bytes: Option<Rc<[u8]>>, after| State {
                id: replaced_by.map_or("current".to_owned(), |change| format!("before-{change}")),
                path: path.to_owned(),
                commit: None,
                is_listed: bytes.is_some() && bytes != after,
                bytes,
                is_first: false,
            };
        let mut is_visible = true;
        for commit in self.commits.iter().rev() {
            let here = |file: &&super::history::Touched| file.change.path == path;
            let stays = commit.files.iter().filter(here);
            let stays = stays
                .clone()
                .find(|file| file.after.is_some())
                .or(stays.clone().next());
            let moved = || {
                let mut files = commit.files.iter();
                files.find(|file| file.change.from.as_deref() == Some(path.as_str()))
            };
            let (before, after, from) = match (stays, moved()) {
                (Some(file), _) => (
                    file.before.clone(),
                    file.after.clone(),
                    file.change.from.clone(),
                ),
                (None, Some(file)) => (file.before.clone(), None, None),
                (None, None) => continue,
            };
            states.push(outside(replaced_by, &path, expected, after.clone()));
            is_visible = from.as_ref().is_none_or(|from| view.sees(from, Kind::File));
            states.push(State {
                id: commit.id.clone(),
                path: path.clone(),
                commit: Some(commit),
                bytes: after,
                is_listed: true,
                is_first: before.is_none() || !is_visible,
            });
            (expected, replaced_by) = (before, Some(commit.id.as_str()));
            if !is_visible {
                break;
            }
            path = from.unwrap_or(path);
        }
        if is_visible {
            states.push(outside(replaced_by, &path, expected, None));
        }
        states
    }
}

/// The lines added and removed; bytes where one side is not text.
fn counts(before: Option<&[u8]>, after: Option<&[u8]>) -> (u64, u64) {
    let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
    let (Ok(old), Ok(new)) = (std::str::from_utf8(before), std::str::from_utf8(after)) else {
        return (after.len() as u64, before.len() as u64);
    };
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    // The longest common subsequence, one row at a time.
    let mut row = vec![0usize; new.len() + 1];
    for line in &old {
        let mut diagonal = 0;
        for (at, other) in new.iter().enumerate() {
            let above = row[at + 1];
            row[at + 1] = match line == other {
                true => diagonal + 1,
                false => above.max(row[at]),
            };
            diagonal = above;
        }
    }
    let common = row[new.len()];
    ((new.len() - common) as u64, (old.len() - common) as u64)
}
