//! The metadata of a note: names, properties, tags, headings, links, blocks and tasks, with their lines. The host's index
//! is built from it.

use std::ops::Range;

use serde_json::{Map, Value};

use super::links::{self, Fragment, Link};
use super::{TextError, frontmatter, outline, tags};
use crate::fold_name;
use crate::index::{BlockAt, HeadingAt, LinkKind, TagAt, TaskAt};

/// The maximum length of the context of a range, in characters.
const CONTEXT_CHARACTERS: usize = 160;
/// How many bytes of the line on each side of the range are read for that.
const CONTEXT_WINDOW_BYTES: usize = 8 * CONTEXT_CHARACTERS;
/// Only the first links of a note get a context: otherwise the facts could be many times larger than the note.
const MAX_CONTEXTS: usize = 10_000;

/// The facts of a note.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts {
    /// The properties, in order; empty if the frontmatter is invalid.
    pub properties: Map<String, Value>,
    /// Why the frontmatter is invalid, if it is.
    pub properties_error: Option<TextError>,
    /// The properties `aliases` and `alias`.
    pub aliases: Vec<String>,
    /// The property `title`.
    pub title: Option<String>,
    /// Its tags, one entry per occurrence.
    pub tags: Vec<TagAt>,
    /// Its headings.
    pub headings: Vec<HeadingAt>,
    /// Its links, in order.
    pub links: Vec<LinkFact>,
    /// Its blocks with an id.
    pub blocks: Vec<BlockAt>,
    /// Its tasks.
    pub tasks: Vec<TaskAt>,
}

/// A link, not yet resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkFact {
    /// Its syntax.
    pub kind: LinkKind,
    /// The decoded target without fragment; empty for `[[#Heading]]`.
    pub target: String,
    /// The fragment: `#Heading#Below`, `#^block`.
    pub fragment: Option<String>,
    /// The displayed text, if not the target.
    pub text: Option<String>,
    /// The line of the file, from 1.
    pub line: u32,
    /// The text of that line, truncated around the link.
    pub context: String,
    /// Whether it points outside the vault.
    pub external: bool,
}

/// The facts of a note.
pub fn facts(note: &str) -> Facts {
    let survey = links::survey(note);
    let (properties, properties_error) = match frontmatter::properties(note) {
        Ok(properties) => (properties, None),
        Err(error) => (Map::new(), Some(error)),
    };
    let (blocks, tasks) = blocks_and_tasks(note, &survey.prose);
    Facts {
        aliases: aliases(&properties),
        title: text_of(properties.get("title")),
        tags: tags::among(note, &survey.hashes, &properties)
            .into_iter()
            .map(|tag| TagAt {
                property: tag.range.is_none(),
                tag: tag.name,
                line: number(tag.line),
            })
            .collect(),
        headings: headings(note),
        links: survey
            .links
            .iter()
            .enumerate()
            .map(|(number, link)| link_fact(note, link, number < MAX_CONTEXTS))
            .collect(),
        blocks,
        tasks,
        properties,
        properties_error,
    }
}

/// Whether a note with these headings and blocks has the target of a fragment (`#Heading#Below`, `#^block`). As in
/// Obsidian, headings are compared without case, punctuation and repeated spaces.
pub fn has_place(headings: &[HeadingAt], blocks: &[BlockAt], fragment: &str) -> bool {
    let fragment = fragment.strip_prefix('#').unwrap_or(fragment);
    if let Some(id) = fragment.strip_prefix('^') {
        return blocks.iter().any(|block| block.id.eq_ignore_ascii_case(id));
    }
    let wanted: Vec<String> = fragment.split('#').map(plain_heading).collect();
    has_headings(headings, &wanted)
}

/// Whether these headings are nested in this order.
fn has_headings(headings: &[HeadingAt], wanted: &[String]) -> bool {
    let Some((first, rest)) = wanted.split_first() else {
        return true;
    };
    headings.iter().enumerate().any(|(index, heading)| {
        let below = &headings[index + 1..];
        let end = below
            .iter()
            .position(|next| next.level <= heading.level)
            .unwrap_or(below.len());
        plain_heading(&heading.text) == *first && has_headings(&below[..end], rest)
    })
}

fn plain_heading(text: &str) -> String {
    let is_left_out = |letter: char| r##"!"#$%&()*+,.:;<=>?@^`{|}~/[]\"##.contains(letter);
    let spaced = text.replace(is_left_out, " ");
    let parts: Vec<&str> = spaced.split_whitespace().collect();
    fold_name(&parts.join(" "))
}

