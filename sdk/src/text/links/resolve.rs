//! Resolves links by Obsidian's rules: the exact path in the vault, then the folder of the note with the link, then the
//! shortest path with that name. Case and Unicode normalization of names are ignored.
//!
//! A [`Names`] is a list of paths. The lists before and after a move share their common paths, so that the second one is
//! cheap.

use std::sync::Arc;

use crate::{fold_name, parent_of};

use super::Moves;

/// The paths of a vault's files, to resolve links against.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// Sorted by their bytes.
    paths: Vec<Arc<str>>,
    /// One per path, sorted by hash, then the shortest path first.
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    /// The hash of the folded file name.
    hash: u64,
    /// The length of the path, in characters.
    length: u32,
    path: u32,
}

impl Entry {
    fn new(path: &str, number: u32) -> Entry {
        let length = match path.is_ascii() {
            true => path.len(),
            false => path.chars().count(),
        };
        Entry {
            hash: hash(file_name(path)),
            length: u32::try_from(length).unwrap_or(u32::MAX),
            path: number,
        }
    }

    fn order(&self) -> (u64, u32, u32) {
        (self.hash, self.length, self.path)
    }
}

/// The number of a path. A vault has fewer than 2³² paths.
fn number(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}

/// How a link found its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Matched {
    /// It has only a fragment, and points to its own note.
    Itself,
    /// By the path from the root of the vault.
    Path,
    /// By the path from the folder of the note with the link.
    Folder,
    /// By its name, or the last parts of its path, anywhere in the vault.
    Name,
}

/// The file that a link points to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resolved<'n> {
    /// Its path in the vault.
    pub path: &'n str,
    /// How it was matched.
    pub matched: Matched,
    /// The number of other files that the target also matches; 0 for a match by path.
    pub rivals: usize,
}

impl Resolved<'_> {
    /// Whether other files match as well.
    pub fn is_ambiguous(&self) -> bool {
        self.rivals > 0
    }
}

impl<P: Into<Arc<str>>> FromIterator<P> for Names {
    fn from_iter<I: IntoIterator<Item = P>>(paths: I) -> Names {
        Names::new(paths)
    }
}

impl Names {
    /// The names of these files.
    pub fn new<P: Into<Arc<str>>>(paths: impl IntoIterator<Item = P>) -> Names {
        let mut paths: Vec<Arc<str>> = paths.into_iter().map(Into::into).collect();
        paths.sort_unstable();
        paths.dedup();
        let mut entries: Vec<Entry> = paths
            .iter()
            .zip(0..)
            .map(|(path, number)| Entry::new(path, number))
            .collect();
        // Paths are sorted, so the number orders paths of equal length by bytes.
        entries.sort_unstable_by_key(Entry::order);
        Names { paths, entries }
    }

    /// The names after `moves`.
    pub fn moved(&self, moves: &Moves) -> Names {
        let mut leaves = vec![false; self.paths.len()];
        let mut arriving: Vec<Arc<str>> = Vec::new();
        for (old, new) in moves.iter() {
            if let Some(position) = self.position(old) {
                leaves[position] = true;
                arriving.push(new.into());
            }
        }
        arriving.sort_unstable();
        arriving.dedup();
        let mut paths = Vec::with_capacity(self.paths.len());
        // The new numbers of the unchanged paths and of the new paths.
        let mut numbers = vec![u32::MAX; self.paths.len()];
        let mut arrived = Vec::with_capacity(arriving.len());
        let mut arriving = arriving.into_iter().peekable();
        let mut arrive = |paths: &mut Vec<Arc<str>>, path: Arc<str>| {
            arrived.push(Entry::new(&path, number(paths.len())));
            paths.push(path);
        };
        for (position, path) in self.paths.iter().enumerate() {
            if leaves[position] {
                continue;
            }
            while let Some(before) = arriving.next_if(|new| new < path) {
                arrive(&mut paths, before);
            }
            // A new path that equals an unchanged one is the same entry.
            arriving.next_if(|new| new == path);
            numbers[position] = number(paths.len());
            paths.push(path.clone());
        }
        for path in arriving {
            arrive(&mut paths, path);
        }
        let stays = self.entries.iter().filter_map(|entry| {
            let path = numbers[entry.path as usize];
            (path != u32::MAX).then_some(Entry { path, ..*entry })
        });
        let mut entries: Vec<Entry> = stays.collect();
        entries.extend(arrived);
        // The unchanged entries are already sorted, and the stable sort exploits that.
        entries.sort_by_key(Entry::order);
        Names { paths, entries }
    }

