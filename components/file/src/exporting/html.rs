//! A note as HTML that nothing in it can make do anything: its own HTML is shown as text, links lead to harmless places,
//! pictures are part of the page, and notes that it shows are shown in it.

use std::collections::{HashMap, HashSet};

use comrak::nodes::{AstNode, NodeValue};
use comrak::{Arena, Node, Options, format_html, parse_document};
use notehost_sdk::prelude::*;
use notehost_sdk::text::links::Names;
use notehost_sdk::text::section::{self, Extent};
use notehost_sdk::text::{self, dialect};
use notehost_sdk::{fold_name, is_note, stem_of};

use super::links::{Address, block_place, escaped, place, slug};
use super::{LeftOut, within_limit};
use crate::encoding::data_uri;
use crate::kinds::{self, FileKind};
use crate::places::file_name;

/// How deep notes may show each other.
const DEEPEST: usize = 6;

/// What the notes of one page share.
pub(super) struct Renderer<'v> {
    vault: &'v Vault,
    names: Names,
    /// The notes that are articles of the page, by path, with their anchors.
    articles: HashMap<String, Article>,
    /// Files that were read, as data URIs.
    shown: HashMap<String, Option<String>>,
    pub(super) left_out: Vec<LeftOut>,
    /// The same, to tell each once.
    told: HashSet<LeftOut>,
    /// What the page will have at least, in bytes.
    size: usize,
}

struct Article {
    anchor: String,
    /// The places in it that links may lead to.
    places: HashSet<String>,
}

/// Which note is being rendered, and where.
struct Place<'p> {
    path: &'p str,
    /// The anchor of the article; nothing where the note is shown in another.
    anchor: Option<&'p str>,
    /// The notes around this one, itself included.
    around: &'p [String],
    /// How many lines of the file come before the text.
    lines_before: usize,
}

