//! The outgoing links of a note and their targets.

use notehost_sdk::index::LinkAt;
use notehost_sdk::pages::{Span, counted};
use notehost_sdk::prelude::*;

use crate::index_queries::{Kind, links_of};

/// List the outgoing links of a note in order: their targets, and whether each is broken, ambiguous, an embed or
/// external.
///
/// Example: `{"path": "Garden/Balcony plan"}`
#[args]
pub struct Outgoing {
    /// The note: path, unique name or `[[link]]`.
    pub path: String,
    /// Only links in this state.
    pub state: Option<StateFilter>,
    /// Page size, 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// The state of a link.
#[args]
#[derive(Copy)]
pub enum StateFilter {
    /// lead to an existing file.
    Resolved,
    /// lead to a missing file.
    Broken,
    /// lead to a note without that heading or block.
    BrokenFragment,
    /// lead out of the vault.
    External,
}

/// The state of a link.
#[reply]
#[derive(Copy, PartialEq, Eq)]
pub enum State {
    /// It leads to an existing file.
    Resolved,
    /// It leads to a missing file.
    Broken,
    /// It leads to a note without that heading or block.
    BrokenFragment,
    /// It leads out of the vault.
    External,
}

impl State {
    /// The state of a link.
    pub(crate) fn of(link: &LinkAt) -> State {
        if link.external {
            State::External
        } else if link.path.is_none() {
            State::Broken
        } else if link.fragment_found == Some(false) {
            State::BrokenFragment
        } else {
            State::Resolved
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            State::Resolved => "resolved",
            State::Broken => "broken",
            State::BrokenFragment => "broken fragment",
            State::External => "external",
        }
    }
}

impl From<StateFilter> for State {
    fn from(filter: StateFilter) -> State {
        match filter {
            StateFilter::Resolved => State::Resolved,
            StateFilter::Broken => State::Broken,
            StateFilter::BrokenFragment => State::BrokenFragment,
            StateFilter::External => State::External,
        }
    }
}

/// The links of a note.
#[reply]
pub struct OutgoingLinks {
    /// The note.
    pub path: String,
    /// Its links, in order.
    pub items: Vec<OutgoingLink>,
    /// Cursor of the next page.
    pub next_cursor: Option<String>,
    /// Total number of links in the requested state.
    pub total: usize,
    /// Number of links of the note by state.
    pub counts: Counts,
}

/// Number of links by state.
#[reply]
#[derive(Default)]
pub struct Counts {
    /// To existing files.
    pub resolved: usize,
    /// To missing files.
    pub broken: usize,
    /// To a missing heading or block.
    pub broken_fragment: usize,
    /// Out of the vault.
    pub external: usize,
    /// Embeds, in any state.
    pub embeds: usize,
}

/// A link.
#[reply]
pub struct OutgoingLink {
    /// The note that contains it.
    pub path: String,
    /// The line number in the file, from 1.
    pub line: u32,
    /// Its syntax.
    pub kind: Kind,
    /// Its state.
    pub state: State,
    /// The target as written, decoded and without fragment; empty for a link within the note.
    pub target: String,
    /// The fragment: `#Heading`, `#^block`.
    pub fragment: Option<String>,
    /// The display text.
    pub text: Option<String>,
    /// The file that it resolves to.
    pub to: Option<String>,
    /// Number of other files that it matches.
    pub rivals: Option<u32>,
}

impl Action for Outgoing {
    type Output = OutgoingLinks;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<OutgoingLinks> {
        let span = Span::new(self.limit, self.cursor.as_deref())?;
        let path = vault.find_note(&self.path)?;
        let mut links = links_of(vault, &path)?;
        let mut counts = Counts::default();
        for link in &links {
            match State::of(link) {
                State::Resolved => counts.resolved += 1,
                State::Broken => counts.broken += 1,
                State::BrokenFragment => counts.broken_fragment += 1,
                State::External => counts.external += 1,
            }
            counts.embeds += usize::from(link.kind.is_embed());
        }
        if let Some(filter) = self.state {
            links.retain(|link| State::of(link) == filter.into());
        }
        let total = links.len();
        let (links, next_cursor) = span.of(links);
        let items = links
            .into_iter()
            .map(|link| outgoing_link(&path, link))
            .collect();
        Ok(OutgoingLinks {
            path,
            items,
            next_cursor,
            total,
            counts,
        })
    }

    fn text(output: &OutgoingLinks) -> String {
        let line = |item: &OutgoingLink| {
            let fragment = item.fragment.as_deref().unwrap_or_default();
            let state = (item.to.is_none() || item.state != State::Resolved).then_some(item.state);
            ReplyText::new(format!("{:>5}  {}{fragment}", item.line, item.target))
                .and(item.to.as_ref().map(|to| format!(" → {to}")))
                .and(state.map(|state| format!(" ({})", state.as_str())))
                .and(item.rivals.map(|rivals| format!(", matches {rivals} more")))
        };
        ReplyText::new(format!(
            "`{}`: {}, {} broken, {} external",
            output.path,
            counted(output.total as u64, "link"),
            output.counts.broken + output.counts.broken_fragment,
            output.counts.external
        ))
        .lines(&output.items, line)
        .more(&output.next_cursor)
        .into()
    }
}

fn outgoing_link(path: &str, link: LinkAt) -> OutgoingLink {
    OutgoingLink {
        path: path.to_owned(),
        line: link.line,
        kind: link.kind.into(),
        state: State::of(&link),
        target: link.target,
        fragment: link.fragment,
        text: link.text,
        to: link.path,
        rivals: (link.rivals > 0).then_some(link.rivals),
    }
}
