//! Which notes need not be parsed: a quick look that may say yes for nothing, but never no for a note with a link.
//!
//! Links are read as the parser reads them, without asking whether they stand in code or in a comment.

use std::collections::HashSet;

use crate::{fold_name, is_note, stem_of};

use super::resolve::file_name;
use super::{Moves, syntax};

/// Files that links are looked for to.
#[derive(Debug, Clone, Default)]
pub struct Wanted(HashSet<String>);

impl Wanted {
    /// These files, by path or by name.
    pub fn new<'p>(paths: impl IntoIterator<Item = &'p str>) -> Wanted {
        let mut names = HashSet::new();
        for path in paths {
            names.insert(fold_name(file_name(path)));
            if is_note(path) {
                names.insert(fold_name(stem_of(path)));
            }
        }
        Wanted(names)
    }

    /// The files whose links a set of moves can disturb: those that move, and those that share a name with one that
    /// arrives. A note that moves itself must be parsed whatever this says.
    pub fn by(moves: &Moves) -> Wanted {
        Wanted::new(moves.iter().flat_map(|(old, new)| [old, new]))
    }

    /// Whether `note` may hold a link to one of these files.
    pub fn may_be_linked_from(&self, note: &str) -> bool {
        let bytes = note.as_bytes();
        let brackets = bytes
            .iter()
            .enumerate()
            .filter(|(_, byte)| matches!(byte, b'[' | b']'))
            .map(|(at, _)| at);
        for at in brackets {
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
        // Within a quoted YAML string these stand for something else.
        target.contains('\\') || target.contains("''") || self.names(target)
    }

    fn destination(&self, note: &str, found: &syntax::Destination) -> bool {
        self.names(&syntax::decode(&note[found.parts(note).0]))
    }

    fn names(&self, target: &str) -> bool {
        let name = file_name(target);
        !name.is_empty() && self.0.contains(&fold_name(name))
    }
}

/// Whether `note` may hold a link to one of these files, given by path or name. For many notes make one [`Wanted`].
pub fn may_link_to(note: &str, names: &[&str]) -> bool {
    Wanted::new(names.iter().copied()).may_be_linked_from(note)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_name_is_noticed() {
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
