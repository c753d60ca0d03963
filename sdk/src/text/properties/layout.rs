//! Computes the splices for a change in a YAML mapping.
//!
//! It only reads the tree of yaml-edit. For a layout that is not supported it returns `None`.

use super::Change;
use crate::text::lines::{end_of_line, start_of_line};
use crate::text::splice::Splice;
use crate::text::{yaml, yaml_gate};
use serde_json::{Map, Value};
use std::ops::Range;
use yaml_edit::{Mapping, MappingEntry, Sequence, TextPosition, YamlNode};

/// The splices of a change in YAML whose value at the changed path is `old`.
pub(super) fn splices(
    source: &str,
    change: &Change,
    old: Option<&Value>,
    newline: &str,
) -> Option<Vec<Splice>> {
    let layout = Layout { source, newline };
    let value = change.value.as_ref();
    let Some(document) = yaml_gate::tree(source)?.document() else {
        let (key, below) = change.path.split_first()?;
        return Some(vec![Splice::insert(
            source.len(),
            yaml::entry(key, &nested(below, value?), 0, newline),
        )]);
    };
    let root = document.as_mapping()?;
    let mut mapping = root.clone();
    for (depth, key) in change.path.iter().enumerate() {
        let below = &change.path[depth + 1..];
        let Some(entry) = find(&mapping, key) else {
            let end = if depth == 0 {
                source.len()
            } else {
                end_of_line(source, layout.entry_range(&mapping.entries().last()?).end)
            };
            return layout.insert(&mapping, end, key, &nested(below, value?));
        };
        if below.is_empty() {
            return match value {
                Some(value) => layout.assign(&mapping, &entry, value, old),
                None => layout.remove(&mapping, &entry),
            };
        }
        match entry.value_node() {
            Some(YamlNode::Mapping(child)) => mapping = child,
            _ => return layout.assign(&mapping, &entry, &nested(below, value?), None),
        }
    }
    None
}

/// A value nested in mappings for the keys of its path.
fn nested(path: &[String], value: &Value) -> Value {
    path.iter().rev().fold(value.clone(), |value, key| {
        Value::Object(Map::from_iter([(key.clone(), value)]))
    })
}

fn find(mapping: &Mapping, key: &str) -> Option<MappingEntry> {
    mapping.entries().find(|entry| matches!(entry.key_node(), Some(YamlNode::Scalar(scalar)) if scalar.as_string() == key))
}

fn bytes(position: TextPosition) -> Range<usize> {
    position.start as usize..position.end as usize
}

struct Layout<'a> {
    source: &'a str,
    newline: &'a str,
}

