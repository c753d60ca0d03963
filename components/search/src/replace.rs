//! Replaces text in many notes as one change.

use notehost_sdk::notebook_of;
use notehost_sdk::prelude::*;
use notehost_sdk::text::{Newline, frontmatter, line_of};
use regex::NoExpand;

use notehost_sdk::matching::Place;
use notehost_sdk::matching::{Pattern, Skipped, Written, read};

/// The maximum number of notes that one call may change.
pub(crate) const MAX_NOTES: usize = 500;
/// The maximum total size of the changed notes.
const MAX_TOTAL_BYTES: usize = 64 << 20;

/// Reasons why a note is skipped.
const NOT_WRITABLE: &str = "no write permission";
const BREAKS_FRONTMATTER: &str = "the change would make its properties unreadable";

/// Replace a text in all notes that contain it, as one change that can be undone. Preview the diff with `dry_run`.
/// Notes without write permission are skipped and listed in `left_alone`. Links do not follow: use `document.rename`
/// for that.
///
/// Example: `{"find": "Supper club", "replace": "Dinner club", "path": "Journal"}`
#[args]
pub struct Replace {
    /// The text or regex to find.
    pub find: String,
    /// The replacement; with `regex`, `$1` and `${name}` are groups and `$$` is a literal `$`.
    pub replace: String,
    /// Whether `find` is a regex (Rust syntax); `^` and `$` match at line boundaries.
    #[serde(default)]
    pub regex: bool,
    /// Folder, note or glob.
    pub path: Option<String>,
    /// Case-sensitive (default true).
    pub case: Option<bool>,
}

/// The result of a replacement.
#[reply]
pub struct ReplaceResult {
    /// The notes that were changed.
    pub items: Vec<ReplacedNote>,
    /// Number of changed notes.
    pub total: usize,
    /// Number of replacements in all.
    pub replaced: usize,
    /// Notes that were skipped, and why.
    pub left_alone: Option<Vec<Skipped>>,
}

/// A note that was changed.
#[reply]
pub struct ReplacedNote {
    /// The note.
    pub path: String,
    /// The line number of the first replacement, before the change.
    pub line: usize,
    /// Number of replacements.
    pub count: usize,
}

impl Action for Replace {
    type Output = ReplaceResult;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<ReplaceResult> {
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
            steps.done("notes searched");
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
            if let Some(reason) = skip_reason(vault, &note, &change) {
                left_alone.push(Skipped { path, reason });
                continue;
            }
            bytes += change.text.len();
            changes.push((note, change));
            if changes.len() > MAX_NOTES || bytes > MAX_TOTAL_BYTES {
                return Err(Error::new(
                    Code::TooLarge,
                    format!(
                        "`{}` occurs in more notes than one change may touch ({MAX_NOTES} notes, {} MiB): limit it with `path`",
                        self.find,
                        MAX_TOTAL_BYTES >> 20
                    ),
                ));
            }
        }
        if changes.is_empty() {
            return Err(self.nothing_replaced(&left_alone));
        }
        let mut items = Vec::new();
        steps.more(changes.len());
        for (note, change) in changes {
            vault.write_note(&note, &change.text)?;
            steps.done("notes changed");
            items.push(ReplacedNote {
                path: note.path,
                line: change.line,
                count: change.count,
            });
        }
        Ok(ReplaceResult {
            total: items.len(),
            replaced: items.iter().map(|item| item.count).sum(),
            items,
            left_alone: (!left_alone.is_empty()).then_some(left_alone),
        })
    }

    fn text(output: &ReplaceResult) -> String {
        ReplyText::new(format!(
            "{} replacements in {} notes:",
            output.replaced, output.total
        ))
        .lines(&output.items, |item| {
            format!("{}: {} from line {}", item.path, item.count, item.line)
        })
        .lines(output.left_alone.iter().flatten(), |note| {
            format!("skipped: {} ({})", note.path, note.reason)
        })
        .into()
    }
}

/// The new text of a note.
pub(crate) struct Change {
    pub(crate) text: String,
    pub(crate) count: usize,
    /// The line number of the first replacement.
    line: usize,
}

impl Replace {
    /// Applies the replacement to a text; `None` if nothing changes.
    pub(crate) fn change(
        &self,
        pattern: &Pattern,
        text: &str,
        case: bool,
    ) -> Result<Option<Change>> {
        // `\n` matches the note's own line ending, unless the call is about line endings.
        let is_about_line_endings = self.find.contains('\r') || self.replace.contains('\r');
        let newline = Newline::of(text).filter(|_| !is_about_line_endings);
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

    /// The notes that may contain the text.
    fn candidates(&self, vault: &Vault, pattern: &Pattern, place: &Place) -> Result<Vec<String>> {
        if !self.regex && self.find.contains('\n') {
            // Notes with other line endings may match too, so ask the index for the longest line only.
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

    /// Rejects unknown groups: the regex engine would silently replace them with nothing.
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
                    "`replace` uses the group `${group}`, which `find` does not define: write `${{1}}x` to separate a group from the text after it, `$$` for a literal `$`"
                )));
            }
        }
        Ok(())
    }

    /// The error if nothing was replaced.
    fn nothing_replaced(&self, left_alone: &[Skipped]) -> Error {
        let skipped_error = |code: Code, first: &Skipped| {
            let others = match left_alone.len() - 1 {
                0 => String::new(),
                count => format!(" and {count} more"),
            };
            let message = format!(
                "nothing was changed: `{}` was skipped ({}){others}",
                first.path, first.reason
            );
            Error::new(code, message).with_details(json!({ "left_alone": left_alone }))
        };
        let with_reason = |reason: &str| left_alone.iter().find(|left| left.reason == reason);
        if let Some(first) = with_reason(NOT_WRITABLE) {
            let hint = Tier::Write.grant_hint(notebook_of(&first.path));
            return skipped_error(Code::PermissionDenied, first).with_hint(hint);
        }
        if let Some(first) = with_reason(BREAKS_FRONTMATTER) {
            return skipped_error(Code::Unsupported, first);
        }
        Error::not_found(format!(
            "nothing was changed: `{}` does not occur in any note, or already equals `replace`",
            self.find
        ))
    }
}

/// The groups that a replacement references, in the syntax of the regex engine: `$1`, `$name`, `${name}`.
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

/// The reason to skip a note, if there is one.
fn skip_reason(vault: &Vault, note: &Note, change: &Change) -> Option<String> {
    if vault.access(&note.path) < Tier::Write {
        return Some(NOT_WRITABLE.to_owned());
    }
    let is_readable = |text: &str| {
        let is_there = frontmatter::locate(text).is_some();
        is_there.then(|| frontmatter::properties(text).is_ok())
    };
    let is_broken =
        is_readable(&note.text) == Some(true) && is_readable(&change.text) != Some(true);
    is_broken.then(|| BREAKS_FRONTMATTER.to_owned())
}
