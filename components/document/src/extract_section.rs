//! Extracting a section into a new note: `extract_section`. Its bytes stay unchanged; links follow the moved headings.

use std::ops::Range;

use notehost_sdk::prelude::*;
use notehost_sdk::text::links::{self, Fragment, Link, Moves, Names, Notation, Rewrite};
use notehost_sdk::text::moving::LinkLeft;
use notehost_sdk::text::{self, Newline, Outline, percent, section::Extent};
use notehost_sdk::{parent_of, stem_of};

use crate::backlinks::Backlinks;
use crate::lookup::line_of_fragment;
use crate::naming::{destination, spelt, within};
use notehost_sdk::documents::moving::sentence;

/// Extract a section into a new note; a link replaces it in the old note. The new note begins with its heading. Links to
/// the section are rewritten.
///
/// Example: `{"path": "People/Supper club", "section": "House rules", "to": "People/House rules.md"}`
#[args]
pub struct ExtractSection {
    /// The note: path, unique name or `[[link]]`.
    pub path: String,
    /// A heading path: `A > B`.
    pub section: String,
    /// The new note: a name in the same folder, or a full path.
    pub to: String,
    /// Leave an embed (`![[…]]`) instead of a link.
    #[serde(default)]
    pub embed: bool,
}

/// The result of extracting a section.
#[reply]
pub struct ExtractResult {
    /// The new note.
    pub path: String,
    /// The note that contained the section.
    pub from: String,
    /// The line of the link to the new note.
    pub line: usize,
    /// Number of rewritten links.
    pub links_rewritten: usize,
    /// Links that could not be rewritten.
    pub links_left: Vec<LinkLeft>,
}

impl Action for ExtractSection {
    type Output = ExtractResult;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<ExtractResult> {
        let note = vault.read_note(&self.path)?;
        let found = text::section::read(&note.text, &self.section, Extent::Whole)?;
        // Blank lines between the section and the following text stay in the old note.
        let range = without_trailing_blank_lines(&note.text, found.range);
        let to = spelt(vault, &destination(&note.path, &self.to)?);
        let backlinks = Backlinks::to(vault, std::slice::from_ref(&note.path))?;
        let split = Split::new(&note, range.clone(), &to, backlinks.names())?;
        vault.create(&to, split.extracted().as_bytes())?;
        let link = link_to(vault, &to, self.embed)?;
        vault.write_note(&note, &split.remaining(&link))?;
        let (links_rewritten, links_left) =
            backlinks.rewrite(|other| split.rewrite_moved_links(&other.path, &other.text))?;
        let line = text::line_of(&note.text, range.start);
        Ok(ExtractResult {
            path: to,
            from: note.path.clone(),
            line,
            links_rewritten,
            links_left,
        })
    }

    fn text(output: &ExtractResult) -> String {
        let text = format!(
            "created `{}`; a link to it is in `{}`, line {}\n{}",
            output.path,
            output.from,
            output.line,
            sentence(output.links_rewritten, &output.links_left)
        );
        text.trim_end().to_owned()
    }
}

/// A range without trailing blank lines.
fn without_trailing_blank_lines(text: &str, range: Range<usize>) -> Range<usize> {
    let kept = text[range.clone()].trim_end().len();
    let end = range.start + kept;
    let ending = text[end..range.end]
        .find('\n')
        .map_or(range.end, |newline| end + newline + 1);
    range.start..ending
}

/// A link to the new note: by name if that is unique, otherwise by path.
fn link_to(vault: &Vault, path: &str, embed: bool) -> Result<String> {
    let name = stem_of(path);
    let is_unique = vault.resolve(name, None)?.len() == 1;
    let target = if is_unique {
        name
    } else {
        without_extension(path)
    };
    let sign = if embed { "!" } else { "" };
    Ok(if target.contains(['#', '^', '|', '[', ']']) {
        format!(
            "{sign}[{}]({})",
            name.replace(['[', ']'], ""),
            percent::encode(path)
        )
    } else {
        format!("{sign}[[{target}]]")
    })
}

fn without_extension(path: &str) -> &str {
    &path[..path.len() - ".md".len()]
}

/// The split of a note into the old note and the new one.
struct Split<'s> {
    note: &'s Note,
    /// The bytes that move to the new note.
    range: Range<usize>,
    to: &'s str,
    before: &'s Names,
    after: Names,
    /// The outline of the note before the split.
    outline: Outline,
}

impl<'s> Split<'s> {
    fn new(note: &'s Note, range: Range<usize>, to: &'s str, before: &'s Names) -> Result<Self> {
        Ok(Split {
            note,
            range,
            to,
            before,
            after: Names::new(before.paths().chain([to])),
            outline: text::outline(&note.text)?,
        })
    }

