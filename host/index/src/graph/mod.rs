//! The note graph: every file of the vault by path and by name, and the facts of each note. Links are stored as
//! written and resolved per query, because the target of a link depends on what the caller may see. So nothing here
//! depends on the order in which notes were added.
//!
//! A file keeps its doc id as long as it keeps its path; doc ids are never reused.
//!
//! `record` has the facts of one note, `contexts` the lines around links, `disk` the file that the graph is saved to. No
//! module here knows a caller: answers are made in `query`.

pub(crate) mod contexts;
pub(crate) mod disk;
pub(crate) mod record;

use std::collections::{BTreeMap, HashMap};

use notehost_sdk::fold_name;
use notehost_sdk::text::links::{Matched, Resolved, choose};

use crate::limits::deadline::STEP_BYTES;
use crate::text::Bitmap;
use disk::SavedContexts;
use notehost_vault::Stamp;
use record::Note;

/// What is known of the files of a vault.
///
/// Invariant: every list of doc ids is sorted, and contains a doc id once. So a note is taken out of a list, or put into it, without
/// going through all of it, and what a note costs grows with what is in it, never with the square of that.
#[derive(Default)]
pub(crate) struct Graph {
    files: Vec<Option<File>>,
    by_path: HashMap<Box<str>, u32>,
    /// By folded file name.
    by_name: HashMap<Box<str>, Vec<u32>>,
    /// The notes with a link to a name, by that name, folded.
    linking: HashMap<Box<str>, Vec<u32>>,
    /// The notes with a tag, by its folded name and then by its spelling.
    pub(crate) tags: BTreeMap<Box<str>, BTreeMap<Box<str>, Vec<Tagged>>>,
    /// The notes with an alias, folded.
    pub(crate) aliases: HashMap<Box<str>, Vec<u32>>,
    /// The files that are notes.
    pub(crate) notes: Bitmap,
    /// The files that searches leave out.
    pub(crate) ignored: Bitmap,
    /// How many steps going through the properties of all notes takes, beside one for each note: almost none, unless some
    /// have very many properties.
    pub(crate) property_steps: usize,
    /// Changes with each edit.
    pub(crate) generation: u64,
}

/// A note with a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tagged {
    pub(crate) doc_id: u32,
    /// How often the tag occurs in it: the commonest spelling is the one that occurs most often.
    pub(crate) count: u32,
}

/// A file of the vault.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct File {
    pub(crate) path: Box<str>,
    pub(crate) stamp: Stamp,
    /// Whether it was read so soon after it changed that another change could have the same stamp.
    pub(crate) is_unsure: bool,
    /// Its facts; `None` for a file that is not a note or cannot be read as one.
    pub(crate) note: Option<Note>,
}

impl Graph {
    /// The file with a doc id.
    pub(crate) fn file(&self, doc_id: u32) -> Option<&File> {
        self.files.get(doc_id as usize)?.as_ref()
    }

    /// The path of a doc id; `""` if it has no file.
    pub(crate) fn path(&self, doc_id: u32) -> &str {
        self.file(doc_id).map_or("", |file| &file.path)
    }

    /// The size of the file with a doc id, in bytes.
    pub(crate) fn size(&self, doc_id: u32) -> usize {
        let size = self.file(doc_id).map_or(0, |file| file.stamp.size());
        usize::try_from(size).unwrap_or(usize::MAX)
    }

    /// The note with a doc id.
    pub(crate) fn note(&self, doc_id: u32) -> Option<&Note> {
        self.file(doc_id)?.note.as_ref()
    }

    /// The doc id of a path, spelt exactly so.
    pub(crate) fn doc_id(&self, path: &str) -> Option<u32> {
        self.by_path.get(path).copied()
    }

    /// Every file, in order of doc id.
    pub(crate) fn files(&self) -> impl Iterator<Item = (u32, &File)> {
        (0u32..)
            .zip(&self.files)
            .filter_map(|(doc_id, file)| Some((doc_id, file.as_ref()?)))
    }

    /// How many doc ids were ever given.
    pub(crate) fn doc_ids(&self) -> u32 {
        u32::try_from(self.files.len()).unwrap_or(u32::MAX)
    }

