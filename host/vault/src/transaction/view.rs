//! Operations over many files: `list`, `resolve`, `mentioning`.
//!
//! Each is first answered from what is stored, and that answer enters the read set; then the staged changes are
//! applied to it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use notehost_sdk::Code;

use crate::{
    error::VaultError,
    path::{folded, is_below, join, parse, split},
    storage::{
        listing::Listing,
        stamp::{Digest, Node, Status},
    },
    transaction::{
        ScanQuery, Transaction,
        lookup::Found,
        text_search::{FoldedNeedle, mentions, scan},
    },
    types::{Entry, Kind, Page},
};

const MAX_PAGE: usize = 10_000;
const MAX_TEXTS: usize = 1000;
const MAX_TEXT_BYTES: usize = 1 << 20;
/// A folder with no more names is listed at once.
const MAX_QUICK_NAMES: usize = 1000;

/// All folders that the caller may see, with what is in them, as they were at one moment.
pub(crate) type FolderListings = Vec<(String, Arc<Listing>)>;

impl Transaction {
    /// Whether listing a folder is a matter of a millisecond, so that it can run on the async worker.
    pub fn is_quick_to_list(&self, folder: &str, recursive: bool) -> bool {
        let known = self.vault.storage.known_len(folder);
        !recursive && known.is_some_and(|names| names <= MAX_QUICK_NAMES)
    }

