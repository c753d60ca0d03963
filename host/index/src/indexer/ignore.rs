//! Ignore rules of searches: Obsidian's `userIgnoreFilters` in `.obsidian/app.json`, and `.notehostignore` in the
//! vault's root with the syntax of `.gitignore`. Ignored notes can still be read and linked to, and links to them
//! follow a rename.

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use notehost_sdk::fold_name;
use regex::{RegexBuilder, RegexSet, RegexSetBuilder};

use notehost_vault::Vault;
use notehost_vault::glob::check_bounds;

/// The file of the vault with ignore rules.
pub(crate) const RULES: &str = ".notehostignore";
/// Obsidian's settings.
pub(crate) const OBSIDIAN: &str = ".obsidian/app.json";
const MAX_FILE_BYTES: u64 = 1 << 20;

/// How many lines or filters are taken of each of the two; every file's path is compared with all of them.
const MAX_FILTERS: usize = 500;
/// How long they may be together, in bytes.
const MAX_FILTER_BYTES: usize = 64 << 10;
/// How long one may be.
const MAX_PATTERN_BYTES: usize = 1000;
/// How many filters may be regexes, valid or not, and how much memory each and all of them together may take when they are
/// compiled: in the worst case a match takes as many steps for each character of a path.
const MAX_REGEXES: usize = 50;
const MAX_REGEX_MEMORY: usize = 256 << 10;
const MAX_REGEXES_MEMORY: usize = 512 << 10;
/// How deep brackets in a regex may nest.
const MAX_REGEX_DEPTH: u32 = 50;
/// How many of those that are not taken are reported one by one.
const MAX_REFUSED: usize = 20;

/// Ignore rules of a vault.
pub struct Ignored {
    /// Beginnings of paths, folded.
    beginnings: Vec<String>,
    patterns: RegexSet,
    rules: Gitignore,
    /// Names what was read, to notice when it changes.
    source: [u8; 32],
    /// Lines that are invalid, and why.
    pub refused: Vec<String>,
    /// How many more there are.
    unreported: usize,
}

/// How much is taken of one source of filters.
#[derive(Default)]
struct Taken {
    filters: usize,
    bytes: usize,
}

impl Taken {
    /// Whether there is room for one more.
    fn takes(&mut self, filter: &str) -> bool {
        if filter.len() > MAX_PATTERN_BYTES
            || self.filters >= MAX_FILTERS
            || self.bytes + filter.len() > MAX_FILTER_BYTES
        {
            return false;
        }
        self.filters += 1;
        self.bytes += filter.len();
        true
    }
}

impl Ignored {
    /// Reads the rules of a vault.
    pub fn of(vault: &Vault) -> Ignored {
        let rules = vault.own_file(RULES, MAX_FILE_BYTES).unwrap_or_default();
        let obsidian = vault.own_file(OBSIDIAN, MAX_FILE_BYTES).unwrap_or_default();
        let mut ignored = Ignored {
            beginnings: Vec::new(),
            patterns: RegexSet::empty(),
            rules: Gitignore::empty(),
            source: source(&rules, &obsidian),
            refused: Vec::new(),
            unreported: 0,
        };
        ignored.add_obsidian(&obsidian);
        ignored.add_rules(&String::from_utf8_lossy(&rules));
        if ignored.unreported > 0 {
            let more = ignored.unreported;
            ignored.refused.push(format!("{more} more"));
        }
        ignored
    }

    /// Logs the rules that are not used.
    pub(crate) fn log_refused(&self) {
        if !self.refused.is_empty() {
            tracing::warn!(
                "ignore filters that are invalid or over a limit were skipped: {}",
                self.refused.join(", ")
            );
        }
    }

    fn refuse(&mut self, source: &str, filter: &str) {
        if self.refused.len() >= MAX_REFUSED {
            self.unreported += 1;
            return;
        }
        let shown: String = filter.chars().take(80).collect();
        let cut = if shown.len() < filter.len() {
            "…"
        } else {
            ""
        };
        self.refused.push(format!("{source}: `{shown}{cut}`"));
    }

    /// Whether the rules of the vault are unchanged.
    pub(crate) fn is_current(&self, vault: &Vault) -> bool {
        let rules = vault.own_file(RULES, MAX_FILE_BYTES).unwrap_or_default();
        let obsidian = vault.own_file(OBSIDIAN, MAX_FILE_BYTES).unwrap_or_default();
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
        self.patterns.is_match(path)
            || !self.rules.is_empty()
                && self
                    .rules
                    .matched_path_or_any_parents(path, false)
                    .is_ignore()
    }

