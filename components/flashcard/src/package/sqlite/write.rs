//! The SQLite writer: tables one after another, each as a b-tree whose pages are filled in order.

use super::{HEADER, INTERIOR, LEAF, MAGIC, Row, Value, local};

const PAGE: usize = 4096;
/// The SQLite version in the file header.
const VERSION: u32 = 3_045_000;

/// A table to write.
pub(crate) struct Table {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its CREATE statement.
    pub(crate) sql: &'static str,
    /// Its rows, by id.
    pub(crate) rows: Vec<Row>,
}

/// Creates a file with these tables. Their `sql` must fit on one page in total.
pub(crate) fn write(tables: &[Table]) -> Vec<u8> {
    // The first page is the schema table, which is written last.
    let mut pages = Pages(vec![vec![0; PAGE]]);
    let mut schema: Vec<Row> = Vec::new();
    for (index, table) in tables.iter().enumerate() {
        let root = pages.table(&table.rows);
        let text = |text: &str| Value::Text(text.to_owned());
        let row = vec![
            text("table"),
            text(table.name),
            text(table.name),
            Value::Integer(root as i64),
            text(table.sql),
        ];
        schema.push((index as i64 + 1, row));
    }
    let cells: Vec<Vec<u8>> = schema.iter().map(|row| pages.cell(row)).collect();
    let mut first = page(LEAF, &cells, None, HEADER);
    first[..16].copy_from_slice(MAGIC);
    first[16..18].copy_from_slice(&(PAGE as u16).to_be_bytes());
    first[18..24].copy_from_slice(&[1, 1, 0, 64, 32, 32]);
    let numbers = [
        (24, 1),
        (28, pages.0.len() as u32),
        (40, 1),
        (44, 4),
        (56, 1),
        (92, 1),
        (96, VERSION),
    ];
    for (at, number) in numbers {
        first[at..at + 4].copy_from_slice(&number.to_be_bytes());
    }
    pages.0[0] = first;
    pages.0.concat()
}

struct Pages(Vec<Vec<u8>>);

impl Pages {
    /// Adds a page; returns its number.
    fn add(&mut self, page: Vec<u8>) -> usize {
        self.0.push(page);
        self.0.len()
    }

    /// Writes rows; returns the root page.
    fn table(&mut self, rows: &[Row]) -> usize {
        let mut leaves: Vec<(i64, usize)> = Vec::new();
        let mut cells: Vec<Vec<u8>> = Vec::new();
        let mut last = 0;
        let mut used = 8;
        for row in rows {
            let cell = self.cell(row);
            if used + cell.len() + 2 > PAGE {
                let number = self.add(page(LEAF, &cells, None, 0));
                leaves.push((last, number));
                cells.clear();
                used = 8;
            }
            used += cell.len() + 2;
            cells.push(cell);
            last = row.0;
        }
        let number = self.add(page(LEAF, &cells, None, 0));
        leaves.push((last, number));
        self.tree(leaves)
    }

    /// Adds interior pages until there is a single root.
    fn tree(&mut self, mut level: Vec<(i64, usize)>) -> usize {
        // A cell has at most 13 bytes and its pointer two.
        const CHILDREN: usize = (PAGE - 12) / 15;
        while level.len() > 1 {
            let above = level.chunks(CHILDREN).map(|children| {
                let (right, others) = children.split_last().unwrap_or((&(0, 0), &[]));
                let cells: Vec<Vec<u8>> = others
                    .iter()
                    .map(|(key, child)| {
                        let mut cell = (*child as u32).to_be_bytes().to_vec();
                        push_varint(&mut cell, *key as u64);
                        cell
                    })
                    .collect();
                (right.0, page(INTERIOR, &cells, Some(right.1), 0))
            });
            let above: Vec<(i64, Vec<u8>)> = above.collect();
            level = above
                .into_iter()
                .map(|(key, page)| (key, self.add(page)))
                .collect();
        }
        level.first().map_or(0, |(_, number)| *number)
    }

    /// A row as a leaf cell; long payloads continue on overflow pages.
    fn cell(&mut self, (id, values): &Row) -> Vec<u8> {
        let payload = record(values);
        let mut cell = Vec::new();
        push_varint(&mut cell, payload.len() as u64);
        push_varint(&mut cell, *id as u64);
        let here = local(payload.len(), PAGE);
        cell.extend_from_slice(&payload[..here]);
        if here < payload.len() {
            let parts: Vec<&[u8]> = payload[here..].chunks(PAGE - 4).collect();
            cell.extend_from_slice(&(self.0.len() as u32 + 1).to_be_bytes());
            for (index, part) in parts.iter().enumerate() {
                let next = if index + 1 < parts.len() {
                    self.0.len() as u32 + 2
                } else {
                    0
                };
                let mut page = next.to_be_bytes().to_vec();
                page.extend_from_slice(part);
                page.resize(PAGE, 0);
                self.add(page);
            }
        }
        cell
    }
}

/// A b-tree page; `offset` is the length of the file header before it.
fn page(kind: u8, cells: &[Vec<u8>], right: Option<usize>, offset: usize) -> Vec<u8> {
    let mut page = vec![0; PAGE];
    let mut pointer = offset + if right.is_some() { 12 } else { 8 };
    let mut content = PAGE;
    for cell in cells {
        content -= cell.len();
        page[content..content + cell.len()].copy_from_slice(cell);
        page[pointer..pointer + 2].copy_from_slice(&(content as u16).to_be_bytes());
        pointer += 2;
    }
    page[offset] = kind;
    page[offset + 3..offset + 5].copy_from_slice(&(cells.len() as u16).to_be_bytes());
    page[offset + 5..offset + 7].copy_from_slice(&(content as u16).to_be_bytes());
    if let Some(right) = right {
        page[offset + 8..offset + 12].copy_from_slice(&(right as u32).to_be_bytes());
    }
    page
}

fn record(values: &[Value]) -> Vec<u8> {
    let mut kinds = Vec::new();
    let mut data = Vec::new();
    for value in values {
        match value {
            Value::Null => kinds.push(0),
            Value::Integer(number) => {
                kinds.push(6);
                data.extend_from_slice(&number.to_be_bytes());
            }
            Value::Real(number) => {
                kinds.push(7);
                data.extend_from_slice(&number.to_bits().to_be_bytes());
            }
            Value::Text(text) => {
                push_varint(&mut kinds, text.len() as u64 * 2 + 13);
                data.extend_from_slice(text.as_bytes());
            }
            Value::Blob(bytes) => {
                push_varint(&mut kinds, bytes.len() as u64 * 2 + 12);
                data.extend_from_slice(bytes);
            }
        }
    }
    // The length of the header counts itself.
    let size = if kinds.len() < 127 { 1 } else { 2 };
    let mut record = Vec::with_capacity(kinds.len() + data.len() + size);
    push_varint(&mut record, (kinds.len() + size) as u64);
    record.extend(kinds);
    record.extend(data);
    record
}

fn push_varint(bytes: &mut Vec<u8>, number: u64) {
    if number >> 56 != 0 {
        let mut high = number >> 8;
        let mut parts = [0; 9];
        parts[8] = number as u8;
        for part in parts[..8].iter_mut().rev() {
            *part = (high & 0x7f) as u8 | 0x80;
            high >>= 7;
        }
        bytes.extend_from_slice(&parts);
        return;
    }
    let mut parts = vec![(number & 0x7f) as u8];
    let mut rest = number >> 7;
    while rest > 0 {
        parts.push((rest & 0x7f) as u8 | 0x80);
        rest >>= 7;
    }
    parts.reverse();
    bytes.extend(parts);
}
