//! Keeps the preview and an editor of its document in step, row by row of the source.
//!
//! Invariant: the side that the user scrolls leads; the event of the other side's answer is recognised by its position
//! and ignored.

use std::ops::Range;

use display::DisplayRow;
use editor::{Editor, EditorEvent};
use gpui_kit::{Context, Entity, ListOffset, Pixels, Window, px};

use super::MarkdownPreview;
use crate::actions::{Cancel, Down, End, PageDown, PageUp, Reload, Start, ToggleScrollInStep, Up};
use crate::event::PreviewEvent;

/// Distance by which a key scrolls, in pixels.
const KEY_STEP: f32 = 40.0;
/// Line heights by which two positions of an editor may differ and be the same.
const SAME: f64 = 0.05;

impl MarkdownPreview {
    /// Scrolls in step with an editor of the document from now on; `None` scrolls alone.
    pub fn follow(&mut self, editor: Option<&Entity<Editor>>, cx: &mut Context<Self>) {
        let is_known =
            self.editor.as_ref().map(|it| it.entity_id()) == editor.map(|it| it.entity_id());
        if is_known {
            return;
        }
        self.editor = editor.map(Entity::downgrade);
        self._editor_events = editor.map(|editor| {
            cx.subscribe(editor, |this, editor, event: &EditorEvent, cx| {
                if *event == EditorEvent::Scrolled {
                    this.editor_scrolled(&editor, cx);
                }
            })
        });
    }

    /// Returns the row of the source at the top.
    pub fn top_row(&self) -> f64 {
        let Some(document) = self.content.ready() else {
            return self.awaited_row.unwrap_or_default();
        };
        let top = self.list.logical_scroll_top();
        let height = self.height_of(top.item_ix);
        let part = height.map_or(0.0, |height| top.offset_in_item / height);
        document.row_of_position(top.item_ix, part)
    }

    /// Returns the height of a block that is laid out.
    fn height_of(&self, ix: usize) -> Option<Pixels> {
        let bounds = self.list.bounds_for_item(ix)?;
        (bounds.size.height > px(0.0)).then_some(bounds.size.height)
    }

    /// Scrolls to a row of the source.
    pub(super) fn show_row(&mut self, row: f64, cx: &mut Context<Self>) {
        let Some(document) = self.content.ready() else {
            self.awaited_row = Some(row);
            return;
        };
        let (item_ix, part) = document.position_of_row(row);
        let height = self.height_of(item_ix);
        // The height of a block that was not laid out yet is known after the next frame.
        self.unsettled_row = height.is_none().then_some(row);
        self.list.scroll_to(ListOffset {
            item_ix,
            offset_in_item: height.unwrap_or_default() * part,
        });
        cx.notify();
    }

    /// Scrolls within the block at the top, once its height is known.
    pub(super) fn settle_row(&mut self, cx: &mut Context<Self>) {
        let Some(row) = self.unsettled_row.take() else {
            return;
        };
        self.show_row(row, cx);
        // A block that has no height after a frame is not drawn at all.
        self.unsettled_row = None;
    }

    /// Follows the editor after the user scrolled it.
    fn editor_scrolled(&mut self, editor: &Entity<Editor>, cx: &mut Context<Self>) {
        if !self.is_in_step {
            return;
        }
        let top = editor.update(cx, |editor, cx| editor.scroll_top(cx));
        if self
            .expected_top
            .take()
            .is_some_and(|expected| (expected - top).abs() < SAME)
        {
            return;
        }
        let row = editor.update(cx, |editor, cx| row_at_top(editor, top, cx));
        self.show_row(row, cx);
    }

    /// Scrolls the editor after the user scrolled the preview.
    pub(super) fn list_scrolled(&mut self, cx: &mut Context<Self>) {
        cx.notify();
        let editor = self.editor.as_ref().and_then(|editor| editor.upgrade());
        let Some(editor) = editor.filter(|_| self.is_in_step) else {
            return;
        };
        let row = self.top_row();
        self.expected_top = editor.update(cx, |editor, cx| {
            let before = editor.scroll_top(cx);
            let top = top_of_row(editor, row, cx);
            editor.set_scroll_top(top, cx);
            let after = editor.scroll_top(cx);
            // An editor that did not move emits nothing.
            ((after - before).abs() > 0.0).then_some(after)
        });
    }

    fn scroll_by(&mut self, distance: Pixels, cx: &mut Context<Self>) {
        self.list.scroll_by(distance);
        self.list_scrolled(cx);
    }

    fn page(&self) -> Pixels {
        let height = self.list.viewport_bounds().size.height;
        let most = px(super::OVERDRAW - KEY_STEP);
        (height - px(KEY_STEP)).clamp(px(KEY_STEP), most)
    }

    pub(super) fn up(&mut self, _: &Up, _: &mut Window, cx: &mut Context<Self>) {
        self.scroll_by(px(-KEY_STEP), cx);
    }

    pub(super) fn down(&mut self, _: &Down, _: &mut Window, cx: &mut Context<Self>) {
        self.scroll_by(px(KEY_STEP), cx);
    }

    pub(super) fn page_up(&mut self, _: &PageUp, _: &mut Window, cx: &mut Context<Self>) {
        self.scroll_by(-self.page(), cx);
    }

    pub(super) fn page_down(&mut self, _: &PageDown, _: &mut Window, cx: &mut Context<Self>) {
        self.scroll_by(self.page(), cx);
    }

    pub(super) fn start(&mut self, _: &Start, _: &mut Window, cx: &mut Context<Self>) {
        self.list.scroll_to(ListOffset::default());
        self.list_scrolled(cx);
    }

    pub(super) fn end(&mut self, _: &End, _: &mut Window, cx: &mut Context<Self>) {
        self.list.scroll_to_end();
        self.list_scrolled(cx);
    }

    pub(super) fn toggle_step(
        &mut self,
        _: &ToggleScrollInStep,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.is_in_step = !self.is_in_step;
        self.list_scrolled(cx);
        cx.emit(PreviewEvent::StatusChanged);
    }

    pub(super) fn reload(&mut self, _: &Reload, window: &mut Window, cx: &mut Context<Self>) {
        self.pictures.forget(Some(window), cx);
        self.parse(cx);
    }

    pub(super) fn cancel(&mut self, _: &Cancel, _: &mut Window, cx: &mut Context<Self>) {
        cx.emit(PreviewEvent::Cancelled);
    }
}

/// Returns the row of the text at a position of an editor, with the part of it that is above. Wrapped rows count as one.
fn row_at_top(editor: &mut Editor, top: f64, cx: &mut Context<Editor>) -> f64 {
    let display = editor.display(cx);
    let (row, _) = display.buffer_row(display.row_at_y(top));
    let rows = display.rows_of(row);
    let part = (top - display.y_of(rows.start)) / height(&rows);
    f64::from(row.0) + part.clamp(0.0, 1.0)
}

/// Returns the position of an editor that has a row of the text at its top.
fn top_of_row(editor: &mut Editor, row: f64, cx: &mut Context<Editor>) -> f64 {
    let display = editor.display(cx);
    let whole = base::Row(row.max(0.0).floor() as u32).min(display.buffer().last_row());
    let rows = display.rows_of(whole);
    display.y_of(rows.start) + height(&rows) * row.max(0.0).fract()
}

/// Returns the number of rows on the screen, at least one.
fn height(rows: &Range<DisplayRow>) -> f64 {
    f64::from(rows.end.0.saturating_sub(rows.start.0).max(1))
}
