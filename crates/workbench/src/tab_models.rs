//! What the window asks of language models for Tab; wired by the app.

use autocomplete::engine::{Ask, TabModel};
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use model::Event;

/// The way to models that complete and predict edits.
pub trait TabModels: Send + Sync {
    /// The model to ask, where `wanted` is `auto`, `off` or a model's name; none where there is none to be had. What is
    /// wrong is told in a sentence.
    fn choose(&self, wanted: String) -> BoxFuture<'static, Result<Option<TabModel>, String>>;
    /// Asks. Dropping the stream closes the socket.
    fn ask(&self, what: Ask) -> BoxStream<'static, Event>;
    /// Writes a measurement down, with a JSON object that says of what. Never waits.
    fn note(&self, name: &'static str, value: f64, tags: String);
}
