//! Rewriting the links in other notes when a note is removed, merged or split. Links to renamed and moved notes are
//! rewritten by `notehost_sdk::text::moving`.

use notehost_sdk::prelude::*;
use notehost_sdk::text::links::{
    self, Detachment, Link, Moves, Names, Notation, Rewrite, TargetFilter,
};
use notehost_sdk::text::moving::LinkLeft;

/// The notes that link to the target notes.
pub(crate) struct Backlinks<'v> {
    vault: &'v Vault,
    /// The linked notes.
    targets: Vec<String>,
    /// Every file of the vault, to resolve links.
    names: Names,
    /// The notes that may contain such links, without the targets themselves.
    notes: Vec<Note>,
}

impl<'v> Backlinks<'v> {
    pub(crate) fn to(vault: &'v Vault, targets: &[String]) -> Result<Backlinks<'v>> {
        let wanted = TargetFilter::new(targets.iter().map(String::as_str));
        let mut notes = Vec::new();
        for path in vault.linking(targets)? {
            if targets.contains(&path) {
                continue;
            }
            // Files that are not text have no links.
            if let Ok(note) = vault.read_text(&path)
                && wanted.may_be_linked_from(&note.text)
            {
                notes.push(note);
            }
        }
        Ok(Backlinks {
            vault,
            targets: targets.to_vec(),
            names: Names::new(vault.files()?),
            notes,
        })
    }

    /// Marks or unlinks the links to removed notes. Returns the number of rewritten links and the remaining ones.
    pub(crate) fn detach(&self, how: Detachment) -> Result<(usize, Vec<LinkLeft>)> {
        let is_removed = |path: &str| self.targets.iter().any(|target| target == path);
        self.rewrite(|note| links::detach(&note.path, &note.text, is_removed, &self.names, how))
    }

    /// Redirects the links to a merged note to its new section. `into` itself is skipped: its text changes
    /// anyway, see [`Backlinks::redirected`].
    pub(crate) fn redirect_all(&self, merge: &MergeRewrite<'_>) -> Result<(usize, Vec<LinkLeft>)> {
        self.rewrite(|note| {
            if note.path == merge.into {
                Rewrite::default()
            } else {
                self.redirected(&note.path, &note.text, merge)
            }
        })
    }

    /// The rewrite that redirects the links of one text to the section of the merged note.
    pub(crate) fn redirected(&self, path: &str, text: &str, merge: &MergeRewrite<'_>) -> Rewrite {
        let mut rewrite = links::rewrite(path, text, &merge.moves, &self.names, &merge.after);
        for link in self.links_to(path, text, |target| target == merge.from) {
            if link.fragment.is_some()
                || rewrite
                    .stuck
                    .iter()
                    .any(|stuck| stuck.line == link.line && stuck.link == text[link.range.clone()])
            {
                continue;
            }
            let fragment = fragment(merge.heading, link.notation);
            match rewrite
                .splices
                .iter_mut()
                .find(|(range, _)| *range == link.target_range)
            {
                Some((_, written)) => written.push_str(&fragment),
                None => rewrite
                    .splices
                    .push((link.target_range.end..link.target_range.end, fragment)),
            }
        }
        rewrite.splices.sort_by_key(|(range, _)| range.start);
        rewrite
    }

    /// The paths of all files of the vault.
    pub(crate) fn names(&self) -> &Names {
        &self.names
    }

    /// Rewrites every note that may be written, and returns the links in the others.
    pub(crate) fn rewrite(
        &self,
        change: impl Fn(&Note) -> Rewrite,
    ) -> Result<(usize, Vec<LinkLeft>)> {
        let is_target = |path: &str| self.targets.iter().any(|target| target == path);
        let mut rewritten = 0;
        let mut left = Vec::new();
        for note in &self.notes {
            let rewrite = change(note);
            let mut links = self.links_to(&note.path, &note.text, is_target);
            links.retain(|link| {
                rewrite.splices.iter().any(|(range, _)| {
                    link.range.start <= range.start && range.end <= link.range.end
                })
            });
            if rewrite.splices.is_empty() && rewrite.stuck.is_empty() {
                continue;
            }
            if self.vault.access(&note.path) < Tier::Write {
                left.extend(links.iter().map(|link| LinkLeft {
                    path: note.path.clone(),
                    line: link.line,
                    link: note.text[link.range.clone()].to_owned(),
                    reason: "no write permission".to_owned(),
                }));
                continue;
            }
            rewritten += links.len();
            self.vault.write_note(note, &rewrite.apply(&note.text))?;
            left.extend(rewrite.stuck.into_iter().map(|stuck| LinkLeft {
                path: stuck.path,
                line: stuck.line,
                link: stuck.link,
                reason: stuck.reason.to_string(),
            }));
        }
        Ok((rewritten, left))
    }

    /// The links of a text that resolve to a target.
    fn links_to(&self, path: &str, text: &str, is_target: impl Fn(&str) -> bool) -> Vec<Link> {
        let mut links = links::parse(text);
        links.retain(|link| {
            !link.external
                && !link.target.is_empty()
                && self
                    .names
                    .resolve(path, &link.target)
                    .is_some_and(|found| is_target(found.path))
        });
        links
    }
}

/// The merge of a note into a section of another.
pub(crate) struct MergeRewrite<'m> {
    from: &'m str,
    into: &'m str,
    heading: &'m str,
    moves: Moves,
    /// The files of the vault without the merged note.
    after: Names,
}

impl<'m> MergeRewrite<'m> {
    pub(crate) fn new(from: &'m str, into: &'m str, heading: &'m str, before: &Names) -> Self {
        let moves: Moves = [(from, into)].into_iter().collect();
        let after = before.moved(&moves);
        MergeRewrite {
            from,
            into,
            heading,
            moves,
            after,
        }
    }
}

/// A heading as a link fragment. Characters that a link cannot contain are dropped, as in Obsidian.
fn fragment(heading: &str, notation: Notation) -> String {
    let cleaned: String = heading
        .chars()
        .map(|letter| {
            if matches!(letter, '#' | '^' | '|' | '[' | ']' | '\\' | '<' | '>') {
                ' '
            } else {
                letter
            }
        })
        .collect();
    let cleaned = cleaned.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("#{}", notation.escaped(&cleaned))
}
