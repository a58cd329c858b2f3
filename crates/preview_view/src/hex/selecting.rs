//! The caret and the selection among the bytes.

use gpui_kit::{Context, MouseDownEvent, MouseMoveEvent, Pixels, Point, Window, px};
use preview::BYTES_PER_ROW;

use super::HexPreview;
use crate::actions::{
    Cancel, Down, End, Left, PageDown, PageUp, Reload, Right, SelectDown, SelectLeft, SelectRight,
    SelectUp, Start, Up,
};
use crate::event::PreviewEvent;

/// Whether a motion extends the selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extend {
    Yes,
    No,
}

impl HexPreview {
    /// Moves the caret to a byte, and shows it.
    pub(super) fn go_to(&mut self, offset: u64, cx: &mut Context<Self>) {
        self.move_to(offset, Extend::No, cx);
    }

    fn move_to(&mut self, offset: u64, extend: Extend, cx: &mut Context<Self>) {
        let Some(content) = self.content.ready() else {
            return;
        };
        let last = content.reader.len().saturating_sub(1);
        self.caret = offset.min(last);
        if extend == Extend::No {
            self.anchor = self.caret;
        }
        self.list.scroll.reveal(self.caret / BYTES_PER_ROW);
        cx.emit(PreviewEvent::StatusChanged);
        cx.notify();
    }

    fn step(&mut self, bytes: i64, extend: Extend, cx: &mut Context<Self>) {
        let offset = self.caret.saturating_add_signed(bytes);
        // A step above the first row stays in its column.
        let stays = bytes < -1 && self.caret < bytes.unsigned_abs();
        let offset = if stays {
            self.caret % BYTES_PER_ROW
        } else {
            offset
        };
        self.move_to(offset, extend, cx);
    }

    fn page(&self) -> i64 {
        i64::try_from(self.list.scroll.page() * BYTES_PER_ROW).unwrap_or(i64::MAX)
    }

    pub(super) fn up(&mut self, _: &Up, _: &mut Window, cx: &mut Context<Self>) {
        self.step(-BYTES_PER_ROW.cast_signed(), Extend::No, cx);
    }

    pub(super) fn down(&mut self, _: &Down, _: &mut Window, cx: &mut Context<Self>) {
        self.step(BYTES_PER_ROW.cast_signed(), Extend::No, cx);
    }

    pub(super) fn left(&mut self, _: &Left, _: &mut Window, cx: &mut Context<Self>) {
        self.step(-1, Extend::No, cx);
    }

    pub(super) fn right(&mut self, _: &Right, _: &mut Window, cx: &mut Context<Self>) {
        self.step(1, Extend::No, cx);
    }

    pub(super) fn page_up(&mut self, _: &PageUp, _: &mut Window, cx: &mut Context<Self>) {
        self.step(-self.page(), Extend::No, cx);
    }

    pub(super) fn page_down(&mut self, _: &PageDown, _: &mut Window, cx: &mut Context<Self>) {
        self.step(self.page(), Extend::No, cx);
    }

    pub(super) fn start(&mut self, _: &Start, _: &mut Window, cx: &mut Context<Self>) {
        self.move_to(0, Extend::No, cx);
    }

    pub(super) fn end(&mut self, _: &End, _: &mut Window, cx: &mut Context<Self>) {
        self.move_to(u64::MAX, Extend::No, cx);
    }

    pub(super) fn select_up(&mut self, _: &SelectUp, _: &mut Window, cx: &mut Context<Self>) {
        self.step(-BYTES_PER_ROW.cast_signed(), Extend::Yes, cx);
    }

    pub(super) fn select_down(&mut self, _: &SelectDown, _: &mut Window, cx: &mut Context<Self>) {
        self.step(BYTES_PER_ROW.cast_signed(), Extend::Yes, cx);
    }

    pub(super) fn select_left(&mut self, _: &SelectLeft, _: &mut Window, cx: &mut Context<Self>) {
        self.step(-1, Extend::Yes, cx);
    }

    pub(super) fn select_right(&mut self, _: &SelectRight, _: &mut Window, cx: &mut Context<Self>) {
        self.step(1, Extend::Yes, cx);
    }

    pub(super) fn reload(&mut self, _: &Reload, _: &mut Window, cx: &mut Context<Self>) {
        self.awaited = self.caret;
        self.open(cx);
    }

    pub(super) fn cancel(&mut self, _: &Cancel, window: &mut Window, cx: &mut Context<Self>) {
        if self.field.take().is_some() {
            self.focus.focus(window, cx);
            cx.notify();
        } else if self.anchor == self.caret {
            cx.emit(PreviewEvent::Cancelled);
        } else {
            self.move_to(self.caret, Extend::No, cx);
        }
    }

    pub(super) fn pressed(
        &mut self,
        event: &MouseDownEvent,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.focus.focus(window, cx);
        let extend = if event.modifiers.shift {
            Extend::Yes
        } else {
            Extend::No
        };
        if let Some(offset) = self.offset_at(event.position, window, cx) {
            self.move_to(offset, extend, cx);
        }
    }

    pub(super) fn moved(
        &mut self,
        event: &MouseMoveEvent,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if !event.dragging() || cx.has_active_drag() {
            return;
        }
        let offset = self.offset_at(event.position, window, cx);
        if let Some(offset) = offset.filter(|offset| *offset != self.caret) {
            self.move_to(offset, Extend::Yes, cx);
        }
    }

    /// Returns the byte at a place of the window; the nearest one of the row beside the columns.
    fn offset_at(&self, place: Point<Pixels>, window: &Window, cx: &Context<Self>) -> Option<u64> {
        let row = self.list.row_at(place.y)?;
        let left = self.list.bounds()?.origin.x + super::render::inset(window);
        let cell = super::render::cell_width(window, cx).max(px(1.0));
        let column = ((place.x - left) / cell).max(0.0) as usize;
        let rows = self.content.ready()?.reader.rows();
        let row = row.min(rows.saturating_sub(1));
        let ix = super::render::byte_of_column(row, column);
        Some(row * BYTES_PER_ROW + ix)
    }
}
