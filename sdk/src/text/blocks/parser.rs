//! Converts the parser's tree to blocks. It uses only kinds and line numbers of the tree, and corrects those to satisfy the
//! invariants: siblings do not overlap, and children end with their parent.

use std::ops::Range;

use comrak::nodes::{AstNode, NodeHeading, NodeValue};
use comrak::{Arena, parse_document};

use super::ids::{heading_text_end, id_at_end};
use super::markers::{marker_from, task_state};
use super::prefix::{At, Step, indented, peel};
use super::{Block, BlockId, BlockKind};
use crate::text::skeleton::skeleton;
use crate::text::{TextError, body, dialect, frontmatter, lines};

/// The largest note that is parsed into blocks.
const MAX_BYTES: usize = 8 * 1024 * 1024;
/// The largest skeleton: the parser's tree of a larger one would exceed a component's memory.
const MAX_SKELETON_BYTES: usize = 1024 * 1024;
/// The maximum nesting; deeper blocks are part of their ancestor at this depth.
const MAX_DEPTH: usize = 32;

/// The blocks of a note, parents before children.
pub(super) fn read(text: &str) -> Result<Vec<Block>, TextError> {
    within(text.len(), MAX_BYTES)?;
    let body = body::start(text);
    let structure = skeleton(&text[body..]);
    within(structure.len(), MAX_SKELETON_BYTES)?;
    let arena = Arena::new();
    let root = parse_document(&arena, &structure, &dialect::options());
    let mut reader = Reader {
        lines: Lines::new(text, body),
        text,
        all: Vec::new(),
    };
    if let Some(found) = frontmatter::locate(text) {
        reader.push_frontmatter(found.block);
    }
    let count = reader.lines.count();
    reader.top(root, count);
    Ok(reader.all)
}

fn within(bytes: usize, limit: usize) -> Result<(), TextError> {
    if bytes > limit {
        return Err(TextError::TooLarge { bytes, limit });
    }
    Ok(())
}

/// The lines of the body as the parser counts them, from 0: a lone carriage return ends a line as well.
struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
    /// The corresponding lines of the file.
    numbers: Vec<usize>,
}

impl<'t> Lines<'t> {
    fn new(text: &'t str, body: usize) -> Lines<'t> {
        let bytes = text.as_bytes();
        let mut number = lines::line_of(text, body);
        let mut lines = Lines {
            text,
            starts: vec![body],
            numbers: vec![number],
        };
        for at in body..bytes.len() {
            let is_newline = bytes[at] == b'\n';
            if is_newline || (bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n')) {
                number += usize::from(is_newline);
                lines.starts.push(at + 1);
                lines.numbers.push(number);
            }
        }
        lines
    }

    fn count(&self) -> usize {
        self.starts.len()
    }

    /// The bytes of a line without its line ending.
    fn range(&self, line: usize) -> Range<usize> {
        let start = self.starts[line];
        let end = self
            .starts
            .get(line + 1)
            .copied()
            .unwrap_or(self.text.len());
        let content = self.text[start..end].trim_end_matches(['\n', '\r']);
        start..start + content.len()
    }

    fn line(&self, line: usize) -> &'t str {
        &self.text[self.range(line)]
    }

    fn is_blank(&self, line: usize, steps: &[Step]) -> bool {
        let text = self.line(line);
        let left = &text[peel(text, steps).at.byte..];
        left.bytes().all(|byte| matches!(byte, b' ' | b'\t'))
    }
}

/// The note, or a container of it.
struct Container {
    index: Option<usize>,
    /// Its lines, half-open.
    lines: Range<usize>,
    /// The prefix steps of its lines after the first.
    steps: Vec<Step>,
    /// On its first line: the start of its content, and the origin of columns. `None` for the note.
    first: Option<(At, At)>,
    depth: usize,
}

struct Reader<'t> {
    lines: Lines<'t>,
    text: &'t str,
    all: Vec<Block>,
}

