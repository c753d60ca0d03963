//! Measures YAML without parsing it: one pass over the bytes that tokenizes like libyaml, and tracks only nesting, number of
//! nodes, and the expanded size of aliases. The results are upper bounds for the parser's. For YAML that the parser rejects
//! they are unspecified.

use std::collections::HashMap;

use super::{MAX_ALIASES, MAX_BYTES, MAX_DEPTH, MAX_EXPANDED_BYTES, MAX_NODES, YamlLimit};

mod scalars;

/// The measurements of YAML within all limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Measured {
    /// The nesting of lists and mappings, without aliases.
    pub(super) depth: usize,
    /// Upper bounds for the number of nodes and bytes, with aliases expanded.
    pub(super) nodes: usize,
    pub(super) bytes: usize,
}

/// Measures YAML; stops at the first limit that it exceeds.
pub(super) fn measure(yaml: &str) -> Result<Measured, YamlLimit> {
    if yaml.len() > MAX_BYTES {
        return Err(YamlLimit::Bytes);
    }
    let mut scan = Scan {
        bytes: yaml.strip_prefix('\u{feff}').unwrap_or(yaml).as_bytes(),
        key_allowed: true,
        ..Scan::default()
    };
    while scan.token()? {}
    Ok(Measured {
        depth: scan.deepest,
        nodes: scan.nodes,
        bytes: scan.bytes.len() + scan.expanded,
    })
}

#[derive(Default)]
struct Scan<'y> {
    bytes: &'y [u8],
    at: usize,
    line: usize,
    line_start: usize,
    /// The open flow collections.
    flow: Vec<Flow>,
    /// The open block collections.
    indents: Vec<Indent>,
    depth: usize,
    deepest: usize,
    /// Whether the next token may start a simple key (without `?`).
    key_allowed: bool,
    /// The possible start of a simple key, in block context.
    key: Option<Key>,
    nodes: usize,
    /// The expanded size of the aliases so far.
    expanded: usize,
    aliases: usize,
    /// Anchors whose node is still open.
    open: Vec<Anchor<'y>>,
    anchors: HashMap<&'y [u8], Size>,
}

struct Flow {
    is_list: bool,
    /// Whether in `[a: b]`, which is a mapping in the list.
    in_pair: bool,
}

struct Indent {
    column: usize,
    is_mapping: bool,
    /// Whether in a list whose dashes are in the column of the mapping's keys.
    in_list: bool,
    /// Whether in an item of either kind of list.
    in_item: bool,
}

#[derive(Clone, Copy)]
struct Key {
    at: usize,
    line: usize,
    column: usize,
}

/// The size of a node, with aliases expanded.
#[derive(Clone, Copy)]
struct Size {
    bytes: usize,
    nodes: usize,
}

struct Anchor<'y> {
    name: &'y [u8],
    at: usize,
    start: Size,
    /// Its position: the number of open flow collections, and the column in block context.
    flow: usize,
    column: Option<usize>,
    in_item: bool,
}

