//! Redirecting links from one block to another: `transfer_references`, and the links of a moved block.

use std::ops::Range;

use notehost_sdk::Kind;
use notehost_sdk::pages::counted;
use notehost_sdk::prelude::*;
use notehost_sdk::text::links::{self, Fragment, Link, Moves, Names, Notation};
use notehost_sdk::text::moving::LinkLeft;
use notehost_sdk::text::percent;
use notehost_sdk::text::splice::{self, Splice};

use crate::block_ids::{give_id, link_to};
use crate::session::{BlockChange, Session};

/// Redirect all links to one block (by its `^id`) to another; that one gets an id if it has none.
///
/// Example: `{"from": "Coffee/The morning cup#^promise", "to": "Coffee/The morning cup#Recipe"}`
#[args]
pub struct TransferReferences {
    /// The block the links point to.
    pub from: String,
    /// The block to point them to.
    pub to: String,
}

/// The result of redirecting links.
#[reply]
pub struct TransferResult {
    /// The old target block.
    pub from: String,
    /// The new target block.
    pub to: String,
    /// Number of rewritten links.
    pub links_rewritten: usize,
    /// Number of notes that contain them.
    pub notes: usize,
    /// Links that could not be rewritten.
    pub links_left: Vec<LinkLeft>,
}

impl Action for TransferReferences {
    type Output = TransferResult;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<TransferResult> {
        self.commit(vault)
    }

    fn text(output: &TransferResult) -> String {
        let mut text = format!(
            "{} in {} redirected from `{}` to `{}`",
            counted(output.links_rewritten as u64, "link"),
            counted(output.notes as u64, "note"),
            output.from,
            output.to
        );
        text.push_str(&unrewritten_summary(0, &output.links_left));
        text
    }
}

/// The lines of a text reply about rewritten links and links that could not be rewritten.
pub(crate) fn unrewritten_summary(rewritten: usize, left: &[LinkLeft]) -> String {
    let mut text = match rewritten {
        0 => String::new(),
        several => format!("\n{} rewritten", counted(several as u64, "link")),
    };
    for left in left {
        text.push_str(&format!(
            "\nnot rewritten: {} in `{}`, line {}: {}",
            left.link, left.path, left.line, left.reason
        ));
    }
    text
}

impl BlockChange for TransferReferences {
    type Output = TransferResult;

    fn change(&self, session: &mut Session<'_>) -> Result<TransferResult> {
        let from = session.find(&self.from, None)?;
        let to = session.find(&self.to, None)?;
        if from == to {
            return Err(Error::validation(
                "`from` and `to` are the same block: name two blocks",
            ));
        }
        let from_path = session.path(from.note).to_owned();
        let from_id = {
            let blocks = session.blocks(from.note)?;
            blocks[from.block].id.as_ref().map(|id| id.name.clone())
        }
        .ok_or_else(|| {
            Error::validation(format!(
                "`{}` has no `^id`, so no link points to it: nothing to transfer",
                self.from
            ))
        })?;
        let named = give_id(session, to.note, to.block, None)?;
        let transfer = Transfer {
            from: &from_path,
            from_id: &from_id,
            to: &named.path,
            to_id: &named.id,
        };
        let outcome = transfer.run(session)?;
        Ok(TransferResult {
            from: format!("{from_path}#^{from_id}"),
            to: named.block,
            links_rewritten: outcome.rewritten,
            notes: outcome.notes,
            links_left: outcome.left,
        })
    }
}

/// A redirection of links from one block id to another.
pub(crate) struct Transfer<'t> {
    pub(crate) from: &'t str,
    pub(crate) from_id: &'t str,
    pub(crate) to: &'t str,
    pub(crate) to_id: &'t str,
}

/// The result of redirecting links.
#[derive(Default)]
pub(crate) struct TransferOutcome {
    pub(crate) rewritten: usize,
    pub(crate) notes: usize,
    pub(crate) left: Vec<LinkLeft>,
}

