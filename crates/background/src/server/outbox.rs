//! The messages that wait to be sent to a client.
//!
//! Invariant: sending never waits, so that a slow client slows no session. A client that takes no
//! messages is disconnected; it catches up when it connects again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Serialize;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Notify, mpsc};

use crate::Error;
use crate::connection::encode;
use crate::protocol::{ServerMessage, ServiceFailure, StreamItem};

/// Maximum size of the waiting messages in bytes.
const MAX_WAITING_BYTES: usize = 512 << 20;

/// Sends messages to a client. Clones share the connection.
#[derive(Clone)]
pub(super) struct Outbox {
    messages: mpsc::UnboundedSender<Vec<u8>>,
    waiting: Arc<AtomicUsize>,
    /// Notified when too much waits.
    overflow: Arc<Notify>,
}

/// The messages of an outbox, to be written.
pub(super) struct OutboxReader {
    messages: mpsc::UnboundedReceiver<Vec<u8>>,
    waiting: Arc<AtomicUsize>,
    overflow: Arc<Notify>,
}

/// Creates an outbox.
pub(super) fn outbox() -> (Outbox, OutboxReader) {
    // Unbounded in number; the size is limited.
    let (sender, messages) = mpsc::unbounded_channel();
    let waiting: Arc<AtomicUsize> = Arc::default();
    let overflow = Arc::new(Notify::new());
    let outbox = Outbox {
        messages: sender,
        waiting: waiting.clone(),
        overflow: overflow.clone(),
    };
    let reader = OutboxReader {
        messages,
        waiting,
        overflow,
    };
    (outbox, reader)
}

impl Outbox {
    /// Sends an item of a stream.
    pub(super) fn item(&self, id: u64, item: StreamItem) {
        self.send(&ServerMessage::Item { id, item });
    }

    /// Sends the result of a request.
    pub(super) fn result<T: Serialize>(&self, id: u64, result: Result<T, agent_service::Error>) {
        let result = result.map_err(ServiceFailure::from).and_then(|value| {
            let value = serde_json::to_value(value);
            value.map_err(|error| ServiceFailure::Failed(error.to_string()))
        });
        self.send(&ServerMessage::Result { id, result });
    }

    /// Sends a message. A client that is gone gets nothing.
    pub(super) fn send(&self, message: &ServerMessage) {
        let bytes = match encode(message) {
            Ok(bytes) => bytes,
            Err(error) => return log::warn!("a message was not sent: {error}"),
        };
        let waiting = self.waiting.fetch_add(bytes.len(), Ordering::Relaxed);
        if waiting > MAX_WAITING_BYTES {
            self.overflow.notify_one();
        }
        self.messages.send(bytes).ok();
    }
}

impl OutboxReader {
    /// Writes the messages until all outboxes are dropped. Fails if the client is gone or takes no
    /// messages.
    pub(super) async fn write_to(
        mut self,
        to: &mut (impl AsyncWrite + Unpin),
    ) -> Result<(), Error> {
        loop {
            let message = tokio::select! {
                message = self.messages.recv() => message,
                () = self.overflow.notified() => None,
            };
            let Some(message) = message else {
                return Ok(());
            };
            tokio::select! {
                written = to.write_all(&message) => written?,
                () = self.overflow.notified() => return Ok(()),
            }
            self.waiting.fetch_sub(message.len(), Ordering::Relaxed);
        }
    }
}
