//! The latest output of a process, kept for readers that come and go.
//!
//! Invariant: a backlog keeps at most its limit of bytes.
//! Invariant: a reader gets each byte once and in order; it misses the bytes that are not kept any more, and only those.

use std::collections::VecDeque;

/// Maximum number of bytes of one part.
const MAX_PART: usize = 32 << 10;
/// Maximum number of bytes that are left out so that kept output begins with a whole line.
const MAX_PARTIAL_LINE: usize = 4 << 10;

/// The latest output of a process.
#[derive(Debug)]
pub struct OutputBacklog {
    bytes: VecDeque<u8>,
    /// Number of bytes of the whole output.
    end: u64,
    limit: usize,
}

/// The position of a reader in the output of a process.
#[derive(Debug)]
pub struct BacklogReader {
    /// Number of bytes of output that the reader has.
    offset: u64,
    /// Output before this offset was printed before the reader could see it.
    live_from: u64,
}

/// A part of the output of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputPart {
    /// Number of bytes of output before this part.
    pub offset: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Whether it was printed before the reader could see it.
    pub is_backlog: bool,
}

impl OutputBacklog {
    /// Creates an empty backlog that keeps `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            bytes: VecDeque::new(),
            end: 0,
            limit,
        }
    }

    /// Adds output.
    pub fn push(&mut self, bytes: &[u8]) {
        self.end += bytes.len() as u64;
        let kept = &bytes[bytes.len().saturating_sub(self.limit)..];
        let over = (self.bytes.len() + kept.len()).saturating_sub(self.limit);
        self.bytes.drain(..over);
        self.bytes.extend(kept);
    }

    /// Returns the offset of the first kept byte.
    pub fn start(&self) -> u64 {
        self.end - self.bytes.len() as u64
    }

    /// Returns the number of bytes of the whole output.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Returns the length of the rest of a line with which the kept output begins; 0 if the line is long.
    fn partial_line(&self) -> u64 {
        let mut beginning = self.bytes.iter().take(MAX_PARTIAL_LINE);
        let end = beginning.position(|byte| *byte == b'\n');
        end.map_or(0, |end| end as u64 + 1)
    }
}

impl BacklogReader {
    /// Creates a reader that has the first `from` bytes of the output.
    pub fn new(backlog: &OutputBacklog, from: u64) -> Self {
        Self {
            offset: from.min(backlog.end),
            live_from: backlog.end,
        }
    }

    /// Returns the offset of the next part. Skips output that is not kept any more.
    pub fn offset(&mut self, backlog: &OutputBacklog) -> u64 {
        if self.offset < backlog.start() {
            self.offset = backlog.start() + backlog.partial_line();
            self.live_from = backlog.end;
        }
        self.offset
    }

    /// Returns whether the reader has all output that was printed before it could see it.
    pub fn is_live(&self) -> bool {
        self.offset >= self.live_from
    }

    /// Returns the next part, which ends at `until` at the latest; `None` if there is none.
    pub fn read(&mut self, backlog: &OutputBacklog, until: u64) -> Option<OutputPart> {
        let offset = self.offset(backlog);
        let is_backlog = !self.is_live();
        let limit = if is_backlog {
            self.live_from
        } else {
            backlog.end
        };
        let left = limit.min(until).saturating_sub(offset);
        if left == 0 {
            return None;
        }
        let length = usize::try_from(left).unwrap_or(MAX_PART).min(MAX_PART);
        let from = usize::try_from(offset - backlog.start()).unwrap_or_default();
        self.offset += length as u64;
        let bytes = backlog.bytes.range(from..from + length);
        Some(OutputPart {
            offset,
            bytes: bytes.copied().collect(),
            is_backlog,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_gets_each_kept_byte_once() {
        let mut backlog = OutputBacklog::new(10);
        backlog.push(b"one\n");
        let mut reader = BacklogReader::new(&backlog, 0);
        backlog.push(b"two\n");
        let mut parts = Vec::new();
        while let Some(part) = reader.read(&backlog, u64::MAX) {
            parts.push((part.offset, part.bytes, part.is_backlog));
        }
        let expected = [(0, b"one\n".to_vec(), true), (4, b"two\n".to_vec(), false)];
        assert_eq!(parts, expected);
        // The rest of the line that was cut is left out.
        backlog.push(b"three\nfour\n");
        assert_eq!(backlog.start(), 9);
        let part = reader.read(&backlog, u64::MAX).expect("output");
        assert_eq!((part.offset, part.is_backlog), (14, true));
        assert_eq!(part.bytes, b"four\n");
        assert!(reader.is_live());
    }

    #[test]
    fn a_part_ends_at_the_offset_that_the_reader_names() {
        let mut backlog = OutputBacklog::new(10);
        backlog.push(b"abcdef");
        let mut reader = BacklogReader::new(&backlog, 1);
        let part = reader.read(&backlog, 4).expect("output");
        assert_eq!((part.offset, part.bytes), (1, b"bcd".to_vec()));
        assert_eq!(reader.read(&backlog, 4), None);
        assert_eq!(reader.offset(&backlog), 4);
    }
}
