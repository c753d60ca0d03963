//! Links that lead to one file are made to lead to another, as when two notes are one thing or a missing note has
//! another name. Nothing moves; notes that move take their links along by themselves (`document` `rename`).

use notehost_sdk::prelude::*;
use notehost_sdk::text::links::{self, Fragment, Link, Moves, Names, Stuck};
use notehost_sdk::text::moving::LinkLeft;
use notehost_sdk::text::{self, facts::facts, section};
use notehost_sdk::{Kind, fold_name, is_note};

use notehost_sdk::pages::counted;

/// Rewrite links: all that lead to one note or file, or name one that is not there, lead to another. Their form, text
/// and `#fragment` stay. Both files stay as they are; links of a note to itself are left alone.
///
/// Example: `{"from": "Beans", "to": "The morning cup"}`
#[args]
pub struct Rewrite {
    /// A note or file, or the `target` of broken links as `unresolved` tells it.
    pub from: String,
    /// The note or file that the links are to lead to: path, unique name or `[[link]]`.
    pub to: String,
}

/// Links that lead elsewhere now.
#[reply]
pub struct Rewritten {
    /// What they led to, or named.
    pub from: String,
    /// What they lead to now.
    pub to: String,
    /// How many links were rewritten.
    pub links_rewritten: usize,
    /// In how many notes.
    pub notes: usize,
    /// Links that could not be rewritten.
    pub links_left: Vec<LinkLeft>,
    /// Rewritten links whose heading or block is not in the new target.
    pub fragments_missing: Vec<MissingFragment>,
}

/// A link to a heading or block that is not there.
#[reply]
pub struct MissingFragment {
    /// The note in which it stands.
    pub path: String,
    /// The line of the file, from 1.
    pub line: usize,
    /// What it points to: `#Heading`, `#^block`.
    pub fragment: String,
}

impl Action for Rewrite {
    type Output = Rewritten;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Rewritten> {
        let to = vault.find_file(&self.to)?;
        let source = Source::find(vault, &self.from)?;
        if source.path() == to {
            return Err(Error::validation(format!(
                "`from` and `to` are both `{to}`: name two files"
            )));
        }
        let task = Task::new(vault, &source, &to)?;
        let mut result = Rewritten {
            from: source.name().to_owned(),
            to: to.clone(),
            links_rewritten: 0,
            notes: 0,
            links_left: Vec::new(),
            fragments_missing: Vec::new(),
        };
        for path in vault.linking(&source.candidates())? {
            if is_note(&path) && path != source.path() {
                task.rewrite(vault, &path, &mut result)?;
            }
        }
        match &source {
            Source::Missing { error, .. }
                if result.links_rewritten == 0 && result.links_left.is_empty() =>
            {
                Err(Error::not_found(format!(
                    "{}; and no link names `{}`",
                    error.message(),
                    source.name()
                )))
            }
            _ => Ok(result),
        }
    }

    fn text(output: &Rewritten) -> String {
        let mut text = format!(
            "{} in {} led from `{}` to `{}`",
            counted(output.links_rewritten as u64, "link"),
            counted(output.notes as u64, "note"),
            output.from,
            output.to
        );
        for left in &output.links_left {
            text.push_str(&format!(
                "\nleft as it is: {} in `{}`, line {}: {}",
                left.link, left.path, left.line, left.reason
            ));
        }
        for missing in &output.fragments_missing {
            text.push_str(&format!(
                "\n`{}` is not in `{}`: `{}`, line {}",
                missing.fragment, output.to, missing.path, missing.line
            ));
        }
        text
    }
}

/// What the links lead to now.
enum Source {
    /// A file that is there.
    File(String),
    /// Something that is not.
    Missing {
        /// As the caller wrote it.
        name: String,
        /// Where it might be: links are read as if it were there.
        path: String,
        /// Why it was not found.
        error: Error,
    },
}

impl Source {
    fn find(vault: &Vault, from: &str) -> Result<Source> {
        let error = match vault.find_file(from) {
            Ok(path) => return Ok(Source::File(path)),
            Err(error) if error.kind() == Code::NotFound => error,
            Err(error) => return Err(error),
        };
        let written = links::parse(from)
            .into_iter()
            .next()
            .map_or_else(|| from.trim().to_owned(), |link| link.target);
        let name = bare(&written).to_owned();
        if name.is_empty() {
            return Err(Error::validation(format!(
                "`from` is `{from}`, which names nothing"
            )));
        }
        Ok(Source::Missing {
            path: format!("{name}.md"),
            name,
            error,
        })
    }

    fn path(&self) -> &str {
        match self {
            Source::File(path) | Source::Missing { path, .. } => path,
        }
    }

    fn name(&self) -> &str {
        match self {
            Source::File(path) => path,
            Source::Missing { name, .. } => name,
        }
    }

    /// Files whose names the links in question have.
    fn candidates(&self) -> Vec<String> {
        match self {
            Source::File(path) => vec![path.clone()],
            Source::Missing { name, path, .. } => vec![path.clone(), name.clone()],
        }
    }
}

/// A target without the dots and slashes before it and the `.md` behind it.
fn bare(target: &str) -> &str {
    let mut rest = target.trim();
    while let Some(after) = ["./", "../", "/"]
        .iter()
        .find_map(|dots| rest.strip_prefix(dots))
    {
        rest = after;
    }
    if is_note(rest) {
        &rest[..rest.len() - ".md".len()]
    } else {
        rest
    }
}

