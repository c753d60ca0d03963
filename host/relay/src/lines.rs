//! Lines of a stream, read without losing anything when the reader is interrupted.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt as _};

/// The size of one read.
const READ_BYTES: usize = 16 << 10;
/// A buffer that a long line made larger than this is not kept.
const MAX_KEPT_BUFFER: usize = 1 << 20;

/// A stream of lines.
#[derive(Debug)]
pub struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    /// How much of the buffer is known to have no end of a line.
    searched: usize,
    max_bytes: usize,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Lines of at most so many bytes.
    pub fn new(input: R, max_bytes: usize) -> Lines<R> {
        Lines {
            input,
            buffer: Vec::new(),
            searched: 0,
            max_bytes,
        }
    }

    /// The next line with its newline, or `None` at the end of the input. Text without a newline at the end is not a line.
    /// A line over the bound comes in pieces, of which only the last one has a newline. May be cancelled: nothing is lost.
    pub async fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            let unseen = &self.buffer[self.searched..];
            if let Some(at) = memchr::memchr(b'\n', unseen) {
                let rest = self.buffer.split_off(self.searched + at + 1);
                self.searched = 0;
                return Ok(Some(std::mem::replace(&mut self.buffer, rest)));
            }
            self.searched = self.buffer.len();
            if self.buffer.len() >= self.max_bytes {
                self.searched = 0;
                return Ok(Some(std::mem::take(&mut self.buffer)));
            }
            if self.buffer.is_empty() && self.buffer.capacity() > MAX_KEPT_BUFFER {
                self.buffer = Vec::new();
            }
            self.buffer.reserve(READ_BYTES);
            if self.input.read_buf(&mut self.buffer).await? == 0 {
                return Ok(None);
            }
        }
    }

    /// The stream, to write to it.
    pub fn stream(&mut self) -> &mut R {
        &mut self.input
    }

    /// What was read beyond the last line, and the stream.
    pub fn into_parts(self) -> (Vec<u8>, R) {
        (self.buffer, self.input)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_come_whole_and_long_ones_in_pieces() {
        let long = "x".repeat(100_000);
        let input = format!("a\n\n{long}\nb\nno end");
        let mut lines = Lines::new(input.as_bytes(), 60_000);
        let mut found = Vec::new();
        while let Some(line) = lines.next().await.expect("read") {
            found.push(String::from_utf8(line).expect("text"));
        }
        assert_eq!(found.concat(), format!("a\n\n{long}\nb\n"));
        assert_eq!(found[..2], ["a\n", "\n"]);
        assert_eq!(found.last().map(String::as_str), Some("b\n"));
        assert!(found.iter().all(|line| line.len() < 80_000));
    }
}
