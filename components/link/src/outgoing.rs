//! The links of one note, and what each leads to.

use notehost_sdk::index::LinkAt;
use notehost_sdk::prelude::*;

use crate::asking::{Kind, links_of};
use notehost_sdk::pages::counted;
use notehost_sdk::pages::{Span, more};

/// List the links of a note in order: where each leads, and whether it is broken, ambiguous, an embed or external.
///
/// Example: `{"path": "Garden/Balcony plan"}`
#[args]
pub struct Outgoing {
    /// The note: path, unique name or `[[link]]`.
    pub path: String,
    /// Only links in this state.
    pub state: Option<Wanted>,
    /// How many, 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
}

/// A state of links.
#[args]
#[derive(Copy)]
pub enum Wanted {
    /// lead to a file that is there.
    Resolved,
    /// lead nowhere.
    Broken,
    /// lead to a note that lacks the heading or block.
    BrokenFragment,
    /// lead out of the vault.
    External,
}

/// What became of a link.
#[reply]
#[derive(Copy, PartialEq, Eq)]
pub enum State {
    /// It leads to a file that is there.
    Resolved,
    /// It leads nowhere.
    Broken,
    /// It leads to a note that lacks the heading or block.
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

    fn word(self) -> &'static str {
        match self {
            State::Resolved => "resolved",
            State::Broken => "broken",
            State::BrokenFragment => "broken fragment",
            State::External => "external",
        }
    }
}

impl From<Wanted> for State {
    fn from(wanted: Wanted) -> State {
        match wanted {
            Wanted::Resolved => State::Resolved,
            Wanted::Broken => State::Broken,
            Wanted::BrokenFragment => State::BrokenFragment,
            Wanted::External => State::External,
        }
    }
}

/// The links of a note.
#[reply]
pub struct OutgoingLinks {
    /// The note.
    pub path: String,
    /// Its links, in their order.
    pub items: Vec<OutgoingLink>,
    /// For the next page.
    pub next_cursor: Option<String>,
    /// How many links there are, of those asked for.
    pub total: usize,
    /// How many links of the note are in which state.
    pub counts: Counts,
}

/// How many links are in which state.
#[reply]
#[derive(Default)]
pub struct Counts {
    /// To files that are there.
    pub resolved: usize,
    /// To nothing.
    pub broken: usize,
    /// To a heading or block that is not in its note.
    pub broken_fragment: usize,
    /// Out of the vault.
    pub external: usize,
    /// That show their target in place, whatever their state.
    pub embeds: usize,
}

/// A link.
#[reply]
pub struct OutgoingLink {
    /// The note in which it stands.
    pub path: String,
    /// The line of the file, from 1.
    pub line: u32,
    /// How it is written.
    pub kind: Kind,
    /// What became of it.
    pub state: State,
    /// The target as it is written, decoded and without fragment; empty for a link into the note itself.
    pub target: String,
    /// The place in the target: `#Heading`, `#^block`.
    pub fragment: Option<String>,
    /// What a reader sees instead of the target.
    pub text: Option<String>,
    /// The file that it leads to.
    pub to: Option<String>,
    /// How many other files its words fit as well.
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
        if let Some(wanted) = self.state {
            links.retain(|link| State::of(link) == wanted.into());
        }
        let total = links.len();
        let (links, next_cursor) = span.of(links);
        let items = links.into_iter().map(|link| told(&path, link)).collect();
        Ok(OutgoingLinks {
            path,
            items,
            next_cursor,
            total,
            counts,
        })
    }

    fn text(output: &OutgoingLinks) -> String {
        let mut text = format!(
            "`{}`: {}, {} broken, {} external",
            output.path,
            counted(output.total as u64, "link"),
            output.counts.broken + output.counts.broken_fragment,
            output.counts.external
        );
        for item in &output.items {
            let fragment = item.fragment.as_deref().unwrap_or_default();
            text.push_str(&format!("\n{:>5}  {}{fragment}", item.line, item.target));
            match (&item.to, item.state) {
                (Some(to), State::Resolved) => text.push_str(&format!(" → {to}")),
                (Some(to), state) => text.push_str(&format!(" → {to} ({})", state.word())),
                (None, state) => text.push_str(&format!(" ({})", state.word())),
            }
            if let Some(rivals) = item.rivals {
                text.push_str(&format!(", fits {rivals} more"));
            }
        }
        text + &more(output.next_cursor.as_ref())
    }
}

fn told(path: &str, link: LinkAt) -> OutgoingLink {
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
