//! A command line as a shell has it: words with quotes and backslashes, the last one unfinished; and candidates in the
//! format that bash needs.

use super::Candidate;

/// The characters of our words at which bash breaks a word for completion.
const BREAKS: &str = "=:";

/// A line up to the cursor.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    /// The finished words, without the program.
    pub(super) words: Vec<String>,
    /// The word under the cursor, as far as it was typed.
    pub(super) current: String,
    /// The quote that it began with and that is still open.
    quote: Option<char>,
}

impl Line {
    /// The line as it was typed, the program first.
    pub(super) fn split(text: &str) -> Line {
        let mut line = Line::default();
        let (mut quote, mut in_word) = (None, false);
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            match (quote, letter) {
                (None, letter) if letter.is_whitespace() => {
                    if in_word {
                        line.words.push(std::mem::take(&mut line.current));
                    }
                    in_word = false;
                    continue;
                }
                (None, '\'' | '"') => quote = Some(letter),
                (Some(open), letter) if letter == open => quote = None,
                (None, '\\') => line.current.extend(letters.next()),
                (Some('"'), '\\') => match letters.next() {
                    Some(escaped @ ('"' | '\\' | '$' | '`')) => line.current.push(escaped),
                    other => {
                        line.current.push('\\');
                        line.current.extend(other);
                    }
                },
                (_, letter) => line.current.push(letter),
            }
            in_word = true;
        }
        line.quote = quote;
        // Assignments may precede the program.
        let program = line.words.iter().position(|word| !word.contains('='));
        line.words
            .drain(..program.map_or(line.words.len(), |program| program + 1));
        line
    }

    /// Words that a shell has split, without the program; the last one is unfinished, and may still have its quotes.
    pub(super) fn of_words(mut words: Vec<String>, is_raw: bool) -> Line {
        let last = words.pop().unwrap_or_default();
        match is_raw {
            false => Line {
                words,
                current: last,
                quote: None,
            },
            true => Line {
                words,
                ..Line::split(&format!("program {last}"))
            },
        }
    }

    /// A candidate as bash inserts it: without the part before a break, and with a space at the end if it is complete.
    pub(super) fn for_bash(&self, candidate: &Candidate, breaks: Option<&str>) -> String {
        let value = candidate.value.as_str();
        if self.quote.is_some() {
            // Bash inserts it behind the open quote, and closes it.
            return value.to_owned();
        }
        let breaks = breaks.unwrap_or(BREAKS);
        let is_break = |letter: char| BREAKS.contains(letter) && breaks.contains(letter);
        let there = self.current.rfind(is_break).map_or(0, |at| at + 1);
        let rest = value.get(there..).unwrap_or_default();
        let mut word = String::new();
        for (at, letter) in rest.chars().enumerate() {
            let is_plain = letter.is_alphanumeric()
                || "-_./:@%+,=".contains(letter)
                || (letter == '~' && at > 0)
                || !letter.is_ascii();
            if !is_plain {
                word.push('\\');
            }
            word.push(letter);
        }
        if !candidate.is_open() {
            word.push(' ');
        }
        word
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_split(text: &str, words: &[&str], current: &str, quote: Option<char>) {
        let line = Line::split(text);
        assert_eq!(line.words, words, "{text}");
        assert_eq!(line.current, current, "{text}");
        assert_eq!(line.quote, quote, "{text}");
    }

    #[test]
    fn lines_are_split_like_a_shell() {
        assert_split("notehost ", &[], "", None);
        assert_split("notehost ca", &[], "ca", None);
        assert_split("A=1 ./notehost call  doc", &["call"], "doc", None);
        assert_split(
            r#"notehost call a\ b "c d" 'e"f' "#,
            &["call", "a b", "c d", "e\"f"],
            "",
            None,
        );
        assert_split(
            "notehost --path 'Work/My Pl",
            &["--path"],
            "Work/My Pl",
            Some('\''),
        );
        assert_split(r#"notehost "a\"b\n"#, &[], "a\"b\\n", Some('"'));
        assert_split("notehost ''", &[], "", None);
    }

    #[test]
    fn bash_candidates_omit_the_typed_part() {
        let bash = |typed: &str, value: &str| {
            Line::split(&format!("notehost {typed}")).for_bash(&Candidate::new(value, ""), None)
        };
        assert_eq!(bash("ca", "call"), "call ");
        assert_eq!(bash("Wo", "Work/"), "Work/");
        assert_eq!(
            bash("Wo", "Work/My Plan (1).md"),
            "Work/My\\ Plan\\ \\(1\\).md "
        );
        assert_eq!(bash("'Wo", "Work/My Plan.md"), "Work/My Plan.md");
        assert_eq!(bash("--path=Wo", "--path=Work/A.md"), "Work/A.md ");
        assert_eq!(bash("Work/a:", "Work/a:b.md"), "b.md ");
        assert_eq!(bash("T", "Tee & Küche.md"), "Tee\\ \\&\\ Küche.md ");
    }

    #[test]
    fn words_of_other_shells_are_already_split() {
        let words = |raw| {
            let typed = ["call", "a b", "'Work/My"].map(str::to_owned);
            Line::of_words(typed.to_vec(), raw)
        };
        assert_eq!(words(true).words, ["call", "a b"]);
        assert_eq!(words(true).current, "Work/My");
        assert_eq!(words(false).current, "'Work/My");
    }
}