    fn add_obsidian(&mut self, json: &[u8]) {
        let settings: serde_json::Value = serde_json::from_slice(json).unwrap_or_default();
        let filters = settings["userIgnoreFilters"].as_array();
        let mut taken = Taken::default();
        let mut regexes = 0;
        let mut valid: Vec<(&str, &str)> = Vec::new();
        for filter in filters
            .into_iter()
            .flatten()
            .filter_map(|filter| filter.as_str())
        {
            if !taken.takes(filter) {
                self.refuse(OBSIDIAN, filter);
                continue;
            }
            let inner = filter
                .strip_prefix('/')
                .and_then(|rest| rest.strip_suffix('/'))
                .filter(|inner| !inner.is_empty());
            match inner {
                // Compiling costs more than all else here: those over the limit are refused first.
                Some(_) if regexes >= MAX_REGEXES => self.refuse(OBSIDIAN, filter),
                Some(pattern) => {
                    regexes += 1;
                    let built = RegexBuilder::new(pattern)
                        .size_limit(MAX_REGEX_MEMORY)
                        .dfa_size_limit(MAX_REGEX_MEMORY)
                        .nest_limit(MAX_REGEX_DEPTH)
                        .build();
                    match built {
                        Ok(_) => valid.push((filter, pattern)),
                        Err(_) => self.refuse(OBSIDIAN, filter),
                    }
                }
                None if filter.is_empty() => {}
                None => self.beginnings.push(fold_name(filter)),
            }
        }
        // As many as fit together, from the first on.
        let all = |count: usize| {
            RegexSetBuilder::new(valid[..count].iter().map(|(_, pattern)| pattern))
                .size_limit(MAX_REGEXES_MEMORY)
                .dfa_size_limit(MAX_REGEXES_MEMORY)
                .nest_limit(MAX_REGEX_DEPTH)
                .build()
                .ok()
        };
        let (mut fit, mut over) = (0, valid.len() + 1);
        while fit + 1 < over {
            // All of them are tried first: mostly they fit.
            let count = match over > valid.len() {
                true => valid.len(),
                false => (fit + over) / 2,
            };
            match all(count) {
                Some(patterns) => (self.patterns, fit) = (patterns, count),
                None => over = count,
            }
        }
        for (filter, _) in &valid[fit..] {
            self.refuse(OBSIDIAN, filter);
        }
    }

    fn add_rules(&mut self, text: &str) {
        let mut builder = GitignoreBuilder::new("");
        let mut taken = Taken::default();
        for line in text.lines() {
            let says_nothing = line.trim().is_empty() || line.starts_with('#');
            // A line that nests too deep would take all the others with it.
            let mut is_taken =
                || check_bounds(line).is_ok() && builder.add_line(None, line).is_ok();
            if !(says_nothing || taken.takes(line) && is_taken()) {
                self.refuse(RULES, line);
            }
        }
        match builder.build() {
            Ok(rules) => self.rules = rules,
            Err(_) => self.refuse(RULES, "all lines together"),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn ignored(filters: &[String]) -> Ignored {
        let mut ignored = Ignored {
            beginnings: Vec::new(),
            patterns: RegexSet::empty(),
            rules: Gitignore::empty(),
            source: [0; 32],
            refused: Vec::new(),
            unreported: 0,
        };
        let settings = serde_json::json!({ "userIgnoreFilters": filters });
        ignored.add_obsidian(settings.to_string().as_bytes());
        ignored
    }

    #[test]
    fn regexes_are_taken_as_far_as_they_fit_together() {
        let small: Vec<String> = (0..50).map(|number| format!("/^Old{number}-/")).collect();
        let few = ignored(&small);
        assert!(few.refused.is_empty() && few.matches("Old49-x.md") && !few.matches("New.md"));
        // Each is within its own limit; fifty of them are not.
        let large: Vec<String> = (0..50)
            .map(|number| format!("/^Old{number}-([a-z]{{20}}[0-9]{{20}}){{40}}x/"))
            .collect();
        let many = ignored(&large);
        let path = |number: usize| {
            let inner = format!("{}{}", "a".repeat(20), "1".repeat(20)).repeat(40);
            format!("Old{number}-{inner}x.md")
        };
        let taken = (0..50)
            .filter(|number| many.matches(&path(*number)))
            .count();
        assert!((2..50).contains(&taken), "{taken}");
        assert!(many.matches(&path(taken - 1)) && !many.matches(&path(taken)));
        assert_eq!(many.refused.len() + many.unreported, 50 - taken);
        assert!(ignored(&[]).refused.is_empty());
    }
}