    /// The doc id that a path has or will have.
    fn reserve(&mut self, path: &str) -> u32 {
        if let Some(doc_id) = self.doc_id(path) {
            return doc_id;
        }
        let doc_id = self.doc_ids();
        self.files.push(None);
        self.by_path.insert(path.into(), doc_id);
        doc_id
    }

    /// Adds a file, replacing what was known of its path.
    pub(crate) fn put(&mut self, file: File, is_ignored: bool) -> u32 {
        let doc_id = self.reserve(&file.path);
        self.forget_facts(doc_id);
        let name = fold_name(last_part(&file.path));
        add(&mut self.by_name, &name, doc_id);
        if is_ignored {
            self.ignored.insert(doc_id);
        }
        if let Some(note) = &file.note {
            self.notes.insert(doc_id);
            self.property_steps += note.property_bytes() / STEP_BYTES;
            let keys = note.keys();
            for name in &keys.link_names {
                add(&mut self.linking, name, doc_id);
            }
            for (tag, count) in &keys.tags {
                let spellings = self.tags.entry(fold_name(tag).into()).or_default();
                let tagged = spellings.entry(tag.clone()).or_default();
                let at = tagged.partition_point(|known| known.doc_id < doc_id);
                let count = *count;
                tagged.insert(at, Tagged { doc_id, count });
            }
            for alias in &keys.aliases {
                add(&mut self.aliases, alias, doc_id);
            }
        }
        self.files[doc_id as usize] = Some(file);
        self.generation += 1;
        doc_id
    }

    /// The same file with another stamp.
    pub(crate) fn restamp(&mut self, doc_id: u32, stamp: Stamp, is_unsure: bool) {
        if let Some(Some(file)) = self.files.get_mut(doc_id as usize) {
            file.stamp = stamp;
            file.is_unsure = is_unsure;
            // Callers see when a note was changed.
            self.generation += 1;
        }
    }

    /// How many words a note has, once they were counted.
    pub(crate) fn set_lengths(&mut self, doc_id: u32, lengths: [u32; 3]) {
        if let Some(Some(File {
            note: Some(note), ..
        })) = self.files.get_mut(doc_id as usize)
        {
            note.lengths = lengths;
        }
    }

    /// The lines of the links of these notes are in the saved file; notes that changed meanwhile keep theirs.
    pub(crate) fn move_contexts(&mut self, saved: Vec<SavedContexts>) {
        for (doc_id, key, contexts) in saved {
            if let Some(Some(File {
                note: Some(note), ..
            })) = self.files.get_mut(doc_id as usize)
                && note.key == key
            {
                note.set_contexts(contexts);
            }
        }
    }

    /// Forgets a file. Returns its doc id, if it was known.
    pub(crate) fn remove(&mut self, path: &str) -> Option<u32> {
        let doc_id = self.by_path.remove(path)?;
        self.forget_facts(doc_id);
        self.files[doc_id as usize] = None;
        self.generation += 1;
        Some(doc_id)
    }

    fn forget_facts(&mut self, doc_id: u32) {
        self.notes.remove(doc_id);
        self.ignored.remove(doc_id);
        let Some(file) = self.files[doc_id as usize].take() else {
            return;
        };
        take(&mut self.by_name, &fold_name(last_part(&file.path)), doc_id);
        let Some(note) = &file.note else { return };
        self.property_steps -= note.property_bytes() / STEP_BYTES;
        let keys = note.keys();
        for name in &keys.link_names {
            take(&mut self.linking, name, doc_id);
        }
        for (tag, _) in &keys.tags {
            let folded = fold_name(tag);
            let Some(spellings) = self.tags.get_mut(folded.as_str()) else {
                continue;
            };
            if let Some(tagged) = spellings.get_mut(tag) {
                if let Ok(at) = tagged.binary_search_by_key(&doc_id, |known| known.doc_id) {
                    tagged.remove(at);
                }
                if tagged.is_empty() {
                    spellings.remove(tag);
                }
            }
            if spellings.is_empty() {
                self.tags.remove(folded.as_str());
            }
        }
        for alias in &keys.aliases {
            take(&mut self.aliases, alias, doc_id);
        }
    }

