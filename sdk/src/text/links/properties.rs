//! Parses links in the frontmatter: `[[Target]]` in a string, alone (`"[[Target]]"`) or within other text.
//!
//! It parses just enough YAML to distinguish strings from comments and lists: an unquoted `[[Target]]` is a nested list, not
//! a link. It does not interpret values.

use std::borrow::Cow;
use std::ops::Range;

use super::{Kind, Link, Notation, inline, syntax};

/// Adds the links of the YAML at `range` of `note` to `links`.
pub(super) fn scan(note: &str, range: Range<usize>, links: &mut Vec<Link>) {
    let mut scan = Scan {
        note,
        end: range.end,
        at: range.start,
        line: 0..0,
        comment: None,
        links,
    };
    while scan.at < scan.end {
        scan.line();
    }
}

struct Scan<'n, 'l> {
    note: &'n str,
    end: usize,
    at: usize,
    /// A cache for the rest of a line: where it was searched from, and the comment that was found.
    line: Range<usize>,
    comment: Option<usize>,
    links: &'l mut Vec<Link>,
}

impl Scan<'_, '_> {
    fn rest(&self) -> &[u8] {
        &self.note.as_bytes()[self.at..self.end]
    }

    fn line_end(&mut self) -> usize {
        if !(self.line.start <= self.at && self.at < self.line.end) {
            let newline = memchr::memchr(b'\n', self.rest());
            self.line = self.at..newline.map_or(self.end, |found| self.at + found);
            self.comment = self.find_comment();
        }
        self.line.end
    }

    fn find_comment(&self) -> Option<usize> {
        let line = &self.note.as_bytes()[self.at..self.line.end];
        let found = memchr::memmem::find(line, b" #");
        found.map(|found| self.at + found)
    }

    /// The end of the value that starts here: a comment, or the end of the line.
    fn value_end(&mut self) -> usize {
        let end = self.line_end();
        if self.comment.is_some_and(|comment| comment < self.at) {
            self.comment = self.find_comment();
        }
        self.comment.unwrap_or(end)
    }

    fn skip_blanks(&mut self) {
        let blanks = self
            .rest()
            .iter()
            .take_while(|byte| matches!(byte, b' ' | b'\t'));
        self.at += blanks.count();
    }

    /// A line, including continuation lines of a value that starts on it.
    fn line(&mut self) {
        let start = self.at;
        self.skip_blanks();
        let indent = self.at - start;
        while self.rest().starts_with(b"- ") {
            self.at += 2;
            self.skip_blanks();
        }
        loop {
            match self.rest().first() {
                None | Some(b'#' | b'\n') => break,
                Some(b'"' | b'\'') => self.quoted(),
                Some(b'[' | b'{') => self.flow(),
                Some(b'|' | b'>') => return self.block(indent),
                Some(b':' | b' ' | b'\t' | b'\r') => self.at += 1,
                Some(_) => self.plain(),
            }
        }
        self.at = (self.line_end() + 1).min(self.end);
    }

    /// A quoted string, to the byte after its closing quote.
    fn quoted(&mut self) {
        let bytes = self.note.as_bytes();
        let (quote, notation) = match bytes[self.at] {
            b'"' => (b'"', Notation::DoubleQuoted),
            _ => (b'\'', Notation::SingleQuoted),
        };
        let start = self.at + 1;
        let mut position = start;
        while position < self.end {
            let doubled = quote == b'\'' && bytes.get(position + 1) == Some(&b'\'');
            match bytes[position] {
                b'\\' if quote == b'"' => position += 1,
                b'\'' if doubled => position += 1,
                byte if byte == quote => break,
                _ => {}
            }
            position += 1;
        }
        let close = position.min(self.end);
        self.string(start..close, notation);
        self.at = (close + 1).min(self.end);
    }

    /// A flow collection, possibly over several lines; only quoted strings in it can contain links.
    fn flow(&mut self) {
        let mut depth = 0usize;
        let mut begins_value = true;
        while let Some(&byte) = self.rest().first() {
            match byte {
                b'"' | b'\'' if begins_value => {
                    self.quoted();
                    begins_value = false;
                    continue;
                }
                b'#' if begins_value => {
                    self.at = self.line_end();
                    continue;
                }
                b'[' | b'{' => depth += 1,
                b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            begins_value = matches!(byte, b'[' | b'{' | b',' | b':')
                || (begins_value && byte.is_ascii_whitespace());
            self.at += 1;
            if depth == 0 {
                return;
            }
        }
    }

    /// A literal or folded block: all following lines with greater indentation than its key.
    fn block(&mut self, indent: usize) {
        self.at = (self.line_end() + 1).min(self.end);
        while self.at < self.end {
            let end = self.line_end();
            let line = &self.note[self.at..end];
            let depth = line.len() - line.trim_start_matches(' ').len();
            if !line.trim().is_empty() && depth <= indent {
                return;
            }
            self.string(self.at..end, Notation::Plain);
            self.at = (end + 1).min(self.end);
        }
    }

    /// An unquoted key, to its colon, or an unquoted value, to the end of its line or a comment.
    fn plain(&mut self) {
        let end = self.value_end();
        let value = &self.note[self.at..end];
        let colon = value.find(": ").or_else(|| {
            value
                .trim_end()
                .ends_with(':')
                .then(|| value.trim_end().len() - 1)
        });
        match colon {
            Some(colon) => self.at += colon + 1,
            None => {
                self.string(self.at..self.at + value.len(), Notation::Plain);
                self.at = self.line_end();
            }
        }
    }

    fn string(&mut self, range: Range<usize>, notation: Notation) {
        let mut from = range.start;
        while let Some(found) = self.note[from..range.end].find("[[") {
            let at = from + found;
            match syntax::wikilink(self.note, at, range.end) {
                Some(parts) => {
                    let mut link =
                        inline::wiki(self.note, Kind::Property, at..parts.end, &parts, notation);
                    link.target = unquoted(&link.target, notation).into_owned();
                    from = parts.end;
                    self.links.push(link);
                }
                None => from = at + 1,
            }
        }
    }
}

/// The decoded text of a part of a quoted YAML string.
pub(super) fn unquoted(written: &str, notation: Notation) -> Cow<'_, str> {
    match notation {
        Notation::SingleQuoted if written.contains("''") => written.replace("''", "'").into(),
        Notation::DoubleQuoted if written.contains('\\') => {
            let mut text = String::with_capacity(written.len());
            let mut rest = written.chars();
            while let Some(letter) = rest.next() {
                if letter != '\\' {
                    text.push(letter);
                    continue;
                }
                let digits = match rest.next() {
                    Some('x') => 2,
                    Some('u') => 4,
                    Some('U') => 8,
                    Some('t') => {
                        text.push('\t');
                        continue;
                    }
                    Some(other) => {
                        text.push(other);
                        continue;
                    }
                    None => continue,
                };
                let code: String = rest.by_ref().take(digits).collect();
                text.extend(u32::from_str_radix(&code, 16).ok().and_then(char::from_u32));
            }
            text.into()
        }
        _ => written.into(),
    }
}
