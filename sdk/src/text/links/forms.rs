//! The forms of link targets, and the notation of another file in the same form.
//!
//! It does not check whether a target resolves to the right file: `rewrite` tries the candidates in order.

use crate::{is_note, parent_of};

use super::resolve::{file_name, is_dotted, join, same_name};
use super::{Link, Matched, Notation, Reason, Resolved, syntax};
use crate::text::percent;

/// The form of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The bare name.
    Name,
    /// The last parts of the path.
    Tail(usize),
    /// The path from the root.
    Path,
    /// The same with a leading slash.
    Rooted,
    /// The path relative to the folder of the note, possibly with `./`.
    Relative { dot: bool },
}

impl Form {
    /// The form of `link`, in the note at `source`, given the file that it resolved to.
    pub(super) fn of(link: &Link, source: &str, resolved: Resolved<'_>) -> Form {
        let target = link.target.as_str();
        let is_markdown = matches!(link.notation, Notation::Bare | Notation::Angle);
        if target.starts_with('/') {
            Form::Rooted
        } else if is_dotted(target) {
            Form::Relative {
                dot: target.starts_with("./"),
            }
        } else if is_markdown && leads_to(source, target, resolved.path) {
            Form::Relative { dot: false }
        } else if !target.contains('/') {
            Form::Name
        } else {
            match resolved.matched {
                Matched::Folder => Form::Relative { dot: false },
                Matched::Name => Form::Tail(target.split('/').count()),
                Matched::Path | Matched::Itself => Form::Path,
            }
        }
    }
}

/// Whether this target resolves from `source` to `path` in any Markdown reader.
fn leads_to(source: &str, target: &str, path: &str) -> bool {
    join(parent_of(source), target)
        .is_some_and(|joined| same_name(&joined, path) || same_name(&format!("{joined}.md"), path))
}

/// Whether a target includes the file extension.
pub(super) fn writes_extension(target: &str, path: &str) -> bool {
    same_name(file_name(target), file_name(path))
}

/// A candidate, not yet encoded.
pub(super) struct Candidate {
    pub(super) target: String,
    /// Whether it is valid only if no other file matches.
    pub(super) must_be_unique: bool,
}

/// The candidates for a link of the note at `source` to the file at `path`, the closest to `form` first. They include the full
/// path, which is always valid.
pub(super) fn candidates(form: Form, path: &str, source: &str, extension: bool) -> Vec<Candidate> {
    let mut variants = vec![path];
    if is_note(path) && !extension {
        variants.insert(0, &path[..path.len() - ".md".len()]);
    }
    let mut candidates = Vec::new();
    let mut add = |target: String, must_be_unique| {
        candidates.push(Candidate {
            target,
            must_be_unique,
        })
    };
    for path in &variants {
        match form {
            Form::Name => add(file_name(path).to_owned(), true),
            Form::Tail(parts) => add(tail(path, parts).to_owned(), true),
            Form::Path => {}
            Form::Rooted => add(format!("/{path}"), false),
            Form::Relative { dot } => {
                let route = relative(parent_of(source), path);
                if !dot || route.starts_with("../") {
                    add(route.clone(), false);
                }
                add(format!("./{route}"), false);
            }
        }
    }
    for path in variants {
        add(path.to_owned(), false);
    }
    candidates
}

fn tail(path: &str, parts: usize) -> &str {
    let start = path
        .rmatch_indices('/')
        .nth(parts.saturating_sub(1))
        .map_or(0, |(slash, _)| slash + 1);
    &path[start..]
}

/// The relative path from `folder` to `path`.
fn relative(folder: &str, path: &str) -> String {
    let from: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    let to: Vec<&str> = path.split('/').collect();
    let shared = from
        .iter()
        .zip(&to[..to.len() - 1])
        .take_while(|(one, other)| one == other)
        .count();
    let mut route = vec![".."; from.len() - shared];
    route.extend(&to[shared..]);
    route.join("/")
}

/// `target` in the notation of a link whose path was `written`.
pub(super) fn encode(target: &str, notation: Notation, written: &str) -> Result<String, Reason> {
    match notation {
        Notation::Bare | Notation::Angle => Ok(encode_destination(target, notation, written)),
        Notation::Wiki | Notation::Plain | Notation::SingleQuoted | Notation::DoubleQuoted => {
            let forbidden = |letter: char| {
                matches!(letter, '|' | '#' | '^' | '[' | ']' | '\\') || letter.is_control()
            };
            if let Some(letter) = target.chars().find(|letter| forbidden(*letter)) {
                return Err(Reason::Unwritable(letter));
            }
            // A wikilink's path is trimmed.
            if target.trim() != target {
                return Err(Reason::Unwritable(' '));
            }
            match notation {
                Notation::Plain if target.contains(": ") => Err(Reason::Unwritable(':')),
                notation => Ok(notation.escaped(target)),
            }
        }
    }
}

/// Path components that were there before keep their encoding; new ones are encoded only where necessary, and non-ASCII letters
/// only if they were encoded before.
fn encode_destination(target: &str, notation: Notation, written: &str) -> String {
    let known: Vec<(String, &str)> = written
        .split('/')
        .map(|part| (syntax::decode(part), part))
        .collect();
    let encodes_letters = written.split('%').skip(1).any(|code| {
        code.starts_with(|high: char| matches!(high, '8' | '9' | 'a'..='f' | 'A'..='F'))
    });
    let parts: Vec<String> = target
        .split('/')
        .map(
            |part| match known.iter().find(|(decoded, _)| decoded == part) {
                Some((_, spelled)) => (*spelled).to_owned(),
                None => encode_part(part, notation, encodes_letters),
            },
        )
        .collect();
    parts.join("/")
}

fn encode_part(part: &str, notation: Notation, encodes_letters: bool) -> String {
    let parentheses = balanced(part);
    percent::encode_where(part, |letter| match letter {
        ' ' => notation == Notation::Bare,
        '(' | ')' => notation == Notation::Bare && !parentheses,
        '<' | '>' | '%' | '#' | '?' | '\\' | '|' | '[' | ']' | '^' | '`' | '$' | ':' | '"' => true,
        letter if letter.is_ascii() => letter.is_ascii_control(),
        letter => encodes_letters || letter.is_control() || letter.is_whitespace(),
    })
}

fn balanced(part: &str) -> bool {
    let mut depth = 0usize;
    for letter in part.chars() {
        match letter {
            '(' => depth += 1,
            ')' if depth == 0 => return false,
            ')' => depth -= 1,
            _ => {}
        }
    }
    depth == 0
}
