//! Draws a terminal: lays out what is in view, then paints it.
//!
//! Invariant: a row with unchanged content is never shaped again.

mod accessible;
mod layout;
mod lines;
mod paint;

use std::cell::RefCell;
use std::rc::Rc;

use gpui_kit::{
    App, Bounds, ContentMask, Element, ElementId, ElementInputHandler, Entity, Focusable as _,
    GlobalElementId, Hitbox, HitboxBehavior, InspectorElementId, IntoElement, LayoutId, Pixels,
    Style, Window, relative,
};

pub(crate) use accessible::describe;
use layout::TerminalLayout;

use crate::view::{TerminalView, listen};

/// The element that lays out and paints the cells of one terminal, with its scrollbar.
pub(crate) struct TerminalElement {
    view: Entity<TerminalView>,
    /// The rows in view, shared with the accessibility tree.
    accessible: Rc<RefCell<Vec<String>>>,
}

/// The layout of one frame, kept between layout and paint.
pub(crate) struct PreparedTerminal {
    layout: TerminalLayout,
    hitbox: Hitbox,
}

impl TerminalElement {
    /// Creates the element of a view; `accessible` receives the text in view for the accessibility tree.
    pub(crate) fn new(view: Entity<TerminalView>, accessible: Rc<RefCell<Vec<String>>>) -> Self {
        Self { view, accessible }
    }
}

impl IntoElement for TerminalElement {
    type Element = Self;

    fn into_element(self) -> Self {
        self
    }
}

impl Element for TerminalElement {
    type RequestLayoutState = ();
    type PrepaintState = PreparedTerminal;

    fn id(&self) -> Option<ElementId> {
        Some("cells".into())
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
        let mut style = Style::default();
        style.size.width = relative(1.0).into();
        style.size.height = relative(1.0).into();
        (window.request_layout(style, [], cx), ())
    }

    fn prepaint(
        &mut self,
        _: Option<&GlobalElementId>,
        _: Option<&InspectorElementId>,
        bounds: Bounds<Pixels>,
        _: &mut (),
        window: &mut Window,
        cx: &mut App,
    ) -> PreparedTerminal {
        let layout = self
            .view
            .update(cx, |view, cx| view.lay_out(bounds, window, cx));
        if window.is_a11y_active() {
            *self.accessible.borrow_mut() = self.view.read(cx).visible_text();
        }
        let hitbox = window.insert_hitbox(bounds, HitboxBehavior::Normal);
        PreparedTerminal { layout, hitbox }
    }

    fn paint(
        &mut self,
        _: Option<&GlobalElementId>,
        _: Option<&InspectorElementId>,
        bounds: Bounds<Pixels>,
        _: &mut (),
        prepared: &mut PreparedTerminal,
        window: &mut Window,
        cx: &mut App,
    ) {
        let focus = self.view.read(cx).focus_handle(cx);
        let area = prepared.layout.geometry.cells;
        let input = ElementInputHandler::new(area, self.view.clone());
        window.handle_input(&focus, input, cx);
        listen(&self.view, &prepared.hitbox, window, cx);
        window.with_content_mask(Some(ContentMask { bounds }), |window| {
            prepared.layout.paint(window, cx);
        });
    }
}