impl<'v> Renderer<'v> {
    /// A page with these notes as articles.
    pub(super) fn new(vault: &'v Vault, notes: &[Note]) -> Result<Renderer<'v>> {
        let articles = notes.iter().zip(1..).map(|(note, number)| {
            let facts = text::facts::facts(&note.text);
            let headings = facts.headings.iter().map(|heading| slug(&heading.text));
            let blocks = facts.blocks.iter().map(|block| block_place(&block.id));
            let article = Article {
                anchor: format!("n{number}"),
                places: headings.chain(blocks).collect(),
            };
            (note.path.clone(), article)
        });
        Ok(Renderer {
            vault,
            names: Names::new(vault.files()?),
            articles: articles.collect(),
            shown: HashMap::new(),
            left_out: Vec::new(),
            told: HashSet::new(),
            size: 0,
        })
    }

    /// The anchor of an article.
    pub(super) fn anchor(&self, path: &str) -> String {
        self.articles
            .get(path)
            .map(|article| article.anchor.clone())
            .unwrap_or_default()
    }

    /// How many files are part of the page.
    pub(super) fn files(&self) -> usize {
        self.shown.values().flatten().count()
    }

    /// The body of an article.
    pub(super) fn article(&mut self, note: &Note) -> Result<String> {
        let anchor = self.anchor(&note.path);
        let start = text::body::start(&note.text);
        let html = self.render(
            &note.text[start..],
            &Place {
                path: &note.path,
                anchor: Some(&anchor),
                around: std::slice::from_ref(&note.path),
                lines_before: text::line_of(&note.text, start) - 1,
            },
        )?;
        // Footnotes are numbered in each note anew.
        Ok(html
            .replace("id=\"fn", &format!("id=\"{anchor}-fn"))
            .replace("href=\"#fn", &format!("href=\"#{anchor}-fn")))
    }

    fn grown(&mut self, by: usize) -> Result<()> {
        self.size += by;
        within_limit(self.size)
    }

    fn render(&mut self, markdown: &str, place: &Place<'_>) -> Result<String> {
        self.grown(markdown.len())?;
        let options = options();
        let arena = Arena::new();
        let root = parse_document(&arena, markdown, &options);
        let nodes: Vec<Node<'_>> = root.descendants().collect();
        let mut taken: HashMap<String, usize> = HashMap::new();
        for node in nodes {
            let value = node.data().value.clone();
            let line = place.lines_before + node.data().sourcepos.start.line;
            match value {
                NodeValue::Heading(_) => {
                    if let Some(anchor) = place.anchor {
                        let slug = slug(&shown_text(node));
                        let count = taken.entry(slug.clone()).or_default();
                        *count += 1;
                        let id = match count {
                            1 => format!("{anchor}-{slug}"),
                            count => format!("{anchor}-{slug}-{count}"),
                        };
                        node.prepend(raw(&arena, format!("<a id=\"{id}\"></a>")));
                    }
                }
                NodeValue::WikiLink(link) => {
                    let label = shown_text(node);
                    let html = match link.embed {
                        true => self.embed(&Address::in_vault(&link.url), &label, place, line)?,
                        false => self.wikilink(&link.url, &label, place),
                    };
                    replace(node, html);
                }
                NodeValue::Image(link) => {
                    let label = shown_text(node);
                    let html = self.image(&link.url, &label, place, line)?;
                    replace(node, html);
                }
                NodeValue::Link(link) => {
                    let href = match Address::of(&link.url) {
                        Address::Outside => Some(link.url.clone()),
                        Address::Picture | Address::Refused => None,
                        Address::File { target, fragment } => {
                            self.href(place, &target, fragment.as_deref())
                        }
                    };
                    match href {
                        Some(href) => {
                            if let NodeValue::Link(link) = &mut node.data_mut().value {
                                link.url = href;
                            }
                        }
                        None => unwrap(&arena, node),
                    }
                }
                NodeValue::HtmlBlock(block) if block.literal.trim_start().starts_with("<!--") => {
                    replace(node, String::new());
                }
                NodeValue::HtmlInline(literal) if literal.starts_with("<!--") => {
                    replace(node, String::new());
                }
                NodeValue::Text(text) if node.next_sibling().is_none() => {
                    if let Some((kept, block)) = block_id(&text) {
                        let id = place.anchor.map_or_else(String::new, |anchor| {
                            format!("<a id=\"{anchor}-{}\"></a>", block_place(block))
                        });
                        let kept = kept.to_owned();
                        node.insert_after(raw(&arena, id));
                        node.data_mut().value = NodeValue::Text(kept.into());
                    }
                }
                _ => {}
            }
        }
        let mut html = String::new();
        format_html(root, &options, &mut html).map_err(|_| {
            Error::new(
                notehost_sdk::Code::InternalError,
                format!("`{}` could not be written as HTML", place.path),
            )
        })?;
        self.grown(html.len().saturating_sub(markdown.len()))?;
        Ok(html)
    }

    /// Where a link to a file leads on this page.
    fn href(&self, from: &Place<'_>, target: &str, fragment: Option<&str>) -> Option<String> {
        let found = self.names.resolve(from.path, target)?;
        let article = self.articles.get(found.path)?;
        let inner = fragment
            .map(place)
            .filter(|inner| article.places.contains(inner));
        Some(match inner {
            Some(inner) => format!("#{}-{inner}", article.anchor),
            None => format!("#{}", article.anchor),
        })
    }

    fn wikilink(&self, url: &str, label: &str, place: &Place<'_>) -> String {
        let href = match Address::in_vault(url) {
            Address::File { target, fragment } => self.href(place, &target, fragment.as_deref()),
            _ => None,
        };
        let label = escaped(label);
        match href {
            Some(href) => format!("<a href=\"{}\">{label}</a>", escaped(&href)),
            None => format!("<span class=\"outside\">{label}</span>"),
        }
    }

    fn image(&mut self, url: &str, label: &str, place: &Place<'_>, line: usize) -> Result<String> {
        Ok(match Address::of(url) {
            Address::Picture => {
                format!("<img src=\"{}\" alt=\"{}\">", escaped(url), escaped(label))
            }
            Address::Outside => {
                self.leave_out(place, line, url, "it lies outside of the vault");
                format!(
                    "<a href=\"{}\">{}</a>",
                    escaped(url),
                    escaped(if label.is_empty() { url } else { label })
                )
            }
            Address::Refused => escaped(label),
            address @ Address::File { .. } => self.embed(&address, label, place, line)?,
        })
    }

    /// What is shown in place: a picture, a recording, another note.
    fn embed(
        &mut self,
        address: &Address,
        label: &str,
        place: &Place<'_>,
        line: usize,
    ) -> Result<String> {
        let Address::File { target, fragment } = address else {
            return Ok(escaped(label));
        };
        let Some(path) = self
            .names
            .resolve(place.path, target)
            .map(|found| found.path.to_owned())
        else {
            self.leave_out(place, line, target, "there is no such file");
            return Ok(format!(
                "<span class=\"outside\">{}</span>",
                escaped(target)
            ));
        };
        if is_note(&path) {
            return self.note(&path, fragment.as_deref(), place, line);
        }
        let name = file_name(&path).to_owned();
        let size = size_attributes(label);
        // `![[a.png|300]]` has a size where others have a text.
        let alt = match size.is_some() || label.trim() == target || label.is_empty() {
            true => name.as_str(),
            false => label,
        };
        let alt = escaped(alt);
        let size = size.unwrap_or_default();
        let kind = kinds::by_name(&path).kind;
        let Some(uri) = self.data_uri(&path)? else {
            self.leave_out(
                place,
                line,
                &path,
                "only pictures, sound and films are shown",
            );
            return Ok(format!("<span class=\"outside\">{alt}</span>"));
        };
        Ok(match kind {
            FileKind::Audio => format!("<audio controls src=\"{uri}\"></audio>"),
            FileKind::Video => format!("<video controls src=\"{uri}\"{size}></video>"),
            _ => format!("<img src=\"{uri}\" alt=\"{alt}\"{size}>"),
        })
    }

    /// A file as an address that holds it, if it is of a kind that a page can show.
    fn data_uri(&mut self, path: &str) -> Result<Option<String>> {
        if !self.shown.contains_key(path) {
            let bytes = self.vault.read(path)?.bytes;
            let found = kinds::by_content(path, &bytes);
            let is_shown = matches!(
                found.kind,
                FileKind::Image | FileKind::Audio | FileKind::Video
            );
            let uri = is_shown.then(|| data_uri(found.mime, &bytes));
            self.shown.insert(path.to_owned(), uri);
        }
        let uri = self.shown.get(path).cloned().flatten();
        self.grown(uri.as_ref().map_or(0, String::len))?;
        Ok(uri)
    }

    /// Another note, or a part of it, shown within this one.
    fn note(
        &mut self,
        path: &str,
        fragment: Option<&str>,
        place: &Place<'_>,
        line: usize,
    ) -> Result<String> {
        let title = escaped(stem_of(path));
        if place.around.iter().any(|around| around == path) || place.around.len() >= DEEPEST {
            return Ok(match self.articles.get(path) {
                Some(article) => format!("<a href=\"#{}\">{title}</a>", article.anchor),
                None => format!("<span class=\"outside\">{title}</span>"),
            });
        }
        let Ok(note) = self.vault.read_text(path) else {
            self.leave_out(place, line, path, "the note is not UTF-8 text");
            return Ok(format!("<span class=\"outside\">{title}</span>"));
        };
        let Some((start, part)) = part_of(&note.text, fragment) else {
            let reason = format!("there is no `{}` in it", fragment.unwrap_or_default());
            self.leave_out(place, line, path, &reason);
            return Ok(format!("<span class=\"outside\">{title}</span>"));
        };
        let mut around = place.around.to_vec();
        around.push(path.to_owned());
        let inner = self.render(
            part,
            &Place {
                path,
                anchor: None,
                around: &around,
                lines_before: text::line_of(&note.text, start) - 1,
            },
        )?;
        // Footnotes of a note within a note have no place of their own.
        let inner = inner.replace(" id=\"fn", " data-id=\"fn");
        Ok(format!(
            "<div class=\"embed\"><div class=\"embed-title\">{title}</div>\n{inner}</div>"
        ))
    }

    fn leave_out(&mut self, place: &Place<'_>, line: usize, target: &str, reason: &str) {
        let left = LeftOut {
            path: place.path.to_owned(),
            line,
            target: target.to_owned(),
            reason: reason.to_owned(),
        };
        if self.told.insert(left.clone()) {
            self.left_out.push(left);
        }
    }
}

fn options() -> Options<'static> {
    let mut options = dialect::options();
    options.parse.leave_footnote_definitions = false;
    options.render.escape = true;
    options.render.r#unsafe = false;
    options
}

