//! Moves notes, files and folders and updates links: every link in every note that the caller may read keeps resolving to
//! the same file. [`plan`] changes nothing, so that links that cannot be updated are known in advance;
//! [`Plan::carry_out`] renames and writes. [`links`](super::links) rewrites single links.

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization as _;

use super::links::{Moves, Names, rewrite};
use super::percent;
use crate::{Kind, Result, Tier, Vault, is_note, reply, stem_of};

/// If more files move, searching for each name costs more than reading every note.
const MAX_SEARCHED_NAMES: usize = 64;

/// A link that could not be updated.
#[reply]
#[derive(PartialEq, Eq)]
pub struct LinkLeft {
    /// The note with the link, by its path after the move.
    pub path: String,
    /// The line of the file, from 1.
    pub line: usize,
    /// The link as written.
    pub link: String,
    /// Why it was not updated.
    pub reason: String,
}

/// The plan of a move.
#[derive(Debug, Clone)]
pub struct Plan {
    /// As requested: a folder is one rename.
    renames: Vec<(String, String)>,
    files: Moves,
    edits: Vec<Edit>,
    links_rewritten: usize,
    links_left: Vec<LinkLeft>,
}

/// New text of a note, by its path after the move.
#[derive(Debug, Clone)]
struct Edit {
    path: String,
    text: String,
    etag: String,
}

/// The result of a move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// The moved files as pairs (from, to), sorted.
    pub files: Vec<(String, String)>,
    /// The number of rewritten links.
    pub links_rewritten: usize,
    /// The links that could not be updated.
    pub links_left: Vec<LinkLeft>,
}

/// Moves files and folders, from path to path, and updates all links.
pub fn move_with_links(vault: &Vault, renames: &[(String, String)]) -> Result<Moved> {
    plan(vault, renames)?.carry_out(vault)
}

/// Plans the move of files and folders, from path to path. Changes nothing.
pub fn plan(vault: &Vault, renames: &[(String, String)]) -> Result<Plan> {
    let all_files = vault.files()?;

    let mut spelt = Vec::new();
    let mut moving = Vec::new();
    for (from, to) in renames {
        let from = vault.stat(from)?;
        let to = spelt_destination(vault, to);
        match from.kind {
            Kind::File => moving.push((from.path.clone(), to.clone())),
            Kind::Folder => moving.extend(all_files.iter().filter_map(|path| {
                let below = path.strip_prefix(&from.path)?;
                below
                    .starts_with('/')
                    .then(|| (path.clone(), format!("{to}{below}")))
            })),
        }
        spelt.push((from.path, to));
    }
    let files: Moves = moving.into_iter().collect();

    let mut plan = Plan {
        renames: spelt,
        edits: Vec::new(),
        links_rewritten: 0,
        links_left: Vec::new(),
        files,
    };
    if !plan.files.is_empty() {
        plan.follow_links(vault, all_files)?;
    }
    Ok(plan)
}

impl Plan {
    /// The links that cannot be updated.
    pub fn links_left(&self) -> &[LinkLeft] {
        &self.links_left
    }

    /// The number of links to be rewritten.
    pub fn links_rewritten(&self) -> usize {
        self.links_rewritten
    }

    /// Carries out the renames and writes.
    pub fn carry_out(self, vault: &Vault) -> Result<Moved> {
        for (from, to) in &self.renames {
            vault.rename(from, to)?;
        }
        for edit in &self.edits {
            vault.write(&edit.path, edit.text.as_bytes(), Some(&edit.etag))?;
        }
        let files = self.files.iter();
        let mut files: Vec<(String, String)> = files
            .map(|(from, to)| (from.to_owned(), to.to_owned()))
            .collect();
        files.sort();
        Ok(Moved {
            files,
            links_rewritten: self.links_rewritten,
            links_left: self.links_left,
        })
    }

