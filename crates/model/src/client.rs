//! The one way to speak to a model.

use futures::stream::BoxStream;

use crate::{Event, Fim, Request};

/// Sends requests to one provider, or to many behind a router.
///
/// A provider's client never retries: the router, or whoever holds the stream, decides what a failure means.
/// Dropping the stream cancels the request and closes its socket.
pub trait Client: Send + Sync {
    /// Starts a chat request. Failures, too, arrive as the stream's last event.
    fn send(&self, request: Request) -> BoxStream<'static, Event>;

    /// Starts a fill-in-the-middle request; the answer is text alone.
    fn complete(&self, request: Fim) -> BoxStream<'static, Event>;

    /// As `send`, and says which try it is. A client that has nobody to tell it to leaves this as it is.
    fn send_attempt(&self, request: Request, _: Attempt) -> BoxStream<'static, Event> {
        self.send(request)
    }

    /// As `complete`, and says which try it is.
    fn complete_attempt(&self, request: Fim, _: Attempt) -> BoxStream<'static, Event> {
        self.complete(request)
    }
}

/// Which try of which request this is, for servers that would not do the same thing twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attempt {
    /// The same for every try of one request; nothing is said if it is empty.
    pub idempotency_key: String,
    /// How many tries came before.
    pub retries: u32,
}
