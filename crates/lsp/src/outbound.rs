//! The queue of messages to a server, and the thread that writes them.
//!
//! Invariant: sending never blocks. A server that does not read its input fills the queue, which ends
//! the connection.
//! Invariant: once the queue is closed, the thread writes the rest and closes the pipe.

use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

use crate::error::EndReason;
use crate::framing::frame;
use crate::log::{MessageDirection, MessageLog};

/// Maximum number of messages in the queue.
const MAX_MESSAGES: usize = 16 << 10;
/// Maximum length of all messages in the queue, in bytes.
const MAX_BYTES: usize = 128 << 20;

/// The sending end of the queue.
pub(crate) struct Outbound {
    /// `None` once the queue is closed.
    sender: Mutex<Option<SyncSender<String>>>,
    /// Length of the messages in the queue, in bytes.
    bytes: Arc<AtomicUsize>,
    messages: Arc<AtomicUsize>,
    /// The first failure of sending or writing.
    failure: Arc<OnceLock<EndReason>>,
}

impl Outbound {
    /// Starts the thread that writes to `input`.
    pub(crate) fn start(
        input: impl Write + Send + 'static,
        log: Option<Arc<dyn MessageLog>>,
    ) -> io::Result<Self> {
        let (sender, receiver) = sync_channel(MAX_MESSAGES);
        let outbound = Self {
            sender: Mutex::new(Some(sender)),
            bytes: Arc::default(),
            messages: Arc::default(),
            failure: Arc::default(),
        };
        let writer = QueueWriter {
            receiver,
            bytes: outbound.bytes.clone(),
            messages: outbound.messages.clone(),
            failure: outbound.failure.clone(),
            log,
        };
        thread::Builder::new()
            .name("lsp-write".to_owned())
            .spawn(move || writer.run(input))?;
        Ok(outbound)
    }

    /// Appends a message; drops it if the queue is closed. A full queue is closed.
    pub(crate) fn send(&self, message: String) {
        let mut sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(open) = sender.as_ref() else {
            return;
        };
        let length = message.len();
        let bytes = self.bytes.fetch_add(length, Ordering::Relaxed) + length;
        let messages = self.messages.fetch_add(1, Ordering::Relaxed) + 1;
        // A single message may exceed the bound, such as the text of a large file.
        let result = if bytes > MAX_BYTES && messages > 1 {
            Err(TrySendError::Full(message))
        } else {
            open.try_send(message)
        };
        match result {
            Ok(()) => return,
            Err(TrySendError::Full(_)) => {
                self.failure
                    .get_or_init(|| EndReason::QueueFull { messages, bytes });
            }
            // The thread has noted why it ended.
            Err(TrySendError::Disconnected(_)) => {}
        }
        *sender = None;
    }

    /// Closes the queue: the thread writes what it contains, then closes the pipe.
    pub(crate) fn close(&self) {
        *self.sender.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Returns why messages no longer reach the server; `None` while they do, and after `close`.
    pub(crate) fn failure(&self) -> Option<&EndReason> {
        self.failure.get()
    }
}

/// The receiving end of the queue.
struct QueueWriter {
    receiver: Receiver<String>,
    bytes: Arc<AtomicUsize>,
    messages: Arc<AtomicUsize>,
    failure: Arc<OnceLock<EndReason>>,
    log: Option<Arc<dyn MessageLog>>,
}

impl QueueWriter {
    fn run(self, mut input: impl Write) {
        for message in &self.receiver {
            self.bytes.fetch_sub(message.len(), Ordering::Relaxed);
            self.messages.fetch_sub(1, Ordering::Relaxed);
            if let Some(log) = &self.log {
                log.message(MessageDirection::ToServer, message.as_bytes());
            }
            let written = input
                .write_all(&frame(&message))
                .and_then(|()| input.flush());
            if let Err(error) = written {
                self.failure
                    .get_or_init(|| EndReason::InputFailed(error.kind()));
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests;
