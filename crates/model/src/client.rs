//! The interface to language models.

use futures::stream::BoxStream;

use crate::{Fim, ModelRequest, StreamEvent};

/// Sends requests to one provider, or to many behind a router.
///
/// A provider's client never retries: the router, or the owner of the stream, decides how to handle
/// a failure. Dropping the stream cancels the request and closes its socket.
pub trait ModelClient: Send + Sync {
    /// Starts a chat request. The stream ends with `Stop` or `Failed`. If the request could not be
    /// sent, the stream ends with `Failed`, too.
    fn send(&self, request: ModelRequest) -> BoxStream<'static, StreamEvent>;

    /// Starts a fill-in-the-middle request. The answer arrives as `TextDelta` events, and the
    /// stream ends like the stream of `send`.
    fn complete(&self, request: Fim) -> BoxStream<'static, StreamEvent>;

    /// Like `send`, with the number of this attempt. The default ignores it.
    fn send_attempt(&self, request: ModelRequest, _: Attempt) -> BoxStream<'static, StreamEvent> {
        self.send(request)
    }

    /// Like `complete`, with the number of this attempt.
    fn complete_attempt(&self, request: Fim, _: Attempt) -> BoxStream<'static, StreamEvent> {
        self.complete(request)
    }
}

/// Identifies a request and its attempt, so that servers can deduplicate retries. The router
/// creates it, and providers send it in headers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attempt {
    /// Equal for every attempt of one request; not sent if empty.
    pub idempotency_key: String,
    /// Number of previous attempts.
    pub retries: u32,
}
