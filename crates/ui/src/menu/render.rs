//! Drawing of an open menu.
//!
//! Invariant: no level is larger than the window, or than the space below the control that opened the
//! menu; what does not fit scrolls or is elided.

use gpui_kit::base::{Align, POPUP_PRIORITY, Placement, Positioner};
use gpui_kit::component::scroll::ScrollableElement as _;
use gpui_kit::prelude::FluentBuilder as _;
use gpui_kit::{
    Anchor, Context, Decorations, Div, InteractiveElement as _, IntoElement, ParentElement as _,
    Pixels, Render, Role, Size, StatefulInteractiveElement as _, Styled as _, TestSupportExt as _,
    Window, deferred, div, px, size,
};

use super::cascade::MenuLevel;
use super::popup::{MenuAnchor, PopupMenu};
use crate::theme::{ActiveTheme as _, dp};

/// Distance between a menu and the edge of the window.
const MARGIN: Pixels = px(4.0);
/// Padding of a level, in design pixels.
const PADDING: f32 = 4.0;
/// Maximum width of a level, in design pixels.
const MAX_WIDTH: f32 = 480.0;
/// Minimum height of a level that does not fit, in design pixels.
const MIN_HEIGHT: f32 = 96.0;

impl Render for PopupMenu {
    fn render(&mut self, window: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let space = self.space(window);
        let menu = self.render_level(0, space, window, cx);
        deferred(div().absolute().children(menu)).with_priority(POPUP_PRIORITY)
    }
}

impl PopupMenu {
    /// Returns the maximum size of a level.
    fn space(&self, window: &Window) -> Size<Pixels> {
        let shadow = match window.window_decorations() {
            Decorations::Server => px(0.0),
            Decorations::Client { .. } => window.client_inset().unwrap_or_default(),
        };
        let edge = MARGIN + shadow;
        let top = match self.anchor {
            MenuAnchor::Point(_) => edge,
            MenuAnchor::Below(control) => control.bottom(),
        };
        let room = window.viewport_size();
        let rem = window.rem_size();
        let width = room.width - edge * 2.0;
        let height = room.height - edge - top;
        size(
            width.min(dp(MAX_WIDTH).to_pixels(rem)),
            height.max(dp(MIN_HEIGHT).to_pixels(rem)),
        )
    }

    /// Renders a level and the submenus that are open in it. Returns `None` after the last level, and
    /// for a submenu whose parent item was not drawn yet.
    fn render_level(
        &self,
        at: usize,
        space: Size<Pixels>,
        window: &Window,
        cx: &Context<Self>,
    ) -> Option<Div> {
        let level = self.cascade.levels().get(at)?;
        let place = match at.checked_sub(1) {
            None => {
                let corner = match self.anchor {
                    MenuAnchor::Point(point) => point,
                    MenuAnchor::Below(control) => control.bottom_left(),
                };
                Positioner::corner(Anchor::TopLeft, corner)
            }
            Some(parent) => {
                let mut item = self.cascade.levels().get(parent)?.selected_bounds()?;
                // The first item of the submenu is level with its parent item.
                item.origin.y -= dp(PADDING).to_pixels(window.rem_size()) + px(1.0);
                Positioner::side(item)
                    .placement(Placement::Right)
                    .align(Align::Start)
            }
        };
        let frame = self.render_frame(at, level, space, window, cx);
        // Lets the width of the items depend on the window alone, not on the parent element.
        let room = window.viewport_size();
        let around = div()
            .absolute()
            .top_0()
            .left_0()
            .w(room.width)
            .h(room.height);
        Some(around.child(place.margin(MARGIN).occlude().child(frame)))
    }

    fn render_frame(
        &self,
        at: usize,
        level: &MenuLevel,
        space: Size<Pixels>,
        window: &Window,
        cx: &Context<Self>,
    ) -> impl IntoElement + use<> {
        let theme = cx.theme();
        let list = div()
            .id("menu-items")
            .flex()
            .flex_col()
            .max_h(space.height - px(2.0))
            .p(dp(PADDING))
            .overflow_y_scroll()
            .track_scroll(&level.scroll)
            .children(self.render_items(at, level, window, cx));
        div()
            .id(("menu-level", at))
            .test_support()
            .role(Role::Menu)
            .aria_label(level.name.clone())
            .when(at == 0, |div| {
                div.track_focus(&self.focus)
                    .on_mouse_down_out(cx.listener(Self::pressed_outside))
            })
            .flex()
            .flex_col()
            .min_w(dp(160.0))
            .max_w(space.width)
            .rounded(dp(6.0))
            .border_1()
            .border_color(theme.colors.border_strong)
            .bg(theme.colors.raised)
            .shadow_lg()
            .font_family(theme.fonts.ui_family.clone())
            .text_size(dp(13.0))
            .cursor_default()
            .child(list)
            .vertical_scrollbar(&level.scroll)
            .children(self.render_level(at + 1, space, window, cx))
    }
}
