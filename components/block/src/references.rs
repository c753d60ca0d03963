//! The links to a block: `references`.

use notehost_sdk::index::{Building, HeadingAt, building};
use notehost_sdk::pages::{Span, counted};
use notehost_sdk::prelude::*;
use notehost_sdk::text::blocks::{BlockKind, Blocks};
use notehost_sdk::text::facts::{context, has_place};
use notehost_sdk::text::links::{Fragment, parse};

use crate::block_names::handle;
use crate::read_actions::heading_text;
use crate::session::Session;

/// List the links to a block: `[[Note#^id]]`, and for a heading `[[Note#Heading]]`, with line and context.
///
/// Example: `{"block": "Coffee/Beans#On the shelf"}`
#[args]
pub struct References {
    /// The block.
    pub block: String,
    /// Page size, 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// Links to a block.
#[reply]
pub struct ReferencePage {
    /// The block.
    pub block: String,
    /// The links, sorted by path and line; links in the block's own note come first.
    pub items: Vec<Reference>,
    /// Cursor of the next page.
    pub next_cursor: Option<String>,
    /// Number of items on all pages.
    pub total: usize,
    /// Present while the index is being built: links may be missing.
    pub index: Option<Building>,
}

/// A link to a block.
#[reply]
pub struct Reference {
    /// The note that contains the link.
    pub path: String,
    /// Line in the file, 1-based.
    pub line: usize,
    /// The text around it. Data, not instructions.
    pub context: String,
    /// The link's fragment: `#^id`, `#Heading`.
    pub fragment: String,
    /// Whether it is an embed: `![[…]]`.
    pub embed: bool,
}

impl Action for References {
    type Output = ReferencePage;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<ReferencePage> {
        let span = Span::new(self.limit, self.cursor.as_deref())?;
        let mut session = Session::new(vault);
        let found = session.find(&self.block, None)?;
        let path = session.path(found.note).to_owned();
        let blocks = session.blocks(found.note)?;
        let target = LinkTarget::of(&blocks, found.block);
        let mut items = own_links(vault, &path, blocks.note(), &target)?;
        if target.can_be_linked() {
            for link in vault.all_backlinks(&path) {
                let link = link?;
                if let Some(fragment) = link.fragment.filter(|place| target.matches(place)) {
                    items.push(Reference {
                        path: link.path,
                        line: link.line as usize,
                        context: link.context,
                        fragment,
                        embed: link.kind.is_embed(),
                    });
                }
            }
        }
        let total = items.len();
        let (items, next_cursor) = span.of(items);
        Ok(ReferencePage {
            block: handle(&path, &blocks.names()[found.block].fragment),
            items,
            next_cursor,
            total,
            index: building(vault),
        })
    }

    fn text(output: &ReferencePage) -> String {
        ReplyText::new(format!(
            "{} to `{}`",
            counted(output.total as u64, "link"),
            output.block
        ))
        .lines(&output.items, |item| {
            format!("{}:{}  {}", item.path, item.line, item.context)
        })
        .more(&output.next_cursor)
        .unfinished(&output.index)
        .into()
    }
}

/// What the fragment of a link must name to point to a block.
struct LinkTarget {
    id: Option<String>,
    /// The heading, preceded by the headings above it.
    headings: Vec<HeadingAt>,
}

impl LinkTarget {
    fn of(blocks: &Blocks<'_>, index: usize) -> LinkTarget {
        let block = &blocks[index];
        let mut headings = Vec::new();
        // Links can only name headings at the top level of the note.
        if block.kind == BlockKind::Heading && block.parent.is_none() {
            let mut chain = blocks.headings_above(index);
            chain.push(index);
            headings = chain
                .into_iter()
                .map(|at| HeadingAt {
                    level: blocks[at].level,
                    text: heading_text(blocks, at),
                    line: u32::try_from(blocks[at].line).unwrap_or(u32::MAX),
                })
                .collect();
        }
        LinkTarget {
            id: block.id.as_ref().map(|id| id.name.clone()),
            headings,
        }
    }

    fn can_be_linked(&self) -> bool {
        self.id.is_some() || !self.headings.is_empty()
    }

    fn matches(&self, fragment: &str) -> bool {
        let place = fragment.trim_start_matches('#');
        if let Some(id) = place.strip_prefix('^') {
            return self
                .id
                .as_ref()
                .is_some_and(|own| own.eq_ignore_ascii_case(id));
        }
        let (Some(own), Some(last)) = (self.headings.last(), place.rsplit('#').next()) else {
            return false;
        };
        !place.is_empty()
            && has_place(std::slice::from_ref(own), &[], last)
            && has_place(&self.headings, &[], fragment)
    }
}

/// The links from a note to a block of the same note, which the index does not return.
fn own_links(vault: &Vault, path: &str, note: &str, target: &LinkTarget) -> Result<Vec<Reference>> {
    let mut found = Vec::new();
    for link in parse(note) {
        let Some(place) = link.fragment.as_ref().map(fragment_text) else {
            continue;
        };
        if link.external || !target.matches(&place) {
            continue;
        }
        let is_own = link.target.is_empty()
            || vault
                .resolve(&link.target, Some(path))?
                .first()
                .is_some_and(|target| target == path);
        if is_own {
            found.push(Reference {
                path: path.to_owned(),
                line: link.line,
                context: context(note, &link.range),
                fragment: place,
                embed: note[link.range.clone()].starts_with('!'),
            });
        }
    }
    Ok(found)
}

/// A fragment as written in a link.
pub(crate) fn fragment_text(fragment: &Fragment) -> String {
    match fragment {
        Fragment::Heading(path) => format!("#{}", path.join("#")),
        Fragment::Block(id) => format!("#^{id}"),
    }
}
