//! The light bulb in the gutter. Clicking it asks the window for the list of code actions.

use gpui_kit::{
    AnyElement, App, AvailableSpace, Bounds, Entity, InteractiveElement as _, IntoElement as _,
    MouseButton, ParentElement as _, Pixels, Role, StatefulInteractiveElement as _, Styled as _,
    TestSupportExt as _, Window, div, point, size,
};
use ui::{ActiveTheme as _, Icon, IconSize, dp};

use super::layout::TextLayout;
use crate::editor::light_bulb::{self, BulbColumn, ShownBulb};
use crate::editor::{Editor, EditorEvent};

/// Width and height of the bulb at most, in design pixels.
const SIZE: f32 = 18.0;

/// Lays out the bulb, if it is shown and its row is visible.
pub(super) fn prepare(
    editor: &Entity<Editor>,
    layout: &TextLayout,
    window: &mut Window,
    cx: &mut App,
) -> Option<AnyElement> {
    let shown = light_bulb::shown(editor.read(cx))?;
    let bounds = bounds_of(shown, layout, window)?;
    let colors = cx.theme().colors;
    let view = editor.downgrade();
    let mut element = div()
        .id("light-bulb")
        .test_support()
        .role(Role::Button)
        .aria_label("Show code actions")
        .flex()
        .items_center()
        .justify_center()
        .size_full()
        .rounded(dp(4.0))
        .hover(|style| style.bg(colors.hover))
        .cursor_pointer()
        .occlude()
        .child(Icon::Lightbulb.size(IconSize::Small).color(colors.warning))
        .on_mouse_down(MouseButton::Left, move |_, window, cx| {
            // The text keeps the focus and the selection.
            window.prevent_default();
            cx.stop_propagation();
            // A closed view has nothing to do.
            view.update(cx, |_, cx| cx.emit(EditorEvent::CodeActionsRequested))
                .ok();
        })
        .into_any_element();
    let space = size(
        AvailableSpace::Definite(bounds.size.width),
        AvailableSpace::Definite(bounds.size.height),
    );
    element.layout_as_root(space, window, cx);
    element.prepaint_at(bounds.origin, window, cx);
    Some(element)
}

/// Returns the area of the bulb in window pixels; `None` if its row is not visible.
fn bounds_of(shown: ShownBulb, layout: &TextLayout, window: &Window) -> Option<Bounds<Pixels>> {
    let geometry = &layout.geometry;
    let mut rows = layout.rows.iter();
    let row = rows.find(|row| row.begins && row.buffer_row == shown.row)?;
    let y = geometry.y_of(row.y);
    if layout.is_covered(y) {
        return None;
    }
    let wanted = dp(SIZE).to_pixels(window.rem_size());
    let side = wanted
        .min(geometry.line_height)
        .min(geometry.gutter.size.width);
    let x = match shown.column {
        BulbColumn::Folds => (geometry.folds.start + geometry.folds.end - side) / 2.0,
        BulbColumn::Numbers => (geometry.folds.start - side).max(geometry.gutter.left()),
    };
    let origin = point(x.round(), (y + (geometry.line_height - side) / 2.0).round());
    Some(Bounds::new(origin, size(side, side)))
}
