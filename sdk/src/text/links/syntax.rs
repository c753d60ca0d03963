//! The syntax of links: parses a wikilink, a Markdown destination or a reference definition at a given byte, and decodes it.
//! It ignores context, so that the filter recognizes exactly the same syntax as the parser.

use std::ops::Range;

use super::Fragment;
use crate::text::percent;

/// The parts of a wikilink, as byte ranges.
pub(super) struct Wikilink {
    pub(super) target: Range<usize>,
    pub(super) fragment: Option<Range<usize>>,
    pub(super) alias: Option<Range<usize>>,
    /// After the closing brackets.
    pub(super) end: usize,
}

/// Parses the wikilink whose `[[` is at `at`, up to `end`.
pub(super) fn wikilink(text: &str, at: usize, end: usize) -> Option<Wikilink> {
    let bytes = &text.as_bytes()[..end];
    let open = at + 2;
    let mut hash = None;
    let mut position = open;
    let separator = loop {
        match *bytes.get(position)? {
            b'|' => break position,
            b']' if bytes.get(position + 1) == Some(&b']') => break position,
            b'[' | b']' | b'\n' | b'\r' => return None,
            b'#' if hash.is_none() => hash = Some(position),
            _ => {}
        }
        position += 1;
    };
    let (path_end, alias, end) = if bytes[separator] == b'|' {
        let close = alias_end(bytes, separator + 1)?;
        // In a table the pipe is escaped; the backslash is not part of the name.
        let escaped = separator > open && bytes[separator - 1] == b'\\';
        (
            separator - usize::from(escaped),
            Some(separator + 1..close),
            close + 2,
        )
    } else {
        (separator, None, separator + 2)
    };
    let target = trimmed(text, open..hash.unwrap_or(path_end).min(path_end));
    let fragment = hash.map(|hash| trimmed(text, hash + 1..path_end.max(hash + 1)));
    if target.is_empty() && fragment.as_ref().is_none_or(Range::is_empty) {
        return None;
    }
    Some(Wikilink {
        target,
        fragment,
        alias,
        end,
    })
}

/// The start of the `]]` after an alias, which may contain single pairs of brackets.
fn alias_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut position = start;
    loop {
        let next = bytes.get(position + 1);
        match *bytes.get(position)? {
            b'\n' | b'\r' => return None,
            b'[' if next == Some(&b'[') => return None,
            b'[' => depth += 1,
            b']' if depth > 0
                && (next != Some(&b']') || bytes.get(position + 2) == Some(&b']')) =>
            {
                depth -= 1
            }
            b']' if next == Some(&b']') => return Some(position),
            _ => {}
        }
        position += 1;
    }
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let part = &text[range.clone()];
    let start = range.start + (part.len() - part.trim_start().len());
    start..start + part.trim().len()
}

/// A Markdown destination.
pub(super) struct Destination {
    /// Its bytes, without angle brackets.
    pub(super) range: Range<usize>,
    pub(super) angle: bool,
    /// After the destination and its angle brackets.
    pub(super) end: usize,
}

impl Destination {
    /// The path and, after `#`, the fragment.
    pub(super) fn parts(&self, text: &str) -> (Range<usize>, Option<Range<usize>>) {
        let Range { start, end } = self.range;
        match text[start..end].find('#') {
            None => (start..end, None),
            Some(hash) => {
                let hash = start + hash;
                let escaped = hash > start && text.as_bytes()[hash - 1] == b'\\';
                (start..hash - usize::from(escaped), Some(hash + 1..end))
            }
        }
    }
}

/// The nesting of parentheses that CommonMark requires.
const MAX_PARENTHESES: usize = 32;

/// Parses the destination at `at`.
pub(super) fn destination(text: &str, at: usize, end: usize) -> Option<Destination> {
    let bytes = &text.as_bytes()[..end];
    if bytes.get(at) == Some(&b'<') {
        let mut position = at + 1;
        loop {
            match *bytes.get(position)? {
                b'>' => {
                    return Some(Destination {
                        range: at + 1..position,
                        angle: true,
                        end: position + 1,
                    });
                }
                b'<' | b'\n' | b'\r' => return None,
                b'\\'
                    if bytes
                        .get(position + 1)
                        .is_some_and(u8::is_ascii_punctuation) =>
                {
                    position += 2
                }
                _ => position += 1,
            }
        }
    }
    let mut depth = 0;
    let mut position = at;
    while let Some(&byte) = bytes.get(position) {
        match byte {
            b'\\'
                if bytes
                    .get(position + 1)
                    .is_some_and(u8::is_ascii_punctuation) =>
            {
                position += 1
            }
            b'(' if depth == MAX_PARENTHESES => return None,
            b'(' => depth += 1,
            b')' if depth == 0 => break,
            b')' => depth -= 1,
            byte if byte.is_ascii_whitespace() || byte.is_ascii_control() => break,
            _ => {}
        }
        position += 1;
    }
    (depth == 0 && position > at).then_some(Destination {
        range: at..position,
        angle: false,
        end: position,
    })
}

