//! Renders a note as safe HTML: raw HTML is escaped, only harmless links are kept, images are inlined, and embedded
//! notes are rendered in place.

use std::collections::{HashMap, HashSet};

use comrak::nodes::{AstNode, NodeValue};
use comrak::{Arena, Node, Options, format_html, parse_document};
use notehost_sdk::prelude::*;
use notehost_sdk::text::links::Names;
use notehost_sdk::text::{self, dialect};
use notehost_sdk::{is_note, stem_of};

use super::fragment::part_of;
use super::links::{Address, block_anchor, fragment_anchor, slug};
use super::{LeftOut, check_size};
use crate::encoding::data_uri;
use crate::file_type::{self, FileKind};
use crate::paths::file_name;
use notehost_sdk::text::html::escape;

/// The maximum nesting depth of embedded notes.
const MAX_EMBED_DEPTH: usize = 6;

/// Renders the notes of one page.
pub(super) struct Renderer<'v> {
    vault: &'v Vault,
    names: Names,
    /// The notes that are articles of the page, by path, with their anchors.
    articles: HashMap<String, Article>,
    /// Inlined files as data URIs; `None` for files that cannot be inlined.
    inlined: HashMap<String, Option<String>>,
    pub(super) left_out: Vec<LeftOut>,
    /// The same, to avoid duplicates.
    left_out_set: HashSet<LeftOut>,
    /// A lower bound of the page size, in bytes.
    size: usize,
}

struct Article {
    anchor: String,
    /// The fragments that links may point to.
    fragments: HashSet<String>,
}

/// The note being rendered, and its context.
struct RenderContext<'p> {
    path: &'p str,
    /// The anchor of the article; `None` for an embedded note.
    anchor: Option<&'p str>,
    /// The chain of embedding notes, including this one.
    ancestors: &'p [String],
    /// The number of lines of the file before the text.
    lines_before: usize,
}

