//! The lines in which links occur, as answers show them. They are about half of what is known of a vault, and an answer
//! shows few of them: so those of notes that have not changed since the graph was saved stay in its file.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::sync::Arc;

use notehost_platform::files::read_exact_at;

/// The lines of the links of one note, encoded.
#[derive(Clone, Debug)]
pub(crate) enum LinkContexts {
    /// They are not in the saved file.
    Memory(Arc<[u8]>),
    /// A range of the saved file, which stays open also after it was replaced.
    Saved {
        file: Arc<File>,
        offset: u64,
        length: u32,
    },
}

impl LinkContexts {
    /// Encodes the lines of links in their order; `None` is the line of the link before.
    pub(crate) fn new(lines: &[Option<&str>]) -> LinkContexts {
        // Plain data into memory: nothing can fail.
        LinkContexts::Memory(postcard::to_stdvec(lines).unwrap_or_default().into())
    }

    /// How many bytes they take, encoded.
    pub(crate) fn len(&self) -> usize {
        match self {
            LinkContexts::Memory(bytes) => bytes.len(),
            LinkContexts::Saved { length, .. } => *length as usize,
        }
    }

    /// The encoded lines.
    pub(crate) fn bytes(&self) -> io::Result<Cow<'_, [u8]>> {
        match self {
            LinkContexts::Memory(bytes) => Ok(Cow::Borrowed(bytes)),
            LinkContexts::Saved {
                file,
                offset,
                length,
            } => {
                let mut bytes = vec![0; *length as usize];
                read_exact_at(file, &mut bytes, *offset)?;
                Ok(Cow::Owned(bytes))
            }
        }
    }
}

impl PartialEq for LinkContexts {
    fn eq(&self, other: &LinkContexts) -> bool {
        matches!((self.bytes(), other.bytes()), (Ok(one), Ok(other)) if one == other)
    }
}

/// The line of each link, from what [`LinkContexts::bytes`] returned; none if that is damaged.
pub(crate) fn decoded(bytes: &[u8]) -> Vec<&str> {
    let lines: Vec<Option<&str>> = postcard::from_bytes(bytes).unwrap_or_default();
    let mut before = "";
    let lines = lines.into_iter().map(|line| {
        before = line.unwrap_or(before);
        before
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn saved_lines_equal_those_in_memory() {
        let memory = LinkContexts::new(&[Some("one line"), None, Some(""), Some("another")]);
        let lines = memory.bytes().expect("in memory");
        assert_eq!(decoded(&lines), ["one line", "one line", "", "another"]);
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(b"before").expect("written");
        file.write_all(&lines).expect("written");
        let saved = LinkContexts::Saved {
            file: Arc::new(file),
            offset: 6,
            length: u32::try_from(lines.len()).expect("short"),
        };
        assert_eq!(saved, memory);
        assert_eq!(saved.len(), memory.len());
        assert!(decoded(&lines[..3]).is_empty());
    }
}
