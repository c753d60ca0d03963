//! The previous contents of files, as stored in the history: short contents whole, long ones in chunks.
//!
//! Every content can be restored from the database alone and is verified by its digest. Chunks are shared only between
//! the changes of one caller, so each byte is accounted to one caller, and pruning one caller's history never removes
//! data of another. How much is kept is decided in `retention`.

use rusqlite::{Connection, OptionalExtension, params};

use crate::storage::{files::history::chunks::chunks, stamp::Digest};

/// Content up to this length is kept whole.
const MAX_WHOLE_BYTES: usize = 32 << 10;

pub(crate) const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS contents (
        number INTEGER PRIMARY KEY,
        change INTEGER NOT NULL REFERENCES changes (number) ON DELETE CASCADE,
        digest BLOB NOT NULL,
        size INTEGER NOT NULL,
        -- Either the content, or the numbers of its chunks as ranges.
        bytes BLOB,
        chunks BLOB
    );
    CREATE UNIQUE INDEX IF NOT EXISTS contents_by_change ON contents (change, digest);
    CREATE INDEX IF NOT EXISTS contents_in_chunks ON contents (number) WHERE chunks IS NOT NULL;
    CREATE TABLE IF NOT EXISTS chunks (
        number INTEGER PRIMARY KEY,
        caller TEXT NOT NULL,
        digest BLOB NOT NULL,
        size INTEGER NOT NULL,
        bytes BLOB NOT NULL
    );
    -- With the size, so that what a caller uses can be summed up without the chunks.
    CREATE UNIQUE INDEX IF NOT EXISTS chunks_by_caller ON chunks (caller, digest, size);
";

/// How many bytes a content took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stored {
    /// Of its own.
    pub(crate) own: u64,
    /// In chunks that this caller did not have yet.
    pub(crate) chunks: u64,
}

/// Keeps a content for a change.
pub(crate) fn put(
    connection: &Connection,
    change: i64,
    caller: &str,
    digest: &Digest,
    content: &[u8],
) -> rusqlite::Result<Stored> {
    let mut stored = Stored::default();
    let (mut whole, mut ranges) = (Some(content), None);
    if content.len() > MAX_WHOLE_BYTES {
        let mut found = Ranges::default();
        for chunk in chunks(content) {
            let (number, is_new) = put_chunk(connection, caller, chunk)?;
            found.push(number);
            stored.chunks += if is_new { chunk.len() as u64 } else { 0 };
        }
        (whole, ranges) = (None, Some(found.to_bytes()));
    }
    let kept = whole.or(ranges.as_deref()).map_or(0, <[u8]>::len);
    stored.own = kept as u64;
    // Two files of one change may have had the same content.
    connection
        .prepare_cached(
            "INSERT OR IGNORE INTO contents (change, digest, size, bytes, chunks) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![
            change,
            digest.as_bytes(),
            content.len() as i64,
            whole,
            ranges
        ])?;
    Ok(stored)
}

/// The number of a chunk, and whether it is new.
fn put_chunk(connection: &Connection, caller: &str, chunk: &[u8]) -> rusqlite::Result<(i64, bool)> {
    let digest = Digest::of(chunk);
    let known = connection
        .prepare_cached("SELECT number FROM chunks WHERE caller = ?1 AND digest = ?2")?
        .query_row(params![caller, digest.as_bytes()], |row| row.get(0))
        .optional()?;
    if let Some(number) = known {
        return Ok((number, false));
    }
    connection
        .prepare_cached("INSERT INTO chunks (caller, digest, size, bytes) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![
            caller,
            digest.as_bytes(),
            chunk.len() as i64,
            chunk
        ])?;
    Ok((connection.last_insert_rowid(), true))
}