impl Transfer<'_> {
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<TransferOutcome> {
        let vault = session.vault;
        let mut files = vault.list_all("", true)?;
        files.retain(|entry| entry.kind == Kind::File);
        let names = Names::new(files.into_iter().map(|entry| entry.path));
        let mut paths = vault.linking(&[self.from.to_owned()])?;
        if !paths.iter().any(|path| path == self.from) {
            paths.push(self.from.to_owned());
        }
        let mut outcome = TransferOutcome::default();
        for path in paths {
            if notehost_sdk::is_note(&path) {
                self.rewrite(session, &path, &names, &mut outcome)?;
            }
        }
        Ok(outcome)
    }

    fn rewrite(
        &self,
        session: &mut Session<'_>,
        path: &str,
        names: &Names,
        outcome: &mut TransferOutcome,
    ) -> Result<()> {
        let note = match session.open(path) {
            Ok(note) => note,
            // Files that are not text have no links to rewrite or report.
            Err(error) if error.kind() == Code::Unsupported => return Ok(()),
            Err(error) => return Err(error),
        };
        let text = session.text(note).to_owned();
        let affected: Vec<Link> = links::parse(&text)
            .into_iter()
            .filter(|link| self.is_affected(path, link, names))
            .collect();
        if affected.is_empty() {
            return Ok(());
        }
        let left = |link: &Link, reason: &str| LinkLeft {
            path: path.to_owned(),
            line: link.line,
            link: text[link.range.clone()].to_owned(),
            reason: reason.to_owned(),
        };
        if session.vault.access(path) < Tier::Write {
            let reason = "no write permission";
            outcome
                .left
                .extend(affected.iter().map(|link| left(link, reason)));
            return Ok(());
        }
        let moves: Moves = [(self.from, self.to)].into_iter().collect();
        let rewrite = match self.from == self.to {
            true => Default::default(),
            false => links::rewrite(path, &text, &moves, names, names),
        };
        let mut splices = Vec::new();
        let mut rewritten = 0;
        for link in &affected {
            let Some(fragment) = self.fragment(&text, link) else {
                outcome
                    .left
                    .push(left(link, "the notation of its `^id` cannot be rewritten"));
                continue;
            };
            if let Some(target) = self.target(session.vault, path, link, &rewrite, &text)? {
                splices.push(Splice::replace(link.target_range.clone(), target));
            } else if self.from != self.to {
                outcome
                    .left
                    .push(left(link, "no link path resolves to the note"));
                continue;
            }
            splices.push(Splice::replace(fragment, self.to_id));
            rewritten += 1;
        }
        if rewritten > 0 {
            outcome.rewritten += rewritten;
            outcome.notes += 1;
            session.set(note, splice::apply(&text, splices)?)?;
        }
        Ok(())
    }

    fn is_affected(&self, path: &str, link: &Link, names: &Names) -> bool {
        let is_id = matches!(&link.fragment, Some(Fragment::Block(id)) if id.eq_ignore_ascii_case(self.from_id));
        if !is_id || link.external {
            return false;
        }
        match link.target.is_empty() {
            true => path == self.from,
            false => names
                .resolve(path, &link.target)
                .is_some_and(|found| found.path == self.from),
        }
    }

    /// The byte range of the id in a link.
    fn fragment(&self, text: &str, link: &Link) -> Option<Range<usize>> {
        let rest = &text[link.target_range.end..link.range.end];
        let mark = ["#^", "#%5E", "#%5e"]
            .into_iter()
            .find(|mark| rest.starts_with(mark))?;
        let start = link.target_range.end + mark.len();
        let end = start + self.from_id.len();
        let is_id = text
            .get(start..end)
            .is_some_and(|id| id.eq_ignore_ascii_case(self.from_id));
        is_id.then_some(start..end)
    }

    /// The new spelling of the link's note; `None` if it cannot be written or does not change.
    fn target(
        &self,
        vault: &Vault,
        path: &str,
        link: &Link,
        rewrite: &links::Rewrite,
        text: &str,
    ) -> Result<Option<String>> {
        if self.from == self.to {
            return Ok(None);
        }
        if link.target.is_empty() {
            // A link within its own note has no note name yet.
            if matches!(link.notation, Notation::Bare | Notation::Angle) {
                return Ok(Some(percent::encode(self.to)));
            }
            let whole = link_to(vault, self.to, "")?;
            let name = whole.trim_start_matches('[').trim_end_matches(']');
            return Ok(Some(name.trim_end_matches('#').to_owned()));
        }
        let spelling = rewrite
            .splices
            .iter()
            .find(|(range, _)| *range == link.target_range);
        let is_stuck = rewrite
            .stuck
            .iter()
            .any(|stuck| stuck.line == link.line && stuck.path == path);
        Ok(match spelling {
            Some((_, written)) => Some(written.clone()),
            None if is_stuck => None,
            // The link already resolves to the new note.
            None => Some(text[link.target_range.clone()].to_owned()),
        })
    }
}
