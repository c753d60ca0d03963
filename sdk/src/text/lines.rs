//! Line numbers, windows of lines, and an estimate of tokens.

/// The line of a byte, from 1.
pub fn line_of(text: &str, offset: usize) -> usize {
    1 + newlines(&text.as_bytes()[..offset.min(text.len())])
}

/// The number of lines of a text. The text after the last line ending counts as a line if it is not empty.
pub fn count(text: &str) -> usize {
    let ended = newlines(text.as_bytes());
    if text.is_empty() || text.ends_with('\n') {
        ended
    } else {
        ended + 1
    }
}

fn newlines(bytes: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', bytes).count()
}

/// The start of the line that contains the byte `offset`.
pub(crate) fn start_of_line(text: &str, offset: usize) -> usize {
    text[..offset].rfind('\n').map_or(0, |newline| newline + 1)
}

/// The end of the line that contains the byte `offset`, including its line ending.
pub(crate) fn end_of_line(text: &str, offset: usize) -> usize {
    text[offset..]
        .find('\n')
        .map_or(text.len(), |newline| offset + newline + 1)
}

/// Consecutive lines of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window<'a> {
    /// The lines, each with its line ending.
    pub text: &'a str,
    /// The first line, from 1.
    pub from: usize,
    /// The last line; `from` - 1 if the window is empty.
    pub to: usize,
    /// The number of lines of the note.
    pub total: usize,
    /// Whether the line `to` alone exceeds the budget and is truncated.
    pub cut: bool,
}

/// The lines from `offset` (from 1), at most `limit` of them and at most about `max_tokens` long.
///
/// A window ends at the end of a line, unless its first line alone exceeds the budget.
pub fn window(
    text: &str,
    offset: usize,
    limit: Option<usize>,
    max_tokens: Option<usize>,
) -> Window<'_> {
    let total = count(text);
    let from = offset.max(1).min(total + 1);
    let mut lines = text.split_inclusive('\n');
    let start = lines.by_ref().take(from - 1).map(str::len).sum::<usize>();
    let budget = max_tokens.map_or(usize::MAX, |tokens| tokens.saturating_mul(4));
    // A character costs at most two quarters per byte, so most notes are known to fit without counting.
    if limit.is_none_or(|limit| limit >= total - (from - 1)) && (text.len() - start) * 2 <= budget {
        return Window {
            text: &text[start..],
            from,
            to: total,
            total,
            cut: false,
        };
    }
    let (mut end, mut taken, mut cost) = (start, 0, 0usize);
    for line in lines.take(limit.unwrap_or(usize::MAX)) {
        cost = cost.saturating_add(quarter_tokens(line));
        if cost > budget {
            break;
        }
        end += line.len();
        taken += 1;
    }
    let cut = taken == 0 && budget > 0 && limit != Some(0) && start < text.len();
    if cut {
        end = start + prefix_within(&text[start..], budget);
        taken = 1;
    }
    Window {
        text: &text[start..end],
        from,
        to: from + taken - 1,
        total,
        cut,
    }
}

/// The approximate number of tokens of a text: one for four ASCII characters, for one Chinese, Japanese or Korean character,
/// for half an emoji.
pub fn approx_tokens(text: &str) -> usize {
    quarter_tokens(text).div_ceil(4)
}

fn quarter_tokens(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.chars().map(quarter_cost).sum()
}

fn quarter_cost(character: char) -> usize {
    match u32::from(character) {
        0..=0x7f => 1,
        0x1100..=0x11ff | 0x2e80..=0xd7ff | 0xf900..=0xfaff | 0xfe30..=0xfe4f | 0xff00..=0xffef => {
            4
        }
        0x1_0000.. => 8,
        _ => 2,
    }
}

fn prefix_within(text: &str, budget: usize) -> usize {
    let mut cost = 0;
    text.char_indices()
        .find(|(_, character)| {
            cost += quarter_cost(*character);
            cost > budget
        })
        .map_or(text.len(), |(offset, _)| offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_have_line_numbers_of_the_file() {
        let text = "a\r\nb\nc";
        assert_eq!(
            window(text, 2, Some(1), None),
            Window {
                text: "b\n",
                from: 2,
                to: 2,
                total: 3,
                cut: false
            }
        );
        assert_eq!(
            window(text, 2, None, None),
            Window {
                text: "b\nc",
                from: 2,
                to: 3,
                total: 3,
                cut: false
            }
        );
        assert_eq!(
            window(text, 9, None, None),
            Window {
                text: "",
                from: 4,
                to: 3,
                total: 3,
                cut: false
            }
        );
        assert_eq!(
            window("", 1, None, None),
            Window {
                text: "",
                from: 1,
                to: 0,
                total: 0,
                cut: false
            }
        );
    }

    #[test]
    fn windows_end_at_a_line_within_the_budget() {
        let text = "four\nfour\nfour\n";
        assert_eq!(window(text, 1, None, Some(3)).text, "four\nfour\n");
        let huge = "語".repeat(100);
        let cut = window(&huge, 1, None, Some(7));
        assert_eq!((cut.text.chars().count(), cut.cut), (7, true));
    }

    #[test]
    fn token_estimates_depend_on_the_script() {
        assert_eq!(approx_tokens("12345678"), 2);
        assert_eq!(approx_tokens("漢字"), 2);
        assert_eq!(approx_tokens(""), 0);
    }
}
