//! Inline spans of a line: verbatim spans (code, math, links, comments), clozes and separators.

use std::ops::Range;

/// A cloze: a span to recall.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cloze {
    /// The range with its markers.
    pub(crate) outer: Range<usize>,
    /// The range without its markers.
    pub(crate) inner: Range<usize>,
    /// The range of its hint.
    pub(crate) hint: Option<Range<usize>>,
    /// Clozes with the same number belong to one card.
    pub(crate) number: Option<u32>,
}

/// The verbatim spans of a line, in order; `at` is the offset of the line in the note.
pub(crate) fn hidden(line: &str, at: usize) -> Vec<Range<usize>> {
    let bytes = line.as_bytes();
    let mut found = Vec::new();
    // Closing markers known to be missing in the rest of the line, so that each is searched only once.
    let mut absent: Vec<&[u8]> = Vec::new();
    let mut ticks_absent: Vec<usize> = Vec::new();
    let mut here = 0;
    while here < bytes.len() {
        let rest = &bytes[here..];
        let (open, closer): (usize, &[u8]) = match rest {
            [b'\\', ..] => {
                here += 2;
                continue;
            }
            [b'`', ..] => {
                let count = rest.iter().take_while(|byte| **byte == b'`').count();
                match (!ticks_absent.contains(&count))
                    .then(|| closing_ticks(bytes, here + count, count))
                    .flatten()
                {
                    Some(end) => {
                        found.push(at + here..at + end);
                        here = end;
                    }
                    None => {
                        ticks_absent.push(count);
                        here += count;
                    }
                }
                continue;
            }
            [b'$', b'$', ..] => (2, b"$$"),
            [b'$', next, ..] if !next.is_ascii_whitespace() => (1, b"$"),
            [b'%', b'%', ..] => (2, b"%%"),
            [b'<', b'!', b'-', b'-', ..] => (4, b"-->"),
            [b'[', b'[', ..] => (2, b"]]"),
            [b']', b'(', ..] => (2, b")"),
            _ => {
                here += 1;
                continue;
            }
        };
        let from = here + open;
        let end = (!absent.contains(&closer))
            .then(|| find(bytes, from, closer))
            .flatten();
        match end {
            Some(end) => {
                found.push(at + here..at + end + closer.len());
                here = end + closer.len();
            }
            None => {
                absent.push(closer);
                here = from;
            }
        }
    }
    found
}

fn find(bytes: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let at = rest.windows(what.len()).position(|part| part == what)?;
    Some(from + at)
}

/// The end of a run of exactly `count` backticks.
fn closing_ticks(bytes: &[u8], from: usize, count: usize) -> Option<usize> {
    let mut here = from;
    while here < bytes.len() {
        if bytes[here] != b'`' {
            here += 1;
            continue;
        }
        let run = bytes[here..]
            .iter()
            .take_while(|byte| **byte == b'`')
            .count();
        here += run;
        if run == count {
            return Some(here);
        }
    }
    None
}

/// Whether an offset is in one of the spans, which are in order.
pub(crate) fn is_within(spans: &[Range<usize>], at: usize) -> bool {
    let after = spans.partition_point(|span| span.start <= at);
    after > 0 && at < spans[after - 1].end
}

/// The clozes of a line, in order: `==x==`, `{{x}}`, `{{c1::x::hint}}`, and `**x**` where bold text counts.
pub(crate) fn clozes(line: &str, at: usize, hidden: &[Range<usize>], bold: bool) -> Vec<Cloze> {
    let bytes = line.as_bytes();
    let mut found = Vec::new();
    let mut absent: Vec<&[u8]> = Vec::new();
    let mut here = 0;
    while here + 1 < bytes.len() {
        let (opener, closer): (&[u8], &[u8]) = match &bytes[here..here + 2] {
            b"==" => (b"==", b"=="),
            b"{{" => (b"{{", b"}}"),
            b"**" if bold => (b"**", b"**"),
            _ => {
                here += 1;
                continue;
            }
        };
        if is_within(hidden, at + here) || absent.contains(&closer) {
            here += 1;
            continue;
        }
        let from = here + opener.len();
        // `===` is not a marker.
        if opener != b"{{" && bytes.get(from) == opener.first() {
            here += bytes[here..]
                .iter()
                .take_while(|byte| **byte == opener[0])
                .count();
            continue;
        }
        let Some(end) = find(bytes, from, closer) else {
            absent.push(closer);
            here = from;
            continue;
        };
        let inner = &line[from..end];
        let is_mark = !inner.trim().is_empty()
            && (opener == b"{{" || inner.trim() == inner)
            && !is_within(hidden, at + end);
        if is_mark {
            found.push(cloze(
                inner,
                at + from,
                at + here..at + end + closer.len(),
                opener,
            ));
            here = end + closer.len();
        } else {
            here = from;
        }
    }
    found
}