impl Layout<'_> {
    /// Changes the value of an existing entry.
    fn assign(
        &self,
        mapping: &Mapping,
        entry: &MappingEntry,
        value: &Value,
        old: Option<&Value>,
    ) -> Option<Vec<Splice>> {
        let colon = self.after_colon(entry)?;
        let node = entry.value_node();
        if let (Some(YamlNode::Sequence(sequence)), Some(Value::Array(old)), Value::Array(new)) =
            (&node, old, value)
            && !old.is_empty()
            && !new.is_empty()
        {
            return self.change_items(sequence, old, new);
        }
        let place = node
            .as_ref()
            .map_or(colon..colon, |node| self.value_range(node));
        let quote = self.source[place.clone()]
            .chars()
            .next()
            .filter(|first| matches!(first, '"' | '\''));
        let stays_flow = match &node {
            Some(YamlNode::Sequence(sequence)) => sequence.is_flow_style() && value.is_array(),
            Some(YamlNode::Mapping(mapping)) => mapping.is_flow_style() && value.is_object(),
            _ => false,
        };
        let rendered = if mapping.is_flow_style() || stays_flow {
            yaml::Rendered {
                inline: yaml::flow_quoted(value, quote),
                lines: String::new(),
            }
        } else {
            yaml::block(
                value,
                self.column(bytes(entry.byte_range()).start),
                self.newline,
                quote,
            )
        };
        let inline = if rendered.inline.is_empty() {
            String::new()
        } else {
            format!(" {}", rendered.inline)
        };
        if place.is_empty() {
            return Some(vec![
                Splice::insert(colon, inline),
                Splice::insert(end_of_line(self.source, colon), rendered.lines),
            ]);
        }
        if self.source[colon..place.start].contains('\n') {
            let lines =
                start_of_line(self.source, place.start)..end_of_line(self.source, place.end);
            return Some(vec![
                Splice::insert(colon, inline),
                Splice::replace(lines, rendered.lines),
            ]);
        }
        // Keep spaces, a tag and an anchor before the value, unless the value becomes empty.
        let replaced = if inline.is_empty() {
            colon..place.end
        } else {
            place.clone()
        };
        Some(vec![
            Splice::replace(replaced, rendered.inline),
            Splice::insert(end_of_line(self.source, place.end), rendered.lines),
        ])
    }

    /// Adds an entry after all others; `end` is its offset in a block mapping.
    fn insert(
        &self,
        mapping: &Mapping,
        end: usize,
        key: &str,
        value: &Value,
    ) -> Option<Vec<Splice>> {
        let start = bytes(mapping.byte_range()).start;
        if !mapping.is_flow_style() {
            return Some(vec![Splice::insert(
                end,
                yaml::entry(key, value, self.column(start), self.newline),
            )]);
        }
        let pair = yaml::flow(&Value::Object(Map::from_iter([(
            key.to_owned(),
            value.clone(),
        )])));
        let pair = pair.strip_prefix('{')?.strip_suffix('}')?;
        Some(vec![match mapping.entries().last() {
            Some(last) => Splice::insert(self.entry_range(&last).end, format!(", {pair}")),
            None => Splice::insert(start + 1, pair),
        }])
    }

    /// Removes an entry.
    fn remove(&self, mapping: &Mapping, entry: &MappingEntry) -> Option<Vec<Splice>> {
        let range = self.entry_range(entry);
        if !mapping.is_flow_style() {
            let start = self.indented_line(range.start)?;
            return Some(vec![Splice::delete(
                start..end_of_line(self.source, range.end),
            )]);
        }
        let all: Vec<Range<usize>> = mapping
            .entries()
            .map(|entry| self.entry_range(&entry))
            .collect();
        let index = all.iter().position(|other| *other == range)?;
        Some(vec![delete_between_commas(&all, index..index + 1)])
    }

    /// Changes the items of a list that differ; unchanged items keep their notation and comments.
    fn change_items(
        &self,
        sequence: &Sequence,
        old: &[Value],
        new: &[Value],
    ) -> Option<Vec<Splice>> {
        let items: Vec<Range<usize>> = sequence
            .values()
            .map(|node| self.value_range(&node))
            .collect();
        if items.len() != old.len() {
            return None;
        }
        let same_before = old
            .iter()
            .zip(new)
            .take_while(|(old, new)| old == new)
            .count();
        let shorter = old.len().min(new.len()) - same_before;
        let same_after = old
            .iter()
            .rev()
            .zip(new.iter().rev())
            .take(shorter)
            .take_while(|(old, new)| old == new)
            .count();
        let old_middle = same_before..old.len() - same_after;
        let new_middle = &new[same_before..new.len() - same_after];
        let pairs = old_middle.len().min(new_middle.len());
        let (replacing, added) = new_middle.split_at(pairs);
        let surplus = same_before + pairs..old_middle.end;
        if sequence.is_flow_style() {
            Some(self.change_flow_items(&items, same_before, replacing, added, surplus))
        } else {
            self.change_block_items(sequence, &items, same_before, replacing, added, surplus)
        }
    }

    fn change_flow_items(
        &self,
        items: &[Range<usize>],
        first: usize,
        replacing: &[Value],
        added: &[Value],
        surplus: Range<usize>,
    ) -> Vec<Splice> {
        let mut splices: Vec<Splice> = items[first..]
            .iter()
            .zip(replacing)
            .map(|(place, value)| {
                Splice::replace(place.clone(), yaml::flow_quoted(value, self.quote(place)))
            })
            .collect();
        let added: Vec<String> = added.iter().map(yaml::flow).collect();
        match (first + replacing.len()).checked_sub(1) {
            _ if added.is_empty() => {}
            Some(last) => splices.push(Splice::insert(
                items[last].end,
                format!(", {}", added.join(", ")),
            )),
            None => splices.push(Splice::insert(
                items[0].start,
                format!("{}, ", added.join(", ")),
            )),
        }
        if !surplus.is_empty() {
            splices.push(delete_between_commas(items, surplus));
        }
        splices
    }

    fn change_block_items(
        &self,
        sequence: &Sequence,
        items: &[Range<usize>],
        first: usize,
        replacing: &[Value],
        added: &[Value],
        surplus: Range<usize>,
    ) -> Option<Vec<Splice>> {
        let column = self.column(bytes(sequence.byte_range()).start);
        let lines = self.item_lines(sequence, items, column)?;
        let mut splices = Vec::new();
        for ((place, lines), value) in items[first..].iter().zip(&lines[first..]).zip(replacing) {
            let rendered = yaml::block(value, column, self.newline, self.quote(place));
            let was_inline = !place.is_empty() && !self.source[place.clone()].contains('\n');
            splices.push(
                if was_inline && rendered.lines.is_empty() && !rendered.inline.is_empty() {
                    Splice::replace(place.clone(), rendered.inline)
                } else {
                    Splice::replace(lines.clone(), yaml::item(value, column, self.newline))
                },
            );
        }
        let added: String = added
            .iter()
            .map(|value| yaml::item(value, column, self.newline))
            .collect();
        let end = (first + replacing.len())
            .checked_sub(1)
            .map_or(lines[0].start, |last| lines[last].end);
        splices.push(Splice::insert(end, added));
        splices.extend(lines[surplus].iter().cloned().map(Splice::delete));
        Some(splices)
    }

    /// The lines of each item of a block list, from its dash. Comments between items belong to no item.
    fn item_lines(
        &self,
        sequence: &Sequence,
        items: &[Range<usize>],
        column: usize,
    ) -> Option<Vec<Range<usize>>> {
        let range = bytes(sequence.byte_range());
        let mut at = self.indented_line(range.start)?;
        let mut starts = Vec::with_capacity(items.len());
        for line in self.source[at..range.end].split_inclusive('\n') {
            let dash = line.get(column..).is_some_and(|rest| {
                rest.strip_prefix('-').is_some_and(|rest| {
                    rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n'])
                })
            });
            if dash && line.bytes().take(column).all(|byte| byte == b' ') {
                starts.push(at);
            }
            at += line.len();
        }
        if starts.len() != items.len() {
            return None;
        }
        Some(
            starts
                .into_iter()
                .zip(items)
                .map(|(start, item)| start..end_of_line(self.source, item.end.max(start)))
                .collect(),
        )
    }

    /// The range from the key to the end of its value, without a trailing comment or line ending.
    fn entry_range(&self, entry: &MappingEntry) -> Range<usize> {
        let start = bytes(entry.byte_range()).start;
        let key = entry
            .key_node()
            .map_or(start, |node| bytes(node.byte_range()).end);
        let colon = self.after_colon(entry).unwrap_or(key);
        start
            ..entry
                .value_node()
                .map_or(colon, |node| self.value_range(&node).end.max(colon))
    }

    /// The bytes of a value, without blank lines and the line ending after a multi-line value.
    fn value_range(&self, node: &YamlNode) -> Range<usize> {
        let range = bytes(node.byte_range());
        let value = &self.source[range.clone()];
        range.start..range.start + value.trim_end_matches([' ', '\t', '\r', '\n']).len()
    }

    fn after_colon(&self, entry: &MappingEntry) -> Option<usize> {
        let key = bytes(entry.key_node()?.byte_range()).end;
        let rest = &self.source[key..];
        let blank = rest.len() - rest.trim_start().len();
        rest[blank..].starts_with(':').then_some(key + blank + 1)
    }

    fn quote(&self, place: &Range<usize>) -> Option<char> {
        self.source[place.clone()]
            .chars()
            .next()
            .filter(|first| matches!(first, '"' | '\''))
    }

    fn column(&self, offset: usize) -> usize {
        offset - start_of_line(self.source, offset)
    }

    /// The start of the line of a byte, if there are only spaces before it.
    fn indented_line(&self, offset: usize) -> Option<usize> {
        let start = start_of_line(self.source, offset);
        self.source[start..offset]
            .bytes()
            .all(|byte| byte == b' ')
            .then_some(start)
    }
}

/// Removes items of a flow collection with their commas.
fn delete_between_commas(all: &[Range<usize>], gone: Range<usize>) -> Splice {
    let start = if gone.start > 0 {
        all[gone.start - 1].end
    } else {
        all[gone.start].start
    };
    let end = if gone.start == 0 && gone.end < all.len() {
        all[gone.end].start
    } else {
        all[gone.end - 1].end
    };
    Splice::delete(start..end)
}