/// The content that a digest names, if any change still keeps it.
pub(crate) fn get(connection: &Connection, digest: &Digest) -> rusqlite::Result<Option<Vec<u8>>> {
    let mut select = connection.prepare_cached(
        "SELECT contents.size, contents.bytes, contents.chunks
         FROM files JOIN contents ON contents.change = files.change AND contents.digest = files.before
         WHERE files.before = ?1",
    )?;
    let mut rows = select.query([digest.as_bytes()])?;
    while let Some(row) = rows.next()? {
        let content = match row.get::<_, Option<Vec<u8>>>(1)? {
            Some(bytes) => bytes,
            None => {
                let ranges = Ranges::from_bytes(&row.get::<_, Vec<u8>>(2)?);
                joined(connection, &ranges, row.get::<_, i64>(0)?)?
            }
        };
        if Digest::of(&content) == *digest {
            return Ok(Some(content));
        }
        tracing::error!("content stored in the history is damaged and is ignored");
    }
    // As a version before this one kept it.
    let kept: Option<Vec<u8>> = connection
        .prepare_cached("SELECT bytes FROM blobs WHERE digest = ?1")?
        .query_row([digest.as_bytes()], |row| row.get(0))
        .optional()?;
    Ok(kept.filter(|content| Digest::of(content) == *digest))
}

fn joined(connection: &Connection, ranges: &Ranges, size: i64) -> rusqlite::Result<Vec<u8>> {
    let mut content = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    let mut select = connection.prepare_cached(
        "SELECT bytes FROM chunks WHERE number BETWEEN ?1 AND ?2 ORDER BY number",
    )?;
    for (first, last) in &ranges.0 {
        let mut rows = select.query(params![first, last])?;
        while let Some(row) = rows.next()? {
            content.extend_from_slice(row.get_ref(0)?.as_blob()?);
        }
    }
    Ok(content)
}

/// Removes the chunks that no content names any more, and old contents that no file does.
pub(crate) fn sweep(connection: &Connection) -> rusqlite::Result<()> {
    let mut live = Ranges::default();
    let mut select = connection.prepare_cached(
        "SELECT chunks FROM contents INDEXED BY contents_in_chunks WHERE chunks IS NOT NULL",
    )?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        live.0
            .extend(Ranges::from_bytes(row.get_ref(0)?.as_blob()?).0);
    }
    let mut remove =
        connection.prepare_cached("DELETE FROM chunks WHERE number BETWEEN ?1 AND ?2")?;
    for (first, last) in live.gaps() {
        remove.execute(params![first, last])?;
    }
    if has_old_contents(connection)? {
        connection.execute(
            "DELETE FROM blobs WHERE digest NOT IN (SELECT before FROM files WHERE before IS NOT NULL)",
            [],
        )?;
    }
    Ok(())
}

/// Whether there are contents as a version before this one kept them.
pub(crate) fn has_old_contents(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT EXISTS (SELECT 1 FROM blobs)", [], |row| row.get(0))
}

/// Numbers of chunks, first and last of each range. Chunks that were new together have consecutive numbers, so even a
/// large note is a few ranges.
#[derive(Debug, Default, PartialEq, Eq)]
struct Ranges(Vec<(i64, i64)>);

impl Ranges {
    fn push(&mut self, number: i64) {
        match self.0.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => self.0.push((number, number)),
        }
    }

    fn to_bytes(&self) -> Vec<u8> {
        let numbers = self.0.iter().flat_map(|(first, last)| [first, last]);
        numbers.flat_map(|number| number.to_le_bytes()).collect()
    }

    fn from_bytes(bytes: &[u8]) -> Ranges {
        let number = |bytes: &[u8]| bytes.try_into().map_or(0, i64::from_le_bytes);
        let ranges = bytes.chunks_exact(16);
        Ranges(
            ranges
                .map(|range| (number(&range[..8]), number(&range[8..])))
                .collect(),
        )
    }

    /// The gaps between the ranges, including both ends.
    fn gaps(mut self) -> Vec<(i64, i64)> {
        self.0.sort_unstable();
        let mut gaps = Vec::new();
        let mut next = i64::MIN;
        for (first, last) in self.0 {
            if first > next {
                gaps.push((next, first - 1));
            }
            next = next.max(last.saturating_add(1));
        }
        gaps.push((next, i64::MAX));
        gaps
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ranges_come_back_and_gaps_are_what_is_not_in_them(numbers in proptest::collection::vec(0i64..50, 0..60)) {
            let mut ranges = Ranges::default();
            numbers.iter().for_each(|number| ranges.push(*number));
            prop_assert_eq!(&Ranges::from_bytes(&ranges.to_bytes()), &ranges);
            let gaps = ranges.gaps();
            for number in -1..51 {
                let is_in_gap = gaps.iter().any(|(first, last)| (first..=last).contains(&&number));
                prop_assert_eq!(is_in_gap, !numbers.contains(&number));
            }
        }
    }
}