fn cloze(inner: &str, at: usize, outer: Range<usize>, opener: &[u8]) -> Cloze {
    let plain = Cloze {
        outer: outer.clone(),
        inner: at..at + inner.len(),
        hint: None,
        number: None,
    };
    if opener != b"{{" {
        return plain;
    }
    let Some((name, rest)) = inner.split_once("::") else {
        return plain;
    };
    let digits = name.strip_prefix(['c', 'C']).unwrap_or(name);
    let Ok(number) = digits.parse::<u32>() else {
        return plain;
    };
    let from = at + name.len() + 2;
    let (length, hint) = match rest.split_once("::") {
        Some((text, hint)) => {
            let begin = from + text.len() + 2;
            (text.len(), Some(begin..begin + hint.len()))
        }
        None => (rest.len(), None),
    };
    Cloze {
        outer,
        inner: from..from + length,
        hint,
        number: Some(number),
    }
}

/// The separator of question and answer on one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Separator {
    /// Its range.
    pub(crate) range: Range<usize>,
    /// Whether the reverse card exists too.
    pub(crate) both: bool,
}

/// The first separator of a line: `:::`, `::`, and with spaces around them `>>`, `;;`, `><`.
pub(crate) fn separator(
    line: &str,
    at: usize,
    hidden: &[Range<usize>],
    clozes: &[Cloze],
) -> Option<Separator> {
    let bytes = line.as_bytes();
    let mut here = 0;
    while here + 1 < bytes.len() {
        let inside = is_within(hidden, at + here)
            || clozes
                .iter()
                .any(|cloze| cloze.outer.contains(&(at + here)));
        let colons = bytes[here..]
            .iter()
            .take_while(|byte| **byte == b':')
            .count();
        let (length, both, spaced) = match &bytes[here..here + 2] {
            b"::" => (colons, colons == 3, false),
            b">>" | b";;" => (2, false, true),
            b"><" => (2, true, true),
            _ => {
                here += 1;
                continue;
            }
        };
        let is_space = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_whitespace);
        let is_apart = !spaced
            || (here > 0 && is_space(bytes.get(here - 1)) && is_space(bytes.get(here + length)));
        if !inside && is_apart && length <= 3 {
            return Some(Separator {
                range: at + here..at + here + length,
                both,
            });
        }
        here += length;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str) -> Option<(&str, &str, bool)> {
        let hidden = hidden(line, 0);
        let clozes = clozes(line, 0, &hidden, false);
        let found = separator(line, 0, &hidden, &clozes)?;
        Some((
            &line[..found.range.start],
            &line[found.range.end..],
            found.both,
        ))
    }

    #[test]
    fn lines_are_split_at_the_first_separator() {
        assert_eq!(split("a::b::c"), Some(("a", "b::c", false)));
        assert_eq!(split("a:::b"), Some(("a", "b", true)));
        assert_eq!(split("a >> b"), Some(("a ", " b", false)));
        assert_eq!(split("a ;; b"), Some(("a ", " b", false)));
        assert_eq!(split("a >< b"), Some(("a ", " b", true)));
        assert_eq!(split("`a::b` c::d"), Some(("`a::b` c", "d", false)));
        for none in [
            "a>>b",
            "a::::b",
            "<a><b>",
            "`a::b`",
            "$a::b$",
            "[[a::b]]",
            "%%a::b%%",
            "{{c1::a}}",
            "a\\",
        ] {
            assert_eq!(split(none), None, "{none}");
        }
    }

    #[test]
    fn clozes_are_found_with_number_and_hint() {
        let line = "==a== `==b==` {{c2::d::e}} {{f}} ===g=== == h == **i** {{}} ==";
        let hidden = hidden(line, 0);
        let parsed = |bold| -> Vec<(&str, Option<u32>, Option<&str>)> {
            let found = clozes(line, 0, &hidden, bold);
            let parts = found.into_iter().map(|cloze| {
                (
                    &line[cloze.inner],
                    cloze.number,
                    cloze.hint.map(|hint| &line[hint]),
                )
            });
            parts.collect()
        };
        assert_eq!(
            parsed(false),
            [
                ("a", None, None),
                ("d", Some(2), Some("e")),
                ("f", None, None)
            ]
        );
        assert_eq!(parsed(true).last(), Some(&("i", None, None)));
    }
}
