//! The same text replaced in many notes, as one change.

use notehost_sdk::notebook_of;
use notehost_sdk::prelude::*;
use notehost_sdk::text::{Newline, frontmatter, line_of};
use regex::NoExpand;

use notehost_sdk::matching::Place;
use notehost_sdk::matching::{Pattern, Skipped, Written, read};

/// How many notes one call may change.
pub(crate) const MOST_NOTES: usize = 500;
/// How many bytes the changed notes may have together.
const MOST_BYTES: usize = 64 << 20;

/// Why notes are left alone.
const NOT_WRITABLE: &str = "may not be written";
const BREAKS: &str = "its properties could not be read afterwards";

/// Replace a text in all notes that have it: one change, which can be undone as one. Try it with `dry_run` to see the
/// diff. Notes that may not be written are left alone and told. Links do not follow: `document.rename` renames a note.
///
/// Example: `{"find": "Supper club", "replace": "Dinner club", "path": "Journal"}`
#[args]
pub struct Replace {
    /// The text, or the regex.
    pub find: String,
    /// What comes in its place; with `regex`, `$1` and `${name}` are groups and `$$` is a `$`.
    pub replace: String,
    /// Whether `find` is a regex (Rust syntax); `^` and `$` are those of lines.
    #[serde(default)]
    pub regex: bool,
    /// Folder, note or glob.
    pub path: Option<String>,
    /// Whether upper and lower case differ (default true).
    pub case: Option<bool>,
}

/// What was replaced.
#[reply]
pub struct Replaced {
    /// The notes that were changed.
    pub items: Vec<ReplacedIn>,
    /// How many notes.
    pub total: usize,
    /// How many places in all.
    pub replaced: usize,
    /// Notes that were left alone, and why.
    pub left_alone: Option<Vec<Skipped>>,
}

/// A note that was changed.
#[reply]
pub struct ReplacedIn {
    /// The note.
    pub path: String,
    /// The line of the first place, as it was.
    pub line: usize,
    /// How many places.
    pub count: usize,
}

impl Action for Replace {
    type Output = Replaced;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Replaced> {
        let written = if self.regex {
            Written::Regex
        } else {
            Written::Plain
        };
        let case = self.case.unwrap_or(true);
        let pattern = Pattern::new("find", &self.find, written, case)?;
        self.check_groups(&pattern)?;
        let place = Place::find(vault, self.path.as_deref())?;
        let mut changes: Vec<(Note, Change)> = Vec::new();
        let mut left_alone = Vec::new();
        let mut bytes = 0;
        let candidates = self.candidates(vault, &pattern, &place)?;
        let mut steps = vault.steps(candidates.len());
        for path in candidates {
            steps.done("notes looked through");
            let note = match read(vault, &path)? {
                Ok(note) => note,
                Err(note) => {
                    left_alone.push(note);
                    continue;
                }
            };
            let Some(change) = self.change(&pattern, &note.text, case)? else {
                continue;
            };
            if let Some(reason) = obstacle(vault, &note, &change) {
                left_alone.push(Skipped { path, reason });
                continue;
            }
            bytes += change.text.len();
            changes.push((note, change));
            if changes.len() > MOST_NOTES || bytes > MOST_BYTES {
                return Err(Error::new(
                    Code::TooLarge,
                    format!(
                        "`{}` stands in more notes than one change may touch ({MOST_NOTES} notes, {} MiB): narrow it with `path`",
                        self.find,
                        MOST_BYTES >> 20
                    ),
                ));
            }
        }
        if changes.is_empty() {
            return Err(self.nothing(&left_alone));
        }
        let mut items = Vec::new();
        steps.more(changes.len());
        for (note, change) in changes {
            vault.write_note(&note, &change.text)?;
            steps.done("notes changed");
            items.push(ReplacedIn {
                path: note.path,
                line: change.line,
                count: change.count,
            });
        }
        Ok(Replaced {
            total: items.len(),
            replaced: items.iter().map(|item| item.count).sum(),
            items,
            left_alone: (!left_alone.is_empty()).then_some(left_alone),
        })
    }

    fn text(output: &Replaced) -> String {
        let mut text = format!("{} places in {} notes:", output.replaced, output.total);
        for item in &output.items {
            text.push_str(&format!(
                "\n{}: {} from line {}",
                item.path, item.count, item.line
            ));
        }
        for note in output.left_alone.iter().flatten() {
            text.push_str(&format!("\nleft alone: {} ({})", note.path, note.reason));
        }
        text
    }
}

/// A note as it will be.
pub(crate) struct Change {
    pub(crate) text: String,
    pub(crate) count: usize,
    /// The line of the first place.
    line: usize,
}