    /// The entries of a folder (`""` is the vault itself), or of everything below it, sorted by path.
    pub fn list(
        &mut self,
        folder: &str,
        recursive: bool,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Page, VaultError> {
        let found = match self.find(folder)? {
            Some(found) if found.kind == Kind::Folder => found,
            Some(found) => {
                return Err(VaultError::invalid(format!(
                    "`{}` is a file, not a folder",
                    found.spelt
                )));
            }
            None => {
                self.note_absent(folder);
                return Err(VaultError::absent_folder(folder));
            }
        };
        let survey = if recursive && (found.path.is_empty() || self.survey.is_some()) {
            Some(self.survey()?)
        } else {
            None
        };
        let mut items = self.stored_below(&found.path, recursive, survey.as_deref())?;
        self.remember(
            ScanQuery::Below {
                folder: found.path.clone(),
                recursive,
            },
            paths_digest(items.keys()),
        )?;
        self.overlay(&found.path, recursive, &mut items);

        let limit = (limit as usize).clamp(1, MAX_PAGE);
        // What lies behind a link is reported by the path that was requested.
        let spelt = |path: &str| {
            join(
                &found.spelt,
                &path[if found.path.is_empty() {
                    0
                } else {
                    found.path.len() + 1
                }..],
            )
        };
        let mut rest = items
            .into_iter()
            .map(|(path, kind)| (spelt(&path), path, kind))
            .filter(|(spelt, ..)| after.is_none_or(|after| spelt.as_str() > after));
        let page: Vec<_> = rest.by_ref().take(limit).collect();
        let has_more = rest.next().is_some();
        let paths: Vec<&str> = page.iter().map(|(_, path, _)| path.as_str()).collect();
        let stored = self.vault.storage.stat_many(&paths);
        let mut entries = Vec::with_capacity(page.len());
        for ((spelt, path, kind), stored) in page.iter().zip(stored) {
            entries.extend(self.listed(spelt, path, *kind, stored)?);
        }
        let next = has_more
            .then(|| entries.last().map(|entry: &Entry| entry.path.clone()))
            .flatten();
        Ok(Page { entries, next })
    }

    /// One entry of a page; `None` if it vanished meanwhile.
    fn listed(
        &self,
        spelt: &str,
        path: &str,
        kind: Kind,
        stored: Option<Status>,
    ) -> Result<Option<Entry>, VaultError> {
        let spelt = spelt.to_owned();
        if self.staged_node(path).is_some() {
            return self
                .entry(&Found {
                    path: path.to_owned(),
                    spelt,
                    kind,
                    is_link: false,
                    stored: None,
                })
                .map(Some);
        }
        Ok(match stored {
            Some(status) if status.node == Node::Link => match self.find(path)? {
                Some(target) => Some(Entry {
                    path: spelt,
                    ..self.entry(&target)?
                }),
                None => None,
            },
            Some(status) => Some(Entry {
                path: spelt,
                kind,
                size: if kind == Kind::File {
                    status.stamp.size()
                } else {
                    0
                },
                modified: status.stamp.modified_millis(),
            }),
            None => None,
        })
    }

    /// The files that a link or a bare name could mean, the best first: an exact path, then the folder of
    /// `source`, then the shortest path. `.md` may be left out.
    pub fn resolve(&mut self, name: &str, source: Option<&str>) -> Result<Vec<String>, VaultError> {
        let Ok(parts) = parse(name) else {
            return Ok(Vec::new());
        };
        if parts.is_empty() {
            return Ok(Vec::new());
        }
        let survey = self.survey()?;
        let mut candidates = self.stored_named(name, &survey);
        let question = ScanQuery::Resolve {
            name: name.to_owned(),
            source: source.map(str::to_owned),
        };
        self.remember(question, paths_digest(&candidates))?;
        candidates.retain(|path| !self.is_gone(path));
        let wanted = [folded(name), folded(&format!("{name}.md"))];
        let staged = self.staged_below("").map(|(path, _)| path.to_owned());
        candidates.extend(
            staged.filter(|path| {
                self.sees(path, Kind::File) && ends_with_path(&folded(path), &wanted)
            }),
        );

        let home = source.map(|source| folded(split(source).0));
        let rank = |path: &String| {
            let fold = folded(path);
            let exact = match () {
                () if path == name => 0,
                () if fold == wanted[0] => 1,
                () if fold == wanted[1] => 2,
                () => 3,
            };
            let at_home = home.as_deref() == Some(split(&fold).0);
            (exact, !at_home, path.len(), path.clone())
        };
        let mut ranked: Vec<String> = candidates.into_iter().collect();
        ranked.sort_by_cached_key(rank);
        Ok(ranked)
    }

    /// The notes that contain at least one of these texts, case-insensitive.
    pub fn mentioning(&mut self, texts: &[String]) -> Result<Vec<String>, VaultError> {
        if texts.len() > MAX_TEXTS {
            return Err(VaultError::too_large(format!(
                "at most {MAX_TEXTS} texts can be searched for at once"
            )));
        }
        // Before anything is made of them.
        self.check_retained()?;
        if texts.iter().map(String::len).sum::<usize>() > MAX_TEXT_BYTES {
            return Err(VaultError::too_large(format!(
                "at most {MAX_TEXT_BYTES} bytes of text can be searched for at once"
            )));
        }
        let needles: Vec<FoldedNeedle> = texts
            .iter()
            .filter_map(|text| FoldedNeedle::new(text))
            .collect();
        let survey = self.survey()?;
        let stored = self.stored_mentioning(&needles, &survey)?;
        self.remember(
            ScanQuery::Mentioning {
                texts: texts.to_vec(),
            },
            paths_digest(&stored),
        )?;
        let mut found: BTreeSet<&str> = stored
            .iter()
            .map(String::as_str)
            .filter(|path| !self.staged.contains_key(*path))
            .collect();
        for (path, file) in self
            .staged_below("")
            .filter(|(path, _)| is_note(path) && self.sees(path, Kind::File))
        {
            let mentions = match (&file.bytes, &file.origin) {
                (Some(bytes), _) => mentions(bytes, &needles),
                // Only renamed: what was found of its origin holds.
                (None, Some(origin)) => stored.binary_search(origin).is_ok(),
                (None, None) => false,
            };
            if mentions {
                found.insert(path);
            }
        }
        Ok(found.into_iter().map(str::to_owned).collect())
    }

    /// Applies what is staged to what is stored below a folder.
    pub(crate) fn overlay(
        &self,
        folder: &str,
        recursive: bool,
        items: &mut BTreeMap<String, Kind>,
    ) {
        if self.has_no_changes() {
            return;
        }
        items.retain(|path, _| !self.is_gone(path));
        let mut add = |path: &str, kind: Kind| {
            // The folders on the way are there as well.
            let mut kind = kind;
            let mut path = path;
            while is_below(path, folder) {
                if (recursive || split(path).0 == folder) && self.sees(path, kind) {
                    items.insert(path.to_owned(), kind);
                }
                kind = Kind::Folder;
                path = split(path).0;
            }
        };
        self.staged_below(folder)
            .for_each(|(path, _)| add(path, Kind::File));
        self.new_folders
            .iter()
            .for_each(|path| add(path, Kind::Folder));
    }

    /// Holds a query with the digest of its answer, to be repeated at commit: the query itself is needed then, so
    /// it is counted.
    fn remember(&mut self, question: ScanQuery, answer: Digest) -> Result<(), VaultError> {
        if !self.scans.contains_key(&question) {
            self.retain(question.bytes())?;
            self.scans.insert(question, answer);
        }
        Ok(())
    }

    /// The answer to a query from what is stored now.
    pub(crate) fn stored_answer(
        &self,
        question: &ScanQuery,
        survey: &FolderListings,
    ) -> Result<Digest, VaultError> {
        Ok(match question {
            ScanQuery::Below { folder, recursive } => {
                paths_digest(self.stored_below(folder, *recursive, Some(survey))?.keys())
            }
            ScanQuery::Resolve { name, .. } => paths_digest(&self.stored_named(name, survey)),
            ScanQuery::Mentioning { texts } => {
                let needles: Vec<FoldedNeedle> = texts
                    .iter()
                    .filter_map(|text| FoldedNeedle::new(text))
                    .collect();
                paths_digest(&self.stored_mentioning(&needles, survey)?)
            }
        })
    }

    /// What is stored below a folder that the caller may see.
    pub(crate) fn stored_below(
        &self,
        folder: &str,
        recursive: bool,
        survey: Option<&FolderListings>,
    ) -> Result<BTreeMap<String, Kind>, VaultError> {
        let taken;
        let survey = match survey {
            Some(survey) => survey,
            None => {
                taken = self.survey_below(folder, recursive)?;
                &taken
            }
        };
        let mut items = BTreeMap::new();
        for (parent, listing) in survey {
            if parent != folder && !(recursive && is_below(parent, folder)) {
                continue;
            }
            for (name, node) in &listing.names {
                let path = join(parent, name);
                if !self.sees_node(&path, *node) {
                    continue;
                }
                let kind = match node {
                    Node::File => Kind::File,
                    Node::Folder => Kind::Folder,
                    Node::Special => continue,
                    Node::Link => match self.find(&path)? {
                        Some(target) => target.kind,
                        None => continue,
                    },
                };
                items.insert(path, kind);
            }
        }
        Ok(items)
    }

    /// The files whose path ends with a name, `.md` left out or not, case-insensitive.
    fn stored_named(&self, name: &str, survey: &FolderListings) -> BTreeSet<String> {
        let wanted = [folded(name), folded(&format!("{name}.md"))];
        let last = split(name).1;
        let mut named = BTreeSet::new();
        for (folder, listing) in survey {
            for spelling in [last.to_owned(), format!("{last}.md")] {
                for (twin, _) in listing
                    .twins(&spelling)
                    .filter(|(_, node)| *node == Node::File)
                {
                    let path = join(folder, twin);
                    if ends_with_path(&folded(&path), &wanted) && self.sees(&path, Kind::File) {
                        named.insert(path);
                    }
                }
            }
        }
        named
    }

    fn stored_mentioning(
        &self,
        needles: &[FoldedNeedle],
        survey: &FolderListings,
    ) -> Result<Vec<String>, VaultError> {
        if needles.is_empty() {
            return Ok(Vec::new());
        }
        let notes: Vec<String> = survey
            .iter()
            .flat_map(|(folder, listing)| {
                let notes = listing
                    .names
                    .iter()
                    .filter(|(name, node)| *node == Node::File && is_note(name));
                notes.map(move |(name, _)| join(folder, name))
            })
            .filter(|path| self.sees(path, Kind::File))
            .collect();
        scan(&*self.vault.storage, &notes, needles, &self.access.limits)
    }

    /// All folders, taken once for the transaction.
    fn survey(&mut self) -> Result<Arc<FolderListings>, VaultError> {
        if let Some(survey) = &self.survey {
            return Ok(Arc::clone(survey));
        }
        let survey = Arc::new(self.survey_below("", true)?);
        self.survey = Some(Arc::clone(&survey));
        Ok(survey)
    }

    /// A folder and the folders below it that the caller may see, links not followed.
    pub(crate) fn survey_below(
        &self,
        folder: &str,
        recursive: bool,
    ) -> Result<FolderListings, VaultError> {
        let mut survey = FolderListings::new();
        let mut ahead = vec![folder.to_owned()];
        while let Some(path) = ahead.pop() {
            self.access.limits.check_deadline()?;
            let listing = match self.vault.storage.list(&path) {
                Ok(Some(listing)) => listing,
                Ok(None) => continue,
                // A folder that may not be opened is as empty as one that vanished.
                Err(error) if error.code() == Code::ReadOnly && path != folder => continue,
                Err(error) => return Err(error),
            };
            if recursive {
                let folders = listing.names.iter();
                for (name, _) in folders.filter(|(_, node)| *node == Node::Folder) {
                    let below = join(&path, name);
                    if self.sees(&below, Kind::Folder) {
                        ahead.push(below);
                    }
                }
            }
            survey.push((path, listing));
        }
        Ok(survey)
    }
}

fn is_note(path: &str) -> bool {
    path.len() > 3 && path.as_bytes()[path.len() - 3..].eq_ignore_ascii_case(b".md")
}

/// Whether a folded path is, or ends with, one of these.
fn ends_with_path(path: &str, endings: &[String]) -> bool {
    endings.iter().any(|ending| {
        path.strip_suffix(ending.as_str())
            .is_some_and(|before| before.is_empty() || before.ends_with('/'))
    })
}

fn paths_digest<'path>(paths: impl IntoIterator<Item = &'path String>) -> Digest {
    let mut joined = String::new();
    for path in paths {
        joined.push_str(path);
        joined.push('\0');
    }
    Digest::of(joined.as_bytes())
}
