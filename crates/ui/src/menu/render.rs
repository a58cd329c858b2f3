//! Drawing of an open menu.
//!
//! Invariant: no level is larger than the window, or than the space below the control that opened the
//! menu; what does not fit scrolls or is elided.

use gpui_kit::base::{Align, POPUP_PRIORITY, Placement, Positioner};
use gpui_kit::component::scroll::ScrollableElement as _;
use gpui_kit::prelude::FluentBuilder as _;
use gpui_kit::{
    Anchor, AnyElement, Context, Decorations, Div, InteractiveElement as _, IntoElement,
    ParentElement as _, Pixels, Render, Role, SharedString, Size, StatefulInteractiveElement as _,
    Styled as _, StyledText, TestSupportExt as _, Toggled, Window, deferred, div, px, size,
};

use super::MenuItem;
use super::cascade::MenuLevel;
use super::popup::{MenuAnchor, PopupMenu};
use crate::divider::Divider;
use crate::icon::{Icon, IconSize};
use crate::theme::{ActiveTheme as _, dp};
use crate::tooltip::Tooltip;

/// Distance between a menu and the edge of the window.
const MARGIN: Pixels = px(4.0);
/// Padding of a level, in design pixels.
const PADDING: f32 = 4.0;
/// Maximum width of a level, in design pixels.
const MAX_WIDTH: f32 = 480.0;
/// Minimum height of a level that does not fit, in design pixels.
const MIN_HEIGHT: f32 = 96.0;

/// An item with its position.
struct ItemPlace<'a> {
    item: &'a MenuItem,
    level: usize,
    ix: usize,
    is_selected: bool,
    /// Whether the labels of the level are indented by an icon.
    has_icons: bool,
}

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
            .rounded(px(6.0))
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

    fn render_items(
        &self,
        at: usize,
        level: &MenuLevel,
        window: &Window,
        cx: &Context<Self>,
    ) -> Vec<AnyElement> {
        let has_icons = level.items.iter().any(|item| item.icon().is_some());
        let places = level.items.iter().enumerate().map(|(ix, item)| ItemPlace {
            item,
            level: at,
            ix,
            is_selected: level.selected == Some(ix),
            has_icons,
        });
        places
            .map(|place| match place.item {
                MenuItem::Separator => div()
                    .flex_none()
                    .py(dp(4.0))
                    .child(Divider::horizontal())
                    .into_any_element(),
                MenuItem::Action {
                    label,
                    action,
                    checked,
                    ..
                } => {
                    let keys = self.keys(action.as_ref(), window, cx);
                    let role = checked.map_or(Role::MenuItem, |_| Role::MenuItemCheckBox);
                    render_item(&place, role, label, keys.map(KeysOrArrow::Keys), cx)
                }
                MenuItem::Submenu { label, .. } => {
                    render_item(&place, Role::MenuItem, label, Some(KeysOrArrow::Arrow), cx)
                }
            })
            .collect()
    }
}

/// End of an item.
enum KeysOrArrow {
    Keys(SharedString),
    Arrow,
}

fn render_item(
    place: &ItemPlace<'_>,
    role: Role,
    label: &SharedString,
    end: Option<KeysOrArrow>,
    cx: &Context<PopupMenu>,
) -> AnyElement {
    let colors = cx.theme().colors;
    let (level, ix) = (place.level, place.ix);
    let enabled = place.item.is_selectable();
    let checked = match place.item {
        MenuItem::Action { checked, .. } => *checked,
        MenuItem::Submenu { .. } | MenuItem::Separator => None,
    };
    let text = StyledText::new(label.clone());
    let layout = text.layout().clone();
    let icon = place.has_icons.then(|| {
        let icon = place.item.icon();
        let slot = div().flex().flex_none().w(dp(16.0)).justify_center();
        slot.children(icon.map(|icon| icon.size(IconSize::Medium)))
    });
    div()
        .id(("menu-item", ix))
        .test_support()
        .role(role)
        .aria_label(label.clone())
        .aria_selected(place.is_selected)
        .when(place.is_selected, |row| row.aria_active_descendant())
        .when_some(checked, |row, on| {
            row.aria_toggled(if on { Toggled::True } else { Toggled::False })
        })
        .flex()
        .flex_none()
        .items_center()
        .gap(dp(6.0))
        .h(dp(24.0))
        .px(dp(8.0))
        .rounded(px(4.0))
        .text_color(if enabled {
            colors.text
        } else {
            colors.disabled
        })
        .when(place.is_selected, |row| row.bg(colors.selected))
        .when(enabled, |row| {
            row.on_hover(cx.listener(move |popup, hovered: &bool, window, cx| {
                popup.hover(level, ix, *hovered, window, cx);
            }))
            .on_click(cx.listener(move |popup, _, window, cx| {
                popup.activate(level, ix, window, cx);
            }))
        })
        .tooltip(Tooltip::of_elided(label.clone(), layout))
        .children(icon)
        .child(
            div()
                .flex_auto()
                .min_w_0()
                .overflow_hidden()
                .whitespace_nowrap()
                .text_ellipsis_middle()
                .child(text),
        )
        .children(end.map(|end| render_end(end, cx)))
        .into_any_element()
}

fn render_end(end: KeysOrArrow, cx: &Context<PopupMenu>) -> AnyElement {
    let color = cx.theme().colors.muted;
    match end {
        KeysOrArrow::Keys(keys) => div()
            .id("menu-keys")
            .test_support()
            .flex_none()
            .pl(dp(16.0))
            .text_size(dp(12.0))
            .text_color(color)
            .child(keys)
            .into_any_element(),
        KeysOrArrow::Arrow => {
            let arrow = Icon::ChevronRight.size(IconSize::Small);
            arrow.color(color).into_any_element()
        }
    }
}
