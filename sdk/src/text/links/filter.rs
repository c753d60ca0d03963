//! A fast filter for notes that may contain a link to certain files. It has false positives, but no false negatives.
//!
//! It recognizes link syntax like the parser does, but ignores context such as code and comments.

use crate::{is_note, stem_of};

use super::resolve::{file_name, hash};
use super::syntax;

/// The target files: the sorted hashes of their folded names.
#[derive(Debug, Clone, Default)]
pub struct TargetFilter(Vec<u64>);

impl TargetFilter {
    /// These files, by path or by name.
    pub fn new<'p>(paths: impl IntoIterator<Item = &'p str>) -> TargetFilter {
        let mut names = Vec::new();
        for path in paths {
            names.push(hash(file_name(path)));
            if is_note(path) {
                names.push(hash(stem_of(path)));
            }
        }
        names.sort_unstable();
        names.dedup();
        TargetFilter(names)
    }

    /// Whether `note` may contain a link to one of these files.
    pub fn may_be_linked_from(&self, note: &str) -> bool {
        let bytes = note.as_bytes();
        for at in memchr::memchr2_iter(b'[', b']', bytes) {
            let found = match (bytes[at], bytes.get(at + 1)) {
                (b'[', Some(b'[')) => self.wikilink(note, at),
                (b']', Some(b'(')) => syntax::inline_destination(note, at + 2, note.len())
                    .is_some_and(|(found, _)| self.destination(note, &found)),
                (b']', Some(b':')) => {
                    syntax::destination(note, syntax::skip_whitespace(bytes, at + 2), note.len())
                        .is_some_and(|found| self.destination(note, &found))
                }
                _ => false,
            };
            if found {
                return true;
            }
        }
        false
    }

    fn wikilink(&self, note: &str, at: usize) -> bool {
        let Some(found) = syntax::wikilink(note, at, note.len()) else {
            return false;
        };
        let target = &note[found.target];
        // In a quoted YAML string these are escapes.
        target.contains('\\') || target.contains("''") || self.names(target)
    }

    fn destination(&self, note: &str, found: &syntax::Destination) -> bool {
        self.names(&syntax::decode(&note[found.parts(note).0]))
    }

    /// Whether a target (decoded, without fragment) may refer to one of these files by name.
    pub(super) fn names(&self, target: &str) -> bool {
        let name = file_name(target);
        !name.is_empty() && self.0.binary_search(&hash(name)).is_ok()
    }
}

/// Whether `note` may contain a link to one of these files, given by path or name. For many notes, reuse one [`TargetFilter`].
pub fn may_link_to(note: &str, names: &[&str]) -> bool {
    TargetFilter::new(names.iter().copied()).may_be_linked_from(note)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_notation_of_a_name_is_detected() {
        let names = ["A/Caf\u{e9} x.md", "It's.md", "i.png"];
        for note in [
            "[[café X]]",
            "[[cafe\u{301} x|y]]",
            "[a](../caf%C3%A9%20x.md#h)",
            "[a](<Café x>)",
            "[id]: Cafe%CC%81%20x.md",
            "![[I.PNG|300]]",
            "---\na: '[[It''s]]'\n---",
            "| [[café x\\|y]] |",
        ] {
            assert!(may_link_to(note, &names), "{note}");
        }
        for note in ["café x", "[[café]]", "[café x](y.md)", "[i.png]", ""] {
            assert!(!may_link_to(note, &names), "{note}");
        }
    }
}
