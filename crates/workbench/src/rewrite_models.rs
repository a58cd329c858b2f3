//! Interface between the window and the language models for inline edits; implemented by the app.

use futures::stream::BoxStream;
use rewrite::{RewriteEvent, RewriteQuery};

/// Access to models that rewrite lines as the user asks.
pub trait RewriteModels: Send + Sync {
    /// Sends a request. Dropping the stream cancels it.
    fn rewrite(&self, query: RewriteQuery) -> BoxStream<'static, RewriteEvent>;
}
