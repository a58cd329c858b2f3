//! Pieces of syntax that language servers know around offsets, for expanding selections.

use base::{ByteOffset, Span};
use editor::{DocumentModel, Editor, SelectionRangeSource};
use gpui_kit::{AppContext as _, Context, Task, WeakEntity};
use text::Snapshot;

use crate::folder::OpenFolder;

/// Asks the language servers of a text.
pub(crate) struct ServerSelectionRanges {
    model: WeakEntity<DocumentModel>,
}

impl ServerSelectionRanges {
    /// Creates the source for a text, whichever servers it has when it is asked.
    pub(crate) fn new(model: WeakEntity<DocumentModel>) -> Self {
        Self { model }
    }
}

impl SelectionRangeSource for ServerSelectionRanges {
    fn ranges(
        &self,
        _: &Snapshot,
        offsets: Vec<ByteOffset>,
        cx: &mut Context<Editor>,
    ) -> Option<Task<Vec<Vec<Span>>>> {
        let (servers, path) = OpenFolder::servers_of(&self.model.upgrade()?, cx)?;
        let servers = servers.read(cx).servers_of(&path);
        let mut servers = servers.iter();
        // The primary server comes first, and ranges of several servers cannot be joined.
        let request =
            servers.find_map(|server| server.connection.selection_ranges(&path, &offsets))?;
        Some(cx.background_spawn(async move { request.await.unwrap_or_default() }))
    }
}