impl<'y> Scan<'y> {
    /// Scans a token; returns whether there may be more.
    fn token(&mut self) -> Result<bool, YamlLimit> {
        self.skip_to_token();
        let column = self.at - self.line_start;
        let Some(byte) = self.peek(0).filter(|byte| *byte != 0) else {
            return Ok(false);
        };
        let in_flow = !self.flow.is_empty();
        let is_item = byte == b'-' && self.is_blank(1);
        if !in_flow {
            self.unroll(Some(column));
            self.close_before(column, is_item);
        }
        if column == 0 && (byte == b'%' || self.is_document_mark()) {
            self.unroll(None);
            self.key_allowed = false;
            match byte {
                b'%' => self.skip_line(),
                _ => self.at += 3,
            }
            return Ok(true);
        }
        match byte {
            b'[' | b'{' => {
                self.save_key();
                self.flow.push(Flow {
                    is_list: byte == b'[',
                    in_pair: false,
                });
                self.key_allowed = true;
                self.at += 1;
                self.nest()?;
            }
            b']' | b'}' => {
                self.end_flow_entry();
                if self.flow.pop().is_some() {
                    self.depth -= 1;
                }
                self.key_allowed = false;
                self.at += 1;
            }
            b',' => {
                self.end_flow_entry();
                self.key_allowed = true;
                self.at += 1;
                self.count(1)?;
            }
            b'-' if is_item => self.item(column)?,
            b'?' if in_flow || self.is_blank(1) => self.explicit_key(column)?,
            b':' if in_flow || self.is_blank(1) => self.value(column)?,
            b'*' => self.alias()?,
            b'&' => self.anchor(),
            b'!' => {
                self.save_key();
                while !(self.is_blank(0) || in_flow && self.peek(0) == Some(b',')) {
                    self.at += 1;
                }
            }
            b'|' | b'>' if !in_flow => {
                self.key = None;
                self.count(1)?;
                self.block_scalar();
                self.key_allowed = true;
            }
            b'\'' | b'"' => {
                self.save_key();
                self.count(1)?;
                self.quoted(byte);
            }
            _ => {
                self.save_key();
                self.count(1)?;
                self.plain();
            }
        }
        Ok(true)
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    /// The length of the line break here, of any kind that libyaml recognizes.
    fn line_break(&self, ahead: usize) -> usize {
        match self.bytes.get(self.at + ahead..).unwrap_or_default() {
            [b'\r', b'\n', ..] | [0xc2, 0x85, ..] => 2,
            [b'\r' | b'\n', ..] => 1,
            [0xe2, 0x80, 0xa8 | 0xa9, ..] => 3,
            _ => 0,
        }
    }

    /// Whether the next byte is a space, tab, line break or the end.
    fn is_blank(&self, ahead: usize) -> bool {
        matches!(self.peek(ahead), None | Some(b' ' | b'\t' | 0)) || self.line_break(ahead) > 0
    }

    fn skip_break(&mut self, length: usize) {
        self.at += length;
        self.line += 1;
        self.line_start = self.at;
    }

    /// Skips to the end of the line.
    fn skip_line(&mut self) {
        while self.peek(0).is_some() && self.line_break(0) == 0 {
            self.at += 1;
        }
    }

    fn is_document_mark(&self) -> bool {
        let rest = &self.bytes[self.at..];
        (rest.starts_with(b"---") || rest.starts_with(b"...")) && self.is_blank(3)
    }

    fn skip_to_token(&mut self) {
        loop {
            if self.at == self.line_start
                && self.bytes[self.at..].starts_with("\u{feff}".as_bytes())
            {
                self.at += 3;
                // Like every character it counts as one column.
                self.line_start = self.at - 1;
            }
            while matches!(self.peek(0), Some(b' ' | b'\t')) {
                self.at += 1;
            }
            if self.peek(0) == Some(b'#') {
                self.skip_line();
            }
            match self.line_break(0) {
                0 => return,
                length => self.skip_break(length),
            }
            if self.flow.is_empty() {
                self.key_allowed = true;
            }
        }
    }

    fn count(&mut self, nodes: usize) -> Result<(), YamlLimit> {
        self.nodes = self.nodes.saturating_add(nodes);
        match self.nodes > MAX_NODES {
            true => Err(YamlLimit::Nodes),
            false => Ok(()),
        }
    }

    fn nest(&mut self) -> Result<(), YamlLimit> {
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        if self.depth > MAX_DEPTH {
            return Err(YamlLimit::Depth);
        }
        self.count(1)
    }

    fn save_key(&mut self) {
        if self.key_allowed && self.flow.is_empty() {
            self.key = Some(Key {
                at: self.at,
                line: self.line,
                column: self.at - self.line_start,
            });
        }
        self.key_allowed = false;
    }

    /// Closes the block collections with a greater column.
    fn unroll(&mut self, column: Option<usize>) {
        while let Some(last) = self.indents.last() {
            if column.is_some_and(|column| last.column <= column) {
                return;
            }
            self.depth -= 1 + usize::from(last.in_list);
            self.indents.pop();
        }
    }

    /// Opens a block collection, if its column is greater than those of the open ones.
    fn roll(&mut self, column: usize, is_mapping: bool) -> Result<(), YamlLimit> {
        if self
            .indents
            .last()
            .is_some_and(|last| last.column >= column)
        {
            return Ok(());
        }
        self.indents.push(Indent {
            column,
            is_mapping,
            in_list: false,
            in_item: !is_mapping,
        });
        self.nest()
    }

    /// `- `
    fn item(&mut self, column: usize) -> Result<(), YamlLimit> {
        self.count(1)?;
        self.key = None;
        self.key_allowed = true;
        self.at += 1;
        if !self.flow.is_empty() {
            return Ok(());
        }
        self.roll(column, false)?;
        if let Some(last) = self.indents.last_mut()
            && last.is_mapping
            && last.column == column
            && !last.in_list
        {
            (last.in_list, last.in_item) = (true, true);
            self.nest()?;
        }
        Ok(())
    }

    /// A key at a column: ends a list that is the value of the previous key.
    fn key_at(&mut self, column: usize) -> Result<(), YamlLimit> {
        self.roll(column, true)?;
        if let Some(last) = self.indents.last_mut()
            && last.is_mapping
            && last.column == column
            && last.in_list
        {
            (last.in_list, last.in_item) = (false, false);
            self.depth -= 1;
        }
        Ok(())
    }

    /// A key or value in flow context; in a list it starts a mapping.
    fn pair(&mut self) -> Result<(), YamlLimit> {
        match self.flow.last_mut() {
            Some(flow) if flow.is_list && !flow.in_pair => {
                flow.in_pair = true;
                self.nest()
            }
            _ => Ok(()),
        }
    }

    /// `?`
    fn explicit_key(&mut self, column: usize) -> Result<(), YamlLimit> {
        self.count(1)?;
        self.at += 1;
        if self.flow.is_empty() {
            self.key = None;
            self.key_allowed = true;
            return self.key_at(column);
        }
        self.key_allowed = false;
        self.pair()
    }

    /// `:`
    fn value(&mut self, column: usize) -> Result<(), YamlLimit> {
        self.count(1)?;
        self.at += 1;
        if !self.flow.is_empty() {
            self.key_allowed = false;
            return self.pair();
        }
        let key = self.key.take().filter(|key| key.line == self.line);
        self.key_allowed = key.is_none();
        let Some(key) = key else {
            return self.key_at(column);
        };
        self.key_at(key.column)?;
        // An anchor before a key belongs to the key.
        if self.open.last().is_some_and(|anchor| anchor.at == key.at) {
            self.close();
        }
        Ok(())
    }

    /// The name after `*` or `&`.
    fn name(&mut self) -> &'y [u8] {
        let rest = &self.bytes[self.at + 1..];
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let length = rest.iter().position(|byte| !is_name(byte));
        let name = &rest[..length.unwrap_or(rest.len())];
        self.at += 1 + name.len();
        name
    }

