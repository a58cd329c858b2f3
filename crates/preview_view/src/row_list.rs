//! A list of rows of one height that may be more than pixels can count: only the rows in sight are elements, and the
//! position is kept in rows.
//!
//! Invariant: a frame costs the rows in sight.
//! Start at `render_rows`.

use gpui_kit::{
    AnyElement, AppContext as _, Bounds, Context, DragMoveEvent, Empty, EntityId,
    InteractiveElement as _, IntoElement as _, MouseButton, MouseDownEvent, ParentElement as _,
    Pixels, ScrollEvent, StatefulInteractiveElement as _, Styled as _, Window, canvas, div, point,
    px, relative,
};
use preview::RowScroll;
use std::ops::Range;
use ui::{ActiveTheme as _, dp};

/// Width of the scrollbar, in design pixels.
const BAR: f32 = 12.0;

/// The position and the place of a list.
pub(crate) struct RowList {
    pub(crate) scroll: RowScroll,
    /// The place in the window, known after the first frame.
    bounds: Option<Bounds<Pixels>>,
    row_height: Pixels,
}

/// A view that shows a list.
pub(crate) trait RowListView: Sized + 'static {
    /// Returns the list.
    fn row_list(&mut self) -> &mut RowList;

    /// Prepares the rows that are drawn next, such as by reading them.
    fn prepare_rows(&mut self, rows: Range<u64>, cx: &mut Context<Self>);

    /// Draws a row.
    fn render_row(&self, row: u64, cx: &Context<Self>) -> AnyElement;

    /// Handles scrolling by the user: rows to the bottom, and pixels to the right.
    fn scrolled(&mut self, rows: f64, pixels: Pixels, cx: &mut Context<Self>);
}

/// The thumb of the list of a view that is being dragged.
struct DraggedThumb(EntityId);

impl RowList {
    pub(crate) fn new(rows: u64) -> Self {
        Self {
            scroll: RowScroll::new(rows),
            bounds: None,
            row_height: px(20.0),
        }
    }

    /// Returns the place in the window; `None` before the first frame.
    pub(crate) fn bounds(&self) -> Option<Bounds<Pixels>> {
        self.bounds
    }

    /// Returns the row at a height of the window, which may be behind the last one.
    pub(crate) fn row_at(&self, y: Pixels) -> Option<u64> {
        let bounds = self.bounds?;
        let rows = f64::from((y - bounds.origin.y) / self.row_height) + self.scroll.top();
        let row = rows.max(0.0).floor() as u64;
        Some(row)
    }
}

/// Renders the rows in sight and the scrollbar.
pub(crate) fn render_rows<V: RowListView>(
    view: &mut V,
    row_height: Pixels,
    window: &Window,
    cx: &mut Context<V>,
) -> AnyElement {
    let list = view.row_list();
    let room = list
        .bounds
        .map_or(window.viewport_size().height, |bounds| bounds.size.height);
    list.row_height = row_height;
    list.scroll.set_visible(f64::from(room / row_height));
    let (top, shown) = (list.scroll.top(), list.scroll.shown());
    view.prepare_rows(shown.clone(), cx);
    let rows = shown.map(|row| {
        let above = (row as f64 - top) as f32;
        div()
            .absolute()
            .left_0()
            .right_0()
            .top(row_height * above)
            .h(row_height)
            .child(view.render_row(row, cx))
            .into_any_element()
    });
    let rows: Vec<AnyElement> = rows.collect();
    div()
        .id("preview-rows")
        .relative()
        .flex_1()
        .min_h_0()
        .w_full()
        .overflow_hidden()
        .on_scroll(cx.listener(move |view, event: &ScrollEvent, _, cx| {
            let delta = event.delta.pixel_delta(row_height);
            let delta = if event.modifiers.shift && delta.x == px(0.0) {
                point(delta.y, px(0.0))
            } else {
                delta
            };
            view.scrolled(-f64::from(delta.y / row_height), -delta.x, cx);
        }))
        .child(render_probe(cx))
        .children(rows)
        .children(render_bar(view, cx))
        .into_any_element()
}

/// Renders an invisible element that notes the place of the list.
fn render_probe<V: RowListView>(cx: &Context<V>) -> AnyElement {
    let view = cx.weak_entity();
    let probe = canvas(
        move |bounds, _, cx| {
            let noted = view.update(cx, |view, cx| {
                let list = view.row_list();
                if list.bounds == Some(bounds) {
                    return;
                }
                list.bounds = Some(bounds);
                // A request for a frame has no effect while one is made.
                let view = cx.entity();
                cx.defer(move |cx| view.update(cx, |_, cx| cx.notify()));
            });
            // The view may have been closed.
            noted.ok();
        },
        |_, (), _, _| {},
    );
    probe.absolute().size_full().into_any_element()
}

/// Renders the scrollbar; `None` if all rows are in sight.
fn render_bar<V: RowListView>(view: &mut V, cx: &Context<V>) -> Option<AnyElement> {
    let (start, length) = view.row_list().scroll.thumb()?;
    let colors = cx.theme().colors;
    let id = cx.entity_id();
    let thumb = div()
        .id("preview-thumb")
        .absolute()
        .left_0()
        .right_0()
        .top(relative(start))
        .h(relative(length))
        .rounded(dp(4.0))
        .bg(colors.scrollbar)
        .on_drag(DraggedThumb(id), |_, _, _, cx| cx.new(|_| Empty));
    let bar = div()
        .id("preview-bar")
        .absolute()
        .top_0()
        .bottom_0()
        .right_0()
        .w(dp(BAR))
        .occlude()
        .on_mouse_down(
            MouseButton::Left,
            cx.listener(move |view, event: &MouseDownEvent, _, cx| {
                let list = view.row_list();
                if let Some(bounds) = list.bounds {
                    let at = (event.position.y - bounds.origin.y) / bounds.size.height;
                    // A click on the thumb begins to drag it.
                    if at < start || at > start + length {
                        list.scroll.set_thumb(at - length / 2.0);
                        view.scrolled(0.0, px(0.0), cx);
                    }
                }
            }),
        )
        .on_drag_move(
            cx.listener(move |view, event: &DragMoveEvent<DraggedThumb>, _, cx| {
                if event.drag(cx).0 != id {
                    return;
                }
                let bounds = event.bounds;
                let at = (event.event.position.y - bounds.origin.y) / bounds.size.height;
                view.row_list().scroll.set_thumb(at - length / 2.0);
                view.scrolled(0.0, px(0.0), cx);
            }),
        )
        .child(thumb);
    Some(bar.into_any_element())
}
