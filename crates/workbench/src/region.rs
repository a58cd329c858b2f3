//! A region of the window: a cached view that is redrawn only when it changes.

use gpui_kit::{
    AnyElement, AnyView, IntoElement as _, ParentElement as _, StyleRefinement, Styled as _,
    Window, div,
};

/// Wraps a view of the given style for caching.
///
/// A view that is not drawn in a frame is missing from the accessibility tree, so while a screen
/// reader is connected, every region is drawn in every frame.
pub(crate) fn region(
    view: impl Into<AnyView>,
    style: StyleRefinement,
    window: &Window,
) -> AnyElement {
    let view = view.into();
    if !window.is_a11y_active() {
        return view.cached(style).into_any_element();
    }
    let mut place = div();
    *place.style() = style;
    place.child(view).into_any_element()
}
