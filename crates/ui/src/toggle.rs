//! Boolean controls: a checkbox and a switch.

use gpui_kit::prelude::FluentBuilder as _;
use gpui_kit::{
    App, ElementId, InteractiveElement as _, IntoElement, ParentElement as _, RenderOnce, Role,
    SharedString, StatefulInteractiveElement as _, Styled as _, TestSupportExt as _, Toggled,
    Window, div, px,
};

use crate::foreign::one_line;
use crate::icon::{Icon, IconSize};
use crate::theme::{ActiveTheme as _, dp};

type OnChange = Box<dyn Fn(bool, &mut Window, &mut App)>;

/// A checkbox, for one of several options.
#[derive(IntoElement)]
pub struct Checkbox {
    id: ElementId,
    label: SharedString,
    checked: bool,
    on_change: Option<OnChange>,
}

impl Checkbox {
    /// Creates a checkbox; the label describes the checked state.
    pub fn new(id: impl Into<ElementId>, label: impl Into<SharedString>, checked: bool) -> Self {
        Self {
            id: id.into(),
            label: one_line(label),
            checked,
            on_change: None,
        }
    }

    /// Sets the handler for the new state.
    pub fn on_change(mut self, on_change: impl Fn(bool, &mut Window, &mut App) + 'static) -> Self {
        self.on_change = Some(Box::new(on_change));
        self
    }
}

impl RenderOnce for Checkbox {
    fn render(self, _: &mut Window, cx: &mut App) -> impl IntoElement {
        let c = cx.theme().colors;
        let checked = self.checked;
        let mark = div()
            .flex()
            .flex_none()
            .items_center()
            .justify_center()
            .size(dp(14.0))
            .rounded(px(3.0))
            .border_1()
            .border_color(if checked { c.accent } else { c.border_strong })
            .when(checked, |div| div.bg(c.accent))
            .when(checked, |div| {
                div.child(Icon::Check.size(IconSize::Small).color(c.accent_text))
            });
        frame(
            self.id,
            Role::CheckBox,
            self.label,
            checked,
            mark,
            self.on_change,
            cx,
        )
    }
}

/// A switch, for settings that take effect immediately.
#[derive(IntoElement)]
pub struct Toggle {
    id: ElementId,
    label: SharedString,
    on: bool,
    on_change: Option<OnChange>,
}

impl Toggle {
    /// Creates a switch; the label describes the enabled state.
    pub fn new(id: impl Into<ElementId>, label: impl Into<SharedString>, on: bool) -> Self {
        Self {
            id: id.into(),
            label: one_line(label),
            on,
            on_change: None,
        }
    }

    /// Sets the handler for the new state.
    pub fn on_change(mut self, on_change: impl Fn(bool, &mut Window, &mut App) + 'static) -> Self {
        self.on_change = Some(Box::new(on_change));
        self
    }
}

impl RenderOnce for Toggle {
    fn render(self, _: &mut Window, cx: &mut App) -> impl IntoElement {
        let c = cx.theme().colors;
        let on = self.on;
        let track = div()
            .flex()
            .flex_none()
            .items_center()
            .w(dp(28.0))
            .h(dp(16.0))
            .px(dp(2.0))
            .rounded(dp(8.0))
            .bg(if on { c.accent } else { c.border_strong })
            .when(on, |div| div.justify_end())
            .child(div().size(dp(12.0)).rounded(dp(6.0)).bg(if on {
                c.accent_text
            } else {
                c.surface
            }));
        frame(
            self.id,
            Role::Switch,
            self.label,
            on,
            track,
            self.on_change,
            cx,
        )
    }
}

fn frame(
    id: ElementId,
    role: Role,
    label: SharedString,
    on: bool,
    mark: impl IntoElement,
    on_change: Option<OnChange>,
    cx: &App,
) -> impl IntoElement {
    let c = cx.theme().colors;
    div()
        .id(id)
        .test_support()
        .role(role)
        .aria_label(label.clone())
        .aria_toggled(if on { Toggled::True } else { Toggled::False })
        .tab_index(0)
        .flex()
        .items_center()
        .gap(dp(8.0))
        .px(dp(4.0))
        .rounded(px(4.0))
        .border_1()
        .border_color(c.raised.opacity(0.0))
        .focus_visible(|style| style.border_color(c.focus))
        .cursor_pointer()
        .text_size(dp(13.0))
        .child(mark)
        .child(label)
        .when_some(on_change, |div, on_change| {
            div.on_click(move |_, window, cx| on_change(!on, window, cx))
        })
}
