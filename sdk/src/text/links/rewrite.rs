//! Updates links for moves: computes the splices with which every link of a note resolves to the same file as before.
//!
//! Only the path of a link is replaced, in the same form: a bare name stays a bare name if it is still sufficient, a relative
//! path stays relative, the encoding stays. Links that would otherwise resolve to another file get a full path.

use std::collections::HashMap;
use std::fmt;

use super::forms::{Form, candidates, encode, writes_extension};
use super::parse::parse_where;
use super::{Link, Matched, Names, Resolved, Splice, TargetFilter, parse};

/// Files that move together, from path to path.
#[derive(Debug, Clone, Default)]
pub struct Moves {
    files: HashMap<String, String>,
    /// Their names before and after.
    names: TargetFilter,
}

impl<O: Into<String>, N: Into<String>> FromIterator<(O, N)> for Moves {
    /// Skips moves to the same path.
    fn from_iter<I: IntoIterator<Item = (O, N)>>(moves: I) -> Moves {
        let moves = moves.into_iter().map(|(old, new)| (old.into(), new.into()));
        let files: HashMap<String, String> = moves.filter(|(old, new)| old != new).collect();
        let paths = files.iter().flat_map(|(old, new)| [old, new]);
        let names = TargetFilter::new(paths.map(String::as_str));
        Moves { files, names }
    }
}

impl Moves {
    /// The new path of the file at `path`, if it moves.
    pub fn destination(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// The path of the file at `path` after the moves.
    pub fn after<'p>(&'p self, path: &'p str) -> &'p str {
        self.destination(path).unwrap_or(path)
    }

    /// All moves, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files
            .iter()
            .map(|(old, new)| (old.as_str(), new.as_str()))
    }

    /// The files whose links these moves can affect: those that move, and those with the same name as a new path. A note that
    /// moves itself must always be parsed.
    pub fn disturbed(&self) -> &TargetFilter {
        &self.names
    }

    /// Whether there are no moves.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}

/// The changes of one note.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rewrite {
    /// The splices, in order.
    pub splices: Vec<Splice>,
    /// The links that cannot be updated.
    pub stuck: Vec<Stuck>,
}

impl Rewrite {
    /// The note with all splices applied.
    pub fn apply(&self, note: &str) -> String {
        apply(note, &self.splices)
    }
}

/// A link that cannot be updated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stuck {
    /// The note with the link, by its path before the change.
    pub path: String,
    /// Its first line in the file, from 1.
    pub line: usize,
    /// The whole link as written.
    pub link: String,
    /// The path of the file that it should resolve to.
    pub target: String,
    /// The reason.
    pub reason: Reason,
}

/// Why a link cannot be updated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The new path has a character that this kind of link cannot contain.
    Unwritable(char),
    /// No form of the path resolves to the file.
    Unreachable,
    /// With the new path the surrounding text would be parsed differently.
    Swallowed,
    /// Other links refer to this definition by its label, and would break without it.
    Referred,
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Unwritable(letter) => {
                write!(formatter, "this kind of link cannot contain `{letter}`")
            }
            Reason::Unreachable => write!(formatter, "no form of the path resolves to the file"),
            Reason::Swallowed => write!(
                formatter,
                "with the new path the surrounding text would be parsed differently"
            ),
            Reason::Referred => write!(
                formatter,
                "other links refer to this definition by its label"
            ),
        }
    }
}

