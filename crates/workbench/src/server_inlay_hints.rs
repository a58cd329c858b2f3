//! Inlay hints of language servers for the visible rows.

use base::Span;
use editor::{DocumentModel, InlayHintSource};
use futures::future::join_all;
use gpui_kit::{App, AppContext as _, Task, WeakEntity};
use lsp::InlayHint;
use text::Snapshot;

use crate::folder::OpenFolder;

/// Asks the language servers of a text.
pub(crate) struct ServerInlayHints {
    model: WeakEntity<DocumentModel>,
}

impl ServerInlayHints {
    /// Creates the source for a text, whichever servers it has when it is asked.
    pub(crate) fn new(model: WeakEntity<DocumentModel>) -> Self {
        Self { model }
    }
}

impl InlayHintSource for ServerInlayHints {
    fn request(
        &self,
        snapshot: &Snapshot,
        span: Span,
        cx: &mut App,
    ) -> Task<Option<Vec<InlayHint>>> {
        let revision = snapshot.revision();
        let requests = OpenFolder::after_update(&self.model, revision, cx, move |servers, path| {
            let requests = servers
                .iter()
                .filter_map(|server| server.connection.inlay_hints(path, span));
            Some(requests.collect::<Vec<_>>())
        });
        cx.background_spawn(async move {
            let answers = join_all(requests.await?).await.into_iter();
            let answers: Vec<Vec<InlayHint>> = answers.filter_map(Result::ok).collect();
            if answers.is_empty() {
                return None;
            }
            let mut hints = answers.concat();
            hints.sort_by_key(|hint| hint.at);
            Some(hints)
        })
    }
}
