//! The SQLite reader. Files are untrusted: every offset is checked before it is used.

use super::{HEADER, INTERIOR, LEAF, MAGIC, Row, Value, local};
use crate::package::PackageError;

/// Maximum size of the rows read from a file, in bytes.
const MAX_BYTES: usize = 48 << 20;

/// An open SQLite file.
pub(crate) struct Database {
    bytes: Vec<u8>,
    page: usize,
    usable: usize,
}

impl Database {
    /// Opens a file.
    pub(crate) fn open(bytes: Vec<u8>) -> Result<Database, PackageError> {
        if bytes.len() < HEADER || bytes[..16] != MAGIC[..] {
            return Err(PackageError::invalid(
                "the collection is not an SQLite file",
            ));
        }
        let page = match usize::from(u16::from_be_bytes([bytes[16], bytes[17]])) {
            1 => 65_536,
            size => size,
        };
        let usable = page.saturating_sub(usize::from(bytes[20]));
        let encoding = u32::from_be_bytes([bytes[56], bytes[57], bytes[58], bytes[59]]);
        if !page.is_power_of_two() || page < 512 || usable < 480 {
            return Err(PackageError::invalid(
                "the collection has an invalid page size",
            ));
        }
        if encoding > 1 {
            return Err(PackageError::invalid(
                "the text of the collection is not UTF-8",
            ));
        }
        Ok(Database {
            bytes,
            page,
            usable,
        })
    }

    /// The rows of a table, in order; `None` if the table does not exist.
    pub(crate) fn table(&self, name: &str) -> Result<Option<Vec<Row>>, PackageError> {
        for (_, row) in self.rows(1)? {
            let [kind, own, _, root, ..] = row.as_slice() else {
                continue;
            };
            if kind.text().as_deref() == Some("table") && own.text().as_deref() == Some(name) {
                let root = root.integer().and_then(|root| usize::try_from(root).ok());
                return self.rows(root.unwrap_or(0)).map(Some);
            }
        }
        Ok(None)
    }

    fn rows(&self, root: usize) -> Result<Vec<Row>, PackageError> {
        let mut rows = Vec::new();
        let mut waiting = vec![root];
        let mut left = self.bytes.len() / self.page + 1;
        let mut size = 0;
        while let Some(number) = waiting.pop() {
            // A tree that visits more pages than the file has is cyclic.
            left = left.checked_sub(1).ok_or_else(damaged)?;
            let (page, offset) = self.page(number)?;
            let header = page.get(offset..offset + 8).ok_or_else(damaged)?;
            let cells = usize::from(u16::from_be_bytes([header[3], header[4]]));
            let (kind, pointers) = match header[0] {
                LEAF => (LEAF, offset + 8),
                INTERIOR => (INTERIOR, offset + 12),
                _ => return Err(damaged()),
            };
            let mut children = Vec::new();
            for cell in 0..cells {
                let at = two(page, pointers + 2 * cell)?;
                if kind == LEAF {
                    let row = self.row(page, at, &mut size)?;
                    rows.push(row);
                } else {
                    children.push(four(page, at)?);
                }
            }
            if kind == INTERIOR {
                children.push(four(page, offset + 8)?);
            }
            waiting.extend(children.into_iter().rev());
        }
        Ok(rows)
    }

    /// A page and the offset of its header.
    fn page(&self, number: usize) -> Result<(&[u8], usize), PackageError> {
        let header = if number == 1 { HEADER } else { 0 };
        Ok((self.page_bytes(number)?, header))
    }

    /// The bytes of a page. Pages are numbered from 1.
    fn page_bytes(&self, number: usize) -> Result<&[u8], PackageError> {
        let start = number
            .checked_sub(1)
            .and_then(|before| before.checked_mul(self.page))
            .ok_or_else(damaged)?;
        self.bytes.get(start..start + self.page).ok_or_else(damaged)
    }

    fn row(&self, page: &[u8], at: usize, size: &mut usize) -> Result<Row, PackageError> {
        let (length, at) = varint(page, at)?;
        let (id, at) = varint(page, at)?;
        let length = usize::try_from(length).map_err(|_| damaged())?;
        *size = size.saturating_add(length);
        if length > self.bytes.len() || *size > MAX_BYTES {
            return Err(PackageError::TooLarge(
                "a table of the collection is too large".to_owned(),
            ));
        }
        let here = local(length, self.usable);
        let mut payload = page.get(at..at + here).ok_or_else(damaged)?.to_vec();
        if here < length {
            let mut next = four(page, at + here)?;
            while payload.len() < length {
                let page = self.page_bytes(next)?;
                let part = (length - payload.len()).min(self.usable - 4);
                payload.extend_from_slice(page.get(4..4 + part).ok_or_else(damaged)?);
                next = four(page, 0)?;
            }
        }
        Ok((id, values(&payload)?))
    }
}

fn values(payload: &[u8]) -> Result<Vec<Value>, PackageError> {
    let (header, mut at) = varint(payload, 0)?;
    let header = usize::try_from(header).map_err(|_| damaged())?;
    let mut data = header;
    let mut values = Vec::new();
    while at < header {
        let (kind, next) = varint(payload, at)?;
        at = next;
        let length = match kind {
            0 | 8 | 9 => 0,
            1..=4 => kind as usize,
            5 => 6,
            6 | 7 => 8,
            12.. => usize::try_from((kind - 12) / 2).map_err(|_| damaged())?,
            _ => return Err(damaged()),
        };
        let end = data.checked_add(length).ok_or_else(damaged)?;
        let bytes = payload.get(data..end).ok_or_else(damaged)?;
        data = end;
        values.push(match kind {
            0 => Value::Null,
            1..=6 => Value::Integer(integer(bytes)),
            7 => Value::Real(f64::from_bits(integer(bytes) as u64)),
            8 | 9 => Value::Integer(kind - 8),
            kind if kind % 2 == 0 => Value::Blob(bytes.to_vec()),
            _ => Value::Text(String::from_utf8_lossy(bytes).into_owned()),
        });
    }
    Ok(values)
}

fn integer(bytes: &[u8]) -> i64 {
    let negative = bytes.first().is_some_and(|byte| byte & 0x80 != 0);
    let start = if negative { -1 } else { 0 };
    bytes
        .iter()
        .fold(start, |number, byte| number << 8 | i64::from(*byte))
}

fn two(page: &[u8], at: usize) -> Result<usize, PackageError> {
    let bytes = page.get(at..at + 2).ok_or_else(damaged)?;
    Ok(usize::from(u16::from_be_bytes([bytes[0], bytes[1]])))
}

fn four(page: &[u8], at: usize) -> Result<usize, PackageError> {
    let bytes = page.get(at..at + 4).ok_or_else(damaged)?;
    Ok(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize)
}

/// Reads a varint of one to nine bytes; returns it and its end.
fn varint(bytes: &[u8], at: usize) -> Result<(i64, usize), PackageError> {
    let mut number: u64 = 0;
    for index in 0..9 {
        let byte = *bytes.get(at + index).ok_or_else(damaged)?;
        if index == 8 {
            return Ok(((number << 8 | u64::from(byte)) as i64, at + 9));
        }
        number = number << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Ok((number as i64, at + index + 1));
        }
    }
    Err(damaged())
}

fn damaged() -> PackageError {
    PackageError::invalid("the collection is corrupt")
}