    /// Whether a file is left out of searches, decided again.
    pub(crate) fn set_ignored(&mut self, doc_id: u32, is_ignored: bool) {
        if self.ignored.contains(doc_id) == is_ignored {
            return;
        }
        if is_ignored {
            self.ignored.insert(doc_id);
        } else {
            self.ignored.remove(doc_id);
        }
        self.generation += 1;
    }

    /// The file that a target means in a link of the note at `source`, among the files in `seen`.
    pub(crate) fn resolve<'g>(
        &'g self,
        source: &'g str,
        target: &str,
        seen: &Bitmap,
    ) -> Option<Resolved<'g>> {
        if target.is_empty() {
            return Some(Resolved {
                path: source,
                matched: Matched::Itself,
                rivals: 0,
            });
        }
        if !target.contains('/') {
            // Mostly there is one file of that name, and nothing to choose.
            let folded = fold_name(target);
            let files = self.seen_doc_ids(&folded, seen);
            let notes = self.seen_doc_ids(&format!("{folded}.md"), seen);
            match (files, notes) {
                ((0, _), (0, _)) => return None,
                ((1, doc_id), (0, _)) | ((0, _), (1, doc_id)) => {
                    let path = self.path(doc_id);
                    return Some(Resolved {
                        path,
                        matched: match path.contains('/') {
                            true => Matched::Name,
                            false => Matched::Path,
                        },
                        rivals: 0,
                    });
                }
                _ => {}
            }
        }
        choose(source, target, |name| self.named(name, seen))
    }

    /// How many files in `seen` have a folded name, and one of them.
    fn seen_doc_ids(&self, name: &str, seen: &Bitmap) -> (usize, u32) {
        let doc_ids = self.doc_ids_named(name).iter();
        doc_ids
            .filter(|doc_id| seen.contains(**doc_id))
            .fold((0, 0), |(count, _), doc_id| (count + 1, *doc_id))
    }

    /// The paths of the files in `seen` whose folded name is this, the shortest first.
    pub(crate) fn named(&self, name: &str, seen: &Bitmap) -> Vec<&str> {
        let Some(doc_ids) = self.by_name.get(name) else {
            return Vec::new();
        };
        let seen = doc_ids.iter().filter(|doc_id| seen.contains(**doc_id));
        let mut paths: Vec<&str> = seen.map(|doc_id| self.path(*doc_id)).collect();
        if paths.len() > 1 {
            paths.sort_unstable_by_key(|path| (path.chars().count(), *path));
        }
        paths
    }

    /// The doc ids of the files with a folded name.
    pub(crate) fn doc_ids_named(&self, name: &str) -> &[u32] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// The notes that may link to a file of this path: they ask for its name, with or without `.md`.
    pub(crate) fn sources_naming(&self, path: &str) -> Vec<u32> {
        let name = fold_name(last_part(path));
        let stem = name.strip_suffix(".md");
        let mut doc_ids: Vec<u32> = [Some(name.as_str()), stem]
            .into_iter()
            .flatten()
            .filter_map(|name| self.linking.get(name))
            .flatten()
            .copied()
            .collect();
        doc_ids.sort_unstable();
        doc_ids.dedup();
        doc_ids
    }
}

/// The last part of a path.
pub(crate) fn last_part(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

fn add(map: &mut HashMap<Box<str>, Vec<u32>>, key: &str, doc_id: u32) {
    let doc_ids = map.entry(key.into()).or_default();
    if let Err(at) = doc_ids.binary_search(&doc_id) {
        doc_ids.insert(at, doc_id);
    }
}

fn take(map: &mut HashMap<Box<str>, Vec<u32>>, key: &str, doc_id: u32) {
    if let Some(doc_ids) = map.get_mut(key) {
        if let Ok(at) = doc_ids.binary_search(&doc_id) {
            doc_ids.remove(at);
        }
        if doc_ids.is_empty() {
            map.remove(key);
        }
    }
}

#[cfg(test)]
mod tests;