/// Parses `destination "title")` after the opening parenthesis of an inline link; the second value is the byte after the
/// closing one.
pub(super) fn inline_destination(
    text: &str,
    at: usize,
    end: usize,
) -> Option<(Destination, usize)> {
    let bytes = &text.as_bytes()[..end];
    let found = destination(text, skip_whitespace(bytes, at), end)?;
    let mut position = skip_whitespace(bytes, found.end);
    if position > found.end && bytes.get(position) != Some(&b')') {
        position = skip_whitespace(bytes, title(bytes, position)?);
    }
    (bytes.get(position) == Some(&b')')).then_some((found, position + 1))
}

/// A reference definition: `[label]: destination "title"`.
pub(super) struct Definition {
    pub(super) label: Range<usize>,
    pub(super) destination: Destination,
    /// The end of its last line, before the line break.
    pub(super) end: usize,
}

/// Parses the reference definition whose `[` is at `at`. Footnote definitions do not count.
pub(super) fn definition(text: &str, at: usize, end: usize) -> Option<Definition> {
    let bytes = &text.as_bytes()[..end];
    if bytes.get(at) != Some(&b'[') || bytes.get(at + 1) == Some(&b'^') {
        return None;
    }
    let mut close = at + 1;
    loop {
        match *bytes.get(close)? {
            b']' => break,
            b'[' => return None,
            b'\\' => close += 2,
            _ => close += 1,
        }
    }
    let label = at + 1..close;
    if text.get(label.clone())?.trim().is_empty() || bytes.get(close + 1) != Some(&b':') {
        return None;
    }
    let found = destination(text, skip_whitespace(bytes, close + 2), end)?;
    // A title may follow on this line or the next; it must be the last thing on its line.
    let after_title =
        title(bytes, skip_whitespace(bytes, found.end)).and_then(|after| line_end(bytes, after));
    let end = after_title.or_else(|| line_end(bytes, found.end))?;
    Some(Definition {
        label,
        destination: found,
        end,
    })
}

/// The end of this line, if the rest of it is blank.
fn line_end(bytes: &[u8], at: usize) -> Option<usize> {
    let blanks = bytes[at..]
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count();
    matches!(bytes.get(at + blanks), None | Some(b'\n' | b'\r')).then_some(at + blanks)
}

fn title(bytes: &[u8], at: usize) -> Option<usize> {
    let close = match *bytes.get(at)? {
        quote @ (b'"' | b'\'') => quote,
        b'(' => b')',
        _ => return None,
    };
    let mut position = at + 1;
    loop {
        match *bytes.get(position)? {
            b'\\' => position += 2,
            byte if byte == close => return Some(position + 1),
            b'(' if close == b')' => return None,
            _ => position += 1,
        }
    }
}

/// The first non-whitespace byte at or after `at`.
pub(super) fn skip_whitespace(bytes: &[u8], at: usize) -> usize {
    at + bytes[at.min(bytes.len())..]
        .iter()
        .take_while(|byte| byte.is_ascii_whitespace())
        .count()
}

/// Whether a destination as written is outside the vault: it has a scheme or a host.
pub(super) fn is_external(written: &str) -> bool {
    if written.starts_with("//") {
        return true;
    }
    written.split_once(':').is_some_and(|(scheme, _)| {
        (2..=32).contains(&scheme.len())
            && scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
    })
}

/// Decodes backslash escapes and percent-encoding. Sequences that are not UTF-8 stay as written.
pub(super) fn decode(written: &str) -> String {
    if !written.contains(['\\', '%']) {
        return written.to_owned();
    }
    let mut unescaped = Vec::with_capacity(written.len());
    let mut bytes = written.bytes().peekable();
    while let Some(byte) = bytes.next() {
        let escaped = if byte == b'\\' {
            bytes.next_if(u8::is_ascii_punctuation)
        } else {
            None
        };
        unescaped.push(escaped.unwrap_or(byte));
    }
    let decoded = percent::decode_bytes(&unescaped);
    String::from_utf8(decoded).unwrap_or_else(|_| written.to_owned())
}

/// Parses a decoded fragment.
pub(super) fn fragment(written: &str) -> Option<Fragment> {
    if let Some(block) = written.trim().strip_prefix('^') {
        return Some(Fragment::Block(block.to_owned()));
    }
    let headings: Vec<String> = written
        .split('#')
        .map(str::trim)
        .filter(|heading| !heading.is_empty())
        .map(str::to_owned)
        .collect();
    (!headings.is_empty()).then_some(Fragment::Heading(headings))
}
