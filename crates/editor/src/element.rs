//! Draws the text: lays out what is visible, then paints it.
//!
//! Layout (`layout`) queries the view for everything visible; shaped rows are cached in `frame`. Painting (`paint`) only reads the layout, in layers from bottom to top.
//! Invariant: a row with unchanged text and highlights is never shaped again.
//! Invariant: nothing below reads a row outside the window, or a column far outside it.

mod accessible;
mod changed_words;
mod colors;
mod completions;
mod decorations;
mod diagnostics;
mod editor_input;
mod guides;
mod gutter;
mod gutter_marks;
mod inlay_hints;
mod layout;
mod light_bulb;
mod line_authors;
mod links;
mod overview;
mod paint;
mod ranges;
mod row_messages;
mod scrollbars;
mod signature;
mod signs;
mod sticky;
mod suggested;

use std::cell::RefCell;
use std::rc::Rc;

use gpui_kit::{
    AnyElement, App, AvailableSpace, Bounds, Element, ElementId, Entity, GlobalElementId, Hitbox,
    HitboxBehavior, InspectorElementId, IntoElement, LayoutId, Pixels, Style, Window, relative,
    size,
};

pub(crate) use accessible::{AccessibleText, describe};
pub(crate) use editor_input::EditorInput;
use layout::TextLayout;

use crate::editor::Editor;

/// The element that lays out and paints the text of one view, with its gutter and scrollbars.
pub(crate) struct TextElement {
    editor: Entity<Editor>,
    /// The visible text, shared with the accessibility tree.
    accessible: Rc<RefCell<Option<AccessibleText>>>,
}

/// The layout of one frame, kept between layout and paint.
pub(crate) struct PreparedFrame {
    layout: TextLayout,
    blocks: Vec<AnyElement>,
    /// Signs over the text that point to a suggestion or describe it, the light bulb, marks and authors in the gutter.
    signs: Vec<AnyElement>,
    /// The completion list, drawn over the window.
    completions: Option<AnyElement>,
    /// The card with a signature, drawn over the window.
    signature: Option<AnyElement>,
    hitbox: Hitbox,
    text_hitbox: Hitbox,
}

impl TextElement {
    /// Creates the element of a view; `accessible` receives the visible text for the accessibility
    /// tree.
    pub(crate) fn new(
        editor: Entity<Editor>,
        accessible: Rc<RefCell<Option<AccessibleText>>>,
    ) -> Self {
        Self { editor, accessible }
    }
}

impl IntoElement for TextElement {
    type Element = Self;

    fn into_element(self) -> Self {
        self
    }
}

impl Element for TextElement {
    type RequestLayoutState = ();
    type PrepaintState = PreparedFrame;

    fn id(&self) -> Option<ElementId> {
        Some("text".into())
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
    ) -> PreparedFrame {
        let layout = self
            .editor
            .update(cx, |editor, cx| layout::lay_out(editor, bounds, window, cx));
        if window.is_a11y_active() {
            let text = accessible::accessible_text(self.editor.read(cx), &layout);
            *self.accessible.borrow_mut() = Some(text);
        }
        if layout.is_gliding {
            window.request_animation_frame();
        }
        let hitbox = window.insert_hitbox(bounds, HitboxBehavior::Normal);
        let text_hitbox = window.insert_hitbox(layout.geometry.text, HitboxBehavior::Normal);
        // A block over the text may take the pointer from it.
        let blocks = self.prepare_blocks(&layout, window, cx);
        let mut signs = signs::prepare(&self.editor, &layout, window, cx);
        signs.extend(light_bulb::prepare(&self.editor, &layout, window, cx));
        signs.extend(gutter_marks::prepare(&self.editor, &layout, window, cx));
        signs.extend(line_authors::prepare(&self.editor, &layout, window, cx));
        let (completions, list) = completions::prepare(&self.editor, &layout, window, cx).unzip();
        let signature = signature::prepare(&self.editor, &layout, list, window, cx);
        PreparedFrame {
            completions,
            signature,
            layout,
            blocks,
            signs,
            hitbox,
            text_hitbox,
        }
    }

    fn paint(
        &mut self,
        _: Option<&GlobalElementId>,
        _: Option<&InspectorElementId>,
        bounds: Bounds<Pixels>,
        _: &mut (),
        prepared: &mut PreparedFrame,
        window: &mut Window,
        cx: &mut App,
    ) {
        let focus = self.editor.read(cx).focus.clone();
        let area = prepared.layout.geometry.text;
        let input = EditorInput::new(area, self.editor.clone(), cx);
        window.handle_input(&focus, input, cx);
        crate::mouse::listen(
            &self.editor,
            &prepared.hitbox,
            &prepared.text_hitbox,
            window,
            cx,
        );
        window.with_content_mask(Some(gpui_kit::ContentMask { bounds }), |window| {
            prepared.layout.paint(window, cx);
            for block in &mut prepared.blocks {
                block.paint(window, cx);
            }
            prepared.layout.paint_above(window, cx);
            for sign in &mut prepared.signs {
                sign.paint(window, cx);
            }
        });
        if let Some(completions) = &mut prepared.completions {
            completions.paint(window, cx);
        }
        if let Some(signature) = &mut prepared.signature {
            signature.paint(window, cx);
        }
    }
}

impl TextElement {
    /// Renders the blocks in the window.
    fn prepare_blocks(
        &self,
        layout: &TextLayout,
        window: &mut Window,
        cx: &mut App,
    ) -> Vec<AnyElement> {
        let views = self.editor.read(cx).blocks.clone();
        let geometry = &layout.geometry;
        let mut elements = Vec::new();
        for placed in &layout.blocks {
            let Some(view) = views.get(&placed.id) else {
                continue;
            };
            let bounds = geometry.block_bounds(placed.y, placed.height);
            let place = crate::block_view::BlockPlace {
                id: placed.id,
                bounds,
                gutter: geometry.gutter.size.width,
                line_height: geometry.line_height,
            };
            let mut element = view.render(&place, window, cx);
            let space = size(
                AvailableSpace::Definite(bounds.size.width),
                AvailableSpace::Definite(bounds.size.height),
            );
            element.layout_as_root(space, window, cx);
            window.with_content_mask(Some(gpui_kit::ContentMask { bounds }), |window| {
                element.prepaint_at(bounds.origin, window, cx);
            });
            elements.push(element);
        }
        elements
    }
}