impl<'v> Renderer<'v> {
    /// A page with these notes as articles.
    pub(super) fn new(vault: &'v Vault, notes: &[Note]) -> Result<Renderer<'v>> {
        let articles = notes.iter().zip(1..).map(|(note, number)| {
            let facts = text::facts::facts(&note.text);
            let headings = facts.headings.iter().map(|heading| slug(&heading.text));
            let blocks = facts.blocks.iter().map(|block| block_anchor(&block.id));
            let article = Article {
                anchor: format!("n{number}"),
                fragments: headings.chain(blocks).collect(),
            };
            (note.path.clone(), article)
        });
        Ok(Renderer {
            vault,
            names: Names::new(vault.files()?),
            articles: articles.collect(),
            inlined: HashMap::new(),
            left_out: Vec::new(),
            left_out_set: HashSet::new(),
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

    /// The number of inlined files.
    pub(super) fn files(&self) -> usize {
        self.inlined.values().flatten().count()
    }

    /// The body of an article.
    pub(super) fn article(&mut self, note: &Note) -> Result<String> {
        let anchor = self.anchor(&note.path);
        let start = text::body::start(&note.text);
        let html = self.render(
            &note.text[start..],
            &RenderContext {
                path: &note.path,
                anchor: Some(&anchor),
                ancestors: std::slice::from_ref(&note.path),
                lines_before: text::line_of(&note.text, start) - 1,
            },
        )?;
        // Footnote numbers restart in each note.
        Ok(html
            .replace("id=\"fn", &format!("id=\"{anchor}-fn"))
            .replace("href=\"#fn", &format!("href=\"#{anchor}-fn")))
    }

    fn add_size(&mut self, by: usize) -> Result<()> {
        self.size += by;
        check_size(self.size)
    }

    fn render(&mut self, markdown: &str, context: &RenderContext<'_>) -> Result<String> {
        self.add_size(markdown.len())?;
        let options = options();
        let arena = Arena::new();
        let root = parse_document(&arena, markdown, &options);
        let nodes: Vec<Node<'_>> = root.descendants().collect();
        let mut taken: HashMap<String, usize> = HashMap::new();
        for node in nodes {
            let value = node.data().value.clone();
            let line = context.lines_before + node.data().sourcepos.start.line;
            match value {
                NodeValue::Heading(_) => {
                    if let Some(anchor) = context.anchor {
                        let slug = slug(&plain_text(node));
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
                    let label = plain_text(node);
                    let html = match link.embed {
                        true => self.embed(&Address::in_vault(&link.url), &label, context, line)?,
                        false => self.wikilink(&link.url, &label, context),
                    };
                    replace(node, html);
                }
                NodeValue::Image(link) => {
                    let label = plain_text(node);
                    let html = self.image(&link.url, &label, context, line)?;
                    replace(node, html);
                }
                NodeValue::Link(link) => {
                    let href = match Address::of(&link.url) {
                        Address::External => Some(link.url.clone()),
                        Address::InlineImage | Address::Blocked => None,
                        Address::File { target, fragment } => {
                            self.href(context, &target, fragment.as_deref())
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
                        let id = context.anchor.map_or_else(String::new, |anchor| {
                            format!("<a id=\"{anchor}-{}\"></a>", block_anchor(block))
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
                format!("`{}` could not be written as HTML", context.path),
            )
        })?;
        self.add_size(html.len().saturating_sub(markdown.len()))?;
        Ok(html)
    }

    /// The target on this page of a link to a file.
    fn href(
        &self,
        from: &RenderContext<'_>,
        target: &str,
        fragment: Option<&str>,
    ) -> Option<String> {
        let found = self.names.resolve(from.path, target)?;
        let article = self.articles.get(found.path)?;
        let inner = fragment
            .map(fragment_anchor)
            .filter(|inner| article.fragments.contains(inner));
        Some(match inner {
            Some(inner) => format!("#{}-{inner}", article.anchor),
            None => format!("#{}", article.anchor),
        })
    }

    fn wikilink(&self, url: &str, label: &str, context: &RenderContext<'_>) -> String {
        let href = match Address::in_vault(url) {
            Address::File { target, fragment } => self.href(context, &target, fragment.as_deref()),
            _ => None,
        };
        let label = escape(label);
        match href {
            Some(href) => format!("<a href=\"{}\">{label}</a>", escape(&href)),
            None => format!("<span class=\"outside\">{label}</span>"),
        }
    }

    fn image(
        &mut self,
        url: &str,
        label: &str,
        context: &RenderContext<'_>,
        line: usize,
    ) -> Result<String> {
        Ok(match Address::of(url) {
            Address::InlineImage => {
                format!("<img src=\"{}\" alt=\"{}\">", escape(url), escape(label))
            }
            Address::External => {
                self.leave_out(context, line, url, "outside of the vault");
                format!(
                    "<a href=\"{}\">{}</a>",
                    escape(url),
                    escape(if label.is_empty() { url } else { label })
                )
            }
            Address::Blocked => escape(label),
            address @ Address::File { .. } => self.embed(&address, label, context, line)?,
        })
    }

    /// Renders an embed: an image, audio, video or another note.
    fn embed(
        &mut self,
        address: &Address,
        label: &str,
        context: &RenderContext<'_>,
        line: usize,
    ) -> Result<String> {
        let Address::File { target, fragment } = address else {
            return Ok(escape(label));
        };
        let Some(path) = self
            .names
            .resolve(context.path, target)
            .map(|found| found.path.to_owned())
        else {
            self.leave_out(context, line, target, "file not found");
            return Ok(format!("<span class=\"outside\">{}</span>", escape(target)));
        };
        if is_note(&path) {
            return self.note(&path, fragment.as_deref(), context, line);
        }
        let name = file_name(&path).to_owned();
        let size = size_attributes(label);
        // In `![[a.png|300]]` the label is a size.
        let alt = match size.is_some() || label.trim() == target || label.is_empty() {
            true => name.as_str(),
            false => label,
        };
        let alt = escape(alt);
        let size = size.unwrap_or_default();
        let kind = file_type::by_name(&path).kind;
        let Some(uri) = self.data_uri(&path)? else {
            self.leave_out(
                context,
                line,
                &path,
                "only images, audio and video can be embedded",
            );
            return Ok(format!("<span class=\"outside\">{alt}</span>"));
        };
        Ok(match kind {
            FileKind::Audio => format!("<audio controls src=\"{uri}\"></audio>"),
            FileKind::Video => format!("<video controls src=\"{uri}\"{size}></video>"),
            _ => format!("<img src=\"{uri}\" alt=\"{alt}\"{size}>"),
        })
    }

    /// A file as a data URI, if a page can display it.
    fn data_uri(&mut self, path: &str) -> Result<Option<String>> {
        if !self.inlined.contains_key(path) {
            let bytes = self.vault.read(path)?.bytes;
            let found = file_type::by_content(path, &bytes);
            let is_shown = matches!(
                found.kind,
                FileKind::Image | FileKind::Audio | FileKind::Video
            );
            let uri = is_shown.then(|| data_uri(found.mime, &bytes));
            self.inlined.insert(path.to_owned(), uri);
        }
        let uri = self.inlined.get(path).cloned().flatten();
        self.add_size(uri.as_ref().map_or(0, String::len))?;
        Ok(uri)
    }

    /// Renders an embedded note, or a part of it.
    fn note(
        &mut self,
        path: &str,
        fragment: Option<&str>,
        context: &RenderContext<'_>,
        line: usize,
    ) -> Result<String> {
        let title = escape(stem_of(path));
        if context.ancestors.iter().any(|ancestor| ancestor == path)
            || context.ancestors.len() >= MAX_EMBED_DEPTH
        {
            return Ok(match self.articles.get(path) {
                Some(article) => format!("<a href=\"#{}\">{title}</a>", article.anchor),
                None => format!("<span class=\"outside\">{title}</span>"),
            });
        }
        let Ok(note) = self.vault.read_text(path) else {
            self.leave_out(context, line, path, "the note is not UTF-8 text");
            return Ok(format!("<span class=\"outside\">{title}</span>"));
        };
        let Some((start, part)) = part_of(&note.text, fragment) else {
            let reason = format!("it has no `{}`", fragment.unwrap_or_default());
            self.leave_out(context, line, path, &reason);
            return Ok(format!("<span class=\"outside\">{title}</span>"));
        };
        let mut ancestors = context.ancestors.to_vec();
        ancestors.push(path.to_owned());
        let inner = self.render(
            part,
            &RenderContext {
                path,
                anchor: None,
                ancestors: &ancestors,
                lines_before: text::line_of(&note.text, start) - 1,
            },
        )?;
        // Footnotes of embedded notes must not reuse ids.
        let inner = inner.replace(" id=\"fn", " data-id=\"fn");
        Ok(format!(
            "<div class=\"embed\"><div class=\"embed-title\">{title}</div>\n{inner}</div>"
        ))
    }

    fn leave_out(&mut self, context: &RenderContext<'_>, line: usize, target: &str, reason: &str) {
        let left = LeftOut {
            path: context.path.to_owned(),
            line,
            target: target.to_owned(),
            reason: reason.to_owned(),
        };
        if self.left_out_set.insert(left.clone()) {
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

/// Replaces a node and its children by HTML.
fn replace(node: Node<'_>, html: String) {
    let children: Vec<Node<'_>> = node.children().collect();
    for child in children {
        child.detach();
    }
    node.data_mut().value = NodeValue::Raw(html);
}

/// Replaces a link by its content.
fn unwrap<'a>(arena: &'a Arena<'a>, node: Node<'a>) {
    node.insert_before(raw(arena, "<span class=\"outside\">".to_owned()));
    let children: Vec<Node<'a>> = node.children().collect();
    for child in children {
        child.detach();
        node.insert_before(child);
    }
    node.data_mut().value = NodeValue::Raw("</span>".to_owned());
}

/// The text of a node, without markup.
fn plain_text(node: Node<'_>) -> String {
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

/// Splits off a block id at the end of a text.
fn block_id(text: &str) -> Option<(&str, &str)> {
    let (before, id) = text.trim_end().rsplit_once('^')?;
    let is_id = !id.is_empty()
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let is_separate = before.is_empty() || before.ends_with([' ', '\t']);
    (is_id && is_separate).then(|| (before.trim_end(), id))
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
