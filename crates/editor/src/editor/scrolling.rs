//! Scrolling by commands and the mouse wheel, and wrapping rows in the background.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::Row;
use gpui_kit::{AppContext as _, Context, Window};

use super::{Editor, EditorEvent, smooth_scroll};
use crate::scroll::{Scroll, ScrollMargin, Viewport, top_showing};

/// Scrolls as little as possible so that a block below a row is visible, of a height in line heights. If
/// the block does not fit below the row, the row is at the top.
pub fn reveal_block_below(editor: &mut Editor, row: Row, height: f32, cx: &mut Context<Editor>) {
    let top = editor.scroll_top(cx);
    let rows = editor.display.rows_of(row);
    let start = editor.display.y_of(rows.start);
    let end = editor.display.y_of(rows.end - 1) + 1.0 + f64::from(height);
    let wanted = (end - editor.viewport().rows).max(top).min(start);
    if wanted != top {
        editor.set_scroll_top(wanted, cx);
    }
}

/// Scrolls as little as possible so that a block above a row is visible with the row, of a height in line
/// heights. If both do not fit, the block is at the top.
pub fn reveal_block_above(editor: &mut Editor, row: Row, height: f32, cx: &mut Context<Editor>) {
    let top = editor.scroll_top(cx);
    let rows = editor.display.rows_of(row);
    let end = editor.display.y_of(rows.start) + 1.0;
    let start = end - 1.0 - f64::from(height);
    let wanted = (end - editor.viewport().rows).max(top).min(start);
    if wanted != top {
        editor.set_scroll_top(wanted, cx);
    }
}

/// The scroll position of a view.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ScrollPosition {
    /// Line heights from the top of the text.
    pub top: f64,
    /// Pixels from the left edge of the text.
    pub left: f64,
}

impl ScrollPosition {
    /// Returns whether two positions look the same.
    pub fn is_at(self, other: Self) -> bool {
        const INVISIBLE: f64 = 1e-3;
        (self.top - other.top).abs() < INVISIBLE && (self.left - other.left).abs() < INVISIBLE
    }
}

/// Returns the scroll position of a view.
pub fn scroll_position(editor: &mut Editor, cx: &mut Context<Editor>) -> ScrollPosition {
    ScrollPosition {
        top: editor.scroll_top(cx),
        left: editor.scroll.x,
    }
}

/// Scrolls a view to the position of another one beside it, clipped to the height of the text.
pub fn scroll_to(editor: &mut Editor, position: ScrollPosition, cx: &mut Context<Editor>) {
    editor.set_scroll_top(position.top, cx);
    if editor.scroll.x != position.left {
        editor.scroll.x = position.left;
        cx.emit(EditorEvent::Scrolled);
        cx.notify();
    }
}

/// Sets the flag on drop, to cancel a job whose result is not needed.
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Editor {
    /// Returns the height of the view in line heights, and whether the view scrolls beyond the last
    /// row. Before the first layout, the height is 40.
    pub(crate) fn viewport(&self) -> Viewport {
        Viewport {
            rows: self
                .geometry
                .as_ref()
                .map_or(40.0, |geometry| geometry.visible_rows),
            beyond_last: self.settings.scroll_beyond_last_line,
        }
    }

    /// Returns the rows of a page: the visible rows minus one, for orientation.
    pub(crate) fn page_rows(&self) -> u32 {
        (self.viewport().rows.floor() as u32)
            .saturating_sub(1)
            .max(1)
    }

    /// Returns the scroll position, in line heights from the top of the text.
    pub fn scroll_top(&mut self, cx: &mut Context<Self>) -> f64 {
        self.sync(cx);
        self.scroll.top(&self.display)
    }

    /// Scrolls at once to `top`, in line heights from the top of the text, clipped to the text.
    /// Ends animations and a pending reveal of the caret.
    pub fn set_scroll_top(&mut self, top: f64, cx: &mut Context<Self>) {
        self.sync(cx);
        let before = self.scroll;
        let viewport = self.viewport();
        self.scroll.set_top(top, &self.display, viewport);
        self.follow = None;
        self.glide = None;
        if self.scroll != before {
            cx.emit(EditorEvent::Scrolled);
            cx.notify();
        }
    }

    /// Scrolls by a number of line heights, negative for upwards, clipped to the text.
    pub(crate) fn scroll_by(&mut self, rows: f64, cx: &mut Context<Self>) {
        let top = self.scroll_top(cx);
        self.set_scroll_top(top + rows, cx);
    }

    /// Scrolls horizontally by a distance in pixels, clipped to the longest row laid out.
    pub(crate) fn scroll_sideways(&mut self, pixels: f64, cx: &mut Context<Self>) {
        let widest = self
            .geometry
            .as_ref()
            .map_or(0.0, |geometry| geometry.most_x);
        let x = (self.scroll.x + pixels).clamp(0.0, widest.max(0.0));
        if x != self.scroll.x {
            self.scroll.x = x;
            self.follow = None;
            cx.emit(EditorEvent::Scrolled);
            cx.notify();
        }
    }

    /// Wraps rows outside the window in background jobs, one after another, until all rows are
    /// wrapped.
    pub(crate) fn wrap_in_background(&mut self, cx: &mut Context<Self>) {
        let Some(job) = self.map.wrap_job() else {
            return;
        };
        let cancel = Arc::new(AtomicBool::new(false));
        let guard = CancelOnDrop(cancel.clone());
        let done = cx.background_spawn(async move { job.run(&cancel) });
        self.wrap_task = Some(cx.spawn(async move |this, cx| {
            let done = done.await;
            drop(guard);
            this.update(cx, |editor, cx| {
                if let Some(done) = done
                    && editor.map.accept(done)
                {
                    editor.display = editor.map.snapshot();
                    editor.rows.forget_shapes();
                    cx.notify();
                }
                editor.wrap_in_background(cx);
            })
            .ok();
        }));
    }
}

