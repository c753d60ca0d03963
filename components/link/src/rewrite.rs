//! Redirects links from one file to another, as when two notes were merged or a missing note has another name. No file
//! moves; `document.rename` moves a note and updates its links.

use notehost_sdk::prelude::*;
use notehost_sdk::text::links::{self, Fragment, Link, Moves, Names, Stuck};
use notehost_sdk::text::moving::LinkLeft;
use notehost_sdk::text::{self, facts::facts, section};
use notehost_sdk::{Kind, fold_name, is_note};

use notehost_sdk::pages::counted;

/// Redirect links: all links to one note or file, existing or missing, then lead to another. Their syntax, text and
/// `#fragment` stay. Both files stay as they are; links of a note to itself do not change.
///
/// Example: `{"from": "Beans", "to": "The morning cup"}`
#[args]
pub struct Rewrite {
    /// A note or file, or the `target` of broken links from `unresolved`.
    pub from: String,
    /// The new target note or file: path, unique name or `[[link]]`.
    pub to: String,
}

/// The result of rewriting links.
#[reply]
pub struct RewriteResult {
    /// The old target.
    pub from: String,
    /// The new target.
    pub to: String,
    /// Number of rewritten links.
    pub links_rewritten: usize,
    /// Number of changed notes.
    pub notes: usize,
    /// Links that could not be rewritten.
    pub links_left: Vec<LinkLeft>,
    /// Rewritten links whose heading or block is missing in the new target.
    pub fragments_missing: Vec<MissingFragment>,
}

/// A link to a missing heading or block.
#[reply]
pub struct MissingFragment {
    /// The note that contains it.
    pub path: String,
    /// The line number in the file, from 1.
    pub line: usize,
    /// The fragment: `#Heading`, `#^block`.
    pub fragment: String,
}

impl Action for Rewrite {
    type Output = RewriteResult;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<RewriteResult> {
        let to = vault.find_file(&self.to)?;
        let source = Source::find(vault, &self.from)?;
        if source.path() == to {
            return Err(Error::validation(format!(
                "`from` and `to` are both `{to}`: give two different files"
            )));
        }
        let rewriter = LinkRewriter::new(vault, &source, &to)?;
        let mut result = RewriteResult {
            from: source.name().to_owned(),
            to: to.clone(),
            links_rewritten: 0,
            notes: 0,
            links_left: Vec::new(),
            fragments_missing: Vec::new(),
        };
        for path in vault.linking(&source.candidates())? {
            if is_note(&path) && path != source.path() {
                rewriter.rewrite(vault, &path, &mut result)?;
            }
        }
        match &source {
            Source::Missing { error, .. }
                if result.links_rewritten == 0 && result.links_left.is_empty() =>
            {
                Err(Error::not_found(format!(
                    "{}, and no link has the target `{}`",
                    error.message(),
                    source.name()
                )))
            }
            _ => Ok(result),
        }
    }

    fn text(output: &RewriteResult) -> String {
        ReplyText::new(format!(
            "rewrote {} in {} from `{}` to `{}`",
            counted(output.links_rewritten as u64, "link"),
            counted(output.notes as u64, "note"),
            output.from,
            output.to
        ))
        .lines(&output.links_left, |left| {
            format!(
                "not rewritten: {} in `{}`, line {}: {}",
                left.link, left.path, left.line, left.reason
            )
        })
        .lines(&output.fragments_missing, |missing| {
            format!(
                "missing fragment `{}` in `{}`: `{}`, line {}",
                missing.fragment, output.to, missing.path, missing.line
            )
        })
        .into()
    }
}

