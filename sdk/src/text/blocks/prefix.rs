//! What containers put before the lines of what stands in them: `> ` of quotes, the indent of list items. Columns are counted
//! as Markdown does, with a tab stop every four.

use std::borrow::Cow;

/// What one container puts before a line, from the outermost to the innermost. After a quote's mark, columns count anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Up to so many columns of white space.
    Indent(usize),
    /// `>` and a space.
    Quote,
}

/// A place in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct At {
    pub(super) byte: usize,
    pub(super) column: usize,
}

impl At {
    /// The same place after so many more bytes of the line.
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

    /// After the white space that follows, of at most so many columns. A tab that would be cut in two stays.
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

    /// After a quote's mark that follows, if one does.
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

/// How far a line is peeled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Peeled {
    /// Where what is left begins.
    pub(super) at: At,
    /// Where columns count from: after the last quote's mark, or at the beginning.
    pub(super) base: At,
}

/// Peel the steps off a line. One that lacks a quote's mark goes on with a paragraph by itself, and is peeled no further.
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

/// Steps with the last indent replaced: so many columns after the last quote's mark.
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

/// The lines of a block without their prefixes, ended by `\n`. The first line has none.
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

/// A line without the `\r` of its ending. The last line of a block has no ending, and its `\r` is its own.
fn without_return<'l>(line: &'l str, raw: &str) -> &'l str {
    let is_last = line.as_ptr() as usize + line.len() == raw.as_ptr() as usize + raw.len();
    match line.strip_suffix('\r') {
        Some(content) if !is_last => content,
        _ => line,
    }
}

/// The prefix for new lines, made like one that is there: list markers become spaces, everything else stays.
pub(super) fn like(written: &str) -> String {
    written
        .chars()
        .map(|letter| match letter {
            '>' | '\t' | ' ' => letter,
            _ => ' ',
        })
        .collect()
}

/// The prefix that steps ask for, where nothing is there to be like.
pub(super) fn written(steps: &[Step]) -> String {
    steps
        .iter()
        .map(|step| match step {
            Step::Indent(columns) => Cow::Owned(" ".repeat(*columns)),
            Step::Quote => Cow::Borrowed("> "),
        })
        .collect()
}