    fn follow_links(&mut self, vault: &Vault, all_files: Vec<String>) -> Result<()> {
        let before = Names::new(all_files);
        let after = before.moved(&self.files);
        let candidates = candidates(vault, &self.files)?;
        let mut steps = vault.steps(candidates.len());
        for path in candidates {
            steps.done("notes searched for links");
            let blob = vault.read(&path)?;
            // A note that is not UTF-8 is searched lossily, and never written.
            let text = String::from_utf8_lossy(&blob.bytes);
            let moves = self.files.destination(&path).is_some();
            if !moves && !self.files.disturbed().may_be_linked_from(&text) {
                continue;
            }
            let rewritten = rewrite(&path, &text, &self.files, &before, &after);
            let new_path = self.files.after(&path).to_owned();
            let is_text = matches!(text, std::borrow::Cow::Borrowed(_));
            let obstacle = if !is_text {
                Some("the note is not UTF-8 text")
            } else if !moves && vault.access(&path) < Tier::Write {
                Some("no write permission")
            } else {
                None
            };
            self.links_left
                .extend(rewritten.stuck.iter().map(|stuck| LinkLeft {
                    path: new_path.clone(),
                    line: stuck.line,
                    link: stuck.link.clone(),
                    reason: stuck.reason.to_string(),
                }));
            match obstacle {
                Some(obstacle) => {
                    // They are in order, so each line is counted once.
                    let (mut line, mut counted) = (1, 0);
                    let left = rewritten.splices.iter().map(|(range, _)| {
                        line += text[counted..range.start].matches('\n').count();
                        counted = range.start;
                        LinkLeft {
                            path: new_path.clone(),
                            line,
                            link: text[range.clone()].to_owned(),
                            reason: obstacle.to_owned(),
                        }
                    });
                    self.links_left.extend(left);
                }
                None if rewritten.splices.is_empty() => {}
                None => {
                    self.links_rewritten += rewritten.splices.len();
                    self.edits.push(Edit {
                        path: new_path,
                        text: rewritten.apply(&text),
                        etag: blob.etag,
                    });
                }
            }
        }
        Ok(())
    }
}

/// The notes that may have links to update: notes that move, and notes with a link to an old or new name.
fn candidates(vault: &Vault, moves: &Moves) -> Result<BTreeSet<String>> {
    let names: Vec<String> = moves
        .iter()
        .flat_map(|(from, to)| [from.to_owned(), to.to_owned()])
        .collect();
    let mut found: BTreeSet<String> = vault.linking(&names)?.into_iter().collect();
    found.extend(moves.iter().map(|(from, _)| from.to_owned()));
    found.retain(|path| is_note(path));
    Ok(found)
}

/// Texts such that every note with a link to one of these files contains at least one; `None` if every note has to be
/// read. For use while the index, which finds links by name, is not available.
pub fn texts_in_links<'p>(files: impl Iterator<Item = &'p str>) -> Option<Vec<String>> {
    let mut texts = BTreeSet::new();
    for path in files {
        texts.extend(certain_parts(stem_of(path))?);
        if texts.len() > MAX_SEARCHED_NAMES {
            return None;
        }
    }
    Some(texts.into_iter().collect())
}

/// The part of a name that is the same in every encoding of a link (escaped, percent-encoded, quoted): its longest run of
/// ASCII letters and digits. If that is too short, the longest other run, in all its encodings.
fn certain_parts(name: &str) -> Option<Vec<String>> {
    let composed: String = name.nfc().collect();
    let longest = |belongs: fn(char) -> bool| {
        composed
            .split(|letter| !belongs(letter))
            .max_by_key(|run| run.len())
            .unwrap_or_default()
    };
    let plain = longest(|letter| letter.is_ascii_alphanumeric());
    let other = longest(|letter| !letter.is_ascii());
    if plain.len() >= 3 || (other.is_empty() && !plain.is_empty()) {
        return Some(vec![plain.to_owned()]);
    }
    if other.is_empty() {
        return None;
    }
    let decomposed: String = other.nfd().collect();
    Some(vec![
        percent::encode(other),
        percent::encode(&decomposed),
        other.to_owned(),
        decomposed,
        // The escapes of a double-quoted YAML string.
        r"\u".to_owned(),
        r"\x".to_owned(),
    ])
}

