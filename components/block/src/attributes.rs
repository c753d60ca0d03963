//! Attributes of a block: callout type, title and fold, task state, heading level, fields.

use std::ops::Range;

use notehost_sdk::prelude::*;
use notehost_sdk::serde_json::{Map, Value};
use notehost_sdk::text::blocks::{
    BlockKind, Blocks, Fold as CalloutFold, callout_head, marker_of, task_state,
};

use crate::block_names::handle;
use crate::edit_actions::rewrite;
use crate::fields;
use crate::session::{BlockChange, Session, WriteResult, write_action};

/// Read a block's attributes: callout type, title and fold, task state, heading level, `key:: value` fields.
///
/// Example: `{"block": "Garden/Balcony plan#Water"}`
#[args]
pub struct Attributes {
    /// The block.
    pub block: String,
}

/// Fold state of a callout.
#[args]
#[derive(Copy)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub enum Fold {
    None,
    Open,
    Closed,
}

/// The attributes of a block.
#[reply]
pub struct BlockAttributes {
    /// The block.
    pub block: String,
    /// The note.
    pub path: String,
    /// Line in the file, 1-based.
    pub line: usize,
    /// The block type.
    #[serde(rename = "type")]
    pub kind: BlockKind,
    /// The block id, without `^`.
    pub id: Option<String>,
    /// The callout type, such as `note`.
    pub callout: Option<String>,
    /// The callout title.
    pub title: Option<String>,
    /// The callout's fold state: `none`, `open`, `closed`.
    pub fold: Option<String>,
    /// The character in the task's brackets; a space means open.
    pub state: Option<String>,
    /// Whether the task is done.
    pub done: Option<bool>,
    /// The heading level, 1–6.
    pub level: Option<u8>,
    /// The language of a code block.
    pub language: Option<String>,
    /// The `key:: value` fields.
    pub fields: Map<String, Value>,
    /// Etag, for `if_match`.
    pub etag: String,
}

impl Action for Attributes {
    type Output = BlockAttributes;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<BlockAttributes> {
        let mut session = Session::new(vault);
        let found = session.find(&self.block, None)?;
        let path = session.path(found.note);
        let blocks = session.blocks(found.note)?;
        let block = &blocks[found.block];
        let text = blocks.text_of(found.block);
        let head = match block.kind {
            BlockKind::Callout => callout_head(&text),
            _ => None,
        };
        let state = state_of(block.kind, &text).map(|(state, _)| state);
        let own = own_text(&blocks, found.block, &text);
        let mut own_fields = Map::new();
        for field in own.map_or_else(Vec::new, |own| fields::fields(&text[own])) {
            // Of equal keys the first one counts: `set_attributes` changes that one.
            own_fields
                .entry(field.key)
                .or_insert(Value::String(field.value));
        }
        Ok(BlockAttributes {
            block: handle(path, &blocks.names()[found.block].fragment),
            line: block.line,
            kind: block.kind,
            id: block.id.as_ref().map(|id| id.name.clone()),
            callout: head.as_ref().map(|head| text[head.kind.clone()].to_owned()),
            title: head
                .as_ref()
                .map(|head| text[head.title.clone()].to_owned()),
            fold: head.as_ref().map(|head| {
                let word = match head.fold {
                    CalloutFold::None => "none",
                    CalloutFold::Open => "open",
                    CalloutFold::Closed => "closed",
                };
                word.to_owned()
            }),
            done: state.map(|state| matches!(state, 'x' | 'X')),
            state: state.map(String::from),
            level: (block.kind == BlockKind::Heading).then_some(block.level),
            language: language(block.kind, &text),
            fields: own_fields,
            etag: session.etag(found.note).to_owned(),
            path: path.to_owned(),
        })
    }
}

fn language(kind: BlockKind, text: &str) -> Option<String> {
    let first = text.lines().next().filter(|_| kind == BlockKind::Code)?;
    let info = first.trim_start().trim_start_matches(['`', '~']);
    if info.len() == first.trim_start().len() {
        return None;
    }
    let word = info.split_whitespace().next()?;
    Some(word.to_owned())
}

/// The state of a task and its range in the text.
fn state_of(kind: BlockKind, text: &str) -> Option<(char, Range<usize>)> {
    if kind != BlockKind::Task {
        return None;
    }
    let content = marker_of(text)?.content;
    let (state, range) = task_state(&text[content..])?;
    Some((state, content + range.start..content + range.end))
}