    fn size(&self) -> Size {
        Size {
            bytes: self.at + self.expanded,
            nodes: self.nodes,
        }
    }

    fn anchor(&mut self) {
        self.save_key();
        let (at, start) = (self.at, self.size());
        let name = self.name();
        let within = self.indents.last();
        self.open.push(Anchor {
            name,
            at,
            start,
            flow: self.flow.len(),
            column: within.map(|indent| indent.column),
            in_item: within.is_some_and(|indent| indent.in_item),
        });
    }

    fn alias(&mut self) -> Result<(), YamlLimit> {
        self.save_key();
        let name = self.name();
        self.aliases += 1;
        if self.aliases > MAX_ALIASES {
            return Err(YamlLimit::Aliases);
        }
        if self.open.iter().any(|anchor| anchor.name == name) {
            return Err(YamlLimit::Expansion);
        }
        // Undefined aliases are left to the parser.
        let size = self.anchors.get(name);
        let size = size.copied().unwrap_or(Size { bytes: 0, nodes: 1 });
        self.expanded = self.expanded.saturating_add(size.bytes);
        if self.at.saturating_add(self.expanded) > MAX_EXPANDED_BYTES {
            return Err(YamlLimit::Expansion);
        }
        self.count(size.nodes.max(1))
    }

    /// Ends the node of the last open anchor.
    fn close(&mut self) {
        let end = self.size();
        if let Some(anchor) = self.open.pop() {
            let size = Size {
                bytes: end.bytes - anchor.start.bytes,
                nodes: end.nodes - anchor.start.nodes,
            };
            self.anchors.insert(anchor.name, size);
        }
    }

    /// In block context, ends the nodes that a token in this column is not part of.
    fn close_before(&mut self, column: usize, is_item: bool) {
        while let Some(anchor) = self.open.last() {
            let has_ended = anchor.flow > 0
                || anchor.column.is_some_and(|own| {
                    column < own || column == own && (!is_item || anchor.in_item)
                });
            if !has_ended {
                return;
            }
            self.close();
        }
    }

    /// `,` or a closing bracket.
    fn end_flow_entry(&mut self) {
        let level = self.flow.len();
        while level > 0 && self.open.last().is_some_and(|anchor| anchor.flow >= level) {
            self.close();
        }
        match self.flow.last_mut() {
            Some(flow) if flow.in_pair => {
                flow.in_pair = false;
                self.depth -= 1;
            }
            Some(_) => {}
            None => self.key = None,
        }
    }
}