impl Replace {
    /// What becomes of a text; nothing if it stays as it is.
    pub(crate) fn change(
        &self,
        pattern: &Pattern,
        text: &str,
        case: bool,
    ) -> Result<Option<Change>> {
        // A line end means the note's own, unless the call is about line ends.
        let is_about_line_ends = self.find.contains('\r') || self.replace.contains('\r');
        let newline = Newline::of(text).filter(|_| !is_about_line_ends);
        let own;
        let regex = match newline {
            Some(Newline::CrLf) if !self.regex && self.find.contains('\n') => {
                let newline = Newline::CrLf;
                own = Pattern::new("find", &newline.convert(&self.find), Written::Plain, case)?;
                &own.regex
            }
            _ => &pattern.regex,
        };
        let matches: Vec<usize> = regex.find_iter(text).map(|found| found.start()).collect();
        let Some(first) = matches.first() else {
            return Ok(None);
        };
        let replacement = match newline {
            Some(newline) => newline.convert(&self.replace),
            None => self.replace.as_str().into(),
        };
        let changed = match self.regex {
            true => regex.replace_all(text, &*replacement),
            false => regex.replace_all(text, NoExpand(&replacement)),
        };
        if changed == text {
            return Ok(None);
        }
        Ok(Some(Change {
            text: changed.into_owned(),
            count: matches.len(),
            line: line_of(text, *first),
        }))
    }

    /// The notes that may have the text.
    fn candidates(&self, vault: &Vault, pattern: &Pattern, place: &Place) -> Result<Vec<String>> {
        if !self.regex && self.find.contains('\n') {
            // Notes with other line ends have it too, and the index was asked for this one.
            let longest = self.find.lines().max_by_key(|line| line.len());
            let line = longest.filter(|line| !line.is_empty());
            let of_line = line
                .map(|line| Pattern::new("find", line, Written::Plain, self.case.unwrap_or(true)));
            return match of_line {
                Some(of_line) => of_line?.candidates(vault, place),
                None => {
                    let notes = vault.notes("")?.into_iter().map(|entry| entry.path);
                    Ok(notes.filter(|path| place.holds(path)).collect())
                }
            };
        }
        pattern.candidates(vault, place)
    }

    /// A group that the regex has not would silently become nothing.
    fn check_groups(&self, pattern: &Pattern) -> Result<()> {
        if !self.regex {
            return Ok(());
        }
        for group in groups(&self.replace) {
            let is_there = match group.parse::<usize>() {
                Ok(number) => number < pattern.regex.captures_len(),
                Err(_) => pattern
                    .regex
                    .capture_names()
                    .flatten()
                    .any(|name| name == group),
            };
            if !is_there {
                return Err(Error::validation(format!(
                    "`replace` has `${group}`, and `find` has no such group: `${{1}}x` keeps a group apart from what follows, `$$` is a `$`"
                )));
            }
        }
        Ok(())
    }

    /// Why nothing could be replaced.
    fn nothing(&self, left_alone: &[Skipped]) -> Error {
        let told = |code: Code, first: &Skipped| {
            let others = match left_alone.len() - 1 {
                0 => String::new(),
                count => format!(" and {count} more"),
            };
            let message = format!(
                "nothing was changed: `{}` is left alone ({}){others}",
                first.path, first.reason
            );
            Error::new(code, message).with_details(json!({ "left_alone": left_alone }))
        };
        let with_reason = |reason: &str| left_alone.iter().find(|left| left.reason == reason);
        if let Some(first) = with_reason(NOT_WRITABLE) {
            let hint = Tier::Write.grant_hint(notebook_of(&first.path));
            return told(Code::PermissionDenied, first).with_hint(hint);
        }
        if let Some(first) = with_reason(BREAKS) {
            return told(Code::Unsupported, first);
        }
        Error::not_found(format!(
            "`{}` stands in no note, or is already what `replace` says: nothing was changed",
            self.find
        ))
    }
}

/// The groups that a replacement names, as the engine reads them: `$1`, `$name`, `${name}`.
fn groups(replacement: &str) -> Vec<&str> {
    let mut groups = Vec::new();
    let mut rest = replacement;
    while let Some(at) = rest.find('$') {
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            rest = after;
            continue;
        }
        let name = match rest.strip_prefix('{') {
            Some(inner) => inner.split_once('}').map(|(name, _)| name),
            None => {
                let belongs = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
                let end = rest.find(|letter| !belongs(letter)).unwrap_or(rest.len());
                Some(&rest[..end]).filter(|name| !name.is_empty())
            }
        };
        groups.extend(name);
    }
    groups
}

/// Why a note is not changed, if it is not.
fn obstacle(vault: &Vault, note: &Note, change: &Change) -> Option<String> {
    if vault.access(&note.path) < Tier::Write {
        return Some(NOT_WRITABLE.to_owned());
    }
    let reads = |text: &str| {
        let is_there = frontmatter::locate(text).is_some();
        is_there.then(|| frontmatter::properties(text).is_ok())
    };
    let is_broken = reads(&note.text) == Some(true) && reads(&change.text) != Some(true);
    is_broken.then(|| BREAKS.to_owned())
}
