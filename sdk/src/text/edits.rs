//! Edits by exact text: replace `old` with `new`, and nothing else.

use super::error::TextError;
use super::newline::Newline;
use super::splice::{self, Splice};
use super::{lines, similar_passage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::Range;

/// Replace one passage of the note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// The exact text to replace, copied from the note. It must occur exactly once, unless `replace_all`.
    pub old: String,
    /// The replacement. Empty deletes the passage.
    pub new: String,
    /// Replace every occurrence instead of exactly one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replace_all: bool,
}

/// The result of edits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The whole text.
    pub text: String,
    /// The number of replaced passages, over all edits.
    pub replacements: usize,
}

/// The maximum number of line numbers in an error.
const MAX_LISTED_LINES: usize = 20;

/// Applies edits in order, each to the result of the previous ones.
///
/// `\n` in `old` also matches `\r\n`, and `new` gets the line ending of the note.
///
/// # Errors
/// If an edit does not match, matches more than once or would change nothing. Then none of them is applied.
pub fn apply_edits(text: &str, edits: &[Edit]) -> Result<Edited, TextError> {
    let mut edited = Edited {
        text: text.to_owned(),
        replacements: 0,
    };
    for (index, edit) in edits.iter().enumerate() {
        let matches = if edit.replace_all {
            all_matches(&edited.text, &edit.old, &format!("`edits[{index}].old`"))?
        } else {
            vec![only_match(
                &edited.text,
                &edit.old,
                &format!("`edits[{index}].old`"),
            )?]
        };
        if without_returns(&edit.old) == without_returns(&edit.new) {
            return Err(TextError::NothingToChange {
                what: format!("`edits[{index}]`"),
            });
        }
        let newline = Newline::of(&edited.text);
        let new = newline.map_or(Cow::Borrowed(edit.new.as_str()), |newline| {
            newline.convert(&edit.new)
        });
        edited.replacements += matches.len();
        let splices = matches
            .into_iter()
            .map(|range| Splice::replace(range, new.as_ref()))
            .collect();
        edited.text = splice::apply(&edited.text, splices)?;
    }
    Ok(edited)
}

/// The only occurrence of `wanted`; `what` is the name of the argument in errors.
pub(crate) fn only_match(text: &str, wanted: &str, what: &str) -> Result<Range<usize>, TextError> {
    let matches = all_matches(text, wanted, what)?;
    let [only] = matches.as_slice() else {
        return Err(many(text, &matches, what));
    };
    // `all_matches` skips overlapping matches, so they are detected here.
    let first = if text[only.start..].starts_with("\r\n") {
        2
    } else {
        text[only.start..].chars().next().map_or(1, char::len_utf8)
    };
    let next = only.start + first;
    let around = text.floor_char_boundary(only.end + (only.end - only.start));
    if let Some(second) = find_all(&text[next..around], wanted).into_iter().next() {
        return Err(many(
            text,
            &[only.clone(), next + second.start..next + second.end],
            what,
        ));
    }
    Ok(only.clone())
}

fn all_matches(text: &str, wanted: &str, what: &str) -> Result<Vec<Range<usize>>, TextError> {
    if wanted.is_empty() {
        return Err(TextError::NothingToFind {
            what: what.to_owned(),
        });
    }
    let matches = find_all(text, wanted);
    if matches.is_empty() {
        return Err(TextError::NoMatch {
            what: what.to_owned(),
            nearest: similar_passage::find(text, wanted),
        });
    }
    Ok(matches)
}

fn many(text: &str, matches: &[Range<usize>], what: &str) -> TextError {
    let (mut line, mut counted) = (1, 0);
    let mut found: Vec<usize> = Vec::new();
    for place in matches.iter().take(MAX_LISTED_LINES) {
        line += lines::line_of(&text[counted..], place.start - counted) - 1;
        counted = place.start;
        found.push(line);
    }
    found.dedup();
    TextError::ManyMatches {
        what: what.to_owned(),
        count: matches.len(),
        lines: found,
    }
}