impl Reader<'_> {
    fn push_frontmatter(&mut self, block: Range<usize>) {
        let content = self.text[block.clone()].trim_end_matches(['\n', '\r']);
        let range = block.start..block.start + content.len();
        self.all.push(Block {
            kind: BlockKind::Frontmatter,
            line: lines::line_of(self.text, range.start),
            last_line: lines::line_of(self.text, range.end),
            range,
            level: 0,
            parent: None,
            next: 1,
            depth: 0,
            id: None,
            own: Vec::new(),
            inner: Vec::new(),
        });
    }

    /// The top-level blocks, and the text between them that the parser's tree lacks.
    fn top<'a>(&mut self, root: &'a AstNode<'a>, count: usize) {
        let note = Container {
            index: None,
            lines: 0..count,
            steps: Vec::new(),
            first: None,
            depth: 0,
        };
        self.contents(root, &note);
    }

    fn contents<'a>(&mut self, node: &'a AstNode<'a>, container: &Container) {
        let mut free = container.lines.start;
        let mut previous = None;
        for child in node.children() {
            let data = child.data();
            let Some((kind, level)) = kind_of(&data.value) else {
                if matches!(data.value, NodeValue::CalloutTitle) {
                    free = free.max(data.sourcepos.end.line.min(container.lines.end));
                }
                continue;
            };
            let first = data.sourcepos.start.line.saturating_sub(1);
            let end = data.sourcepos.end.line.min(container.lines.end);
            if let Some(before) = previous
                && first < free
            {
                // The parser continues on the line where a comment ends; that is not another block.
                self.extend(before, end.max(free), container);
                free = free.max(end);
                continue;
            }
            let first = first.max(free);
            if first >= container.lines.end {
                break;
            }
            let mut lines = first..end.max(first + 1);
            while lines.len() > 1 && self.lines.is_blank(lines.end - 1, &container.steps) {
                lines.end -= 1;
            }
            if container.index.is_none() {
                previous = self.unclaimed(free..lines.start).or(previous);
            }
            free = lines.end;
            drop(data);
            previous = self
                .block(child, kind, level, lines, container, previous)
                .or(previous);
        }
        if container.index.is_none() {
            self.unclaimed(free..container.lines.end);
        }
    }

    /// Adds a block and its children. Returns `None` for an id that belongs to the previous block.
    fn block<'a>(
        &mut self,
        node: &'a AstNode<'a>,
        kind: BlockKind,
        level: u8,
        lines: Range<usize>,
        container: &Container,
        previous: Option<usize>,
    ) -> Option<usize> {
        let line = self.lines.line(lines.start);
        let line_start = self.lines.starts[lines.start];
        let (content, base) = match container.first {
            Some(first) if lines.start == container.lines.start => first,
            _ => {
                let peeled = peel(line, &container.steps);
                (peeled.at, peeled.base)
            }
        };
        let is_indented_code = kind == BlockKind::Code
            && !line[content.byte..]
                .trim_start_matches([' ', '\t'])
                .starts_with(['`', '~']);
        let begin = if container.index.is_none() || is_indented_code {
            content
        } else {
            content.over_space(line, usize::MAX)
        };
        let range = line_start + begin.byte..self.lines.range(lines.end - 1).end;
        let range = range.start..range.end.max(range.start);
        if kind == BlockKind::Paragraph
            && let Some(before) = previous
            && self.is_id_of(before, &range)
        {
            return None;
        }
        let kind = self.refined(kind, line, begin, &range);
        let index = self.all.len();
        self.all.push(Block {
            kind,
            line: self.lines.numbers[lines.start],
            last_line: self.lines.numbers[lines.end - 1],
            id: None,
            level,
            parent: container.index,
            next: index + 1,
            depth: container.depth,
            own: indented(&container.steps, begin.column.saturating_sub(base.column)),
            inner: container.steps.clone(),
            range: range.clone(),
        });
        if matches!(kind, BlockKind::Paragraph | BlockKind::Heading) {
            self.take_id(index, container);
        }
        if kind.is_container() && container.depth < MAX_DEPTH {
            let inner = self.inner(kind, line, (begin, base), container);
            let inside = Container {
                index: Some(index),
                lines,
                steps: inner.0,
                first: Some(inner.1),
                depth: container.depth + 1,
            };
            self.all[index].inner = inside.steps.clone();
            self.contents(node, &inside);
            self.all[index].next = self.all.len();
        }
        Some(index)
    }

    /// The prefix steps of a container, and the start of its content on its first line.
    fn inner(
        &self,
        kind: BlockKind,
        line: &str,
        (begin, base): (At, At),
        container: &Container,
    ) -> (Vec<Step>, (At, At)) {
        match kind {
            BlockKind::Callout | BlockKind::Quote => {
                let mut steps = container.steps.clone();
                steps.push(Step::Quote);
                let after = begin.over_quote(line).unwrap_or(begin);
                (steps, (after, after))
            }
            BlockKind::Item | BlockKind::Task => match marker_from(line, begin) {
                Some(marker) => {
                    let columns = begin.column.saturating_sub(base.column) + marker.columns;
                    let content = begin.on(line, marker.content - begin.byte);
                    (indented(&container.steps, columns), (content, base))
                }
                None => (container.steps.clone(), (begin, base)),
            },
            BlockKind::Footnote => {
                let columns = begin.column.saturating_sub(base.column) + 4;
                let after = line[begin.byte..].find("]:").map_or(0, |at| at + 2);
                let content = begin.on(line, after).over_space(line, usize::MAX);
                (indented(&container.steps, columns), (content, base))
            }
            // A list adds no prefix.
            _ => (container.steps.clone(), (begin, base)),
        }
    }

    /// Refines the parser's kind of a block from its text.
    fn refined(&self, kind: BlockKind, line: &str, begin: At, range: &Range<usize>) -> BlockKind {
        match kind {
            BlockKind::Item => {
                let content = marker_from(line, begin).map_or("", |marker| &line[marker.content..]);
                match task_state(content) {
                    Some(_) => BlockKind::Task,
                    None => BlockKind::Item,
                }
            }
            BlockKind::Paragraph => {
                let text = self.text[range.clone()].trim();
                if is_wrapped(text, "$$") {
                    BlockKind::Math
                } else if is_wrapped(text, "%%") {
                    BlockKind::Comment
                } else {
                    BlockKind::Paragraph
                }
            }
            kind => kind,
        }
    }

    /// A paragraph that is only an id belongs to the previous block.
    fn is_id_of(&mut self, before: usize, range: &Range<usize>) -> bool {
        let Some(id) = id_at_end(self.text, range) else {
            return false;
        };
        let can_have = !matches!(
            self.all[before].kind,
            BlockKind::Heading
                | BlockKind::Frontmatter
                | BlockKind::Definition
                | BlockKind::ThematicBreak
        );
        if id != *range || self.all[before].id.is_some() || !can_have {
            return false;
        }
        let last_line =
            lines::line_of(&self.text[self.all[before].range.end..range.end], range.end);
        let block = &mut self.all[before];
        block.last_line += last_line - 1;
        block.range.end = range.end;
        block.id = Some(named(self.text, id));
        true
    }

    /// Sets the id at the end of a paragraph or heading; an id in the first paragraph of an item is the item's.
    fn take_id(&mut self, index: usize, container: &Container) {
        let mut range = self.all[index].range.clone();
        if self.all[index].kind == BlockKind::Heading {
            range.end = range.start + heading_text_end(&self.text[range.clone()]);
        }
        let Some(id) = id_at_end(self.text, &range) else {
            return;
        };
        let owner = container
            .index
            .filter(|parent| {
                let kind = self.all[*parent].kind;
                *parent + 1 == index && (kind.is_item() || kind == BlockKind::Footnote)
            })
            .unwrap_or(index);
        self.all[owner].id = Some(named(self.text, id));
    }

    /// Handles lines that are in no block of the tree: blank lines, and definitions, which the parser removes. Returns the
    /// last block that was added for them.
    fn unclaimed(&mut self, lines: Range<usize>) -> Option<usize> {
        let mut made = None;
        let mut at = lines.start;
        while at < lines.end {
            let begin = at;
            while at < lines.end && !self.lines.is_blank(at, &[]) {
                at += 1;
            }
            if begin == at {
                at += 1;
                continue;
            }
            let index = self.all.len();
            let range = self.lines.starts[begin]..self.lines.range(at - 1).end;
            let is_definition = self.text[range.clone()].trim_start().starts_with('[');
            self.all.push(Block {
                kind: if is_definition {
                    BlockKind::Definition
                } else {
                    BlockKind::Paragraph
                },
                range,
                line: self.lines.numbers[begin],
                last_line: self.lines.numbers[at - 1],
                level: 0,
                parent: None,
                next: index + 1,
                depth: 0,
                id: None,
                own: Vec::new(),
                inner: Vec::new(),
            });
            made = Some(index);
        }
        made
    }

    /// Extends a block and its last descendants.
    fn extend(&mut self, index: usize, end: usize, container: &Container) {
        let last = end.min(container.lines.end).saturating_sub(1);
        let byte = self.lines.range(last).end;
        let block = &mut self.all[index];
        if byte > block.range.end {
            block.range.end = byte;
            block.last_line = self.lines.numbers[last];
        }
    }
}