    /// The names without these files.
    pub fn without(&self, removed: impl Fn(&str) -> bool) -> Names {
        Names::new(self.paths.iter().filter(|path| !removed(path)).cloned())
    }

    /// All paths, sorted by their bytes.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(AsRef::as_ref)
    }

    /// Whether there is a file with exactly this path.
    pub fn contains(&self, path: &str) -> bool {
        self.position(path).is_some()
    }

    /// The file that `target` resolves to in a link of the note at `source` (`""` if there is none). The target is decoded
    /// and has no fragment.
    pub fn resolve(&self, source: &str, target: &str) -> Option<Resolved<'_>> {
        if target.is_empty() {
            let path = self.paths.get(self.position(source)?)?;
            return Some(Resolved {
                path,
                matched: Matched::Itself,
                rivals: 0,
            });
        }
        choose(source, target, |name| self.named(name))
    }

    /// All files that `target` matches by name or by the last parts of its path, the preferred one first.
    pub fn matching(&self, target: &str) -> Vec<&str> {
        if target.is_empty() {
            Vec::new()
        } else {
            Fitting::new(target, |name| self.named(name)).by_name()
        }
    }

    /// Paths with this folded file name, shortest first.
    fn named(&self, name: &str) -> Vec<&str> {
        let wanted = hash(name);
        let first = self.entries.partition_point(|entry| entry.hash < wanted);
        self.entries[first..]
            .iter()
            .take_while(|entry| entry.hash == wanted)
            .map(|entry| self.paths[entry.path as usize].as_ref())
            .collect()
    }

    fn position(&self, path: &str) -> Option<usize> {
        self.paths
            .binary_search_by(|known| known.as_ref().cmp(path))
            .ok()
    }
}

/// The file that a target (decoded, without fragment, not empty) resolves to in a link of the note at `source`. `named`
/// returns the paths with a folded file name, sorted by length in characters and then by bytes.
pub fn choose<'n>(
    source: &str,
    target: &str,
    named: impl Fn(&str) -> Vec<&'n str>,
) -> Option<Resolved<'n>> {
    let fitting = Fitting::new(target, named);
    let dotted = is_dotted(target);
    if !dotted && let Some(path) = join("", target).and_then(|path| fitting.at(&path)) {
        return Some(Resolved {
            path,
            matched: Matched::Path,
            rivals: 0,
        });
    }
    if target.starts_with('/') {
        return None;
    }
    let in_folder = join(parent_of(source), target).and_then(|path| fitting.at(&path));
    let by_name = fitting.by_name();
    // A relative path that exists is as exact as one from the root.
    let exact = dotted && in_folder.is_some();
    Some(Resolved {
        path: in_folder.or(by_name.first().copied())?,
        matched: if in_folder.is_some() {
            Matched::Folder
        } else {
            Matched::Name
        },
        rivals: if exact {
            0
        } else {
            by_name.len().saturating_sub(1)
        },
    })
}

/// The folded file name in a target as written: the file has this name, or this name with `.md`.
pub fn target_file_name(target: &str) -> String {
    fold_name(file_name(tail_of(target)))
}

/// The part of a relative path after its leading `.` and `..`; every file that it resolves to ends with it.
fn tail_of(target: &str) -> &str {
    let mut tail = target;
    let mut rest = target;
    while let Some((part, after)) = rest.split_once('/') {
        if matches!(part, "" | "." | "..") {
            tail = after;
        }
        rest = after;
    }
    tail
}

/// The files that a target may resolve to.
struct Fitting<'n, 't> {
    tail: &'t str,
    /// Files whose path ends with the target.
    files: Vec<&'n str>,
    /// Files whose path ends with the target and `.md`.
    notes: Vec<&'n str>,
}