    fn line_of(&self, fragment: &Fragment) -> Option<usize> {
        line_of_fragment(&self.note.text, &self.outline, fragment)
    }

    /// Whether a heading or block is in the extracted range.
    fn contains(&self, fragment: &Fragment) -> bool {
        let first = text::line_of(&self.note.text, self.range.start);
        let last = text::line_of(&self.note.text, self.range.end.saturating_sub(1));
        self.line_of(fragment)
            .is_some_and(|line| (first..=last).contains(&line))
    }

    /// The text of the new note, with its links adjusted to the new path.
    fn extracted(&self) -> String {
        let text = &self.note.text[self.range.clone()];
        let place = self.link_base();
        let moves: Moves = [(place.as_str(), self.to)].into_iter().collect();
        let mut rewrite = links::rewrite(&place, text, &moves, self.before, &self.after);
        let followed = self.rewrite_moved_links(&place, text);
        let is_followed =
            |range: &Range<usize>| followed.splices.iter().any(|(other, _)| other == range);
        rewrite.splices.retain(|(range, _)| !is_followed(range));
        rewrite.splices.extend(followed.splices);
        let stayed =
            |fragment: &Fragment| self.line_of(fragment).is_some() && !self.contains(fragment);
        rewrite
            .splices
            .extend(retargeted_links(text, &self.note.path, stayed));
        rewrite.splices.sort_by_key(|(range, _)| range.start);
        rewrite.apply(text)
    }

    /// The text of the old note, with a link in place of the section.
    fn remaining(&self, link: &str) -> String {
        let text = &self.note.text;
        let mut rewrite = self.rewrite_moved_links(&self.link_base(), text);
        rewrite
            .splices
            .extend(retargeted_links(text, self.to, |fragment| {
                self.contains(fragment)
            }));
        rewrite
            .splices
            .retain(|(range, _)| range.end <= self.range.start || range.start >= self.range.end);
        let newline = Newline::of(text).unwrap_or(Newline::Lf).as_str();
        let (above, below) = (&text[..self.range.start], &text[self.range.end..]);
        let has_blank_line = above.is_empty()
            || above.trim_end_matches(['\n', '\r']).len() + newline.len() < above.len();
        let mut inserted = format!("{}{link}", if has_blank_line { "" } else { newline });
        if text[self.range.clone()].ends_with('\n') {
            inserted.push_str(newline);
        }
        // A line directly above an underlined heading would become part of the heading.
        if !below.is_empty() && !below.starts_with(['\n', '\r']) {
            inserted.push_str(newline);
        }
        rewrite.splices.push((self.range.clone(), inserted));
        rewrite.splices.sort_by_key(|(range, _)| range.start);
        rewrite.apply(text)
    }

    /// The rewrite that points the links of a note to the headings and blocks that moved.
    fn rewrite_moved_links(&self, path: &str, text: &str) -> Rewrite {
        let moves: Moves = [(self.note.path.as_str(), self.to)].into_iter().collect();
        let mut rewrite = links::rewrite(path, text, &moves, self.before, &self.after);
        let following: Vec<Link> = links::parse(text)
            .into_iter()
            .filter(|link| {
                let found = self.before.resolve(path, &link.target);
                !link.target.is_empty()
                    && found.is_some_and(|found| found.path == self.note.path)
                    && link
                        .fragment
                        .as_ref()
                        .is_some_and(|fragment| self.contains(fragment))
            })
            .collect();
        rewrite
            .splices
            .retain(|(range, _)| following.iter().any(|link| link.target_range == *range));
        rewrite.stuck.retain(|stuck| {
            following
                .iter()
                .any(|link| link.line == stuck.line && text[link.range.clone()] == stuck.link)
        });
        rewrite
    }

    /// A path in the note's folder that no note has. Links resolve from it as from the note, and no link resolves to it.
    fn link_base(&self) -> String {
        within(parent_of(&self.note.path), "")
    }
}

/// Adds the note name to links within the same note whose targets are now in another note.
fn retargeted_links(
    text: &str,
    path: &str,
    is_there: impl Fn(&Fragment) -> bool,
) -> Vec<links::Splice> {
    let links = links::parse(text).into_iter().filter(|link| {
        !link.external && link.target.is_empty() && link.fragment.as_ref().is_some_and(&is_there)
    });
    links
        .map(|link| {
            let target = match link.notation {
                Notation::Bare | Notation::Angle => path,
                Notation::Wiki
                | Notation::Plain
                | Notation::SingleQuoted
                | Notation::DoubleQuoted => without_extension(path),
            };
            (link.target_range, link.notation.escaped(target))
        })
        .collect()
}
