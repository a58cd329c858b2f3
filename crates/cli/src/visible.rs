//! The border to terminals: everything written through it is printable.
//!
//! Invariant: no control character passes but `\n` and `\t`, however the text is cut into writes.

use std::borrow::Cow;
use std::io::{self, Write};

use base::{LineFeeds, printable};

/// A writer that makes text printable on its way to `inner`.
pub struct Visible<W: Write> {
    inner: W,
    /// Bytes that need more input: the start of a character, or a `\r` that a `\n` may follow.
    held: Vec<u8>,
    /// The end of the output so far, which decides the meaning of a joiner.
    end: String,
}

impl<W: Write> Visible<W> {
    /// Creates a writer in front of `inner`. Holds an incomplete character until the next write, or
    /// until the writer is dropped.
    pub fn new(inner: W) -> Self {
        Self {
            inner,
            held: Vec::new(),
            end: String::new(),
        }
    }

    /// Writes a text in printable form, judged together with the end of the output before it.
    fn pass(&mut self, text: &str) -> io::Result<()> {
        let before = std::mem::take(&mut self.end);
        let whole = before.clone() + text;
        let shown = printable(&whole, LineFeeds::Keep);
        self.end = shown[end_of(&shown)..].to_owned();
        self.inner.write_all(&shown.as_bytes()[before.len()..])
    }
}

impl<W: Write> Write for Visible<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = std::mem::take(&mut self.held);
        all.extend_from_slice(bytes);
        let whole = whole_length(&all);
        self.held = all.split_off(whole);
        self.pass(&String::from_utf8_lossy(&all))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<W: Write> Drop for Visible<W> {
    fn drop(&mut self) {
        let held = std::mem::take(&mut self.held);
        if let Err(error) = self.pass(&String::from_utf8_lossy(&held)) {
            log::debug!("the end of the text was not written: {error}");
        }
    }
}

/// Returns the start of the last character and its joiners.
fn end_of(shown: &str) -> usize {
    /// More joiners than any sequence has.
    const JOINED: usize = 8;
    let is_plain = |char: char| {
        let mut bytes = [0; 4];
        matches!(
            printable(char.encode_utf8(&mut bytes), LineFeeds::Keep),
            Cow::Borrowed(_)
        )
    };
    let mut last = shown.char_indices().rev().take(JOINED);
    last.find(|(_, char)| is_plain(*char))
        .map_or(shown.len(), |(at, _)| at)
}

/// Returns the length without an unfinished character or a final `\r`.
fn whole_length(bytes: &[u8]) -> usize {
    if bytes.ends_with(b"\r") {
        return bytes.len() - 1;
    }
    let tail = bytes.len().saturating_sub(3);
    let start = (tail..bytes.len()).rev().find(|at| bytes[*at] >= 0xc0);
    match start.map(|start| (start, std::str::from_utf8(&bytes[start..]))) {
        Some((start, Err(error))) if error.error_len().is_none() => start,
        _ => bytes.len(),
    }
}

#[cfg(test)]
mod tests;
