//! A region of the window: a view that is drawn again only when it changes.

use gpui_kit::{
    AnyElement, AnyView, IntoElement as _, ParentElement as _, StyleRefinement, Styled as _,
    Window, div,
};

/// A view in a place of this size and shape.
///
/// A view that is not drawn in a frame is missing from what screen readers are told of it; while one listens, every
/// region is drawn every time.
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
