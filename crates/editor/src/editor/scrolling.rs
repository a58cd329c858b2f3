//! Scrolling by commands and the mouse wheel, and wrapping rows in the background.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use gpui_kit::{AppContext as _, Context, Window};

use super::{Editor, EditorEvent};
use crate::scroll::{Scroll, ScrollMargin, Viewport, top_showing};

/// Sets the flag on drop, to cancel a job whose result is not needed.
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Editor {
    /// Returns the visible part of the text.
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

    /// Sets the scroll position, in line heights, clipped to the text.
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

    pub(crate) fn scroll_by(&mut self, rows: f64, cx: &mut Context<Self>) {
        let top = self.scroll_top(cx);
        self.set_scroll_top(top + rows, cx);
    }

    /// Scrolls horizontally by pixels, clipped to the text.
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

    pub(crate) fn scroll_line_up(&mut self, _: &mut Window, cx: &mut Context<Self>) {
        self.scroll_by(-1.0, cx);
    }

    pub(crate) fn scroll_line_down(&mut self, _: &mut Window, cx: &mut Context<Self>) {
        self.scroll_by(1.0, cx);
    }

    pub(crate) fn scroll_page_up(&mut self, _: &mut Window, cx: &mut Context<Self>) {
        self.scroll_by(-f64::from(self.page_rows()), cx);
    }

    pub(crate) fn scroll_page_down(&mut self, _: &mut Window, cx: &mut Context<Self>) {
        self.scroll_by(f64::from(self.page_rows()), cx);
    }

    pub(crate) fn scroll_to_top(&mut self, _: &mut Window, cx: &mut Context<Self>) {
        self.set_scroll_top(0.0, cx);
    }

    pub(crate) fn scroll_to_bottom(&mut self, _: &mut Window, cx: &mut Context<Self>) {
        self.sync(cx);
        let bottom = self.display.total_height() - self.viewport().rows;
        self.set_scroll_top(bottom, cx);
    }

    pub(crate) fn center_caret(&mut self, _: &mut Window, cx: &mut Context<Self>) {
        self.follow = Some(ScrollMargin::Center);
        cx.notify();
    }

    /// Reveals the newest caret, if requested. Part of the layout.
    pub(crate) fn follow_caret(&mut self, advance: f64, text_width: f64, cx: &Context<Self>) {
        let viewport = self.viewport();
        let Some(follow) = self.follow.take() else {
            let top = self.scroll.top(&self.display);
            if top > Scroll::lowest_top(&self.display, viewport) {
                self.scroll.set_top(top, &self.display, viewport);
            }
            return;
        };
        let head = self.selections.primary().head;
        let point = self.display.to_display(head, base::Bias::Left);
        let top = self.scroll.top(&self.display);
        // Sticky headers must not cover the caret.
        let headers = self
            .geometry
            .as_ref()
            .map_or(0, |geometry| geometry.sticky_rows);
        let margin = f64::from(self.settings.scroll_margin).max(headers as f64);
        let wanted = top_showing(point.row, follow, top, margin, &self.display, viewport);
        if wanted != top {
            self.scroll.set_top(wanted, &self.display, viewport);
            self.glide_from(top, cx);
        }
        let x = f64::from(point.cell) * advance;
        let margin = (advance * 4.0).min(text_width / 4.0);
        if x < self.scroll.x + margin && self.scroll.x > 0.0 {
            self.scroll.x = (x - margin * 4.0).max(0.0);
        } else if x + margin > self.scroll.x + text_width {
            self.scroll.x = x + margin - text_width;
        }
    }

    /// Wraps rows outside the window, one job after another.
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
