//! SQLite files, as far as Anki's collections need them: tables with row ids, read and written whole. No indexes, no
//! queries, no journal. The format is described at sqlite.org/fileformat2.html.

mod read;
mod write;

pub(crate) use read::Database;
pub(crate) use write::{Table, write};

/// A value of a row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// Nothing; also the place of a row's own id.
    Null,
    /// A whole number.
    Integer(i64),
    /// A number.
    Real(f64),
    /// Text.
    Text(String),
    /// Bytes.
    Blob(Vec<u8>),
}

impl Value {
    /// The whole number it is.
    pub(crate) fn integer(&self) -> Option<i64> {
        match self {
            Value::Integer(number) => Some(*number),
            Value::Real(number) => Some(*number as i64),
            Value::Text(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// The text it is.
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

/// What every file begins with.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// How long the header of the file is.
const HEADER: usize = 100;
const LEAF: u8 = 13;
const INTERIOR: u8 = 5;

/// How much of a payload stands on its page, the rest being on others.
fn local(payload: usize, usable: usize) -> usize {
    let most = usable - 35;
    if payload <= most {
        return payload;
    }
    let least = (usable - 12) * 32 / 255 - 23;
    let wanted = least + (payload - least) % (usable - 4);
    if wanted <= most { wanted } else { least }
}

#[cfg(test)]
mod tests;