fn named(text: &str, range: Range<usize>) -> BlockId {
    BlockId {
        name: text[range.start + 1..range.end].to_owned(),
        range,
    }
}

/// Whether a text is enclosed in a pair of marks, without another one inside.
fn is_wrapped(text: &str, mark: &str) -> bool {
    let inner = text
        .strip_prefix(mark)
        .and_then(|rest| rest.strip_suffix(mark));
    inner.is_some_and(|inner| !inner.contains(mark))
}

fn kind_of(value: &NodeValue) -> Option<(BlockKind, u8)> {
    let kind = match value {
        NodeValue::Heading(NodeHeading { level, .. }) => return Some((BlockKind::Heading, *level)),
        NodeValue::Paragraph => BlockKind::Paragraph,
        NodeValue::List(_) => BlockKind::List,
        NodeValue::Item(_) | NodeValue::TaskItem(_) => BlockKind::Item,
        NodeValue::Table(_) => BlockKind::Table,
        NodeValue::Callout(_) => BlockKind::Callout,
        NodeValue::BlockQuote => BlockKind::Quote,
        NodeValue::CodeBlock(_) => BlockKind::Code,
        NodeValue::HtmlBlock(_) => BlockKind::Html,
        NodeValue::FootnoteDefinition(_) => BlockKind::Footnote,
        NodeValue::MultilineComment(_) => BlockKind::Comment,
        NodeValue::ThematicBreak => BlockKind::ThematicBreak,
        _ => return None,
    };
    Some((kind, 0))
}
