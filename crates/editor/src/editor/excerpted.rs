//! A view whose rows are excerpts of other texts.

use std::ops::Range;

use base::Row;
use gpui_kit::{App, AppContext as _, Context, Entity, Window};

use super::{Editor, EditorEvent};
use crate::element::{RowHighlights, highlights_of_rows};
use crate::excerpts::{Excerpts, ExcerptsEvent};

impl Editor {
    /// A view of excerpts.
    pub fn of_excerpts(
        excerpts: Entity<Excerpts>,
        window: &mut Window,
        cx: &mut App,
    ) -> Entity<Self> {
        cx.new(|cx| {
            let shown = excerpts.read(cx).shown().clone();
            let mut editor = Self::new(shown, window, cx);
            let heard = cx.subscribe(&excerpts, |editor: &mut Self, _, event, cx| match event {
                ExcerptsEvent::Refused(sentence) => {
                    cx.emit(EditorEvent::Refused(sentence.clone()));
                }
                ExcerptsEvent::SyntaxUpdated => editor.highlight_in_background(cx),
                ExcerptsEvent::StateChanged => cx.notify(),
            });
            editor._subscriptions.push(heard);
            editor.excerpts = Some(excerpts);
            editor
        })
    }

    /// Where the rows come from, when they are those of other texts.
    pub fn excerpts(&self) -> Option<&Entity<Excerpts>> {
        self.excerpts.as_ref()
    }

    /// The largest number that the gutter may have to show.
    pub(crate) fn most_rows(&self, cx: &App) -> u32 {
        let rows = self.excerpts.as_ref().map(|excerpts| {
            let sources = excerpts.read(cx).sources().iter();
            let rows = sources.map(|source| source.read(cx).snapshot().row_count());
            rows.max().unwrap_or(1)
        });
        rows.unwrap_or_else(|| self.snapshot.row_count())
    }

    /// Finds the colours of rows, now; `None` where nothing is known of any syntax.
    pub(crate) fn colours_now(
        &self,
        rows: Range<Row>,
        cx: &Context<Self>,
    ) -> Option<Vec<RowHighlights>> {
        if let Some(excerpts) = &self.excerpts {
            return Some(excerpts.read(cx).colours(rows, cx).of_rows());
        }
        let syntax = self.model.read(cx).syntax()?;
        Some(highlights_of_rows(syntax, &self.snapshot, rows))
    }
}