fn raw<'a>(arena: &'a Arena<'a>, html: String) -> Node<'a> {
    arena.alloc(AstNode::from(NodeValue::Raw(html)))
}

/// Put HTML in the place of a node and all that is in it.
fn replace(node: Node<'_>, html: String) {
    let children: Vec<Node<'_>> = node.children().collect();
    for child in children {
        child.detach();
    }
    node.data_mut().value = NodeValue::Raw(html);
}

/// Keep what a link says, and not the link.
fn unwrap<'a>(arena: &'a Arena<'a>, node: Node<'a>) {
    node.insert_before(raw(arena, "<span class=\"outside\">".to_owned()));
    let children: Vec<Node<'a>> = node.children().collect();
    for child in children {
        child.detach();
        node.insert_before(child);
    }
    node.data_mut().value = NodeValue::Raw("</span>".to_owned());
}

/// The text of a node, without what marks it up.
fn shown_text(node: Node<'_>) -> String {
    let mut text = String::new();
    for inner in node.descendants() {
        match &inner.data().value {
            NodeValue::Text(literal) => text.push_str(literal),
            NodeValue::Code(code) => text.push_str(&code.literal),
            NodeValue::Math(math) => text.push_str(&math.literal),
            NodeValue::SoftBreak | NodeValue::LineBreak => text.push(' '),
            _ => {}
        }
    }
    text
}

