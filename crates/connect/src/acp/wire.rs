//! Byte streams as lines for the protocol's crate.

use std::io;

use futures::{Sink, Stream, sink, stream};
use serde::de::IgnoredAny;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::framing::{self, LineReader, NoiseCallback, WireLine, excerpt};

/// The treatment of lines that are not messages.
#[derive(Clone)]
pub(super) enum InvalidLines {
    /// They are passed to a callback, and not answered.
    Reported(NoiseCallback),
    /// The other side receives a parse error.
    Answered,
}

/// Returns the incoming half: one line per message.
pub(super) fn incoming<R: AsyncRead + Unpin + Send + 'static>(
    from: R,
    invalid: InvalidLines,
) -> impl Stream<Item = io::Result<String>> + Send + 'static {
    let state = (LineReader::new(from, framing::MAX_LINE_LEN), invalid);
    stream::unfold(state, |(mut lines, invalid)| async move {
        loop {
            let line = match lines.next().await {
                Ok(Some(line)) => line,
                Ok(None) => return None,
                Err(error) => return Some((Err(error), (lines, invalid))),
            };
            let text = match (line, &invalid) {
                (WireLine::Text(text), InvalidLines::Reported(noise)) if !is_message(&text) => {
                    noise(format!("it printed: {}", excerpt(&text)));
                    continue;
                }
                (WireLine::Text(text), _) => text,
                (WireLine::Noise(why), InvalidLines::Reported(noise)) => {
                    noise(why);
                    continue;
                }
                // This text is not JSON, so the protocol's crate responds with a parse error.
                (WireLine::Noise(why), InvalidLines::Answered) => why,
            };
            return Some((Ok(text), (lines, invalid)));
        }
    })
}

/// Returns the outgoing half, and the task that writes it, which ends when all is written and the
/// sink is dropped.
pub(super) fn outgoing(
    to: impl AsyncWrite + Unpin + Send + 'static,
) -> (
    impl Sink<String, Error = io::Error> + Send + 'static,
    JoinHandle<()>,
) {
    let (writer, task) = framing::writer(to);
    let send = |writer: mpsc::Sender<Vec<u8>>, line: String| async move {
        let gone = |_| io::Error::new(io::ErrorKind::BrokenPipe, "the other side is gone");
        writer.send(line.into_bytes()).await.map_err(gone)?;
        Ok(writer)
    };
    (sink::unfold(writer, send), task)
}

/// Returns whether a line is valid JSON that starts with `{`.
fn is_message(line: &str) -> bool {
    line.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(line).is_ok()
}
