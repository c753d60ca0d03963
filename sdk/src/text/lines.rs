//! A note by lines: where a byte stands, a window of lines, and how many tokens a text costs a model.

/// The line of the file, from 1, in which a byte stands.
pub fn line_of(text: &str, offset: usize) -> usize {
    1 + newlines(&text.as_bytes()[..offset.min(text.len())])
}

/// How many lines a text has. What follows the last line ending is a line only if there is something.
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

/// Where the line with the byte `offset` begins.
pub(crate) fn start_of_line(text: &str, offset: usize) -> usize {
    text[..offset].rfind('\n').map_or(0, |newline| newline + 1)
}

/// Where the line with the byte `offset` ends, its line ending included.
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
    /// The last line; one less than `from` where the window is empty.
    pub to: usize,
    /// How many lines the note has.
    pub total: usize,
    /// The line `to` alone was over the budget and is cut within.
    pub cut: bool,
}

/// The lines from `offset` (from 1), at most `limit` of them and at most about `max_tokens` long.
///
/// A window always ends at the end of a line, except where its first line alone is over the budget.
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
    // No character costs more than two quarters for each of its bytes: most notes are within any budget at a glance.
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

/// About how many tokens a text costs a language model: four ASCII characters, one Chinese, Japanese or
/// Korean character, half an emoji.
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
    fn a_window_has_the_lines_of_the_file() {
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
    fn a_window_ends_at_a_line_within_its_budget() {
        let text = "four\nfour\nfour\n";
        assert_eq!(window(text, 1, None, Some(3)).text, "four\nfour\n");
        let huge = "語".repeat(100);
        let cut = window(&huge, 1, None, Some(7));
        assert_eq!((cut.text.chars().count(), cut.cut), (7, true));
    }

    #[test]
    fn tokens_follow_the_script() {
        assert_eq!(approx_tokens("12345678"), 2);
        assert_eq!(approx_tokens("漢字"), 2);
        assert_eq!(approx_tokens(""), 0);
    }
}
