//! Assigns cards to decks by a tag (`#flashcards/spanish`), a property (`deck: spanish`) or the folder.

use std::ops::Range;

use notehost_sdk::serde_json::{Map, Value};
use notehost_sdk::text::tags::{Tag, is_name};
use notehost_sdk::{fold_name, parent_of, stem_of};

/// The tag that marks cards, and the name of folders whose notes need no mark.
pub(crate) const TAG: &str = "flashcards";
/// The property that names a deck.
pub(crate) const PROPERTY: &str = "deck";

/// The decks that a note assigns to its cards.
pub(crate) struct Decks {
    /// The deck of the whole note.
    note: Option<String>,
    /// Tags inside a passage, which apply to that passage, in order.
    inside: Vec<(Range<usize>, String)>,
    /// Tags outside of passages, which apply from their position on, in order.
    free: Vec<(Range<usize>, String)>,
    /// The deck derived from the folder.
    folder: String,
    /// Whether the note is in a `Flashcards` folder.
    in_folder: bool,
}

impl Decks {
    /// The decks of a note by its path, properties and tags. A tag inside a passage applies only to that passage.
    pub(crate) fn of(
        path: &str,
        properties: &Map<String, Value>,
        tags: &[Tag],
        passages: &[Range<usize>],
    ) -> Decks {
        let folder = of_folder(path);
        let named = |name: &str| {
            of_tag(name).map(|deck| {
                if deck.is_empty() {
                    folder.clone()
                } else {
                    deck
                }
            })
        };
        let property = properties.iter().find_map(|(key, value)| {
            let deck = key
                .eq_ignore_ascii_case(PROPERTY)
                .then(|| first_text(value))??;
            Some(normal(&deck)).filter(|deck| !deck.is_empty())
        });
        let tagged = || {
            tags.iter()
                .filter(|tag| tag.range.is_none())
                .find_map(|tag| named(&tag.name))
        };
        let inline = tags
            .iter()
            .filter_map(|tag| Some((tag.range.clone()?, named(&tag.name)?)));
        let (inside, free) = inline.partition(|(range, _): &(Range<usize>, String)| {
            let after = passages.partition_point(|passage| passage.start <= range.start);
            after > 0 && range.start < passages[after - 1].end
        });
        Decks {
            note: property.or_else(tagged),
            inside,
            free,
            in_folder: path
                .split('/')
                .rev()
                .skip(1)
                .any(|part| fold_name(part) == TAG),
            folder,
        }
    }

    /// The deck of a passage; `None` if it is not marked as a card.
    pub(crate) fn deck(&self, place: &Range<usize>, scheduled: bool) -> Option<String> {
        let at = self
            .inside
            .partition_point(|(range, _)| range.start < place.start);
        if let Some((range, deck)) = self.inside.get(at)
            && range.end <= place.end
        {
            return Some(deck.clone());
        }
        let after = self
            .free
            .partition_point(|(range, _)| range.start < place.start);
        let before = after.checked_sub(1).map(|at| &self.free[at].1);
        // Without other marks, a later tag marks the whole note.
        let below = self.free.first().map(|(_, deck)| deck);
        let marked = before.or(self.note.as_ref()).or(below).cloned();
        marked.or_else(|| (self.in_folder || scheduled).then(|| self.folder.clone()))
    }

    /// The deck of the whole note, if its properties name one.
    pub(crate) fn of_note(&self) -> Option<&String> {
        self.note.as_ref()
    }

    /// The deck of a card appended to the note.
    pub(crate) fn deck_at_end(&self, end: usize) -> Option<String> {
        self.deck(&(end..end), false)
    }

    /// The deck derived from the folder.
    pub(crate) fn folder(&self) -> &str {
        &self.folder
    }
}

/// The deck of a tag; empty for the bare tag.
fn of_tag(name: &str) -> Option<String> {
    let (top, below) = name.split_once('/').unwrap_or((name, ""));
    top.eq_ignore_ascii_case(TAG)
        .then(|| below.trim_matches('/').to_owned())
}

/// The deck derived from the folder of a note: the path below a `Flashcards` folder, or the whole path.
fn of_folder(path: &str) -> String {
    let folder = parent_of(path);
    let parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    let from = parts
        .iter()
        .rposition(|part| fold_name(part) == TAG)
        .map_or(0, |at| at + 1);
    match &parts[from..] {
        [] if from > 0 => stem_of(path).to_owned(),
        [] => TAG.to_owned(),
        rest => rest.join("/"),
    }
}

