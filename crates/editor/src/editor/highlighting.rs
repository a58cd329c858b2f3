//! Highlights of the visible rows: computed in the background, except for rows that have none yet.

use gpui_kit::{AppContext as _, Context};

use super::Editor;
use crate::frame::highlights_of_rows;

impl Editor {
    /// Recomputes the highlights of the visible rows in the background and requests a frame. Until
    /// the new highlights arrive, frames show the old ones. Drops results for another revision.
    pub(crate) fn highlight_in_background(&mut self, cx: &mut Context<Self>) {
        let rows = self.rows.range();
        if rows.is_empty() {
            return;
        }
        let revision = self.snapshot.revision();
        let wanted = rows.clone();
        let found = if let Some(excerpts) = &self.excerpts {
            let colours = excerpts.read(cx).colours(wanted, cx);
            cx.background_spawn(async move { colours.of_rows() })
        } else {
            let Some(syntax) = self.model.read(cx).syntax().cloned() else {
                return;
            };
            let snapshot = self.snapshot.clone();
            cx.background_spawn(async move { highlights_of_rows(&syntax, &snapshot, wanted) })
        };
        self.highlight_task = Some(cx.spawn(async move |this, cx| {
            let found = found.await;
            this.update(cx, |editor, cx| {
                // A later edit has started a new computation.
                if editor.snapshot.revision() == revision
                    && editor.rows.take_highlights(rows.start, found)
                {
                    cx.notify();
                }
            })
            .ok();
        }));
    }
}
