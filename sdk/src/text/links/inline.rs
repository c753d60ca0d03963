//! Parses the links of one leaf of a note (a paragraph, a heading, a table cell).
//!
//! Skips code spans, math, comments and HTML tags. It does not use the Markdown parser, whose inline positions are wrong in
//! tables and after reference definitions.

use std::ops::Range;

use super::syntax::{self, Destination};
use super::{Kind, Link, Notation};

/// A `[` that may start a link.
struct Opener {
    at: usize,
    image: bool,
}

struct Scan<'n> {
    text: &'n str,
    end: usize,
    openers: Vec<Opener>,
    /// Links cannot be nested: a `[` below this height of the stack can only start an image.
    spent: usize,
    /// Closers that do not occur in the rest of the leaf, so that each is searched for only once.
    absent: Vec<Closer>,
    /// The remaining budget of bytes for unsuccessful searches; bounds the time for adversarial input.
    patience: usize,
}

/// The budget of unsuccessful searches, as a multiple of the leaf's length.
const FAILED_SEARCH_FACTOR: usize = 16;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Closer {
    Backticks(usize),
    DisplayMath,
    PercentComment,
    HtmlComment,
}

/// Adds the links and hashes of the leaf `range` of `text`, including reference definitions at its start.
pub(super) fn scan(text: &str, range: Range<usize>, found: &mut Found) {
    let inlines = definitions(text, range.clone(), &mut found.links);
    scan_inlines(text, inlines..range.end, found);
}

/// The links and hashes of leaves.
#[derive(Default)]
pub(super) struct Found {
    pub(super) links: Vec<Link>,
    /// Each `#` in prose, outside of links and code: possible tags.
    pub(super) hashes: Vec<usize>,
}

/// The same for a leaf without reference definitions.
pub(super) fn scan_inlines(text: &str, range: Range<usize>, found: &mut Found) {
    let Found { links, hashes } = found;
    let mut scan = Scan {
        text,
        end: range.end,
        openers: Vec::new(),
        spent: 0,
        absent: Vec::new(),
        patience: range.len().saturating_mul(FAILED_SEARCH_FACTOR),
    };
    let bytes = &text.as_bytes()[..range.end];
    let mut at = range.start;
    while let Some(&byte) = bytes.get(at) {
        at = match byte {
            b'\\' => at + 1 + usize::from(bytes.get(at + 1).is_some_and(u8::is_ascii_punctuation)),
            b'`' => scan.code(at),
            b'$' => scan.math(at),
            b'%' if bytes.get(at + 1) == Some(&b'%') => {
                scan.skip_to(at + 2, "%%", Closer::PercentComment)
            }
            b'<' => scan.html(at),
            b'!' if bytes.get(at + 1) == Some(&b'[') => scan.open(at, true, links),
            b'[' => scan.open(at, false, links),
            b']' => scan.close(at, links),
            b'#' => {
                hashes.push(at);
                at + 1
            }
            _ => at + 1,
        };
    }
}

/// Parses the reference definitions at the start of a leaf; returns where they end.
fn definitions(text: &str, range: Range<usize>, links: &mut Vec<Link>) -> usize {
    let mut end = range.start;
    let mut at = range.start;
    loop {
        at += container_prefix(&text[at..range.end]);
        if text[at..range.end].starts_with(['\r', '\n']) {
            at += 1;
            continue;
        }
        let Some(found) = syntax::definition(text, at, range.end) else {
            return end;
        };
        let whole = at..found.end;
        links.push(markdown(
            text,
            Kind::Definition,
            whole,
            &found.destination,
            found.label,
        ));
        at = found.end;
        end = found.end;
    }
}

/// The length of the block quote and list markers at the start of a line.
pub(super) fn container_prefix(line: &str) -> usize {
    let mut rest = line;
    loop {
        let trimmed = rest.trim_start_matches([' ', '\t', '>']);
        let digits = trimmed.len()
            - trimmed
                .trim_start_matches(|c: char| c.is_ascii_digit())
                .len();
        let marker = match trimmed.as_bytes().get(digits) {
            Some(b'-' | b'+' | b'*') if digits == 0 => 1,
            Some(b'.' | b')') if digits > 0 => digits + 1,
            _ => 0,
        };
        if marker == 0 || !matches!(trimmed.as_bytes().get(marker), Some(b' ' | b'\t')) {
            return line.len() - trimmed.len();
        }
        rest = &trimmed[marker..];
    }
}

