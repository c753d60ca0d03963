//! Parses the syntax at the start of a block: list markers, task states, callout headers.

use std::ops::Range;

use super::prefix::At;

/// The marker of a list item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marker {
    /// The bytes of the marker: `-`, `12.`.
    pub range: Range<usize>,
    /// The start of the item's content.
    pub content: usize,
    /// Columns from the beginning of the text to the item's content.
    pub columns: usize,
    /// The number of an ordered item.
    pub number: Option<u64>,
    /// `-`, `*`, `+`, `.` or `)`.
    pub sign: char,
}

/// The marker at the start of a text, after white space.
pub fn marker_of(text: &str) -> Option<Marker> {
    marker_from(text, At::default())
}

/// The marker at a place in a line.
pub(super) fn marker_from(line: &str, from: At) -> Option<Marker> {
    let line = line.split(['\n', '\r']).next().unwrap_or(line);
    let start = from.over_space(line, usize::MAX);
    let rest = &line[start.byte..];
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let sign = *rest.as_bytes().get(digits)?;
    let number = match (digits, sign) {
        (0, b'-' | b'*' | b'+') => None,
        (1..=9, b'.' | b')') => Some(rest[..digits].parse().ok()?),
        _ => return None,
    };
    let end = start.on(line, digits + 1);
    let after = end.over_space(line, usize::MAX);
    let is_blank = after.byte == line.len();
    if !is_blank && after.byte == end.byte {
        return None;
    }
    // Five or more columns after a marker count as one; the rest is part of indented code.
    let content = if is_blank || after.column - end.column > 4 {
        end.over_space(line, 1)
    } else {
        after
    };
    let columns = if is_blank {
        end.column + 1
    } else {
        content.column.max(end.column + 1)
    };
    Some(Marker {
        range: start.byte..end.byte,
        content: content.byte,
        columns: columns - from.column,
        number,
        sign: char::from(sign),
    })
}

/// The state of a task: the character between the brackets of an item's content, and its bytes.
pub fn task_state(content: &str) -> Option<(char, Range<usize>)> {
    let rest = content.strip_prefix('[')?;
    let state = rest.chars().next().filter(|state| *state != '\n')?;
    let after = rest[state.len_utf8()..].strip_prefix(']')?;
    let is_apart = after.is_empty() || after.starts_with([' ', '\t', '\n', '\r']);
    is_apart.then(|| (state, 1..1 + state.len_utf8()))
}

/// The folding of a callout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fold {
    /// Not foldable.
    None,
    /// `+`: foldable, expanded by default.
    Open,
    /// `-`: foldable, collapsed by default.
    Closed,
}

/// The header of a callout: `> [!type|metadata]- Title`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CalloutHead {
    /// The type: between `[!` and `]` or `|`.
    pub kind: Range<usize>,
    /// Its folding.
    pub fold: Fold,
    /// The bytes of `+` or `-`; empty if there is none.
    pub fold_range: Range<usize>,
    /// The title, trimmed.
    pub title: Range<usize>,
}

/// Parses the header of a callout.
pub fn callout_head(text: &str) -> Option<CalloutHead> {
    let line = text.split(['\n', '\r']).next().unwrap_or(text);
    let from = At::default().over_quote(line)?.byte;
    let rest = line[from..].trim_start_matches([' ', '\t']);
    let open = line.len() - rest.len();
    let inner = rest.strip_prefix("[!")?;
    let close = inner.find(']')?;
    let kind_end = inner[..close].find('|').unwrap_or(close);
    let after = open + 2 + close + 1;
    let fold = match line[after..].bytes().next() {
        Some(b'+') => Fold::Open,
        Some(b'-') => Fold::Closed,
        _ => Fold::None,
    };
    let fold_end = after + usize::from(fold != Fold::None);
    let title = line[fold_end..].trim();
    let title_start = if title.is_empty() {
        fold_end
    } else {
        line.len() - line[fold_end..].trim_start().len()
    };
    Some(CalloutHead {
        kind: open + 2..open + 2 + kind_end,
        fold,
        fold_range: after..fold_end,
        title: title_start..title_start + title.len(),
    })
}