/// The part of a block's own text that can contain fields: without marker, id and nested blocks.
fn own_text(blocks: &Blocks<'_>, index: usize, text: &str) -> Option<Range<usize>> {
    let block = &blocks[index];
    let (start, whole) = match block.kind {
        BlockKind::Paragraph => (0, text.len()),
        BlockKind::Heading if !text.contains('\n') => (
            text.len() - text.trim_start().trim_start_matches('#').len(),
            text.len(),
        ),
        BlockKind::Item | BlockKind::Task => {
            let content = marker_of(text)?.content;
            let start = match state_of(block.kind, text) {
                Some((_, state)) => (state.end + 1).min(text.len()),
                None => content,
            };
            let first = blocks.children(Some(index)).next()?;
            if blocks[first].kind != BlockKind::Paragraph {
                return None;
            }
            let lines = blocks[first].last_line - block.line + 1;
            let length: usize = text.split_inclusive('\n').take(lines).map(str::len).sum();
            (start, text[..length].trim_end_matches('\n').len())
        }
        _ => return None,
    };
    let id = block.id.as_ref().map(|id| format!("^{}", id.name));
    let end = match id {
        Some(id) => match text[..whole].trim_end().strip_suffix(id.as_str()) {
            Some(before) => before.trim_end().len(),
            None => whole,
        },
        None => whole,
    };
    Some(start.min(end)..end)
}

/// Set attributes of a block: callout type, title, fold, task state, heading level, `key:: value` fields. Setting `state`
/// turns a list item into a task; setting `callout` turns a quote into a callout.
///
/// Example: `{"block": "Garden/Balcony plan#Water", "level": 3}`
#[args]
pub struct SetAttributes {
    /// The block.
    pub block: String,
    /// Callout type, such as `warning`.
    pub callout: Option<String>,
    /// Callout title.
    pub title: Option<String>,
    /// Callout fold state.
    pub fold: Option<Fold>,
    /// Task state, the character in the brackets: `x`, `/`, a space; empty: not a task.
    pub state: Option<String>,
    /// Heading level, 1–6.
    pub level: Option<u8>,
    /// Field values by key.
    #[serde(default)]
    pub fields: Map<String, Value>,
    /// Fields to remove.
    #[serde(default)]
    pub remove_fields: Vec<String>,
}

write_action!(SetAttributes, "changed");

impl BlockChange for SetAttributes {
    type Output = WriteResult;

    fn change(&self, session: &mut Session<'_>) -> Result<WriteResult> {
        let is_nothing = self.callout.is_none()
            && self.title.is_none()
            && self.fold.is_none()
            && self.state.is_none()
            && self.level.is_none()
            && self.fields.is_empty()
            && self.remove_fields.is_empty();
        if is_nothing {
            return Err(Error::validation(
                "no attribute to set: pass `callout`, `title`, `fold`, `state`, `level`, `fields` or `remove_fields`",
            ));
        }
        let found = session.find(&self.block, None)?;
        let text = {
            let blocks = session.blocks(found.note)?;
            // Edits go from the end of the text to its start, so that earlier offsets stay valid.
            let text = self.with_fields(&blocks, found.block)?;
            let kind = blocks[found.block].kind;
            let text = self.with_state(kind, text)?;
            let text = self.with_level(kind, blocks[found.block].level, text)?;
            self.with_callout(kind, text)?
        };
        rewrite(session, found.note, found.block, &text)
    }
}

impl SetAttributes {
    fn with_fields(&self, blocks: &Blocks<'_>, index: usize) -> Result<String> {
        let mut text = blocks.text_of(index);
        if self.fields.is_empty() && self.remove_fields.is_empty() {
            return Ok(text);
        }
        let Some(own) = own_text(blocks, index, &text) else {
            return Err(not_applicable(
                "fields",
                "a paragraph, heading, item or task",
                blocks[index].kind,
            ));
        };
        let mut changed = text[own.clone()].to_owned();
        for key in &self.remove_fields {
            changed = fields::remove(&changed, key)?;
        }
        for (key, value) in &self.fields {
            let value = match value {
                Value::String(text) => text.clone(),
                Value::Null => String::new(),
                Value::Bool(_) | Value::Number(_) => value.to_string(),
                Value::Array(_) | Value::Object(_) => {
                    return Err(Error::validation(format!(
                        "invalid value for field `{key}`: a list or object; expected a string, number or boolean"
                    )));
                }
            };
            changed = fields::set(&changed, key, &value)?;
        }
        if changed.trim().is_empty() {
            return Err(Error::validation(
                "removing these fields would leave the block empty: use `remove` to remove it",
            ));
        }
        text.replace_range(own, &changed);
        Ok(text)
    }