impl Scan<'_> {
    fn code(&mut self, at: usize) -> usize {
        let bytes = &self.text.as_bytes()[..self.end];
        let run = |from: usize| {
            bytes[from..]
                .iter()
                .take_while(|byte| **byte == b'`')
                .count()
        };
        let length = run(at);
        let mut position = at + length;
        if self.patience == 0 || self.absent.contains(&Closer::Backticks(length)) {
            return position;
        }
        while let Some(next) = bytes[position..].iter().position(|byte| *byte == b'`') {
            let found = run(position + next);
            position += next + found;
            if found == length {
                return position;
            }
        }
        self.absent.push(Closer::Backticks(length));
        self.charge_failed_search(at, self.end);
        at + length
    }

    /// `$x$` and `$$x$$` as in pandoc and Obsidian: no blank inside the single dollars, no digit after them.
    fn math(&mut self, at: usize) -> usize {
        let bytes = &self.text.as_bytes()[..self.end];
        if bytes.get(at + 1) == Some(&b'$') {
            return self.skip_to(at + 2, "$$", Closer::DisplayMath);
        }
        if bytes.get(at + 1).is_none_or(u8::is_ascii_whitespace) {
            return at + 1;
        }
        let mut position = at + 1;
        while let Some(&byte) = bytes.get(position) {
            match byte {
                b'\\' => position += 2,
                b'$' => {
                    let closes = !bytes[position - 1].is_ascii_whitespace()
                        && !bytes.get(position + 1).is_some_and(u8::is_ascii_digit);
                    return if closes { position + 1 } else { at + 1 };
                }
                _ => position += 1,
            }
        }
        at + 1
    }

    /// The byte after the next `closer`, or `from` if there is none.
    fn skip_to(&mut self, from: usize, closer: &str, kind: Closer) -> usize {
        if self.absent.contains(&kind) {
            return from;
        }
        match self.text[from..self.end].find(closer) {
            Some(found) => from + found + closer.len(),
            None => {
                self.absent.push(kind);
                from
            }
        }
    }

    /// Skips a comment or tag. An autolink contains no brackets, so it needs no handling.
    fn html(&mut self, at: usize) -> usize {
        if self.text[at..self.end].starts_with("<!--") {
            return self.skip_to(at + 4, "-->", Closer::HtmlComment);
        }
        let bytes = &self.text.as_bytes()[..self.end];
        let name = at + 1 + usize::from(bytes.get(at + 1) == Some(&b'/'));
        if !bytes.get(name).is_some_and(u8::is_ascii_alphabetic) {
            return at + 1;
        }
        if self.patience == 0 {
            return at + 1;
        }
        let mut position = name;
        while let Some(&byte) = bytes.get(position) {
            match byte {
                b'>' => return position + 1,
                b'<' | b'[' | b']' | b'`' => break,
                b'=' if matches!(bytes.get(position + 1), Some(b'"' | b'\'')) => {
                    let value = position + 2;
                    let quote = bytes[position + 1];
                    match bytes[value..].iter().position(|byte| *byte == quote) {
                        Some(length) => position = value + length + 1,
                        None => {
                            position = self.end;
                            break;
                        }
                    }
                }
                _ => position += 1,
            }
        }
        self.charge_failed_search(at, position);
        at + 1
    }

    /// Charges an unsuccessful search to the budget.
    fn charge_failed_search(&mut self, from: usize, to: usize) {
        self.patience = self.patience.saturating_sub(to.saturating_sub(from));
    }

    fn open(&mut self, at: usize, image: bool, links: &mut Vec<Link>) -> usize {
        let bracket = at + usize::from(image);
        if self.text.as_bytes()[..self.end].get(bracket + 1) == Some(&b'[')
            && let Some(found) = syntax::wikilink(self.text, bracket, self.end)
        {
            let kind = if image { Kind::Embed } else { Kind::Wiki };
            links.push(wiki(self.text, kind, at..found.end, &found, Notation::Wiki));
            return found.end;
        }
        self.openers.push(Opener { at, image });
        bracket + 1
    }

    fn close(&mut self, at: usize, links: &mut Vec<Link>) -> usize {
        let Some(opener) = self.openers.pop() else {
            return at + 1;
        };
        let usable = opener.image || self.openers.len() >= self.spent;
        self.spent = self.spent.min(self.openers.len());
        if !usable || self.text.as_bytes()[..self.end].get(at + 1) != Some(&b'(') {
            return at + 1;
        }
        let Some((destination, end)) = syntax::inline_destination(self.text, at + 2, self.end)
        else {
            return at + 1;
        };
        let (kind, label) = if opener.image {
            (Kind::Image, opener.at + 2..at)
        } else {
            self.spent = self.openers.len();
            (Kind::Markdown, opener.at + 1..at)
        };
        links.push(markdown(
            self.text,
            kind,
            opener.at..end,
            &destination,
            label,
        ));
        end
    }
}

fn markdown(
    text: &str,
    kind: Kind,
    range: Range<usize>,
    destination: &Destination,
    label: Range<usize>,
) -> Link {
    let (path, fragment) = destination.parts(text);
    Link {
        kind,
        range,
        target: syntax::decode(&text[path.clone()]),
        external: syntax::is_external(&text[destination.range.clone()]),
        target_range: path,
        fragment: fragment.and_then(|range| syntax::fragment(&syntax::decode(&text[range]))),
        text_range: Some(label),
        line: 0,
        notation: if destination.angle {
            Notation::Angle
        } else {
            Notation::Bare
        },
    }
}

/// The link for `found`; its line is set after all links of the note are known.
pub(super) fn wiki(
    text: &str,
    kind: Kind,
    range: Range<usize>,
    found: &syntax::Wikilink,
    notation: Notation,
) -> Link {
    Link {
        kind,
        range,
        target: text[found.target.clone()].to_owned(),
        target_range: found.target.clone(),
        fragment: found
            .fragment
            .clone()
            .and_then(|range| syntax::fragment(&text[range])),
        text_range: found.alias.clone(),
        line: 0,
        external: false,
        notation,
    }
}
