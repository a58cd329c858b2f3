//! Messages of one line each, as both protocols send them over pipes.
//!
//! Invariant: a line longer than the limit costs no more memory than the limit, and the next one is
//! read as usual.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Maximum length of a message, in bytes. A screenshot takes a few million.
pub(crate) const LONGEST: usize = 64 << 20;

/// Capacity of the write queue. When it is full, senders wait.
const WAITING: usize = 64;

/// A line received from the other side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WireLine {
    /// A line that may be a message.
    Text(String),
    /// A line that cannot be a message, with the reason for the user.
    Noise(String),
}

/// Reads lines. Cancellation-safe: dropping a read loses nothing.
pub(crate) struct LineReader<R> {
    reader: BufReader<R>,
    longest: usize,
    /// The current line so far; never longer than the limit.
    line: Vec<u8>,
    /// The length of the current line so far, including the part that was dropped.
    length: usize,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(crate) fn new(reader: R, longest: usize) -> Self {
        Self {
            reader: BufReader::new(reader),
            longest,
            line: Vec::new(),
            length: 0,
        }
    }

    /// Returns the next non-empty line; `None` at the end. A last line without a line feed was
    /// truncated, and is noise.
    pub(crate) async fn next(&mut self) -> io::Result<Option<WireLine>> {
        loop {
            let chunk = self.reader.fill_buf().await?;
            if chunk.is_empty() {
                let left = self.take();
                return Ok(left.map(|_| WireLine::Noise("the last message is cut off".to_owned())));
            }
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let piece = &chunk[..end.unwrap_or(chunk.len())];
            let room = self.longest.saturating_sub(self.line.len());
            self.line.extend_from_slice(&piece[..piece.len().min(room)]);
            self.length += piece.len();
            let used = piece.len() + usize::from(end.is_some());
            self.reader.consume(used);
            if end.is_some()
                && let Some(line) = self.take()
            {
                return Ok(Some(line));
            }
        }
    }

    fn take(&mut self) -> Option<WireLine> {
        let line = std::mem::take(&mut self.line);
        let length = std::mem::take(&mut self.length);
        if length > self.longest {
            let mib = self.longest >> 20;
            return Some(WireLine::Noise(format!(
                "a message of {length} bytes is longer than the {mib} MiB that are taken"
            )));
        }
        match String::from_utf8(line) {
            Ok(text) if text.trim().is_empty() => None,
            Ok(text) => Some(WireLine::Text(text)),
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                let text = format!("a line is not text: its byte {at} is not UTF-8");
                Some(WireLine::Noise(text))
            }
        }
    }
}

/// Returns the beginning of a line that is not a message, so that users recognize the program that
/// printed it.
pub(crate) fn excerpt(line: &str) -> String {
    let mut shown: String = line.chars().take(120).collect();
    if shown.len() < line.len() {
        shown.push('…');
    }
    shown
}

/// Starts a task that writes lines in the order in which they are sent. It closes the channel when
/// the other side is gone, and ends when all is written and all senders are dropped.
pub(crate) fn writer(
    mut to: impl AsyncWrite + Unpin + Send + 'static,
) -> (mpsc::Sender<Vec<u8>>, JoinHandle<()>) {
    let (sender, mut waiting) = mpsc::channel::<Vec<u8>>(WAITING);
    let task = tokio::spawn(async move {
        while let Some(mut line) = waiting.recv().await {
            line.push(b'\n');
            if to.write_all(&line).await.is_err() || to.flush().await.is_err() {
                return;
            }
        }
        // The other side reads the end of its input and exits.
        to.shutdown().await.ok();
    });
    (sender, task)
}

#[cfg(test)]
mod tests;
