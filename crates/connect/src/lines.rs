//! Messages of one line each, as both protocols send them over pipes.
//!
//! Invariant: a line longer than the limit costs no more memory than the limit, and the next one is read as usual.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// The longest message that is taken, in bytes. A picture of a screen has a few million.
pub(crate) const LONGEST: usize = 64 << 20;

/// How many messages may wait to be written. While it is full, whoever sends waits.
const WAITING: usize = 64;

/// One line of the other side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line that may be a message.
    Text(String),
    /// A line that cannot be one: why not, for a person.
    Noise(String),
}

/// Reads lines. Reading can be given up at any moment without losing anything.
pub(crate) struct Lines<R> {
    reader: BufReader<R>,
    longest: usize,
    /// What is there of the line so far; never longer than the limit.
    line: Vec<u8>,
    /// How long the line is so far, including what was not kept.
    length: usize,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(reader: R, longest: usize) -> Self {
        Self {
            reader: BufReader::new(reader),
            longest,
            line: Vec::new(),
            length: 0,
        }
    }

    /// The next line that is not empty; `None` at the end. A last line without its end was cut off, and is noise.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let chunk = self.reader.fill_buf().await?;
            if chunk.is_empty() {
                let left = self.take();
                return Ok(left.map(|_| Line::Noise("the last message is cut off".to_owned())));
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

    fn take(&mut self) -> Option<Line> {
        let line = std::mem::take(&mut self.line);
        let length = std::mem::take(&mut self.length);
        if length > self.longest {
            let mib = self.longest >> 20;
            return Some(Line::Noise(format!(
                "a message of {length} bytes is longer than the {mib} MiB that are taken"
            )));
        }
        match String::from_utf8(line) {
            Ok(text) if text.trim().is_empty() => None,
            Ok(text) => Some(Line::Text(text)),
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                let text = format!("a line is not text: its byte {at} is not UTF-8");
                Some(Line::Noise(text))
            }
        }
    }
}

/// What to say of a line that is no message: its beginning, so that people recognise what printed it.
pub(crate) fn excerpt(line: &str) -> String {
    let mut shown: String = line.chars().take(120).collect();
    if shown.len() < line.len() {
        shown.push('…');
    }
    shown
}

/// Writes lines in the order in which they are sent. When the other side is gone, the channel is closed.
/// The task ends when all is written and nobody can send any more.
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
        // The other side reads the end of its input: time to go.
        to.shutdown().await.ok();
    });
    (sender, task)
}

#[cfg(test)]
mod tests;
