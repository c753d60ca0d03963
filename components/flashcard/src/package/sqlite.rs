//! The subset of the SQLite file format that Anki collections need: tables with row ids, read and written as a whole,
//! no indexes, queries or journal. The format is described at sqlite.org/fileformat2.html.

mod read;
mod write;

pub(crate) use read::Database;
pub(crate) use write::{Table, write};

/// A value of a row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// NULL; also the column that aliases the row id.
    Null,
    /// An integer.
    Integer(i64),
    /// A floating-point number.
    Real(f64),
    /// Text.
    Text(String),
    /// Bytes.
    Blob(Vec<u8>),
}

impl Value {
    /// The value as an integer.
    pub(crate) fn integer(&self) -> Option<i64> {
        match self {
            Value::Integer(number) => Some(*number),
            Value::Real(number) => Some(*number as i64),
            Value::Text(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// The value as text.
    pub(crate) fn text(&self) -> Option<String> {
        match self {
            Value::Text(text) => Some(text.clone()),
            Value::Integer(number) => Some(number.to_string()),
            Value::Real(number) => Some(number.to_string()),
            _ => None,
        }
    }
}

/// A row: its id and its values.
pub(crate) type Row = (i64, Vec<Value>);

/// The magic bytes of a file.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// Length of the file header.
const HEADER: usize = 100;
const LEAF: u8 = 13;
const INTERIOR: u8 = 5;

/// The number of payload bytes stored on the page itself; the rest is on overflow pages.
fn local(payload: usize, usable: usize) -> usize {
    let max = usable - 35;
    if payload <= max {
        return payload;
    }
    let min = (usable - 12) * 32 / 255 - 23;
    let size = min + (payload - min) % (usable - 4);
    if size <= max { size } else { min }
}

#[cfg(test)]
mod tests;
