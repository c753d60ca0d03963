//! What the first characters of a block say: the marker of an item, the state of a task, the head of a callout.

use std::ops::Range;

use super::prefix::At;

/// The marker of a list item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marker {
    /// The bytes of the marker itself: `-`, `12.`.
    pub range: Range<usize>,
    /// Where what it marks begins.
    pub content: usize,
    /// Columns from the beginning of the text to what it marks.
    pub columns: usize,
    /// The number of an ordered item.
    pub number: Option<u64>,
    /// `-`, `*`, `+`, `.` or `)`.
    pub sign: char,
}

/// The marker with which a text begins, after white space.
pub fn marker_of(text: &str) -> Option<Marker> {
    marker_from(text, At::default())
}

/// The marker that follows a place in a line.
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
    // Five or more columns after a marker are one, and the rest belongs to code.
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

/// The state of the task that an item's content is: what stands between its brackets, and where.
pub fn task_state(content: &str) -> Option<(char, Range<usize>)> {
    let rest = content.strip_prefix('[')?;
    let state = rest.chars().next().filter(|state| *state != '\n')?;
    let after = rest[state.len_utf8()..].strip_prefix(']')?;
    let is_apart = after.is_empty() || after.starts_with([' ', '\t', '\n', '\r']);
    is_apart.then(|| (state, 1..1 + state.len_utf8()))
}

/// How a callout is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fold {
    /// It cannot be folded.
    None,
    /// `+`: it can, and is open.
    Open,
    /// `-`: it can, and is closed.
    Closed,
}

/// The head of a callout: `> [!type|metadata]- Title`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CalloutHead {
    /// Between `[!` and `]`, or `|`.
    pub kind: Range<usize>,
    /// How it is folded.
    pub fold: Fold,
    /// The `+` or `-`; empty where there is none.
    pub fold_range: Range<usize>,
    /// The title, without the space around it.
    pub title: Range<usize>,
}

/// The head with which the text of a callout begins.
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
