//! Folds of language servers.

use base::Revision;
use editor::{DocumentModel, Editor, FoldingSource};
use gpui_kit::{App, AppContext as _, Context, Task, WeakEntity};
use lsp::{FoldingRange, Request};
use text::Snapshot;

use crate::folder::OpenFolder;

/// Asks the language servers of a text.
pub(crate) struct ServerFolds {
    model: WeakEntity<DocumentModel>,
}

impl ServerFolds {
    /// Creates the source for a text, whichever servers it has when it is asked.
    pub(crate) fn new(model: WeakEntity<DocumentModel>) -> Self {
        Self { model }
    }
}

impl FoldingSource for ServerFolds {
    fn folds(
        &self,
        snapshot: &Snapshot,
        cx: &mut Context<Editor>,
    ) -> Task<Option<Vec<FoldingRange>>> {
        let (model, revision) = (self.model.clone(), snapshot.revision());
        // The servers receive the latest edit when the present update ends.
        cx.spawn(async move |_, cx| {
            let request = cx.update(|cx| request(&model, revision, cx))?;
            let answer = cx.background_spawn(async move { request.await.ok() });
            answer.await
        })
    }
}

/// Asks the first server of a text that knows folds; `None` without one, and if the text has changed
/// since `revision`.
fn request(
    model: &WeakEntity<DocumentModel>,
    revision: Revision,
    cx: &App,
) -> Option<Request<Vec<FoldingRange>>> {
    let model = model.upgrade()?;
    let (servers, path) = OpenFolder::servers_of(&model, cx)?;
    if model.read(cx).snapshot().revision() != revision {
        return None;
    }
    let servers = servers.read(cx).servers_of(&path);
    let mut servers = servers.iter();
    servers.find_map(|server| server.connection.folding_ranges(&path))
}