    fn with_state(&self, kind: BlockKind, mut text: String) -> Result<String> {
        let Some(state) = &self.state else {
            return Ok(text);
        };
        let marker = marker_of(&text).filter(|_| kind.is_item());
        let Some(marker) = marker else {
            return Err(not_applicable("state", "a task or an item", kind));
        };
        let mut letters = state.chars();
        let sign = match (letters.next(), letters.next()) {
            (None, _) => None,
            (Some(sign), None) if !matches!(sign, '\n' | '\r' | '[' | ']') => Some(sign),
            _ => {
                return Err(Error::validation(format!(
                    "invalid `state` `{state}`: expected one character, such as `x`, or empty to make it a plain item"
                )));
            }
        };
        match (state_of(kind, &text), sign) {
            (Some((_, range)), Some(sign)) => {
                let mut letter = [0; 4];
                text.replace_range(range, sign.encode_utf8(&mut letter));
            }
            (Some((_, range)), None) => {
                let end = range.end + 1;
                let space = usize::from(text[end..].starts_with(' '));
                text.replace_range(range.start - 1..end + space, "");
            }
            (None, Some(sign)) => text.insert_str(marker.content, &format!("[{sign}] ")),
            (None, None) => {}
        }
        Ok(text)
    }

    fn with_level(&self, kind: BlockKind, now: u8, text: String) -> Result<String> {
        let Some(level) = self
            .level
            .filter(|level| *level != now || kind != BlockKind::Heading)
        else {
            return Ok(text);
        };
        if kind != BlockKind::Heading {
            return Err(not_applicable("level", "a heading", kind));
        }
        if !(1..=6).contains(&level) {
            return Err(Error::validation(format!(
                "invalid `level` `{level}`: expected 1 to 6"
            )));
        }
        let marks = "#".repeat(level.into());
        let indent = text.len() - text.trim_start().len();
        let inner = &text[indent..];
        if let Some(rest) = inner.strip_prefix('#') {
            let rest = rest.trim_start_matches('#');
            return Ok(format!("{}{marks}{rest}", &text[..indent]));
        }
        let Some((above, underline)) = text.rsplit_once('\n') else {
            return Ok(text);
        };
        if level <= 2 {
            let sign = if level == 1 { "=" } else { "-" };
            return Ok(format!("{above}\n{}", underline.replace(['=', '-'], sign)));
        }
        let joined: Vec<&str> = above.lines().map(str::trim).collect();
        Ok(format!("{marks} {}", joined.join(" ")))
    }

    fn with_callout(&self, kind: BlockKind, mut text: String) -> Result<String> {
        if self.callout.is_none() && self.title.is_none() && self.fold.is_none() {
            return Ok(text);
        }
        if let Some(callout) = &self.callout
            && (callout.trim().is_empty() || callout.contains(['[', ']', '|', '\n', '\r']))
        {
            return Err(Error::validation(format!(
                "invalid `callout` `{callout}`: expected a word such as `note`"
            )));
        }
        if let Some(title) = &self.title
            && title.contains(['\n', '\r'])
        {
            return Err(Error::validation(
                "`title` has several lines; a callout title is a single line",
            ));
        }
        let fold = self.fold.map(|fold| match fold {
            Fold::None => "",
            Fold::Open => "+",
            Fold::Closed => "-",
        });
        let head = callout_head(&text).filter(|_| kind == BlockKind::Callout);
        match (head, kind, &self.callout) {
            (Some(head), ..) => {
                // The last part first, so that the offsets of the others stay valid.
                if let Some(title) = &self.title {
                    let title = title.trim();
                    let gap = head.fold_range.end..head.title.end;
                    let spaced = match title.is_empty() {
                        true => String::new(),
                        false => format!(" {title}"),
                    };
                    text.replace_range(gap, &spaced);
                }
                if let Some(fold) = fold {
                    text.replace_range(head.fold_range, fold);
                }
                if let Some(callout) = &self.callout {
                    text.replace_range(head.kind, callout.trim());
                }
                Ok(text)
            }
            (None, BlockKind::Quote, Some(callout)) => {
                let title = self.title.as_deref().unwrap_or_default().trim();
                let head = format!(
                    "> [!{}]{} {title}",
                    callout.trim(),
                    fold.unwrap_or_default()
                );
                Ok(format!("{}\n{text}", head.trim_end()))
            }
            _ => Err(not_applicable(
                "callout`, `title` and `fold",
                "a callout (or, with `callout`, a quote)",
                kind,
            )),
        }
    }
}

fn not_applicable(attribute: &str, allowed: &str, kind: BlockKind) -> Error {
    Error::validation(format!(
        "`{attribute}` can only be set for {allowed}; this block has the type `{}`",
        kind.as_str()
    ))
}
