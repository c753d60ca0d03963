//! What searches leave out: what Obsidian is told to leave out (`userIgnoreFilters` in `.obsidian/app.json`) and what
//! `.notehostignore` in the vault's root names, line by line as in a `.gitignore`. Such notes can still be read and
//! linked to, and their links follow a rename.

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use notehost_sdk::fold_name;
use regex::{Regex, RegexBuilder};

use crate::vault::Vault;

/// Where the vault says what to leave out.
pub(super) const RULES: &str = ".notehostignore";
/// Obsidian's settings.
pub(super) const OBSIDIAN: &str = ".obsidian/app.json";
const LARGEST: u64 = 1 << 20;

/// What is left out of searches.
pub struct Ignored {
    /// Beginnings of paths, folded.
    beginnings: Vec<String>,
    patterns: Vec<Regex>,
    rules: Gitignore,
    /// Names what was read, to notice when it changes.
    source: [u8; 32],
    /// Lines that cannot be understood, and why.
    pub refused: Vec<String>,
}

impl Ignored {
    /// What a vault says now.
    pub fn of(vault: &Vault) -> Ignored {
        let rules = vault.own_file(RULES, LARGEST).unwrap_or_default();
        let obsidian = vault.own_file(OBSIDIAN, LARGEST).unwrap_or_default();
        let mut ignored = Ignored {
            beginnings: Vec::new(),
            patterns: Vec::new(),
            rules: Gitignore::empty(),
            source: source(&rules, &obsidian),
            refused: Vec::new(),
        };
        ignored.add_obsidian(&obsidian);
        ignored.add_rules(&String::from_utf8_lossy(&rules));
        ignored
    }

    /// Whether the vault still says the same.
    pub(super) fn is_current(&self, vault: &Vault) -> bool {
        let rules = vault.own_file(RULES, LARGEST).unwrap_or_default();
        let obsidian = vault.own_file(OBSIDIAN, LARGEST).unwrap_or_default();
        self.source == source(&rules, &obsidian)
    }

    /// Whether searches leave a file out.
    pub fn matches(&self, path: &str) -> bool {
        if !self.beginnings.is_empty() {
            let folded = fold_name(path);
            if self
                .beginnings
                .iter()
                .any(|beginning| folded.starts_with(beginning))
            {
                return true;
            }
        }
        self.patterns.iter().any(|pattern| pattern.is_match(path))
            || !self.rules.is_empty()
                && self
                    .rules
                    .matched_path_or_any_parents(path, false)
                    .is_ignore()
    }

    fn add_obsidian(&mut self, json: &[u8]) {
        let settings: serde_json::Value = serde_json::from_slice(json).unwrap_or_default();
        let filters = settings["userIgnoreFilters"].as_array();
        for filter in filters
            .into_iter()
            .flatten()
            .filter_map(|filter| filter.as_str())
        {
            let inner = filter
                .strip_prefix('/')
                .and_then(|rest| rest.strip_suffix('/'))
                .filter(|inner| !inner.is_empty());
            match inner {
                Some(pattern) => {
                    let built = RegexBuilder::new(pattern).size_limit(1 << 20).build();
                    match built {
                        Ok(pattern) => self.patterns.push(pattern),
                        Err(_) => self.refused.push(format!("{OBSIDIAN}: `{filter}`")),
                    }
                }
                None if filter.is_empty() => {}
                None => self.beginnings.push(fold_name(filter)),
            }
        }
    }

    fn add_rules(&mut self, text: &str) {
        let mut builder = GitignoreBuilder::new("");
        for line in text.lines() {
            if builder.add_line(None, line).is_err() {
                self.refused.push(format!("{RULES}: `{line}`"));
            }
        }
        if let Ok(rules) = builder.build() {
            self.rules = rules;
        }
    }
}

fn source(rules: &[u8], obsidian: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(rules.len() as u64).to_le_bytes());
    hasher.update(rules);
    hasher.update(obsidian);
    *hasher.finalize().as_bytes()
}
