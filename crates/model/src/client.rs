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
}
