//! All notes that the caller may see, with their facts and resolved links.

use crate::index::{Degree, LinkAt};
use crate::memory::view::View;
use crate::text::facts::{Facts, LinkFact, facts, has_place};
use crate::text::links;
use crate::{fold_name, is_note};

pub(super) struct Scan {
    /// In order of path.
    pub(super) notes: Vec<Scanned>,
    /// The path of every file, notes and others.
    files: Vec<String>,
}

pub(super) struct Scanned {
    pub(super) path: String,
    pub(super) modified: u64,
    pub(super) size: u64,
    pub(super) etag: String,
    /// Empty if it is not UTF-8.
    pub(super) text: String,
    pub(super) facts: Facts,
    pub(super) links: Vec<LinkAt>,
}

impl Scan {
    pub(super) fn of(view: &View<'_>) -> Scan {
        let files = view.files().map(|(path, _)| path.clone()).collect();
        let notes = view.notes().map(|(path, file)| {
            let text = String::from_utf8_lossy(&file.bytes).into_owned();
            Scanned {
                path: path.clone(),
                modified: file.modified,
                size: file.bytes.len() as u64,
                etag: file.etag(),
                facts: facts(&text),
                text,
                links: Vec::new(),
            }
        });
        let mut scan = Scan {
            notes: notes.collect(),
            files,
        };
        // Links are resolved after all notes are known.
        let links: Vec<Vec<LinkAt>> = scan.notes.iter().map(|note| scan.links(note)).collect();
        for (note, links) in scan.notes.iter_mut().zip(links) {
            note.links = links;
        }
        scan
    }

    /// The file that the target of a link in a note resolves to.
    pub(super) fn resolve(&self, source: &str, target: &str) -> Option<links::Resolved<'_>> {
        links::choose(source, target, |name| self.named(name))
    }

    pub(super) fn note(&self, path: &str) -> Option<&Scanned> {
        self.notes.iter().find(|note| note.path == path)
    }

    /// The numbers of links of a note.
    pub(super) fn degree(&self, note: &Scanned) -> Degree {
        let others = self.notes.iter().filter(|other| other.path != note.path);
        let count = |links: usize| u32::try_from(links).unwrap_or(u32::MAX);
        Degree {
            incoming: count(others.flat_map(|other| other.links_to(&note.path)).count()),
            outgoing: count(note.links_out().count()),
            broken: count(note.broken_links().count()),
        }
    }

    /// The files with this folded name, shortest path first.
    fn named(&self, name: &str) -> Vec<&str> {
        let file_name = |path: &str| path.rsplit('/').next().map(fold_name);
        let mut paths: Vec<&str> = self
            .files
            .iter()
            .map(String::as_str)
            .filter(|path| file_name(path).as_deref() == Some(name))
            .collect();
        paths.sort_by_key(|path| (path.chars().count(), *path));
        paths
    }

    fn links(&self, note: &Scanned) -> Vec<LinkAt> {
        let links = note.facts.links.iter();
        links.map(|link| self.link(&note.path, link)).collect()
    }

    fn link(&self, source: &str, link: &LinkFact) -> LinkAt {
        let (path, rivals) = if link.external {
            (None, 0)
        } else if link.target.is_empty() {
            (Some(source.to_owned()), 0)
        } else {
            match self.resolve(source, &link.target) {
                Some(found) => (Some(found.path.to_owned()), found.rivals),
                None => (None, 0),
            }
        };
        let target = path.as_deref().and_then(|path| self.note(path));
        let fragment_found = target
            .zip(link.fragment.as_deref())
            .map(|(target, fragment)| {
                has_place(&target.facts.headings, &target.facts.blocks, fragment)
            });
        LinkAt {
            kind: link.kind,
            target: link.target.clone(),
            fragment: link.fragment.clone(),
            text: link.text.clone(),
            line: link.line,
            path,
            rivals: u32::try_from(rivals).unwrap_or(u32::MAX),
            fragment_found,
            external: link.external,
        }
    }
}

impl Scanned {
    /// Its links to a file.
    pub(super) fn links_to<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a LinkAt> {
        let leads_there = move |link: &&LinkAt| link.path.as_deref() == Some(path);
        self.links.iter().filter(leads_there)
    }

    /// Its resolved links to other files.
    pub(super) fn links_out(&self) -> impl Iterator<Item = &LinkAt> {
        let leads_out = |link: &&LinkAt| link.path.as_ref().is_some_and(|path| *path != self.path);
        self.links.iter().filter(leads_out)
    }

    /// Its unresolved links.
    pub(super) fn broken_links(&self) -> impl Iterator<Item = &LinkAt> {
        let is_broken = |link: &&LinkAt| link.path.is_none() && !link.external;
        self.links.iter().filter(is_broken)
    }

    /// Its file name, its aliases and its title.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let aliases = self.facts.aliases.iter().map(String::as_str);
        [crate::stem_of(&self.path)]
            .into_iter()
            .chain(aliases)
            .chain(self.facts.title.as_deref())
    }
}

impl View<'_> {
    pub(super) fn notes(&self) -> impl Iterator<Item = (&String, &crate::memory::tree::File)> {
        self.files().filter(|(path, _)| is_note(path))
    }
}
