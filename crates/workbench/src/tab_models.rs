//! Interface between the window and the language models for Tab; implemented by the app.

use autocomplete::ChangeCause;
use autocomplete::engine::{CompletionRequest, TabModel};
use base::AbsPath;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use model::StreamEvent;
use text::{Change, Snapshot};

use crate::error::Error;

/// Access to models for completions and edit predictions.
pub trait TabModels: Send + Sync {
    /// Chooses the model for `wanted`, which is `auto`, `off` or a model's name; `None` if none is
    /// available. Fails with `Error::ModelUnavailable`.
    fn choose(&self, wanted: String) -> BoxFuture<'static, Result<Option<TabModel>, Error>>;
    /// Sends a request. Dropping the stream closes the socket.
    fn ask(&self, what: CompletionRequest) -> BoxStream<'static, StreamEvent>;
    /// Records a measurement, with a JSON object of tags. Never blocks.
    fn record_metric(&self, name: &'static str, value: f64, tags: String);
    /// Records what happens to an open text, so that it is known what of a suggestion is kept. Never blocks. Does nothing
    /// by default.
    fn record_text(&self, _path: AbsPath, _news: TextNews) {}
}

/// News of an open text.
#[derive(Clone, Debug)]
pub enum TextNews {
    /// It was opened with this text.
    Opened(Snapshot),
    /// It was edited.
    Edited {
        /// The change.
        change: Change,
        /// The text after the change.
        after: Snapshot,
        /// The cause of the change.
        cause: ChangeCause,
    },
    /// It was closed.
    Closed,
}