/// A destination with the spelling of existing folders, because links will be written with it.
fn spelt_destination(vault: &Vault, to: &str) -> String {
    let ends = to.match_indices('/').map(|(end, _)| end);
    let existing = ends.filter_map(|end| Some((end, vault.stat(&to[..end]).ok()?.path)));
    match existing.last() {
        Some((end, folder)) => format!("{folder}{}", &to[end..]),
        None => to.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryVault;

    fn renames(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        let owned = |(from, to): &(&str, &str)| ((*from).to_owned(), (*to).to_owned());
        pairs.iter().map(owned).collect()
    }

    fn moved(vault: &MemoryVault, from: &str, to: &str) -> Moved {
        move_with_links(vault, &renames(&[(from, to)])).unwrap()
    }

    #[test]
    fn every_form_of_link_is_updated() {
        let vault = Vault::in_memory()
            .with("Work/My plan.md", "# My plan\nback to [[Index]]\n")
            .with(
                "Index.md",
                "[[My plan]] ![[my plan#Goal]] [[Work/My plan|it]] [a](Work/My%20plan.md) `[[My plan]]`\r\n",
            );
        let done = moved(&vault, "Work/My plan.md", "Work/Our plan.md");
        assert_eq!(
            vault.text("Index.md").unwrap(),
            "[[Our plan]] ![[Our plan#Goal]] [[Work/Our plan|it]] [a](Work/Our%20plan.md) `[[My plan]]`\r\n"
        );
        assert_eq!((done.links_rewritten, done.links_left), (4, Vec::new()));
        assert_eq!(
            done.files,
            renames(&[("Work/My plan.md", "Work/Our plan.md")])
        );
    }

    #[test]
    fn links_to_files_in_a_moved_folder_are_updated() {
        let vault = Vault::in_memory()
            .with(
                "Work/Plan.md",
                "[[Work/Sub/Detail]] ![x](Sub/pic.png) [[../Index]]",
            )
            .with("Work/Sub/Detail.md", "[up](../Plan.md)")
            .with("Work/Sub/pic.png", "")
            .with(
                "Index.md",
                "[[Work/Plan]] and [[Plan]] and ![[Work/Sub/pic.png]]",
            );
        let done = moved(&vault, "Work", "Job/2026");
        assert_eq!(
            vault.text("Index.md").unwrap(),
            "[[Job/2026/Plan]] and [[Plan]] and ![[Job/2026/Sub/pic.png]]"
        );
        assert_eq!(
            vault.text("Job/2026/Plan.md").unwrap(),
            "[[Job/2026/Sub/Detail]] ![x](Sub/pic.png) [[../../Index]]"
        );
        assert_eq!(
            vault.text("Job/2026/Sub/Detail.md").unwrap(),
            "[up](../Plan.md)"
        );
        assert_eq!(done.files.len(), 3);
    }

    #[test]
    fn links_to_non_latin_names_are_updated_in_every_encoding() {
        let vault = Vault::in_memory()
            .with("日記/計画.md", "")
            .with("A.md", "[[計画]]")
            .with("B.md", "[p](%E6%97%A5%E8%A8%98/%E8%A8%88%E7%94%BB.md)")
            .with("C.md", "---\nsee: \"[[\\u8A08\\u753B]]\"\n---\n");
        let done = moved(&vault, "日記/計画.md", "日記/Plan.md");
        assert_eq!(done.links_rewritten, 3);
        assert_eq!(vault.text("A.md").unwrap(), "[[Plan]]");
        assert!(vault.text("B.md").unwrap().ends_with("/Plan.md)"));
        assert_eq!(vault.text("C.md").unwrap(), "---\nsee: \"[[Plan]]\"\n---\n");
    }

    #[test]
    fn search_texts_occur_in_every_encoding_of_a_link() {
        let texts = |path: &str| texts_in_links([path].into_iter());
        assert_eq!(texts("Work/My plan 7.md"), Some(vec!["plan".to_owned()]));
        let other = texts("日記/計画.md").unwrap();
        for link in [
            "[[計画]]",
            "[p](%E8%A8%88%E7%94%BB.md)",
            "\"[[\\u8A08\\u753B]]\"",
        ] {
            assert!(other.iter().any(|text| link.contains(text)), "{link}");
        }
        assert_eq!(texts("Old/---.md"), None);
        let many: Vec<String> = (0..100).map(|number| format!("n{number}.md")).collect();
        assert_eq!(texts_in_links(many.iter().map(String::as_str)), None);
    }

    #[test]
    fn links_that_cannot_be_updated_are_reported_by_the_plan() {
        let vault = Vault::in_memory()
            .with("Work/Plan.md", "")
            .with("Archive/Old.md", "first\n[[Work/Plan]]\n")
            .with("Hidden/Secret.md", "[[Work/Plan]]")
            .with_bytes("Latin.md", b"caf\xe9 [[Plan]]")
            .allow("Archive", Tier::Read)
            .allow("Hidden", Tier::None);
        let plan = plan(&vault, &renames(&[("Work/Plan.md", "Work/New.md")])).unwrap();
        assert_eq!(vault.text("Work/Plan.md").unwrap(), "");
        let left: Vec<_> = plan
            .links_left()
            .iter()
            .map(|left| (left.path.as_str(), left.line))
            .collect();
        assert_eq!(left, [("Archive/Old.md", 2), ("Latin.md", 1)]);
        plan.carry_out(&vault).unwrap();
        assert_eq!(
            vault.text("Archive/Old.md").unwrap(),
            "first\n[[Work/Plan]]\n"
        );
        assert_eq!(vault.text("Hidden/Secret.md").unwrap(), "[[Work/Plan]]");
        assert!(vault.text("Work/New.md").is_some());
    }

    #[test]
    fn links_that_would_resolve_to_the_moved_file_are_qualified() {
        let vault = Vault::in_memory()
            .with("Deep/Down/Plan.md", "deep")
            .with("Draft.md", "")
            .with("Index.md", "[[Plan]]");
        moved(&vault, "Draft.md", "Plan.md");
        assert_eq!(vault.text("Index.md").unwrap(), "[[Deep/Down/Plan]]");
    }

    #[test]
    fn many_files_and_unusual_names_are_updated() {
        let mut vault = Vault::in_memory()
            .with("Index.md", "[[Old/n7]] [[---]]")
            .with("Old/---.md", "");
        for number in 0..100 {
            vault = vault.with(&format!("Old/n{number}.md"), "");
        }
        moved(&vault, "Old", "New");
        assert_eq!(vault.text("Index.md").unwrap(), "[[New/n7]] [[---]]");
        moved(&vault, "New/---.md", "New/+++.md");
        assert_eq!(vault.text("Index.md").unwrap(), "[[New/n7]] [[+++]]");
    }

    #[test]
    fn links_use_the_spelling_of_existing_folders() {
        let vault = Vault::in_memory()
            .with("Work/Sub/Other.md", "")
            .with("Plan.md", "")
            .with("Index.md", "[p](Plan.md)");
        moved(&vault, "plan.md", "work/SUB/new/Plan.md");
        assert_eq!(vault.text("Index.md").unwrap(), "[p](Work/Sub/new/Plan.md)");
    }

    #[test]
    fn a_failed_move_changes_nothing() {
        let vault = Vault::in_memory()
            .with("A.md", "")
            .with("B.md", "")
            .with("I.md", "[[A]]");
        let refused = move_with_links(&vault, &renames(&[("A.md", "B.md")])).unwrap_err();
        assert_eq!(refused.code(), "already_exists");
        assert_eq!(vault.text("I.md").unwrap(), "[[A]]");
        let refused = move_with_links(&vault, &renames(&[("C.md", "D.md")])).unwrap_err();
        assert_eq!(refused.code(), "not_found");
    }
}
