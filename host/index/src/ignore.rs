//! Ignore rules of searches: Obsidian's `userIgnoreFilters` in `.obsidian/app.json`, and `.notehostignore` in the
//! vault's root with the syntax of `.gitignore`. Ignored notes can still be read and linked to, and links to them
//! follow a rename.

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use notehost_sdk::fold_name;
use regex::{Regex, RegexBuilder};

use notehost_vault::Vault;

/// Where the vault says what to leave out.
pub(super) const RULES: &str = ".notehostignore";
/// Obsidian's settings.
pub(super) const OBSIDIAN: &str = ".obsidian/app.json";
const MAX_FILE_BYTES: u64 = 1 << 20;

/// How many lines or filters are taken of each of the two; every file's path is compared with all of them.
const MAX_FILTERS: usize = 500;
/// How long they may be together, in bytes.
const MAX_FILTER_BYTES: usize = 64 << 10;
/// How long one may be.
const MAX_PATTERN_BYTES: usize = 1000;
/// How many filters may be regexes, valid or not, and how much memory each may take when it is compiled.
const MAX_REGEXES: usize = 50;
const MAX_REGEX_MEMORY: usize = 256 << 10;
/// How deep brackets in a regex may nest.
const MAX_REGEX_DEPTH: u32 = 50;
/// How many of those that are not taken are reported one by one.
const MAX_REFUSED: usize = 20;

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
    /// What a vault says now.
    pub fn of(vault: &Vault) -> Ignored {
        let rules = vault.own_file(RULES, MAX_FILE_BYTES).unwrap_or_default();
        let obsidian = vault.own_file(OBSIDIAN, MAX_FILE_BYTES).unwrap_or_default();
        let mut ignored = Ignored {
            beginnings: Vec::new(),
            patterns: Vec::new(),
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

    /// Tells the log what is not taken.
    pub(super) fn log_refused(&self) {
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

    /// Whether the vault still says the same.
    pub(super) fn is_current(&self, vault: &Vault) -> bool {
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
        let mut taken = Taken::default();
        let mut regexes = 0;
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
                        Ok(pattern) => self.patterns.push(pattern),
                        Err(_) => self.refuse(OBSIDIAN, filter),
                    }
                }
                None if filter.is_empty() => {}
                None => self.beginnings.push(fold_name(filter)),
            }
        }
    }

    fn add_rules(&mut self, text: &str) {
        let mut builder = GitignoreBuilder::new("");
        let mut taken = Taken::default();
        for line in text.lines() {
            let says_nothing = line.trim().is_empty() || line.starts_with('#');
            if !says_nothing && (!taken.takes(line) || builder.add_line(None, line).is_err()) {
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
