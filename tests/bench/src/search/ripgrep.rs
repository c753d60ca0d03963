//! ripgrep over the files: the baseline that an index has to beat.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::Result;

use super::query::{Answer, Contestant, VaultQuery};

/// The program `rg`, started for each query.
pub(crate) struct Ripgrep {
    program: PathBuf,
    vault: PathBuf,
}

impl Ripgrep {
    /// At `RG`, or else on the path; `None` if it is missing.
    pub(crate) fn found(vault: &Path) -> Option<Ripgrep> {
        let program = PathBuf::from(std::env::var_os("RG").unwrap_or_else(|| "rg".into()));
        let works = Command::new(&program).arg("--version").output().is_ok();
        works.then(|| Ripgrep {
            program,
            vault: vault.to_owned(),
        })
    }
}

impl Contestant for Ripgrep {
    fn name(&self) -> &'static str {
        "ripgrep"
    }

    fn run(&mut self, query: &VaultQuery) -> Result<Option<Answer>> {
        // One line per note, like a page of hits.
        let arguments: Vec<String> = match query {
            VaultQuery::Word(word) => vec!["-inwF".into(), "-m1".into(), word.clone()],
            VaultQuery::Phrase(phrase) => vec![
                "-in".into(),
                "-m1".into(),
                format!("\\b{}\\b", phrase.replace(' ', "\\W+")),
            ],
            VaultQuery::Prefix(prefix) => vec!["-in".into(), "-m1".into(), format!("\\b{prefix}")],
            VaultQuery::Unspaced(text) => vec!["-nF".into(), "-m1".into(), text.clone()],
            VaultQuery::Pattern(pattern) => vec!["-n".into(), pattern.clone()],
            // Only wikilinks, as somebody would search for them without an index.
            VaultQuery::Backlinks(path) => {
                let name = path.rsplit('/').next().unwrap_or(path);
                let name: String = name
                    .trim_end_matches(".md")
                    .chars()
                    .flat_map(|letter| {
                        let is_plain = letter.is_alphanumeric() || letter == ' ';
                        (!is_plain).then_some('\\').into_iter().chain([letter])
                    })
                    .collect();
                let pattern = format!("\\[\\[([^\\]|#]*/)?{name}(\\.md)?[\\]|#\\\\]");
                vec!["-in".into(), pattern]
            }
            VaultQuery::Tags => vec!["-noI".into(), "(^|\\s)#[\\w/-]+".into()],
            VaultQuery::Tagged(tag) => vec!["-nF".into(), "-m1".into(), format!("#{tag}")],
            VaultQuery::Unresolved | VaultQuery::Read(_) => return Ok(None),
        };
        let began = Instant::now();
        let output = Command::new(&self.program)
            .args(["--no-config", "--no-ignore-vcs", "--color=never", "-g*.md"])
            .args(arguments)
            .arg(&self.vault)
            .output()?;
        let took = began.elapsed();
        anyhow::ensure!(
            output.status.code().is_some_and(|code| code < 2),
            "ripgrep failed: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let found = output.stdout.iter().filter(|byte| **byte == b'\n').count();
        Ok(Some(Answer { took, found }))
    }
}
