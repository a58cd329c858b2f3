//! The hook for a log of all messages.

/// The direction of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageDirection {
    /// From this client to the server.
    ToServer,
    /// From the server to this client.
    FromServer,
}

/// A receiver of every message, called on the threads that read and write them.
pub trait MessageLog: Send + Sync {
    /// Receives the body of a message, usually JSON. The reader and the writer thread wait for it.
    fn message(&self, direction: MessageDirection, body: &[u8]);
}