/// The old target of the links.
enum Source {
    /// An existing file.
    File(String),
    /// A missing file.
    Missing {
        /// As the caller wrote it.
        name: String,
        /// A hypothetical path: links are resolved as if it existed.
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
                "`from` is `{from}`, expected a note, a file or a link target"
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

    /// The file names that the links in question may have.
    fn candidates(&self) -> Vec<String> {
        match self {
            Source::File(path) => vec![path.clone()],
            Source::Missing { name, path, .. } => vec![path.clone(), name.clone()],
        }
    }
}

/// A target without leading dots and slashes and without `.md`.
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

struct LinkRewriter<'t> {
    source: &'t Source,
    to: &'t str,
    moves: Moves,
    /// The files, with the missing one as if it existed.
    before: Names,
    after: Names,
    target: Target,
}

impl<'t> LinkRewriter<'t> {
    fn new(vault: &Vault, source: &'t Source, to: &'t str) -> Result<LinkRewriter<'t>> {
        let mut files = vault.list_all("", true)?;
        files.retain(|entry| entry.kind == Kind::File);
        let after = Names::new(files.into_iter().map(|entry| entry.path));
        let before = match source {
            Source::File(_) => after.clone(),
            Source::Missing { path, .. } => Names::new(after.paths().chain([path.as_str()])),
        };
        Ok(LinkRewriter {
            moves: [(source.path(), to)].into_iter().collect(),
            target: Target::read(vault, to)?,
            source,
            to,
            before,
            after,
        })
    }

    /// Rewrites one note, and records links that could not be rewritten.
    fn rewrite(&self, vault: &Vault, path: &str, result: &mut RewriteResult) -> Result<()> {
        let blob = vault.read(path)?;
        // Notes that are not UTF-8 are parsed lossily and never written.
        let text = String::from_utf8_lossy(&blob.bytes);
        let affected: Vec<Link> = links::parse(&text)
            .into_iter()
            .filter(|link| self.is_affected(path, link))
            .collect();
        if affected.is_empty() {
            return Ok(());
        }
        let mut rewrite = links::rewrite(path, &text, &self.moves, &self.before, &self.after);
        rewrite
            .splices
            .retain(|(range, _)| affected.iter().any(|link| link.target_range == *range));
        rewrite
            .stuck
            .retain(|stuck| is_among(stuck, &affected, &text));
        let skip_reason = if matches!(text, std::borrow::Cow::Owned(_)) {
            Some("the note is not UTF-8 text")
        } else if vault.access(path) < Tier::Write {
            Some("no write permission")
        } else {
            None
        };
        let left = |line: usize, link: &str, reason: String| LinkLeft {
            path: path.to_owned(),
            line,
            link: link.to_owned(),
            reason,
        };
        if let Some(skip_reason) = skip_reason {
            result.links_left.extend(
                affected
                    .iter()
                    .map(|link| left(link.line, &text[link.range.clone()], skip_reason.to_owned())),
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
        for link in affected.iter().filter(is_rewritten) {
            if let Some(fragment) = link.fragment.as_ref().filter(|it| !self.target.has(it)) {
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

    /// Whether a link is to be rewritten.
    fn is_affected(&self, path: &str, link: &Link) -> bool {
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

/// The fragments of the new target.
enum Target {
    /// A note with its outline and the ids of its blocks.
    Note {
        outline: Option<text::Outline>,
        blocks: Vec<String>,
    },
    /// A file whose content is unknown.
    Other,
}

impl Target {
    fn read(vault: &Vault, path: &str) -> Result<Target> {
        if !is_note(path) {
            return Ok(Target::Other);
        }
        let Ok(note) = vault.read_text(path) else {
            return Ok(Target::Other);
        };
        let blocks = facts(&note.text).blocks.into_iter();
        Ok(Target::Note {
            outline: text::outline(&note.text).ok(),
            blocks: blocks.map(|block| block.id.to_lowercase()).collect(),
        })
    }

    fn has(&self, fragment: &Fragment) -> bool {
        match (self, fragment) {
            (Target::Other, _) | (Target::Note { outline: None, .. }, Fragment::Heading(_)) => true,
            (Target::Note { blocks, .. }, Fragment::Block(id)) => {
                blocks.contains(&id.to_lowercase())
            }
            (
                Target::Note {
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
