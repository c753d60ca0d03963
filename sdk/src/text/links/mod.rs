//! Links between notes: parsing, resolution, and updates when a note moves.
//!
//! All functions are pure, over text and lists of paths: [`parse`] finds links with exact byte ranges, [`Names`] resolves them
//! by Obsidian's rules, [`rewrite`] and [`detach`] return splices. Access to the vault is elsewhere.

mod blocks;
mod detach;
mod filter;
mod forms;
mod inline;
mod parse;
mod properties;
mod resolve;
mod rewrite;
mod segments;
mod syntax;

use std::ops::Range;

use super::percent;

pub use detach::{Detachment, detach};
pub use filter::{TargetFilter, may_link_to};
pub use parse::parse;
pub(crate) use parse::{hashes, survey};
pub use resolve::{Matched, Names, Resolved, choose, target_file_name};
pub use rewrite::{Moves, Reason, Rewrite, Stuck, rewrite};

/// A replacement of a byte range of a note. Splices of one list are in order and do not overlap.
pub type Splice = (Range<usize>, String);

/// One link of a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Its syntax.
    pub kind: Kind,
    /// The whole construct, from its first bracket (or `!`) to its last byte.
    pub range: Range<usize>,
    /// The path part of the target as written, without fragment, brackets or quotes; empty for `[[#Heading]]`.
    pub target_range: Range<usize>,
    /// The path part decoded: percent-encoding, backslashes and YAML quoting undone.
    pub target: String,
    /// The fragment.
    pub fragment: Option<Fragment>,
    /// The alias, link text, image text or reference label, without its brackets; `300` in `![[a.png|300]]`.
    pub text_range: Option<Range<usize>>,
    /// Its first line in the file, from 1.
    pub line: usize,
    /// Whether the target is a URL with a scheme (or host) rather than a file of the vault.
    pub external: bool,
    /// The notation of the target, which a rewrite keeps.
    pub notation: Notation,
}

impl Link {
    /// The alias, link text, image text or reference label of this link in `note`.
    pub fn text<'n>(&self, note: &'n str) -> Option<&'n str> {
        note.get(self.text_range.clone()?)
    }

    /// The displayed text: the alias or link text, else the name of the target without folder and `.md`.
    pub fn display<'n>(&'n self, note: &'n str) -> &'n str {
        let is_size = |text: &str| {
            text.bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'x')
        };
        match self
            .text(note)
            .map(str::trim)
            .filter(|text| !text.is_empty())
        {
            Some(text) if self.kind != Kind::Embed || !is_size(text) => text,
            _ => {
                let name = self.target.rsplit('/').next().unwrap_or_default();
                name.strip_suffix(".md").unwrap_or(name)
            }
        }
    }
}

pub use crate::index::LinkKind as Kind;

/// A place within a note.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Fragment {
    /// `#Heading#Subheading`: the headings, outermost first.
    Heading(Vec<String>),
    /// `#^identifier`, without the `^`.
    Block(String),
}

/// The notation of a link's path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Notation {
    /// Literal, between double brackets.
    Wiki,
    /// As a Markdown destination: percent-encoded where necessary.
    Bare,
    /// As a Markdown destination in angle brackets, which may contain spaces.
    Angle,
    /// Between double brackets in an unquoted YAML string.
    Plain,
    /// Between double brackets in a single-quoted YAML string.
    SingleQuoted,
    /// Between double brackets in a double-quoted YAML string.
    DoubleQuoted,
}

impl Notation {
    /// A target or fragment, escaped as this notation requires.
    pub fn escaped(self, text: &str) -> String {
        match self {
            Notation::Bare => percent::encode(text),
            Notation::SingleQuoted => text.replace('\'', "''"),
            Notation::DoubleQuoted => text.replace('"', "\\\""),
            Notation::Wiki | Notation::Angle | Notation::Plain => text.to_owned(),
        }
    }
}
