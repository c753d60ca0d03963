//! How the target of a link is written, and how another file is written in the same manner.
//!
//! Nothing here knows whether a spelling resolves to the right file: `rewrite` tries them in order.

use crate::{is_note, parent_of};

use super::resolve::{file_name, is_dotted, join, same_name};
use super::{Link, Matched, Notation, Reason, Resolved, syntax};

/// The manner in which a target names its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// By its name alone.
    Name,
    /// By the last so many parts of its path.
    Tail(usize),
    /// By its path from the root.
    Path,
    /// The same with a leading slash.
    Rooted,
    /// By the way from the folder of the note, which may have to begin with `./`.
    Relative { dot: bool },
}

impl Form {
    /// The manner in which `link`, in the note at `source`, names the file that it was resolved to.
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

/// Whether any Markdown reader would come from `source` to `path` by this target.
fn leads_to(source: &str, target: &str, path: &str) -> bool {
    join(parent_of(source), target)
        .is_some_and(|joined| same_name(&joined, path) || same_name(&format!("{joined}.md"), path))
}

/// Whether a target writes out the extension of the file that it means.
pub(super) fn writes_extension(target: &str, path: &str) -> bool {
    same_name(file_name(target), file_name(path))
}

/// A spelling to try, not yet encoded.
pub(super) struct Spelling {
    pub(super) target: String,
    /// It holds only where no other file fits as well.
    pub(super) must_be_unique: bool,
}

/// How the file at `path` can be written in a link of the note at `source`, the most faithful to `form` first. The
/// full path, which always holds, is among them.
pub(super) fn spellings(form: Form, path: &str, source: &str, extension: bool) -> Vec<Spelling> {
    let mut variants = vec![path];
    if is_note(path) && !extension {
        variants.insert(0, &path[..path.len() - ".md".len()]);
    }
    let mut spellings = Vec::new();
    let mut add = |target: String, must_be_unique| {
        spellings.push(Spelling {
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
                let way = relative(parent_of(source), path);
                if !dot || way.starts_with("../") {
                    add(way.clone(), false);
                }
                add(format!("./{way}"), false);
            }
        }
    }
    for path in variants {
        add(path.to_owned(), false);
    }
    spellings
}

fn tail(path: &str, parts: usize) -> &str {
    let start = path
        .rmatch_indices('/')
        .nth(parts.saturating_sub(1))
        .map_or(0, |(slash, _)| slash + 1);
    &path[start..]
}

/// The way from `folder` to `path`.
fn relative(folder: &str, path: &str) -> String {
    let from: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    let to: Vec<&str> = path.split('/').collect();
    let shared = from
        .iter()
        .zip(&to[..to.len() - 1])
        .take_while(|(one, other)| one == other)
        .count();
    let mut way = vec![".."; from.len() - shared];
    way.extend(&to[shared..]);
    way.join("/")
}

/// `target` as it is written in the notation of `link`, where `written` stood before.
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
            // Blanks at the edges of a wikilink's path are not part of it.
            if target.trim() != target {
                return Err(Reason::Unwritable(' '));
            }
            match notation {
                Notation::Plain if target.contains(": ") => Err(Reason::Unwritable(':')),
                Notation::SingleQuoted => Ok(target.replace('\'', "''")),
                Notation::DoubleQuoted => Ok(target.replace('"', "\\\"")),
                _ => Ok(target.to_owned()),
            }
        }
    }
}

/// A part of the path that was there before keeps its spelling; a new one is encoded no more than it must be, and
/// letters outside ASCII only where they were encoded before.
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
    let mut encoded = String::with_capacity(part.len());
    for letter in part.chars() {
        let must = match letter {
            ' ' => notation == Notation::Bare,
            '(' | ')' => notation == Notation::Bare && !parentheses,
            '<' | '>' | '%' | '#' | '?' | '\\' | '|' | '[' | ']' | '^' | '`' | '$' | ':' | '"' => {
                true
            }
            letter if letter.is_ascii() => letter.is_ascii_control(),
            letter => encodes_letters || letter.is_control() || letter.is_whitespace(),
        };
        if must {
            for byte in letter.encode_utf8(&mut [0; 4]).bytes() {
                encoded.push_str(&format!("%{byte:02X}"));
            }
        } else {
            encoded.push(letter);
        }
    }
    encoded
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
