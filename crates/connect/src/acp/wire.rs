//! Lines of bytes as the protocol's crate takes them.

use std::io;
use std::sync::Arc;

use futures::{Sink, Stream, sink, stream};
use serde::de::IgnoredAny;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::lines::{self, Line, Lines, excerpt};

/// Hears of lines that are no messages.
pub(super) type Noise = Arc<dyn Fn(String) + Send + Sync>;

/// What becomes of lines that are no messages.
#[derive(Clone)]
pub(super) enum Strange {
    /// Somebody hears of them; the other side does not.
    Told(Noise),
    /// The other side is answered that it makes no sense.
    Answered,
}

/// The incoming half: a line per message.
pub(super) fn incoming<R: AsyncRead + Unpin + Send + 'static>(
    from: R,
    strange: Strange,
) -> impl Stream<Item = io::Result<String>> + Send + 'static {
    let state = (Lines::new(from, lines::LONGEST), strange);
    stream::unfold(state, |(mut lines, strange)| async move {
        loop {
            let line = match lines.next().await {
                Ok(Some(line)) => line,
                Ok(None) => return None,
                Err(error) => return Some((Err(error), (lines, strange))),
            };
            let text = match (line, &strange) {
                (Line::Text(text), Strange::Told(noise)) if !is_message(&text) => {
                    noise(format!("it printed: {}", excerpt(&text)));
                    continue;
                }
                (Line::Text(text), _) => text,
                (Line::Noise(why), Strange::Told(noise)) => {
                    noise(why);
                    continue;
                }
                // No JSON, so that it is answered as such.
                (Line::Noise(why), Strange::Answered) => why,
            };
            return Some((Ok(text), (lines, strange)));
        }
    })
}

/// The outgoing half, and the task that writes it: it ends when all is written and the sink is gone.
pub(super) fn outgoing(
    to: impl AsyncWrite + Unpin + Send + 'static,
) -> (
    impl Sink<String, Error = io::Error> + Send + 'static,
    JoinHandle<()>,
) {
    let (writer, task) = lines::writer(to);
    let send = |writer: mpsc::Sender<Vec<u8>>, line: String| async move {
        let gone = |_| io::Error::new(io::ErrorKind::BrokenPipe, "the other side is gone");
        writer.send(line.into_bytes()).await.map_err(gone)?;
        Ok(writer)
    };
    (sink::unfold(writer, send), task)
}

fn is_message(line: &str) -> bool {
    line.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(line).is_ok()
}