fn first_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Array(items) => items.iter().find_map(first_text),
        _ => None,
    }
}

/// Normalises a deck name: removes `#flashcards/`, separates its parts by `/`.
pub(crate) fn normal(deck: &str) -> String {
    let deck = deck.trim().trim_start_matches('#').replace("::", "/");
    let parts: Vec<&str> = deck
        .split('/')
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect();
    let below = match parts.as_slice() {
        [first, rest @ ..] if !rest.is_empty() && first.eq_ignore_ascii_case(TAG) => rest,
        all => all,
    };
    below.join("/")
}

/// Whether a deck is `parent` or a subdeck of it.
pub(crate) fn is_in(deck: &str, parent: &str) -> bool {
    let (deck, parent) = (fold_name(deck), fold_name(parent));
    parent == TAG
        || deck == parent
        || deck
            .strip_prefix(&parent)
            .is_some_and(|rest| rest.starts_with('/'))
}

/// The tag of a deck; `None` if it is not a valid tag.
pub(crate) fn tag_of(deck: &str) -> Option<String> {
    let tag = match fold_name(deck) == TAG {
        true => TAG.to_owned(),
        false => format!("{TAG}/{deck}"),
    };
    is_name(&tag).then_some(tag)
}

#[cfg(test)]
mod tests {
    use super::*;
    use notehost_sdk::text::{frontmatter, tags};

    fn deck(path: &str, note: &str, card: &str) -> Option<String> {
        let passages: Vec<Range<usize>> = note
            .match_indices("::")
            .map(|(at, _)| {
                let start = note[..at].rfind('\n').map_or(0, |at| at + 1);
                start..note[at..].find('\n').map_or(note.len(), |end| at + end)
            })
            .collect();
        let at = note.find(card).unwrap();
        let place = passages.iter().find(|place| place.contains(&at)).unwrap();
        let properties = frontmatter::properties(note).unwrap();
        Decks::of(path, &properties, &tags(note), &passages).deck(place, false)
    }

    #[test]
    fn decks_come_from_tags_properties_or_the_folder() {
        let some = |deck: &str| Some(deck.to_owned());
        assert_eq!(deck("a.md", "a::b\n", "a::b"), None);
        assert_eq!(deck("a.md", "#flashcards/es\na::b\n", "a::b"), some("es"));
        assert_eq!(deck("a.md", "a::b\n\n#Flashcards/es\n", "a::b"), some("es"));
        assert_eq!(deck("L/a.md", "#flashcards\na::b\n", "a::b"), some("L"));
        assert_eq!(
            deck("a.md", "#flashcards\na::b\n", "a::b"),
            some("flashcards")
        );
        assert_eq!(
            deck("a.md", "---\ndeck: x/y\n---\na::b\n", "a::b"),
            some("x/y")
        );
        assert_eq!(
            deck("a.md", "---\ntags: [flashcards/x]\n---\na::b\n", "a::b"),
            some("x")
        );
        assert_eq!(deck("X/Flashcards/es/a.md", "a::b\n", "a::b"), some("es"));
        assert_eq!(deck("Flashcards/es.md", "a::b\n", "a::b"), some("es"));
        let several = "#flashcards/x\na::b\n#flashcards/y\nc::d\n#flashcards/z e::f\ng::h\n";
        for (card, name) in [("a::b", "x"), ("c::d", "y"), ("e::f", "z"), ("g::h", "y")] {
            assert_eq!(deck("a.md", several, card), some(name), "{card}");
        }
        let one = "a::b\n\n#flashcards/z e::f\n";
        assert_eq!(deck("a.md", one, "a::b"), None);
        assert_eq!(deck("a.md", one, "e::f"), some("z"));
    }

    #[test]
    fn deck_comparison_is_case_insensitive_and_includes_subdecks() {
        assert!(is_in("Lang/es", "lang") && is_in("a", "flashcards") && !is_in("language", "lang"));
        assert_eq!(normal("#flashcards/a/b"), "a/b");
        assert_eq!(normal("A::B"), "A/B");
        assert_eq!(normal("flashcards"), "flashcards");
        assert_eq!(tag_of("a b"), None);
        assert_eq!(tag_of("a"), Some("flashcards/a".to_owned()));
    }
}