/// The line around a range of a note, trimmed and truncated around the range.
pub fn context(note: &str, range: &Range<usize>) -> String {
    // Read only a window of the line: a single line may contain all links of a note.
    let window = note.floor_char_boundary(range.start.saturating_sub(CONTEXT_WINDOW_BYTES));
    let start = note[window..range.start]
        .rfind('\n')
        .map_or(window, |at| window + at + 1);
    let window = note.ceil_char_boundary((range.start + CONTEXT_WINDOW_BYTES).min(note.len()));
    let end = note[range.start..window]
        .find('\n')
        .map_or(window, |at| range.start + at);
    let range = range.start..range.end.min(end);
    let line = &note[start..end];
    if line.len() <= CONTEXT_CHARACTERS {
        return line.trim().to_owned();
    }
    let matters = note[range.clone()].chars().count().min(CONTEXT_CHARACTERS);
    let side = (CONTEXT_CHARACTERS - matters) / 2;
    let before = &note[start..range.start];
    let from = start + char_back(before, side);
    let after = &note[range.end..end];
    let to = range.end + char_on(after, side);
    let mut cut = String::new();
    if from > start {
        cut.push('…');
    }
    cut.push_str(note[from..to].trim());
    if to < end {
        cut.push('…');
    }
    cut
}

/// The offset of the last `count` characters of a text.
fn char_back(text: &str, count: usize) -> usize {
    let mut letters = text.char_indices().rev();
    match count.checked_sub(1) {
        None => text.len(),
        Some(last) => letters.nth(last).map_or(0, |(at, _)| at),
    }
}

/// The end of the first `count` characters of a text.
fn char_on(text: &str, count: usize) -> usize {
    text.char_indices()
        .nth(count)
        .map_or(text.len(), |(at, _)| at)
}

fn link_fact(note: &str, link: &Link, with_context: bool) -> LinkFact {
    LinkFact {
        kind: link.kind,
        target: link.target.clone(),
        fragment: link.fragment.as_ref().map(|fragment| match fragment {
            Fragment::Heading(path) => format!("#{}", path.join("#")),
            Fragment::Block(id) => format!("#^{id}"),
        }),
        text: link
            .text(note)
            .map(str::trim)
            .filter(|text| !text.is_empty())
            .map(str::to_owned),
        line: number(link.line),
        context: match with_context {
            true => context(note, &link.range),
            false => String::new(),
        },
        external: link.external,
    }
}

fn headings(note: &str) -> Vec<HeadingAt> {
    let outline = match outline::outline(note) {
        Ok(outline) => outline,
        // A note that is too large has none.
        Err(_) => return Vec::new(),
    };
    let headings = outline.headings.into_iter().map(|heading| HeadingAt {
        level: heading.level,
        text: heading.text,
        line: number(heading.line),
    });
    headings.collect()
}

fn aliases(properties: &Map<String, Value>) -> Vec<String> {
    let mut aliases = Vec::new();
    for (key, value) in properties {
        if !key.eq_ignore_ascii_case("aliases") && !key.eq_ignore_ascii_case("alias") {
            continue;
        }
        match value {
            Value::Array(items) => {
                aliases.extend(items.iter().filter_map(|item| text_of(Some(item))))
            }
            Value::String(text) => aliases.extend(
                text.split(',')
                    .map(str::trim)
                    .filter(|alias| !alias.is_empty())
                    .map(str::to_owned),
            ),
            value => aliases.extend(text_of(Some(value))),
        }
    }
    aliases
}