/// The splices of the note at `path` (before the moves), with which every link that resolved in `before` resolves to the same
/// file in `after`. Unresolved links are not changed.
pub fn rewrite(path: &str, note: &str, moves: &Moves, before: &Names, after: &Names) -> Rewrite {
    let mut result = Rewrite::default();
    let task = Task { path, moves, after };
    // If the note does not move, only links with the name of a moved file can change.
    let moves_itself = moves.destination(path).is_some();
    let links = if moves_itself {
        parse(note)
    } else {
        parse_where(note, |part| moves.disturbed().may_be_linked_from(part))
    };
    let is_disturbed = |link: &&Link| {
        !link.external
            && !link.target.is_empty()
            && (moves_itself || moves.disturbed().names(&link.target))
    };
    for link in links.iter().filter(is_disturbed) {
        let Some(found) = before.resolve(path, &link.target) else {
            continue;
        };
        match task.respell(note, link, found) {
            Ok(None) => {}
            Ok(Some(written)) => result.splices.push((link.target_range.clone(), written)),
            Err(reason) => result
                .stuck
                .push(task.stuck(note, link, found.path, reason)),
        }
    }
    // The path of a link around an image comes after that of the image.
    result.splices.sort_by_key(|(range, _)| range.start);
    let is_risky = |(range, written): &Splice| is_risky(written) || is_risky(&note[range.clone()]);
    if result.splices.iter().any(is_risky) && !task.holds(note, &parse(note), before, &result) {
        let (risky, safe): (Vec<Splice>, _) = result.splices.into_iter().partition(is_risky);
        result.splices = safe;
        for link in &links {
            if risky.iter().any(|(range, _)| *range == link.target_range)
                && let Some(found) = before.resolve(path, &link.target)
            {
                result
                    .stuck
                    .push(task.stuck(note, link, found.path, Reason::Swallowed));
            }
        }
    }
    result
}

struct Task<'t> {
    path: &'t str,
    moves: &'t Moves,
    after: &'t Names,
}

impl Task<'_> {
    /// The new notation of the path of `link`, if it must change.
    fn respell(
        &self,
        note: &str,
        link: &Link,
        found: Resolved<'_>,
    ) -> Result<Option<String>, Reason> {
        let source = self.moves.after(self.path);
        let wanted = self.moves.after(found.path);
        let form = Form::of(link, self.path, found);
        let holds = self
            .after
            .resolve(source, &link.target)
            .is_some_and(|now| now.path == wanted);
        let undisturbed = match form {
            // A relative path may still resolve to the file by name, but not in other tools.
            Form::Relative { .. } => source == self.path && wanted == found.path,
            Form::Name => crate::stem_of(wanted) == crate::stem_of(found.path),
            Form::Tail(_) | Form::Path | Form::Rooted => wanted == found.path,
        };
        if holds && undisturbed {
            return Ok(None);
        }
        let extension = writes_extension(&link.target, found.path);
        let written = &note[link.target_range.clone()];
        let mut reason = Reason::Unreachable;
        for candidate in candidates(form, wanted, source, extension) {
            if !self.leads(source, &candidate.target, wanted, candidate.must_be_unique) {
                continue;
            }
            match encode(&candidate.target, link.notation, written) {
                Ok(new) => return Ok((new != written).then_some(new)),
                Err(unwritable) => reason = unwritable,
            }
        }
        Err(reason)
    }

    fn leads(&self, source: &str, target: &str, wanted: &str, must_be_unique: bool) -> bool {
        self.after.resolve(source, target).is_some_and(|now| {
            now.path == wanted
                && !(must_be_unique && now.matched != Matched::Path && now.is_ambiguous())
        })
    }

    /// Whether the rewritten note has the same links, and each resolves to the intended file.
    fn holds(&self, note: &str, links: &[Link], before: &Names, result: &Rewrite) -> bool {
        let rewritten = parse(&result.apply(note));
        let source = self.moves.after(self.path);
        rewritten.len() == links.len()
            && rewritten.iter().zip(links).all(|(new, old)| {
                let changed = result
                    .splices
                    .iter()
                    .any(|(range, _)| *range == old.target_range);
                let wanted = before
                    .resolve(self.path, &old.target)
                    .map(|found| self.moves.after(found.path));
                new.kind == old.kind
                    && (!changed
                        || self.after.resolve(source, &new.target).map(|now| now.path) == wanted)
            })
    }

    fn stuck(&self, note: &str, link: &Link, found: &str, reason: Reason) -> Stuck {
        Stuck {
            path: self.path.to_owned(),
            line: link.line,
            link: note[link.range.clone()].to_owned(),
            target: self.moves.after(found).to_owned(),
            reason,
        }
    }
}

