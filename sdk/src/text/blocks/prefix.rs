//! The line prefixes of containers: `> ` of quotes, the indentation of list items. Columns are counted as in Markdown, with tab
//! stops every four columns.

use std::borrow::Cow;

/// The part of a line prefix that one container adds. Steps are ordered from the outermost container to the innermost; columns
/// restart after a quote marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Up to this many columns of white space.
    Indent(usize),
    /// `>` and a space.
    Quote,
}

/// A position in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct At {
    pub(super) byte: usize,
    pub(super) column: usize,
}

impl At {
    /// The position `bytes` later in the line.
    pub(super) fn on(self, line: &str, bytes: usize) -> At {
        let mut at = self;
        let end = (self.byte + bytes).min(line.len());
        for letter in line[self.byte..end].chars() {
            at.byte += letter.len_utf8();
            at.column = match letter {
                '\t' => at.column + 4 - at.column % 4,
                _ => at.column + 1,
            };
        }
        at
    }

    /// The position after white space of at most `columns` columns. Does not split a tab.
    pub(super) fn over_space(self, line: &str, columns: usize) -> At {
        let mut at = self;
        let goal = self.column.saturating_add(columns);
        while let Some(b' ' | b'\t') = line.as_bytes().get(at.byte) {
            let after = at.on(line, 1);
            if after.column > goal {
                break;
            }
            at = after;
        }
        at
    }

    /// The position after a quote marker, if there is one.
    pub(super) fn over_quote(self, line: &str) -> Option<At> {
        let mark = self.over_space(line, 3);
        if line.as_bytes().get(mark.byte) != Some(&b'>') {
            return None;
        }
        let after = mark.on(line, 1);
        Some(match line.as_bytes().get(after.byte) {
            Some(b' ') => after.on(line, 1),
            _ => after,
        })
    }
}

/// The result of stripping the prefix of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Peeled {
    /// The start of the rest of the line.
    pub(super) at: At,
    /// The origin of columns: after the last quote marker, or the beginning of the line.
    pub(super) base: At,
}

/// Strips the prefix of a line. A line without a quote marker is a lazy continuation, and stripping stops there.
pub(super) fn peel(line: &str, steps: &[Step]) -> Peeled {
    let mut peeled = Peeled {
        at: At::default(),
        base: At::default(),
    };
    for step in steps {
        match step {
            Step::Indent(columns) => peeled.at = peeled.at.over_space(line, *columns),
            Step::Quote => match peeled.at.over_quote(line) {
                Some(after) => {
                    peeled = Peeled {
                        at: after,
                        base: after,
                    }
                }
                None => return peeled,
            },
        }
    }
    peeled
}

/// Steps with the indentation after the last quote marker replaced by `columns`.
pub(super) fn indented(steps: &[Step], columns: usize) -> Vec<Step> {
    let mut steps = steps.to_vec();
    if let Some(Step::Indent(_)) = steps.last() {
        steps.pop();
    }
    if columns > 0 {
        steps.push(Step::Indent(columns));
    }
    steps
}

/// The lines of a block without their prefixes, with `\n` line endings. The first line has no prefix.
pub(super) fn peeled(raw: &str, steps: &[Step]) -> String {
    if steps.is_empty() && !raw.contains('\r') {
        return raw.to_owned();
    }
    let mut text = String::with_capacity(raw.len());
    for (number, line) in raw.split('\n').enumerate() {
        if number > 0 {
            text.push('\n');
        }
        let line = without_return(line, raw);
        let from = match number {
            0 => 0,
            _ => peel(line, steps).at.byte,
        };
        text.push_str(&line[from..]);
    }
    text
}

/// A line without the `\r` of its line ending. The last line of a block has no line ending, so its `\r` is content.
fn without_return<'l>(line: &'l str, raw: &str) -> &'l str {
    let is_last = line.as_ptr() as usize + line.len() == raw.as_ptr() as usize + raw.len();
    match line.strip_suffix('\r') {
        Some(content) if !is_last => content,
        _ => line,
    }
}

/// The prefix for new lines, derived from an existing one: list markers become spaces.
pub(super) fn like(written: &str) -> String {
    written
        .chars()
        .map(|letter| match letter {
            '>' | '\t' | ' ' => letter,
            _ => ' ',
        })
        .collect()
}

/// The prefix for steps, if there is no existing line to derive it from.
pub(super) fn written(steps: &[Step]) -> String {
    steps
        .iter()
        .map(|step| match step {
            Step::Indent(columns) => Cow::Owned(" ".repeat(*columns)),
            Step::Quote => Cow::Borrowed("> "),
        })
        .collect()
}
