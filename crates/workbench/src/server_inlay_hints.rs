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
        let (model, revision) = (self.model.clone(), snapshot.revision());
        // The servers receive the edit that led here when the present update ends.
        cx.spawn(async move |cx| {
            let request = cx.update(|cx| {
                let text = model.upgrade()?.read(cx).snapshot();
                let is_current = text.revision() == revision;
                is_current.then(|| request(&model, span, cx)).flatten()
            });
            request?.await
        })
    }
}

/// Asks the servers of a text; `None` if none offers hints. Dropping the task cancels the requests.
fn request(
    model: &WeakEntity<DocumentModel>,
    span: Span,
    cx: &App,
) -> Option<Task<Option<Vec<InlayHint>>>> {
    let (servers, path) = OpenFolder::servers_of(&model.upgrade()?, cx)?;
    let servers = servers.read(cx).servers_of(&path);
    let requests = servers
        .iter()
        .filter_map(|server| server.connection.inlay_hints(&path, span));
    let requests: Vec<_> = requests.collect();
    if requests.is_empty() {
        return None;
    }
    Some(cx.background_spawn(async move {
        let answers = join_all(requests).await.into_iter();
        let answers: Vec<Vec<InlayHint>> = answers.filter_map(Result::ok).collect();
        if answers.is_empty() {
            return None;
        }
        let mut hints = answers.concat();
        hints.sort_by_key(|hint| hint.at);
        Some(hints)
    }))
}