/// Whether this text can open or close code, math, a comment or HTML around the link.
fn is_risky(written: &str) -> bool {
    written.contains(['`', '$', '<', '>']) || written.contains("%%")
}

/// `note` with `splices` applied, which are in order and disjoint.
pub(super) fn apply(note: &str, splices: &[Splice]) -> String {
    let mut result = String::with_capacity(note.len());
    let mut copied = 0;
    for (range, text) in splices {
        result.push_str(&note[copied..range.start]);
        result.push_str(text);
        copied = range.end;
    }
    result.push_str(&note[copied..]);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The note at `path` after `moves` in a vault of `files`.
    fn rewritten(files: &[&str], moves: &[(&str, &str)], path: &str, note: &str) -> String {
        let result = tried(files, moves, path, note);
        assert_eq!(result.stuck, []);
        result.apply(note)
    }

    fn tried(files: &[&str], moves: &[(&str, &str)], path: &str, note: &str) -> Rewrite {
        let before = Names::new(files.iter().copied());
        let moves: Moves = moves.iter().copied().collect();
        rewrite(path, note, &moves, &before, &before.moved(&moves))
    }

    #[test]
    fn renames_keep_the_form_of_each_link() {
        let files = ["s.md", "A/Old one.md"];
        let note = "[[Old one]] [[old one|x]] [[A/Old one#h]] ![[Old one.md#^b|y]] [t](A/Old%20one.md#f \"t\") \
                    [t](<./A/Old one.md>) [[/A/Old one]] `[[Old one]]`\n\n[id]: A/Old%20one.md\n";
        assert_eq!(
            rewritten(&files, &[("A/Old one.md", "A/Ne (w).md")], "s.md", note),
            "[[Ne (w)]] [[Ne (w)|x]] [[A/Ne (w)#h]] ![[Ne (w).md#^b|y]] [t](A/Ne%20(w).md#f \"t\") \
             [t](<./A/Ne (w).md>) [[/A/Ne (w)]] `[[Old one]]`\n\n[id]: A/Ne%20(w).md\n"
        );
    }

    #[test]
    fn bare_names_are_kept_if_sufficient() {
        let files = ["s.md", "A/X.md", "A/s.md", "Other/Y.md"];
        let moves = [("A/X.md", "B/X.md")];
        assert_eq!(
            rewritten(&files, &moves, "s.md", "[[x]] [[A/X]] [X](A/X.md)"),
            "[[x]] [[B/X]] [X](B/X.md)"
        );
        assert_eq!(
            rewritten(&files, &moves, "A/s.md", "[X](X.md) [X](./X.md)"),
            "[X](../B/X.md) [X](../B/X.md)"
        );
        assert_eq!(
            rewritten(&files, &[("A/X.md", "A/Y.md")], "s.md", "[[X]]"),
            "[[A/Y]]"
        );
    }

    #[test]
    fn links_that_would_resolve_to_another_file_get_a_path() {
        let files = ["s.md", "Long/X.md", "Long/s.md", "Y.md"];
        let moves = [("Y.md", "X.md")];
        assert_eq!(
            rewritten(&files, &moves, "s.md", "[[X]] [[Y]]"),
            "[[Long/X]] [[X]]"
        );
        assert_eq!(
            rewritten(&files, &moves, "Long/s.md", "[X](X.md)"),
            "[X](./X.md)"
        );
    }

    #[test]
    fn relative_links_of_a_moved_note_are_updated() {
        let files = ["A/s.md", "A/X.md", "A/B/i.png", "Y.md"];
        let moves = [("A/s.md", "C/D/s.md")];
        assert_eq!(
            rewritten(
                &files,
                &moves,
                "A/s.md",
                "[x](X.md) ![](./B/i.png) [y](../Y.md) [[X]] [[../Y]] [[#h]] [y](Y.md)"
            ),
            "[x](../../A/X.md) ![](../../A/B/i.png) [y](../../Y.md) [[X]] [[../../Y]] [[#h]] [y](Y.md)"
        );
        let together = [
            ("A/s.md", "C/s.md"),
            ("A/X.md", "C/X.md"),
            ("A/B/i.png", "C/B/i.png"),
        ];
        let note = "[x](X.md) ![](./B/i.png) [y](../Y.md) [[X]] [[B/i.png]]";
        assert_eq!(rewritten(&files, &together, "A/s.md", note), note);
    }

    #[test]
    fn a_link_around_an_image_and_the_image_are_both_updated() {
        let files = ["s.md", "i.png", "X.md"];
        let moves = [("i.png", "p/i.png"), ("X.md", "Y.md")];
        assert_eq!(
            rewritten(&files, &moves, "s.md", "[![a](i.png)](X.md)"),
            "[![a](p/i.png)](Y.md)"
        );
    }

    #[test]
    fn two_notes_can_swap_paths() {
        let files = ["s.md", "A.md", "B.md"];
        assert_eq!(
            rewritten(
                &files,
                &[("A.md", "B.md"), ("B.md", "A.md")],
                "s.md",
                "[[A]] [[B|A]] [a](A.md)"
            ),
            "[[B]] [[A|A]] [a](B.md)"
        );
    }

    #[test]
    fn tables_and_properties_keep_their_quoting() {
        let files = ["s.md", "X.md"];
        let note = "---\na: '[[X]]'\nb: \"[[X|x]]\"\n---\n| [[X\\|x]] |\n|---|\n| ![[X\\|100]] |\n";
        assert_eq!(
            rewritten(&files, &[("X.md", "Bo\"b's.md")], "s.md", note),
            "---\na: '[[Bo\"b''s]]'\nb: \"[[Bo\\\"b's|x]]\"\n---\n| [[Bo\"b's\\|x]] |\n|---|\n| ![[Bo\"b's\\|100]] |\n"
        );
    }

    #[test]
    fn encodings_are_kept() {
        let files = ["s.md", "A/é x.md"];
        assert_eq!(
            rewritten(
                &files,
                &[("A/é x.md", "B/é x.md")],
                "s.md",
                "[a](A/%C3%A9%20x.md) [a](A/é%20x.md)"
            ),
            "[a](B/%C3%A9%20x.md) [a](B/é%20x.md)"
        );
        assert_eq!(
            rewritten(
                &files,
                &[("A/é x.md", "A/ü#1%.md")],
                "s.md",
                "[a](A/%C3%A9%20x.md) [a](<A/é x.md>)"
            ),
            "[a](A/%C3%BC%231%25.md) [a](<A/ü%231%25.md>)"
        );
    }

    #[test]
    fn links_that_cannot_be_written_are_reported() {
        let result = tried(
            &["s.md", "X.md"],
            &[("X.md", "C# [1].md")],
            "s.md",
            "\n[[X|x]] [x](X.md)",
        );
        assert_eq!(
            result.apply("\n[[X|x]] [x](X.md)"),
            "\n[[X|x]] [x](C%23%20%5B1%5D.md)"
        );
        let [stuck] = result.stuck.as_slice() else {
            panic!("one link is stuck")
        };
        assert_eq!(
            (stuck.line, stuck.link.as_str(), stuck.reason),
            (2, "[[X|x]]", Reason::Unwritable('#'))
        );
        assert_eq!(
            stuck.reason.to_string(),
            "this kind of link cannot contain `#`"
        );
    }

    #[test]
    fn names_that_would_end_code_are_not_written() {
        let moves = [("X.md", "a`b.md")];
        assert_eq!(
            rewritten(&["s.md", "X.md"], &moves, "s.md", "[[X]]"),
            "[[a`b]]"
        );
        let result = tried(&["s.md", "X.md"], &moves, "s.md", "it`s [[X]]");
        assert_eq!(result.splices, []);
        assert_eq!(result.stuck[0].reason, Reason::Swallowed);
    }

    #[test]
    fn without_moves_nothing_changes() {
        let files = ["s.md", "A/X.md", "B/X.md"];
        assert_eq!(
            tried(
                &files,
                &[("A/X.md", "A/X.md")],
                "s.md",
                "[[X]] [x](b/x.md) [[none]]"
            ),
            Rewrite::default()
        );
    }
}