impl<'n, 't> Fitting<'n, 't> {
    fn new(target: &'t str, named: impl Fn(&str) -> Vec<&'n str>) -> Fitting<'n, 't> {
        let tail = tail_of(target);
        let folded = fold_name(tail);
        let ending_in = |folded: &str| {
            let mut paths = named(file_name(folded));
            paths.retain(|path| ends_in(path, folded));
            paths
        };
        Fitting {
            tail,
            notes: ending_in(&format!("{folded}.md")),
            files: ending_in(&folded),
        }
    }

    /// The file at exactly this path, or else the note.
    fn at(&self, path: &str) -> Option<&'n str> {
        let find = |files: &[&'n str], path: &str| {
            let spelled = files.iter().find(|file| **file == path);
            spelled
                .or_else(|| files.iter().find(|file| same_name(file, path)))
                .copied()
        };
        find(&self.files, path).or_else(|| find(&self.notes, &format!("{path}.md")))
    }

    /// All of them, the preferred one first.
    fn by_name(self) -> Vec<&'n str> {
        let (mut found, spelled) = match self.files.is_empty() {
            false => (self.files, self.tail.to_owned()),
            true => (self.notes, format!("{}.md", self.tail)),
        };
        // If only the case differs, prefer the spelling of the link.
        let shortest = found.first().map_or(0, |path| path.chars().count());
        let mut equals = found
            .iter()
            .take_while(|path| path.chars().count() == shortest);
        if let Some(preferred) = equals.position(|path| path.ends_with(&spelled)) {
            found[..=preferred].rotate_right(1);
        }
        found
    }
}

/// The FNV-1a hash of the folded name. ASCII names, nearly all, are not copied.
pub(super) fn hash(name: &str) -> u64 {
    let add = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let begin = 0xcbf2_9ce4_8422_2325;
    if name.is_ascii() {
        return name
            .bytes()
            .fold(begin, |hash, byte| add(hash, byte.to_ascii_lowercase()));
    }
    fold_name(name).bytes().fold(begin, add)
}

pub(super) fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Whether two names are equal, ignoring case and Unicode normalization.
pub(super) fn same_name(one: &str, other: &str) -> bool {
    if one.is_ascii() && other.is_ascii() {
        return one.eq_ignore_ascii_case(other);
    }
    fold_name(one) == fold_name(other)
}