fn text_of(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn blocks_and_tasks(note: &str, prose: &[Range<usize>]) -> (Vec<BlockAt>, Vec<TaskAt>) {
    let mut blocks = Vec::new();
    let mut tasks = Vec::new();
    let mut line = 1;
    let mut counted = 0;
    for range in prose {
        line += memchr::memchr_iter(b'\n', &note.as_bytes()[counted..range.start]).count();
        counted = range.start;
        for (inner, text) in (line..).zip(note[range.clone()].split_inclusive('\n')) {
            let content = text.trim_end();
            if let Some(id) = block_id(content) {
                blocks.push(BlockAt {
                    id: id.to_owned(),
                    line: number(inner),
                });
            }
            if let Some((status, text)) = task(content) {
                tasks.push(TaskAt {
                    status,
                    text: text.to_owned(),
                    line: number(inner),
                });
            }
        }
    }
    (blocks, tasks)
}

/// The id at the end of a line: ` ^id`, or `^id` alone.
fn block_id(line: &str) -> Option<&str> {
    let (before, id) = line.rsplit_once('^')?;
    let is_apart = before.chars().next_back().is_none_or(char::is_whitespace);
    let is_id = !id.is_empty()
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    (is_apart && is_id).then_some(id)
}

/// The status and text of a task: `- [x] done`, also in a quote or a callout.
fn task(line: &str) -> Option<(char, &str)> {
    let item = line.trim_start_matches([' ', '\t', '>']);
    let rest = item.strip_prefix(['-', '*', '+']).or_else(|| {
        let digits = item.trim_start_matches(|letter: char| letter.is_ascii_digit());
        (digits.len() < item.len() && item.len() - digits.len() <= 9)
            .then(|| digits.strip_prefix(['.', ')']))
            .flatten()
    })?;
    let rest = rest.trim_start_matches([' ', '\t']).strip_prefix('[')?;
    let status = rest.chars().next()?;
    let text = rest[status.len_utf8()..].strip_prefix(']')?;
    (text.is_empty() || text.starts_with([' ', '\t'])).then(|| (status, text.trim()))
}

fn number(line: usize) -> u32 {
    u32::try_from(line).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_of_every_kind_are_extracted() {
        let note = "---\ntitle: The plan\naliases: [P, 7]\ntags: [work]\nsee: \"[[Other]]\"\n---\n# One\r\nSee [[A/B#C|b]] #x/y ^first\n\n- [ ] open [[#One]]\n  1. [x] done ^second\n> - [/] half\n```\n- [ ] code ^no\n```\n[ext](https://a.b)\n";
        let facts = facts(note);
        assert_eq!(facts.title.as_deref(), Some("The plan"));
        assert_eq!(facts.aliases, ["P", "7"]);
        let tags: Vec<_> = facts
            .tags
            .iter()
            .map(|tag| (tag.tag.as_str(), tag.line, tag.property))
            .collect();
        assert_eq!(tags, [("work", 1, true), ("x/y", 8, false)]);
        assert_eq!(
            facts.headings,
            [HeadingAt {
                level: 1,
                text: "One".into(),
                line: 7
            }]
        );
        let links: Vec<_> = facts
            .links
            .iter()
            .map(|link| {
                (
                    link.kind,
                    link.target.as_str(),
                    link.fragment.as_deref(),
                    link.line,
                )
            })
            .collect();
        assert_eq!(
            links,
            [
                (LinkKind::Property, "Other", None, 5),
                (LinkKind::Wiki, "A/B", Some("#C"), 8),
                (LinkKind::Wiki, "", Some("#One"), 10),
                (LinkKind::Markdown, "https://a.b", None, 16)
            ]
        );
        assert_eq!(facts.links[1].context, "See [[A/B#C|b]] #x/y ^first");
        assert_eq!(facts.links[1].text.as_deref(), Some("b"));
        assert!(facts.links[3].external);
        let blocks: Vec<_> = facts
            .blocks
            .iter()
            .map(|block| (block.id.as_str(), block.line))
            .collect();
        assert_eq!(blocks, [("first", 8), ("second", 11)]);
        let tasks: Vec<_> = facts
            .tasks
            .iter()
            .map(|task| (task.status, task.text.as_str(), task.line))
            .collect();
        assert_eq!(
            tasks,
            [
                (' ', "open [[#One]]", 10),
                ('x', "done ^second", 11),
                ('/', "half", 12)
            ]
        );
    }

    #[test]
    fn fragments_are_matched_as_in_obsidian() {
        let facts = facts("# One: a \"test\"\n## Two\n# Three\n## Two (b)\ntext ^Id-1\n");
        let has = |fragment: &str| has_place(&facts.headings, &facts.blocks, fragment);
        assert!(
            has("#one a test") && has("#One: a  test#two") && has("#Three#Two b") && has("#^id-1")
        );
        assert!(!has("#Three#Two") && !has("#One#Three") && !has("#^id") && !has("#Four"));
    }

    #[test]
    fn a_long_line_is_truncated_around_the_link() {
        let note = format!("{} [[Näher]] {}\nnext", "ä".repeat(500), "ö".repeat(500));
        let link = &facts(&note).links[0];
        assert!(link.context.contains("ä [[Näher]] ö"));
        assert!(link.context.starts_with('…') && link.context.ends_with('…'));
        assert!(link.context.chars().count() <= CONTEXT_CHARACTERS + 2);
    }
}
