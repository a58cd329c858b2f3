//! A view whose rows are excerpts of other texts.

use std::ops::Range;

use base::Row;
use gpui_kit::{App, AppContext as _, Context, Entity, Window};

use super::{Editor, EditorEvent};
use crate::element::{RowHighlights, highlights_of_rows};
use crate::excerpts::{Excerpts, ExcerptsEvent};

impl Editor {
    /// Creates a view of excerpts.
    pub fn of_excerpts(
        excerpts: Entity<Excerpts>,
        window: &mut Window,
        cx: &mut App,
    ) -> Entity<Self> {
        cx.new(|cx| {
            let shown = excerpts.read(cx).combined().clone();
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

    /// Returns the source of the rows, if they are excerpts of other texts.
    pub fn excerpts(&self) -> Option<&Entity<Excerpts>> {
        self.excerpts.as_ref()
    }

    /// Returns the largest line number that the gutter may show.
    pub(crate) fn most_rows(&self, cx: &App) -> u32 {
        let rows = self.excerpts.as_ref().map(|excerpts| {
            let sources = excerpts.read(cx).sources().iter();
            let rows = sources.map(|source| source.read(cx).snapshot().row_count());
            rows.max().unwrap_or(1)
        });
        rows.unwrap_or_else(|| self.snapshot.row_count())
    }

    /// Computes the highlights of rows synchronously; `None` without any syntax.
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
