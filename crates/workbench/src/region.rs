//! A region of the window: a cached view that is redrawn only when it changes.

use gpui_kit::{
    AnyElement, AnyView, App, Bounds, Element, ElementId, GlobalElementId, InspectorElementId,
    IntoElement, LayoutId, ParentElement as _, Pixels, StyleRefinement, Styled as _, Window, div,
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

/// Wraps a view in which no surface lies above a text, for caching.
///
/// It is painted in one layer. Otherwise each glyph and each surface is looked up among all those drawn before, in every
/// frame, also if the view did not change.
pub(crate) fn flat_region(
    view: impl Into<AnyView>,
    style: StyleRefinement,
    window: &Window,
) -> AnyElement {
    let child = region(view, style, window);
    OneLayer { child }.into_any_element()
}

/// Paints an element in one layer, in which surfaces lie below texts.
struct OneLayer {
    child: AnyElement,
}

impl IntoElement for OneLayer {
    type Element = Self;

    fn into_element(self) -> Self {
        self
    }
}

impl Element for OneLayer {
    type RequestLayoutState = ();
    type PrepaintState = ();

    fn id(&self) -> Option<ElementId> {
        None
    }

    fn source_location(&self) -> Option<&'static std::panic::Location<'static>> {
        None
    }

    fn request_layout(
        &mut self,
        _: Option<&GlobalElementId>,
        _: Option<&InspectorElementId>,
        window: &mut Window,
        cx: &mut App,
    ) -> (LayoutId, ()) {
        (self.child.request_layout(window, cx), ())
    }

    fn prepaint(
        &mut self,
        _: Option<&GlobalElementId>,
        _: Option<&InspectorElementId>,
        _: Bounds<Pixels>,
        (): &mut (),
        window: &mut Window,
        cx: &mut App,
    ) {
        self.child.prepaint(window, cx);
    }

    fn paint(
        &mut self,
        _: Option<&GlobalElementId>,
        _: Option<&InspectorElementId>,
        bounds: Bounds<Pixels>,
        (): &mut (),
        (): &mut (),
        window: &mut Window,
        cx: &mut App,
    ) {
        window.paint_layer(bounds, |window| self.child.paint(window, cx));
    }
}
