//! A view whose rows are excerpts of other texts.

use std::ops::Range;

use base::Row;
use gpui_kit::{App, AppContext as _, Context, Entity, Window};

use super::{Editor, EditorEvent, highlighting};
use crate::excerpts::{Excerpts, ExcerptsEvent};
use crate::frame::RowHighlights;

impl Editor {
    /// Creates a view of excerpts of other texts; edits go to their sources.
    pub fn of_excerpts(
        excerpts: Entity<Excerpts>,
        window: &mut Window,
        cx: &mut App,
    ) -> Entity<Self> {
        cx.new(|cx| {
            let shown = excerpts.read(cx).combined().clone();
            let mut editor = Self::new(shown, window, cx);
            let subscription =
                cx.subscribe(&excerpts, |editor: &mut Self, _, event, cx| match event {
                    ExcerptsEvent::Refused(sentence) => {
                        cx.emit(EditorEvent::Refused(sentence.clone()));
                    }
                    ExcerptsEvent::SyntaxUpdated => editor.highlight_in_background(cx),
                    ExcerptsEvent::StateChanged => cx.notify(),
                });
            editor._subscriptions.push(subscription);
            editor.excerpts = Some(excerpts);
            editor
        })
    }

    /// Returns the excerpts that the view shows. Returns `None` if the view shows a single text.
    pub fn excerpts(&self) -> Option<&Entity<Excerpts>> {
        self.excerpts.as_ref()
    }
}

/// Returns the largest line number that the gutter may show, which determines the width of the
/// gutter.
pub(crate) fn most_rows(editor: &Editor, cx: &App) -> u32 {
    let rows = editor.excerpts.as_ref().map(|excerpts| {
        let sources = excerpts.read(cx).sources().iter();
        let rows = sources.map(|source| source.read(cx).snapshot().row_count());
        rows.max().unwrap_or(1)
    });
    rows.unwrap_or_else(|| editor.snapshot.row_count())
}

/// Computes the highlights of rows on this thread, so that the rows are not first painted without
/// them. Returns `None` if the text has neither a tree nor tokens.
pub(crate) fn colours_now(
    editor: &Editor,
    rows: Range<Row>,
    cx: &Context<Editor>,
) -> Option<Vec<RowHighlights>> {
    if let Some(excerpts) = &editor.excerpts {
        return Some(excerpts.read(cx).colours(rows, cx).of_rows());
    }
    let colours = highlighting::text_colours(editor, cx)?;
    Some(colours.of_rows(&editor.snapshot, rows))
}
