//! The marks in the gutter, such as the states of tests. A click reports the key of a mark.

use gpui_kit::{
    AnyElement, App, AvailableSpace, Bounds, Entity, InteractiveElement as _, IntoElement as _,
    MouseButton, ParentElement as _, Pixels, Role, StatefulInteractiveElement as _, Styled as _,
    TestSupportExt as _, Window, div, point, size,
};
use ui::{ActiveTheme as _, Icon, IconSize, dp};

use super::layout::TextLayout;
use crate::editor::{Editor, EditorEvent};
use crate::model::{GutterIcon, GutterMark};

/// Width and height of a mark at most, in design pixels.
const SIZE: f32 = 16.0;

/// Lays out the marks of the visible rows; of several in a row, the first.
pub(super) fn prepare(
    editor: &Entity<Editor>,
    layout: &TextLayout,
    window: &mut Window,
    cx: &mut App,
) -> Vec<AnyElement> {
    let geometry = &layout.geometry;
    if geometry.marks.is_empty() {
        return Vec::new();
    }
    let view = editor.read(cx);
    let marks = view.model.read(cx).gutter_marks_in(layout.span);
    let snapshot = &view.snapshot;
    let marks = marks
        .into_iter()
        .map(|(span, mark)| (snapshot.point_at(span.start).row, mark));
    let mut elements = Vec::new();
    let mut shown = None;
    for (row, mark) in marks.collect::<Vec<_>>() {
        let mut rows = layout.rows.iter();
        let visible = rows.find(|it| it.begins && it.buffer_row == row);
        let bounds = visible.and_then(|it| bounds_of(it.y, layout, window));
        let Some(bounds) = bounds.filter(|_| shown != Some(row)) else {
            continue;
        };
        shown = Some(row);
        let mut element = render(&mark, editor, cx);
        let space = size(
            AvailableSpace::Definite(bounds.size.width),
            AvailableSpace::Definite(bounds.size.height),
        );
        element.layout_as_root(space, window, cx);
        element.prepaint_at(bounds.origin, window, cx);
        elements.push(element);
    }
    elements
}

fn render(mark: &GutterMark, editor: &Entity<Editor>, cx: &App) -> AnyElement {
    let colors = cx.theme().colors;
    let (icon, color) = match mark.icon {
        GutterIcon::Run => (Icon::Play, colors.muted),
        GutterIcon::Running => (Icon::Clock, colors.info),
        GutterIcon::Passed => (Icon::CircleCheck, colors.success),
        GutterIcon::Failed => (Icon::CircleX, colors.error),
        GutterIcon::Skipped => (Icon::Minus, colors.muted),
    };
    let (view, key) = (editor.downgrade(), mark.key);
    div()
        .id(("gutter-mark", key))
        .test_support()
        .role(Role::Button)
        .aria_label(mark.label.clone())
        .flex()
        .items_center()
        .justify_center()
        .size_full()
        .rounded(dp(4.0))
        .hover(|style| style.bg(colors.hover))
        .cursor_pointer()
        .occlude()
        .child(icon.size(IconSize::Small).color(color))
        .on_mouse_down(MouseButton::Left, move |_, window, cx| {
            // The text keeps the focus and the selection.
            window.prevent_default();
            cx.stop_propagation();
            // A closed view has nothing to do.
            view.update(cx, |_, cx| cx.emit(EditorEvent::GutterMarkClicked(key)))
                .ok();
        })
        .into_any_element()
}

/// Returns the area of a mark in window pixels; `None` if a sticky header covers its row.
fn bounds_of(y: f64, layout: &TextLayout, window: &Window) -> Option<Bounds<Pixels>> {
    let geometry = &layout.geometry;
    let y = geometry.y_of(y);
    if layout.is_covered(y) {
        return None;
    }
    let width = geometry.marks.end - geometry.marks.start;
    let wanted = dp(SIZE).to_pixels(window.rem_size());
    let side = wanted.min(geometry.line_height).min(width);
    let x = geometry.marks.start + (width - side) / 2.0;
    let origin = point(x.round(), (y + (geometry.line_height - side) / 2.0).round());
    Some(Bounds::new(origin, size(side, side)))
}
