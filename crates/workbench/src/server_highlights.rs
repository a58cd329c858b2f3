//! Document highlights of language servers for the symbol at the caret.

use base::ByteOffset;
use editor::{DocumentModel, Editor, HighlightSource};
use gpui_kit::{AppContext as _, Context, Task, WeakEntity};
use lsp::Highlight;
use text::Snapshot;

use crate::folder::OpenFolder;

/// Asks the language servers of a text.
pub(crate) struct ServerHighlights {
    model: WeakEntity<DocumentModel>,
}

impl ServerHighlights {
    /// Creates the source for a text, whichever servers it has when it is asked.
    pub(crate) fn new(model: WeakEntity<DocumentModel>) -> Self {
        Self { model }
    }
}

impl HighlightSource for ServerHighlights {
    fn highlights(
        &self,
        _: &Snapshot,
        at: ByteOffset,
        cx: &mut Context<Editor>,
    ) -> Task<Vec<Highlight>> {
        let model = self.model.upgrade();
        let Some((servers, path)) = model.and_then(|model| OpenFolder::servers_of(&model, cx))
        else {
            return Task::ready(Vec::new());
        };
        let servers = servers.read(cx).servers_of(&path);
        let requests = servers
            .iter()
            .filter_map(|server| server.connection.highlights(&path, at));
        let requests: Vec<_> = requests.collect();
        cx.background_spawn(async move {
            // The first server that knows the symbol counts: others name the same occurrences.
            for request in requests {
                if let Ok(highlights) = request.await
                    && !highlights.is_empty()
                {
                    return highlights;
                }
            }
            Vec::new()
        })
    }
}
