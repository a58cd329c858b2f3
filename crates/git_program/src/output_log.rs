//! The kept output of a program: its beginning and its end, whatever it prints.
//!
//! Invariant: the memory is bounded by `HEAD_BYTES` and `TAIL_BYTES`.

use std::collections::VecDeque;

/// Bytes kept from the beginning.
const HEAD_BYTES: usize = 128 << 10;
/// Bytes kept from the end; an error is usually there.
const TAIL_BYTES: usize = 512 << 10;

/// The output of a program, with the middle omitted if it is long.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputLog {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    omitted: u64,
}

impl OutputLog {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let free = HEAD_BYTES.saturating_sub(self.head.len()).min(bytes.len());
        let (head, rest) = bytes.split_at(free);
        self.head.extend_from_slice(head);
        // Only the end of a large piece can stay.
        let skipped = rest.len().saturating_sub(TAIL_BYTES);
        self.omitted += skipped as u64;
        self.tail.extend(&rest[skipped..]);
        let excess = self.tail.len().saturating_sub(TAIL_BYTES);
        self.tail.drain(..excess);
        self.omitted += excess as u64;
    }

    /// Returns the number of bytes that are missing in the middle.
    pub fn omitted(&self) -> u64 {
        self.omitted
    }

    /// Returns the kept bytes, escape sequences included; a line says how much is missing.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.head.clone();
        if self.omitted > 0 {
            let gap = format!("\n... {} bytes omitted ...\n", self.omitted);
            bytes.extend_from_slice(gap.as_bytes());
        }
        bytes.extend(&self.tail);
        bytes
    }

    /// Returns the kept output as plain text, without escape sequences.
    pub fn text(&self) -> String {
        reduce::terminal_text::plain(&String::from_utf8_lossy(&self.bytes()))
    }

    /// Returns up to `count` lines from the end that are not empty, as plain text.
    pub fn last_lines(&self, count: usize) -> String {
        let text = self.text();
        let lines = text.lines().rev().filter(|line| !line.trim().is_empty());
        let mut lines: Vec<&str> = lines.take(count).collect();
        lines.reverse();
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::{HEAD_BYTES, OutputLog, TAIL_BYTES};

    #[test]
    fn long_output_keeps_beginning_and_end() {
        for piece in [1000, 3 * TAIL_BYTES] {
            let mut log = OutputLog::default();
            log.push(b"begin\n");
            for _ in 0..(4 << 20) / piece + 1 {
                log.push(&vec![b'x'; piece]);
            }
            log.push(b"\nend\n");
            let bytes = log.bytes();
            assert!(bytes.starts_with(b"begin\n") && bytes.ends_with(b"\nend\n"));
            assert!(bytes.len() < HEAD_BYTES + TAIL_BYTES + 100);
            let kept = (log.head.len() + log.tail.len()) as u64;
            let pushed = 6 + 5 + (((4 << 20) / piece + 1) * piece) as u64;
            assert_eq!(log.omitted() + kept, pushed);
        }
    }

    #[test]
    fn last_lines_are_plain() {
        let mut log = OutputLog::default();
        log.push(b"one\n\x1b[31mtwo\x1b[0m\n\nthree\n\n");
        assert_eq!(log.last_lines(2), "two\nthree");
        assert_eq!(log.omitted(), 0);
    }
}