/// All occurrences of `wanted`, regardless of line endings.
fn find_all(text: &str, wanted: &str) -> Vec<Range<usize>> {
    let wanted = without_returns(wanted);
    if !wanted.contains('\n') || !text.contains("\r\n") {
        return text
            .match_indices(wanted.as_ref())
            .map(|(start, found)| start..start + found.len())
            .collect();
    }
    // Search the text without the returns before line feeds, then map the offsets back.
    let mut plain = String::with_capacity(text.len());
    let mut returns = Vec::new();
    for piece in text.split_inclusive("\r\n") {
        match piece.strip_suffix("\r\n") {
            Some(line) => {
                plain.push_str(line);
                returns.push(plain.len());
                plain.push('\n');
            }
            None => plain.push_str(piece),
        }
    }
    let original = |offset: usize| offset + returns.partition_point(|place| *place < offset);
    plain
        .match_indices(wanted.as_ref())
        .map(|(start, found)| original(start)..original(start + found.len()))
        .collect()
}

fn without_returns(text: &str) -> Cow<'_, str> {
    Newline::Lf.convert(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(old: &str, new: &str) -> Edit {
        Edit {
            old: old.into(),
            new: new.into(),
            replace_all: false,
        }
    }

    fn edited(text: &str, edits: &[Edit]) -> String {
        apply_edits(text, edits).unwrap().text
    }

    #[test]
    fn edits_apply_in_order() {
        assert_eq!(
            edited("one two", &[edit("one", "two"), edit("two two", "three")]),
            "three"
        );
    }

    #[test]
    fn replacements_get_the_line_endings_of_the_note() {
        assert_eq!(
            edited("\u{feff}a\r\nb\r\nc", &[edit("a\nb", "x\ny\nz")]),
            "\u{feff}x\r\ny\r\nz\r\nc"
        );
        assert_eq!(edited("a\nb\n", &[edit("a\r\nb", "x\r\ny")]), "x\ny\n");
        assert_eq!(edited("a\r\nb\r\n", &[edit("\nb\n", "\n")]), "a\r\n");
        assert_eq!(edited("a\r\nb\nc\r\n", &[edit("b\nc", "z")]), "a\r\nz\r\n");
    }

    #[test]
    fn multiple_matches_are_an_error_without_replace_all() {
        let error = apply_edits("x\ny\nx x\n", &[edit("x", "z")]).unwrap_err();
        assert_eq!(
            error,
            TextError::ManyMatches {
                what: "`edits[0].old`".into(),
                count: 3,
                lines: vec![1, 3]
            }
        );
        assert_eq!(
            error.to_string(),
            "`edits[0].old` occurs 3 times, on lines 1, 3; give more of the surrounding text"
        );
        assert!(matches!(
            apply_edits("aaa", &[edit("aa", "b")]),
            Err(TextError::ManyMatches { count: 2, .. })
        ));
        let all = Edit {
            replace_all: true,
            ..edit("x", "語")
        };
        assert_eq!(
            apply_edits("x\ny\nx x\n", &[all]).unwrap(),
            Edited {
                text: "語\ny\n語 語\n".into(),
                replacements: 3
            }
        );
    }

    #[test]
    fn a_missing_passage_is_reported_with_the_closest_one() {
        let error =
            apply_edits("# Plan\nBuy milk today\n", &[edit("Buy milk tody", "x")]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`edits[0].old` does not occur in the note; closest passage, line 2: `Buy milk today`"
        );
    }

    #[test]
    fn empty_and_no_op_edits_are_rejected() {
        assert!(matches!(
            apply_edits("a", &[edit("", "b")]),
            Err(TextError::NothingToFind { .. })
        ));
        assert!(matches!(
            apply_edits("a", &[edit("a", "a")]),
            Err(TextError::NothingToChange { .. })
        ));
    }
}