struct Task<'t> {
    source: &'t Source,
    to: &'t str,
    moves: Moves,
    /// The files, with the missing one as if it were there.
    before: Names,
    after: Names,
    goal: Goal,
}

impl<'t> Task<'t> {
    fn new(vault: &Vault, source: &'t Source, to: &'t str) -> Result<Task<'t>> {
        let mut files = vault.list_all("", true)?;
        files.retain(|entry| entry.kind == Kind::File);
        let after = Names::new(files.into_iter().map(|entry| entry.path));
        let before = match source {
            Source::File(_) => after.clone(),
            Source::Missing { path, .. } => Names::new(after.paths().chain([path.as_str()])),
        };
        Ok(Task {
            moves: [(source.path(), to)].into_iter().collect(),
            goal: Goal::read(vault, to)?,
            source,
            to,
            before,
            after,
        })
    }

    /// Rewrite one note, and tell what could not be.
    fn rewrite(&self, vault: &Vault, path: &str, result: &mut Rewritten) -> Result<()> {
        let blob = vault.read(path)?;
        // What is no UTF-8 is looked through as far as it can be read, and never written.
        let text = String::from_utf8_lossy(&blob.bytes);
        let concerned: Vec<Link> = links::parse(&text)
            .into_iter()
            .filter(|link| self.concerns(path, link))
            .collect();
        if concerned.is_empty() {
            return Ok(());
        }
        let mut rewrite = links::rewrite(path, &text, &self.moves, &self.before, &self.after);
        rewrite
            .splices
            .retain(|(range, _)| concerned.iter().any(|link| link.target_range == *range));
        rewrite
            .stuck
            .retain(|stuck| is_among(stuck, &concerned, &text));
        let obstacle = if matches!(text, std::borrow::Cow::Owned(_)) {
            Some("the note is not UTF-8 text")
        } else if vault.access(path) < Tier::Write {
            Some("this caller may not write there")
        } else {
            None
        };
        let left = |line: usize, link: &str, reason: String| LinkLeft {
            path: path.to_owned(),
            line,
            link: link.to_owned(),
            reason,
        };
        if let Some(obstacle) = obstacle {
            result.links_left.extend(
                concerned
                    .iter()
                    .map(|link| left(link.line, &text[link.range.clone()], obstacle.to_owned())),
            );
            return Ok(());
        }
        result.links_left.extend(
            rewrite
                .stuck
                .iter()
                .map(|stuck| left(stuck.line, &stuck.link, stuck.reason.to_string())),
        );
        if rewrite.splices.is_empty() {
            return Ok(());
        }
        let is_rewritten = |link: &&Link| {
            rewrite
                .splices
                .iter()
                .any(|(range, _)| *range == link.target_range)
        };
        for link in concerned.iter().filter(is_rewritten) {
            if let Some(fragment) = link.fragment.as_ref().filter(|it| !self.goal.has(it)) {
                result.fragments_missing.push(MissingFragment {
                    path: path.to_owned(),
                    line: link.line,
                    fragment: written(fragment),
                });
            }
        }
        result.links_rewritten += rewrite.splices.len();
        result.notes += 1;
        vault.write(path, rewrite.apply(&text).as_bytes(), Some(&blob.etag))?;
        Ok(())
    }

    /// Whether a link is one of those that are to lead elsewhere.
    fn concerns(&self, path: &str, link: &Link) -> bool {
        if link.external || link.target.is_empty() {
            return false;
        }
        match self.source {
            Source::File(file) => {
                let found = self.before.resolve(path, &link.target);
                found.is_some_and(|found| found.path == file && found.path != self.to)
            }
            Source::Missing { name, .. } => {
                self.after.resolve(path, &link.target).is_none()
                    && fold_name(bare(&link.target)) == fold_name(name)
            }
        }
    }
}

fn is_among(stuck: &Stuck, links: &[Link], text: &str) -> bool {
    links
        .iter()
        .any(|link| link.line == stuck.line && text[link.range.clone()] == stuck.link)
}

fn written(fragment: &Fragment) -> String {
    match fragment {
        Fragment::Heading(path) => format!("#{}", path.join("#")),
        Fragment::Block(id) => format!("#^{id}"),
    }
}

/// What is in the file that the links are to lead to.
enum Goal {
    /// A note with its outline and the ids of its blocks.
    Note {
        outline: Option<text::Outline>,
        blocks: Vec<String>,
    },
    /// A file about whose inside nothing is known.
    Other,
}

impl Goal {
    fn read(vault: &Vault, path: &str) -> Result<Goal> {
        if !is_note(path) {
            return Ok(Goal::Other);
        }
        let Ok(note) = vault.read_text(path) else {
            return Ok(Goal::Other);
        };
        let blocks = facts(&note.text).blocks.into_iter();
        Ok(Goal::Note {
            outline: text::outline(&note.text).ok(),
            blocks: blocks.map(|block| block.id.to_lowercase()).collect(),
        })
    }

    fn has(&self, fragment: &Fragment) -> bool {
        match (self, fragment) {
            (Goal::Other, _) | (Goal::Note { outline: None, .. }, Fragment::Heading(_)) => true,
            (Goal::Note { blocks, .. }, Fragment::Block(id)) => blocks.contains(&id.to_lowercase()),
            (
                Goal::Note {
                    outline: Some(outline),
                    ..
                },
                Fragment::Heading(path),
            ) => !matches!(
                section::find(outline, &path.join(text::outline::PATH_SEPARATOR)),
                Err(text::TextError::NoSection { .. })
            ),
        }
    }
}
