//! Operations over many files: `list`, `resolve`, `mentioning`.
//!
//! Each is first answered from the disk alone, and that answer enters the read set; then the staged changes are
//! applied to it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{
    disk::{Digest, Folder, Node, is_absent},
    error::VaultError,
    listing::Listing,
    lookup::Found,
    path::{folded, is_below, join, parse, split},
    text_search::{FoldedNeedle, mentions, scan},
    transaction::{ScanQuery, Transaction},
    types::{Entry, Kind, Page},
};

const MAX_PAGE: usize = 10_000;
const MAX_TEXTS: usize = 1000;
const MAX_TEXT_BYTES: usize = 1 << 20;
/// A folder with no more names is listed at once.
const MAX_QUICK_NAMES: usize = 1000;

/// All folders that the caller may see, with what is in them, as they were at one moment.
pub(super) type FolderListings = Vec<(String, Arc<Listing>)>;

impl Transaction {
    /// Whether listing a folder is a matter of a millisecond, so that it can run on the async worker.
    pub fn is_quick_to_list(&self, folder: &str, recursive: bool) -> bool {
        let known = self.vault.listings.len_of(folder);
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
        let mut items = self.disk_below(&found.path, recursive, survey.as_deref())?;
        self.remember(
            ScanQuery::Below {
                folder: found.path.clone(),
                recursive,
            },
            paths_digest(items.keys()),
        )?;
        self.overlay(&found.path, recursive, &mut items);

        let limit = (limit as usize).clamp(1, MAX_PAGE);
        // What lies behind a link is told by the path that was requested.
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
        let mut entries = Vec::with_capacity(page.len());
        let mut open: Option<(String, Option<Folder>)> = None;
        for (spelt, path, kind) in page {
            entries.extend(self.listed(&mut open, spelt, path, kind)?);
        }
        let next = has_more
            .then(|| entries.last().map(|entry: &Entry| entry.path.clone()))
            .flatten();
        Ok(Page { entries, next })
    }

    /// One entry of a page; `None` if it vanished meanwhile.
    fn listed(
        &self,
        open: &mut Option<(String, Option<Folder>)>,
        spelt: String,
        path: String,
        kind: Kind,
    ) -> Result<Option<Entry>, VaultError> {
        if self.staged_node(&path).is_some() {
            return self
                .entry(&Found {
                    path,
                    spelt,
                    kind,
                    is_link: false,
                    disk: None,
                })
                .map(Some);
        }
        let (parent, name) = split(&path);
        if open.as_ref().is_none_or(|(known, _)| known != parent) {
            *open = Some((parent.to_owned(), self.vault.root.descend(parent).ok()));
        }
        let folder = open.as_ref().and_then(|(_, folder)| folder.as_ref());
        let status = folder.and_then(|folder| folder.status(name).ok().flatten());
        Ok(match status {
            Some(status) if status.node == Node::Link => match self.find(&path)? {
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
                    status.signature.size
                } else {
                    0
                },
                modified: status.signature.modified_millis(),
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
        let mut candidates = self.disk_named(name, &survey);
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
        let on_disk = self.disk_mentioning(&needles, &survey)?;
        self.remember(
            ScanQuery::Mentioning {
                texts: texts.to_vec(),
            },
            paths_digest(&on_disk),
        )?;
        let mut found: BTreeSet<&str> = on_disk
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
                // Only renamed: what the disk said of its origin holds.
                (None, Some(origin)) => on_disk.binary_search(origin).is_ok(),
                (None, None) => false,
            };
            if mentions {
                found.insert(path);
            }
        }
        Ok(found.into_iter().map(str::to_owned).collect())
    }

    /// Lays what is staged over what the disk has below a folder.
    pub(super) fn overlay(
        &self,
        folder: &str,
        recursive: bool,
        items: &mut BTreeMap<String, Kind>,
    ) {
        if self.is_read_only() {
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

    /// Holds a question with the digest of its answer, to be asked again at commit: the question itself is needed then, so
    /// it is counted.
    fn remember(&mut self, question: ScanQuery, answer: Digest) -> Result<(), VaultError> {
        if !self.scans.contains_key(&question) {
            self.retain(question.bytes())?;
            self.scans.insert(question, answer);
        }
        Ok(())
    }

    /// What the disk alone answers to a question now.
    pub(super) fn answer_of_disk(
        &self,
        question: &ScanQuery,
        survey: &FolderListings,
    ) -> Result<Digest, VaultError> {
        Ok(match question {
            ScanQuery::Below { folder, recursive } => {
                paths_digest(self.disk_below(folder, *recursive, Some(survey))?.keys())
            }
            ScanQuery::Resolve { name, .. } => paths_digest(&self.disk_named(name, survey)),
            ScanQuery::Mentioning { texts } => {
                let needles: Vec<FoldedNeedle> = texts
                    .iter()
                    .filter_map(|text| FoldedNeedle::new(text))
                    .collect();
                paths_digest(&self.disk_mentioning(&needles, survey)?)
            }
        })
    }

    /// What the disk has below a folder that the caller may see.
    pub(super) fn disk_below(
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
    fn disk_named(&self, name: &str, survey: &FolderListings) -> BTreeSet<String> {
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

    fn disk_mentioning(
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
        scan(&self.vault.root, &notes, needles, &self.access.limits)
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
    pub(super) fn survey_below(
        &self,
        folder: &str,
        recursive: bool,
    ) -> Result<FolderListings, VaultError> {
        let mut survey = FolderListings::new();
        let opened = match self.vault.root.descend(folder) {
            Ok(opened) => opened,
            Err(error) if is_absent(&error) => return Ok(survey),
            Err(error) => return Err(VaultError::io(folder, &error)),
        };
        let mut ahead = vec![(folder.to_owned(), opened)];
        while let Some((path, opened)) = ahead.pop() {
            self.access.limits.check_deadline()?;
            let listing = self
                .vault
                .listings
                .of(&path, &opened)
                .map_err(|error| VaultError::io(&path, &error))?;
            if recursive {
                for (name, _) in listing
                    .names
                    .iter()
                    .filter(|(_, node)| *node == Node::Folder)
                {
                    let below = join(&path, name);
                    // A folder that cannot be opened is as empty as one that vanished.
                    if self.sees(&below, Kind::Folder)
                        && let Ok(folder) = opened.folder(name)
                    {
                        ahead.push((below, folder));
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
