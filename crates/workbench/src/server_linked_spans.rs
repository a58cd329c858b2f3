//! Linked spans of language servers, such as the names of an opening and a closing tag.

use base::{ByteOffset, Span};
use editor::{DocumentModel, Editor, LinkedSpanSource};
use gpui_kit::{AppContext as _, Context, Task, WeakEntity};
use text::Snapshot;

use crate::folder::OpenFolder;

/// Asks the language servers of a text.
pub(crate) struct ServerLinkedSpans {
    model: WeakEntity<DocumentModel>,
}

impl ServerLinkedSpans {
    /// Creates the source for a text, whichever servers it has when it is asked.
    pub(crate) fn new(model: WeakEntity<DocumentModel>) -> Self {
        Self { model }
    }
}

impl LinkedSpanSource for ServerLinkedSpans {
    fn linked_spans(
        &self,
        _: &Snapshot,
        at: ByteOffset,
        cx: &mut Context<Editor>,
    ) -> Task<Vec<Span>> {
        let model = self.model.upgrade();
        let Some((servers, path)) = model.and_then(|model| OpenFolder::servers_of(&model, cx))
        else {
            return Task::ready(Vec::new());
        };
        let servers = servers.read(cx).servers_of(&path);
        // The primary server comes first, and spans of several servers cannot be joined.
        let mut requests = servers
            .iter()
            .filter_map(|server| server.connection.linked_spans(&path, at));
        let Some(request) = requests.next() else {
            return Task::ready(Vec::new());
        };
        cx.background_spawn(async move { request.await.unwrap_or_default() })
    }
}