/// A text that ends in the id of its block: what comes before, and the id.
fn block_id(text: &str) -> Option<(&str, &str)> {
    let (before, id) = text.trim_end().rsplit_once('^')?;
    let is_id = !id.is_empty()
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let stands_apart = before.is_empty() || before.ends_with([' ', '\t']);
    (is_id && stands_apart).then(|| (before.trim_end(), id))
}

/// `300` or `300x200` as attributes.
fn size_attributes(label: &str) -> Option<String> {
    let number = |text: &str| text.trim().parse::<u16>().ok().filter(|number| *number > 0);
    match label.split_once('x') {
        None => number(label).map(|width| format!(" width=\"{width}\"")),
        Some((width, height)) => Some(format!(
            " width=\"{}\" height=\"{}\"",
            number(width)?,
            number(height)?
        )),
    }
}

/// The part of a note that a fragment means, with its first byte; the body if there is none.
fn part_of<'n>(note: &'n str, fragment: Option<&str>) -> Option<(usize, &'n str)> {
    let Some(fragment) = fragment else {
        let start = text::body::start(note);
        return Some((start, &note[start..]));
    };
    let innermost = fragment.rsplit('#').next().unwrap_or(fragment).trim();
    if let Some(block) = innermost.strip_prefix('^') {
        return block_of(note, block);
    }
    let path: Vec<&str> = fragment.split('#').map(str::trim).collect();
    let found = section::read(note, &path.join(" > "), Extent::Whole).ok();
    // Of several headings that fit, Obsidian shows the first.
    found
        .map(|found| (found.range.start, found.text))
        .or_else(|| first_section(note, innermost))
}

fn first_section<'n>(note: &'n str, heading: &str) -> Option<(usize, &'n str)> {
    let outline = text::outline(note).ok()?;
    let wanted = slug(heading);
    let found = outline.headings.iter().find(|found| {
        fold_name(&found.name()) == fold_name(heading) || slug(&found.name()) == wanted
    })?;
    Some((found.section.start, note.get(found.section.clone())?))
}

/// The lines around the id of a block, up to the empty ones.
fn block_of<'n>(note: &'n str, block: &str) -> Option<(usize, &'n str)> {
    let facts = text::facts::facts(note);
    let at = facts
        .blocks
        .iter()
        .find(|found| fold_name(&found.id) == fold_name(block))?;
    let lines: Vec<&str> = note.split_inclusive('\n').collect();
    let index = usize::try_from(at.line).ok()?.checked_sub(1)?;
    let is_item = |line: &str| {
        let line = line.trim_start();
        line.starts_with(['-', '*', '+']) || line.starts_with(|first: char| first.is_ascii_digit())
    };
    let own = lines.get(index)?;
    // An id alone on its line belongs to what stands above it.
    let mut first = index;
    let stands_alone = own.trim_start().starts_with('^');
    if stands_alone {
        while first > 0 && lines[first - 1].trim().is_empty() {
            first -= 1;
        }
    }
    if stands_alone || !is_item(own) {
        while first > 0 && !lines[first - 1].trim().is_empty() {
            first -= 1;
        }
    }
    let start: usize = lines[..first].iter().map(|line| line.len()).sum();
    let length: usize = lines[first..=index].iter().map(|line| line.len()).sum();
    Some((start, &note[start..start + length]))
}
