//! Messages of one line each, as both protocols send them over pipes.
//!
//! Invariant: a line longer than the limit costs no more memory than the limit, and the next one is
//! read as usual.

use std::io;
use std::sync::Arc;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Receives reports of lines that are not messages.
pub(crate) type NoiseCallback = Arc<dyn Fn(String) + Send + Sync>;

/// Maximum length of a message, in bytes. A screenshot takes a few million.
pub(crate) const MAX_LINE_LEN: usize = 64 << 20;

/// Capacity of the write queue. When it is full, senders wait.
const QUEUE_CAPACITY: usize = 64;

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
    max_len: usize,
    /// The current line so far; never longer than the limit.
    line: Vec<u8>,
    /// The length of the current line so far, including the part that was dropped.
    length: usize,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// Creates a reader of lines. A line longer than `max_len` bytes becomes `WireLine::Noise`.
    pub(crate) fn new(reader: R, max_len: usize) -> Self {
        Self {
            reader: BufReader::new(reader),
            max_len,
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
                let rest = self.take();
                return Ok(rest.map(|_| WireLine::Noise("the last message is cut off".to_owned())));
            }
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let part = &chunk[..end.unwrap_or(chunk.len())];
            let free = self.max_len.saturating_sub(self.line.len());
            self.line.extend_from_slice(&part[..part.len().min(free)]);
            self.length += part.len();
            let used = part.len() + usize::from(end.is_some());
            self.reader.consume(used);
            if end.is_some()
                && let Some(line) = self.take()
            {
                return Ok(Some(line));
            }
        }
    }

    /// Takes the line read so far, without its line feed; `None` if it is blank. A line that is too
    /// long or not UTF-8 becomes noise.
    fn take(&mut self) -> Option<WireLine> {
        let line = std::mem::take(&mut self.line);
        let length = std::mem::take(&mut self.length);
        if length > self.max_len {
            let mib = self.max_len >> 20;
            return Some(WireLine::Noise(format!(
                "a message of {length} bytes exceeds the limit of {mib} MiB"
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

/// Returns the first 120 characters of a line that is not a message, so that users recognize the
/// program that printed it.
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
    let (sender, mut waiting) = mpsc::channel::<Vec<u8>>(QUEUE_CAPACITY);
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
