//! Drawing of an item of a menu: icon or check mark, label, keys or the arrow of a submenu.

use gpui_kit::prelude::FluentBuilder as _;
use gpui_kit::{
    AnyElement, Context, InteractiveElement as _, IntoElement, MouseMoveEvent, ParentElement as _,
    Role, SharedString, StatefulInteractiveElement as _, Styled as _, StyledText,
    TestSupportExt as _, Toggled, Window, div,
};

use super::MenuItem;
use super::cascade::MenuLevel;
use super::popup::PopupMenu;
use crate::a11y::DisabledElement;
use crate::divider::Divider;
use crate::icon::{Icon, IconSize};
use crate::theme::{ActiveTheme as _, dp};
use crate::tooltip::Tooltip;

/// Height of an item, in design pixels.
const HEIGHT: f32 = 24.0;

/// An item with its position.
struct ItemPlace<'a> {
    item: &'a MenuItem,
    level: usize,
    ix: usize,
    is_selected: bool,
    /// Whether a column for icons precedes the labels of the level.
    has_icons: bool,
    /// Whether the submenu of the item is open; `None` without one.
    is_expanded: Option<bool>,
}

/// End of an item.
enum KeysOrArrow {
    Keys(SharedString),
    Arrow,
}

impl PopupMenu {
    /// Renders the items of a level.
    pub(super) fn render_items(
        &self,
        at: usize,
        level: &MenuLevel,
        window: &Window,
        cx: &Context<Self>,
    ) -> Vec<AnyElement> {
        let has_icon = |item: &MenuItem| item.icon().is_some() || item.checked().is_some();
        let has_icons = level.items.iter().any(has_icon);
        let items = level.items.iter().enumerate();
        items
            .map(|(ix, item)| {
                let is_selected = level.selected == Some(ix);
                let place = ItemPlace {
                    item,
                    level: at,
                    ix,
                    is_selected,
                    has_icons,
                    is_expanded: matches!(item, MenuItem::Submenu { .. }).then_some(is_selected),
                };
                self.render_item(&place, window, cx)
            })
            .collect()
    }

    fn render_item(
        &self,
        place: &ItemPlace<'_>,
        window: &Window,
        cx: &Context<Self>,
    ) -> AnyElement {
        match place.item {
            MenuItem::Separator => div()
                .flex_none()
                .py(dp(4.0))
                .child(Divider::horizontal())
                .into_any_element(),
            MenuItem::Action { label, action, .. } => {
                let keys = self.keys(action.as_ref(), window, cx);
                render_row(place, label, keys.map(KeysOrArrow::Keys), cx)
            }
            MenuItem::Submenu { label, .. } => {
                render_row(place, label, Some(KeysOrArrow::Arrow), cx)
            }
        }
    }
}

fn render_row(
    place: &ItemPlace<'_>,
    label: &SharedString,
    end: Option<KeysOrArrow>,
    cx: &Context<PopupMenu>,
) -> AnyElement {
    let colors = cx.theme().colors;
    let (level, ix) = (place.level, place.ix);
    let enabled = place.item.is_selectable();
    let checked = place.item.checked();
    let text = StyledText::new(label.clone());
    let layout = text.layout().clone();
    let row = div()
        .id(("menu-item", ix))
        .role(checked.map_or(Role::MenuItem, |_| Role::MenuItemCheckBox))
        .aria_label(label.clone())
        .aria_selected(place.is_selected)
        .when(place.is_selected, |row| row.aria_active_descendant())
        .when_some(place.is_expanded, |row, is_open| row.aria_expanded(is_open))
        .when_some(checked, |row, on| {
            row.aria_toggled(if on { Toggled::True } else { Toggled::False })
        })
        .when_some(end.as_ref(), |row, end| match end {
            KeysOrArrow::Keys(keys) => row.aria_keyshortcuts(keys.clone()),
            KeysOrArrow::Arrow => row,
        })
        .flex()
        .flex_none()
        .items_center()
        .gap(dp(6.0))
        .h(dp(HEIGHT))
        .px(dp(8.0))
        .rounded(dp(4.0))
        .text_color(if enabled {
            colors.text
        } else {
            colors.disabled
        })
        .when(place.is_selected, |row| row.bg(colors.selected))
        .when(enabled, |row| {
            row.on_mouse_move(cx.listener(move |popup, event: &MouseMoveEvent, _, cx| {
                popup.point(level, ix, event.position, cx);
            }))
            .on_hover(cx.listener(move |popup, hovered: &bool, window, cx| {
                if !hovered {
                    popup.unpoint(level, ix, window, cx);
                }
            }))
            .on_click(cx.listener(move |popup, _, window, cx| {
                popup.activate(level, ix, window, cx);
            }))
        })
        .tooltip(Tooltip::of_elided(label.clone(), layout))
        .children(place.has_icons.then(|| render_icon(place.item)))
        .child(
            div()
                .flex_auto()
                .min_w_0()
                .overflow_hidden()
                .whitespace_nowrap()
                .text_ellipsis_middle()
                .child(text),
        )
        .children(end.map(|end| render_end(end, enabled, cx)));
    DisabledElement::new(row, !enabled)
        .test_support()
        .into_any_element()
}

fn render_icon(item: &MenuItem) -> impl IntoElement + use<> {
    let slot = div().flex().flex_none().w(dp(16.0)).justify_center();
    slot.children(item.icon().map(|icon| icon.size(IconSize::Medium)))
}

fn render_end(end: KeysOrArrow, enabled: bool, cx: &Context<PopupMenu>) -> AnyElement {
    let colors = cx.theme().colors;
    let color = if enabled {
        colors.muted
    } else {
        colors.disabled
    };
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
