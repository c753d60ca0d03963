//! Globs over paths: `*` and `?` do not match `/`, `**` matches any number of folders, `[a-z]` and `[!a-z]` match one
//! character, `{a,b}` one of several texts.

/// A parsed glob: its alternatives, and their path components.
#[derive(Debug)]
pub(super) struct Glob(Vec<Vec<Vec<Piece>>>);

#[derive(Debug, Clone, PartialEq)]
enum Piece {
    Letter(char),
    /// `?`
    Any,
    /// `*`, and `**` where it is not a whole part.
    Some,
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
}

impl Glob {
    /// Parses a glob; the error states what is wrong with it.
    pub(super) fn parse(text: &str) -> Result<Glob, &'static str> {
        let choices = choices(text)?;
        let parts = |choice: &String| choice.split('/').map(pieces).collect();
        Ok(Glob(choices.iter().map(parts).collect::<Result<_, _>>()?))
    }

    pub(super) fn fits(&self, path: &str) -> bool {
        let parts: Vec<Vec<char>> = path.split('/').map(|part| part.chars().collect()).collect();
        self.0.iter().any(|choice| fits_parts(choice, &parts))
    }
}

/// The globs that a glob with braces expands to.
fn choices(text: &str) -> Result<Vec<String>, &'static str> {
    let Some(open) = find_outside_class(text, '{') else {
        return match find_outside_class(text, '}') {
            None => Ok(vec![text.to_owned()]),
            Some(_) => Err("`}` without `{`"),
        };
    };
    let mut depth = 0;
    let mut starts = vec![open + 1];
    let mut inner = Vec::new();
    for (at, letter) in text[open..]
        .char_indices()
        .map(|(at, letter)| (open + at, letter))
    {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => {
                inner.push(&text[*starts.last().unwrap_or(&at)..at]);
                starts.push(at + 1);
            }
            _ => {}
        }
        if depth == 0 {
            inner.push(&text[*starts.last().unwrap_or(&at)..at]);
            let mut all = Vec::new();
            for choice in inner {
                all.extend(choices(&format!(
                    "{}{choice}{}",
                    &text[..open],
                    &text[at + 1..]
                ))?);
            }
            return Ok(all);
        }
    }
    Err("`{` is not closed")
}

fn find_outside_class(text: &str, wanted: char) -> Option<usize> {
    let mut in_class = false;
    text.char_indices().find_map(|(at, letter)| {
        match letter {
            '[' => in_class = true,
            ']' => in_class = false,
            _ => {}
        }
        (letter == wanted && !in_class).then_some(at)
    })
}

fn pieces(part: &str) -> Result<Vec<Piece>, &'static str> {
    let mut pieces = Vec::new();
    let mut letters = part.chars().peekable();
    while let Some(letter) = letters.next() {
        pieces.push(match letter {
            '*' => Piece::Some,
            '?' => Piece::Any,
            '[' => {
                let negated = letters.next_if(|next| matches!(next, '!' | '^')).is_some();
                let mut ranges = Vec::new();
                loop {
                    let first = letters.next().ok_or("`[` is not closed")?;
                    // A leading bracket is a literal member of the class.
                    if first == ']' && !ranges.is_empty() {
                        break;
                    }
                    let mut ahead = letters.clone();
                    let last = match (ahead.next(), ahead.next()) {
                        (Some('-'), Some(last)) if last != ']' => {
                            letters = ahead;
                            last
                        }
                        _ => first,
                    };
                    ranges.push((first, last));
                }
                Piece::Class { negated, ranges }
            }
            letter => Piece::Letter(letter),
        });
    }
    Ok(pieces)
}

fn fits_parts(glob: &[Vec<Piece>], path: &[Vec<char>]) -> bool {
    let Some((first, rest)) = glob.split_first() else {
        return path.is_empty();
    };
    if *first == [Piece::Some, Piece::Some] {
        // At the end it matches everything below the folder, but not the folder itself.
        let least = usize::from(rest.is_empty());
        return (least..=path.len()).any(|skipped| fits_parts(rest, &path[skipped..]));
    }
    let Some((part, below)) = path.split_first() else {
        return false;
    };
    fits_part(first, part) && fits_parts(rest, below)
}

fn fits_part(glob: &[Piece], part: &[char]) -> bool {
    let Some((first, rest)) = glob.split_first() else {
        return part.is_empty();
    };
    if *first == Piece::Some {
        return (0..=part.len()).any(|skipped| fits_part(rest, &part[skipped..]));
    }
    let Some((letter, after)) = part.split_first() else {
        return false;
    };
    let fits = match first {
        Piece::Letter(wanted) => wanted == letter,
        Piece::Any | Piece::Some => true,
        Piece::Class { negated, ranges } => {
            let is_in = |(first, last): &(char, char)| first <= letter && letter <= last;
            ranges.iter().any(is_in) != *negated
        }
    };
    fits && fits_part(rest, after)
}
