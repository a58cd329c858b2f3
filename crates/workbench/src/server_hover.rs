//! Hover texts of language servers for the hover card.

use base::ByteOffset;
use editor::{DocumentModel, Editor, HoverSource, HoverText};
use futures::future::join_all;
use gpui_kit::{AppContext as _, Context, Task, WeakEntity};
use text::Snapshot;

use crate::folder::OpenFolder;

/// Asks the language servers of a text.
pub(crate) struct ServerHover {
    model: WeakEntity<DocumentModel>,
}

impl ServerHover {
    /// Creates the source for a text, whichever servers it has when it is asked.
    pub(crate) fn new(model: WeakEntity<DocumentModel>) -> Self {
        Self { model }
    }
}

impl HoverSource for ServerHover {
    fn hover(
        &self,
        _: &Snapshot,
        at: ByteOffset,
        cx: &mut Context<Editor>,
    ) -> Task<Vec<HoverText>> {
        let model = self.model.upgrade();
        let Some((servers, path)) = model.and_then(|model| OpenFolder::servers_of(&model, cx))
        else {
            return Task::ready(Vec::new());
        };
        let servers = servers.read(cx).servers_of(&path);
        let requests = servers
            .iter()
            .filter_map(|server| server.connection.hover(&path, at));
        let requests: Vec<_> = requests.collect();
        cx.background_spawn(async move {
            let answers = join_all(requests).await;
            // A server that cannot answer now has nothing to show.
            let hovers = answers.into_iter().filter_map(|answer| answer.ok()?);
            hovers
                .map(|hover| HoverText {
                    text: hover.text.value,
                    is_markdown: hover.text.is_markdown,
                    span: hover.span,
                })
                .collect()
        })
    }
}