/// Handler of an action: scrolls up by one row; the caret stays.
pub(crate) fn scroll_line_up(editor: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    editor.scroll_by(-1.0, cx);
}

/// Handler of an action: scrolls down by one row; the caret stays.
pub(crate) fn scroll_line_down(editor: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    editor.scroll_by(1.0, cx);
}

/// Handler of an action: scrolls up by a page; the caret stays.
pub(crate) fn scroll_page_up(editor: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    editor.scroll_by(-f64::from(editor.page_rows()), cx);
}

/// Handler of an action: scrolls down by a page; the caret stays.
pub(crate) fn scroll_page_down(editor: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    editor.scroll_by(f64::from(editor.page_rows()), cx);
}

/// Handler of an action: scrolls to the start of the text; the caret stays.
pub(crate) fn scroll_to_top(editor: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    editor.set_scroll_top(0.0, cx);
}

/// Handler of an action: scrolls to the end of the text; the caret stays.
pub(crate) fn scroll_to_bottom(editor: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    editor.sync(cx);
    let bottom = editor.display.total_height() - editor.viewport().rows;
    editor.set_scroll_top(bottom, cx);
}

/// Handler of an action: scrolls the newest caret to the middle.
pub(crate) fn center_caret(editor: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    editor.follow = Some(ScrollMargin::Center);
    cx.notify();
}

/// Scrolls so that the newest caret is visible, if that was requested since the last frame. The
/// layout calls this in every frame. `advance` is the width of a cell and `text_width` that of the
/// text area, in pixels.
pub(crate) fn follow_caret(
    editor: &mut Editor,
    advance: f64,
    text_width: f64,
    cx: &mut Context<Editor>,
) {
    let before = editor.scroll;
    let viewport = editor.viewport();
    let Some(follow) = editor.follow.take() else {
        let top = editor.scroll.top(&editor.display);
        if top > Scroll::lowest_top(&editor.display, viewport) {
            editor.scroll.set_top(top, &editor.display, viewport);
        }
        return;
    };
    let head = editor.selections.primary().head;
    let point = editor.display.to_display(head, base::Bias::Left);
    let top = editor.scroll.top(&editor.display);
    // Sticky headers must not cover the caret.
    let headers = editor
        .geometry
        .as_ref()
        .map_or(0, |geometry| geometry.sticky_rows);
    let margin = f64::from(editor.settings.scroll_margin).max(headers as f64);
    let wanted = top_showing(point.row, follow, top, margin, &editor.display, viewport);
    if wanted != top {
        editor.scroll.set_top(wanted, &editor.display, viewport);
        smooth_scroll::glide_from(editor, top, cx);
    }
    let x = f64::from(point.cell) * advance;
    let margin = (advance * 4.0).min(text_width / 4.0);
    if x < editor.scroll.x + margin && editor.scroll.x > 0.0 {
        editor.scroll.x = (x - margin * 4.0).max(0.0);
    } else if x + margin > editor.scroll.x + text_width {
        editor.scroll.x = x + margin - text_width;
    }
    if editor.scroll != before {
        cx.emit(EditorEvent::Scrolled);
    }
}