/// Whether `path` ends with the complete path components `folded`.
fn ends_in(path: &str, folded: &str) -> bool {
    if path.is_ascii() && folded.is_ascii() {
        let Some(start) = path.len().checked_sub(folded.len()) else {
            return false;
        };
        return path[start..].eq_ignore_ascii_case(folded)
            && (start == 0 || path.as_bytes()[start - 1] == b'/');
    }
    fold_name(path)
        .strip_suffix(folded)
        .is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

/// Whether a target is relative, with `./` or `../`.
pub(super) fn is_dotted(target: &str) -> bool {
    target.starts_with("./") || target.starts_with("../")
}

/// `target` relative to `folder`, without `.` and `..`; `None` if it is outside the vault.
pub(super) fn join(folder: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve<'n>(names: &'n Names, source: &str, target: &str) -> Option<&'n str> {
        names.resolve(source, target).map(|found| found.path)
    }

    #[test]
    fn resolution_prefers_exact_path_then_folder_then_shortest_path() {
        let names = Names::new([
            "Long folder/X.md",
            "A/X.md",
            "A/B/X.md",
            "Y.md",
            "A/Y.md",
            "Zoo/Z.md",
            "Bar/Z.md",
        ]);
        assert_eq!(resolve(&names, "A/s.md", "Y"), Some("Y.md"));
        assert_eq!(resolve(&names, "A/B/s.md", "X"), Some("A/B/X.md"));
        assert_eq!(resolve(&names, "s.md", "X"), Some("A/X.md"));
        assert_eq!(resolve(&names, "s.md", "Z"), Some("Bar/Z.md"));
        assert_eq!(resolve(&names, "s.md", "B/X"), Some("A/B/X.md"));
        assert_eq!(resolve(&names, "s.md", "folder/X"), None);
        assert_eq!(resolve(&names, "A/s.md", "/Y.md"), Some("Y.md"));
        assert_eq!(resolve(&names, "A/s.md", "/X"), None);
        assert_eq!(resolve(&names, "A/s.md", ""), None);
        assert_eq!(resolve(&names, "A/X.md", ""), Some("A/X.md"));
    }

    #[test]
    fn moved_names_equal_names_of_the_new_paths() {
        let files = ["A/X.md", "B/x.md", "C.md", "D/É.md", "Z/X.md"];
        for moves in [
            vec![],
            vec![("C.md", "X.md")],
            vec![("C.md", "A/X.md"), ("A/X.md", "C.md")],
            vec![("C.md", "B/x.md")],
            vec![
                ("D/É.md", "A.md"),
                ("A/X.md", "ZZ.md"),
                ("not there", "Y.md"),
            ],
            files.map(|file| (file, "X.md")).to_vec(),
        ] {
            let moves: Moves = moves.into_iter().collect();
            let after = Names::new(files).moved(&moves);
            let fresh = Names::new(files.iter().map(|file| moves.after(file)));
            assert_eq!(after.paths, fresh.paths);
            let order = |names: &Names| names.entries.iter().map(Entry::order).collect::<Vec<_>>();
            assert_eq!(order(&after), order(&fresh));
        }
    }

    #[test]
    fn ambiguity_is_reported() {
        let names = Names::new(["A/X.md", "B/X.md", "X y.md", "C/X y.md"]);
        let found = names.resolve("s.md", "X").expect("two fit");
        assert_eq!((found.matched, found.rivals), (Matched::Name, 1));
        let found = names.resolve("B/s.md", "X").expect("two fit");
        assert_eq!(
            (found.path, found.matched, found.rivals),
            ("B/X.md", Matched::Folder, 1)
        );
        let found = names.resolve("s.md", "x Y").expect("the path decides");
        assert_eq!(
            (found.path, found.matched, found.rivals),
            ("X y.md", Matched::Path, 0)
        );
        assert_eq!(names.matching("X"), ["A/X.md", "B/X.md"]);
    }

    #[test]
    fn relative_paths_take_precedence_over_names() {
        let names = Names::new(["A/X.md", "X.md", "A/B/s.md", "C/Y.md"]);
        assert_eq!(resolve(&names, "A/B/s.md", "../X.md"), Some("A/X.md"));
        assert_eq!(resolve(&names, "A/B/s.md", "../../X"), Some("X.md"));
        assert_eq!(resolve(&names, "A/s.md", "./X"), Some("A/X.md"));
        assert_eq!(resolve(&names, "A/s.md", "./Y.md"), Some("C/Y.md"));
        assert_eq!(resolve(&names, "s.md", "../../Y.md"), Some("C/Y.md"));
    }

    #[test]
    fn case_and_unicode_normalization_are_ignored() {
        let names = Names::new([
            "Caf\u{e9}.md",
            "a.md",
            "A.md",
            "D/Straße.md",
            "日记/今天.md",
        ]);
        assert_eq!(resolve(&names, "s.md", "cafe\u{301}"), Some("Caf\u{e9}.md"));
        assert_eq!(resolve(&names, "s.md", "A"), Some("A.md"));
        assert_eq!(resolve(&names, "s.md", "a.MD"), Some("A.md"));
        assert_eq!(resolve(&names, "s.md", "STRASSE"), Some("D/Straße.md"));
        assert_eq!(resolve(&names, "s.md", "今天"), Some("日记/今天.md"));
    }

    #[test]
    fn names_may_have_dots_and_attachments_have_extensions() {
        let names = Names::new(["N/Note.with.dots.md", "P/a.png", "a.png.md", "LICENSE"]);
        assert_eq!(
            resolve(&names, "s.md", "note.with.dots"),
            Some("N/Note.with.dots.md")
        );
        assert_eq!(resolve(&names, "s.md", "P/a.png"), Some("P/a.png"));
        assert_eq!(resolve(&names, "s.md", "license"), Some("LICENSE"));
        assert_eq!(resolve(&names, "s.md", "dots"), None);
    }
}
