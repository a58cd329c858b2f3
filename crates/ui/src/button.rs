//! Text buttons and icon buttons.
//!
//! A button that runs an action shows its key binding in the tooltip; `on_click` is for handlers
//! that are not actions.

use gpui_kit::prelude::FluentBuilder as _;
use gpui_kit::{
    Action, App, ClickEvent, ElementId, FocusHandle, InteractiveElement as _, IntoElement,
    ParentElement as _, RenderOnce, Role, SharedString, StatefulInteractiveElement as _,
    Styled as _, TestSupportExt as _, Toggled, Window, div, px,
};

use crate::foreign::{multi_line, one_line};
use crate::icon::{Icon, IconSize};
use crate::key_hint::keys_here;
use crate::theme::{ActiveTheme as _, dp};
use crate::tooltip::Tooltip;

type OnClick = Box<dyn Fn(&ClickEvent, &mut Window, &mut App)>;

/// Visual emphasis of a button.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ButtonStyle {
    /// A bordered, neutral button.
    #[default]
    Plain,
    /// The default button of a dialog.
    Primary,
    /// Text without border or background.
    Ghost,
    /// A button for destructive operations.
    Danger,
}

/// A button with a text label.
#[derive(IntoElement)]
pub struct Button {
    id: ElementId,
    label: SharedString,
    icon: Option<Icon>,
    style: ButtonStyle,
    disabled: Option<SharedString>,
    action: Option<Box<dyn Action>>,
    shows_keys: bool,
    on_click: Option<OnClick>,
    focus: Option<FocusHandle>,
}

impl Button {
    /// Creates a button; the label names its effect.
    pub fn new(id: impl Into<ElementId>, label: impl Into<SharedString>) -> Self {
        Self {
            id: id.into(),
            label: one_line(label),
            icon: None,
            style: ButtonStyle::Plain,
            disabled: None,
            action: None,
            shows_keys: false,
            on_click: None,
            focus: None,
        }
    }

    /// Adds an icon before the label.
    pub fn icon(mut self, icon: Icon) -> Self {
        self.icon = Some(icon);
        self
    }

    /// Sets the visual emphasis.
    pub fn style(mut self, style: ButtonStyle) -> Self {
        self.style = style;
        self
    }

    /// Disables the button and shows the reason as its tooltip. `None` enables the button.
    pub fn disabled(mut self, why: Option<SharedString>) -> Self {
        self.disabled = why.map(multi_line);
        self
    }

    /// Dispatches this action from the focused element when the button is clicked. The tooltip
    /// shows the action's key binding.
    pub fn action(mut self, action: Box<dyn Action>) -> Self {
        self.action = Some(action);
        self
    }

    /// Shows the action's key binding after the label.
    pub fn with_keys(mut self) -> Self {
        self.shows_keys = true;
        self
    }

    /// Sets the handler for clicks.
    pub fn on_click(
        mut self,
        on_click: impl Fn(&ClickEvent, &mut Window, &mut App) + 'static,
    ) -> Self {
        self.on_click = Some(Box::new(on_click));
        self
    }

    /// Uses this focus handle instead of an own one.
    pub fn track_focus(mut self, focus: &FocusHandle) -> Self {
        self.focus = Some(focus.clone());
        self
    }
}

impl RenderOnce for Button {
    fn render(self, window: &mut Window, cx: &mut App) -> impl IntoElement {
        let c = cx.theme().colors;
        let action = self.action.as_deref().filter(|_| self.shows_keys);
        let keys = action.and_then(|action| keys_here(action, window, cx));
        let keys = keys.map(|keys| div().text_size(dp(11.0)).opacity(0.75).child(keys));
        let (ground, letters, border) = match self.style {
            ButtonStyle::Plain => (c.raised, c.text, c.border_strong),
            ButtonStyle::Primary => (c.accent, c.accent_text, c.accent),
            ButtonStyle::Ghost => (c.raised.opacity(0.0), c.text, c.raised.opacity(0.0)),
            ButtonStyle::Danger => (c.raised, c.error, c.error),
        };
        let enabled = self.disabled.is_none();
        // A disabled button has no emphasis.
        let (ground, border) = if enabled || self.style == ButtonStyle::Ghost {
            (ground, border)
        } else {
            (c.raised, c.border)
        };
        let tooltip = match (&self.disabled, &self.action) {
            (Some(why), _) => Some((why.clone(), None)),
            (None, Some(action)) => Some((self.label.clone(), Some(action.boxed_clone()))),
            (None, None) => None,
        };
        div()
            .id(self.id)
            .test_support()
            .role(Role::Button)
            .aria_label(self.label.clone())
            .when_some(self.disabled.clone(), |div, why| div.aria_description(why))
            .map(|div| match &self.focus {
                Some(focus) => div.track_focus(focus),
                None => div.tab_index(0),
            })
            .flex()
            .flex_none()
            .items_center()
            .gap(dp(6.0))
            .h(dp(26.0))
            .px(dp(10.0))
            .rounded(px(4.0))
            .border_1()
            .border_color(border)
            .bg(ground)
            .text_size(dp(13.0))
            .text_color(if enabled { letters } else { c.disabled })
            .focus_visible(|style| style.border_color(c.focus))
            .when(enabled, |div| {
                div.cursor_pointer()
                    .hover(|style| style.bg(ground.blend(c.hover)))
            })
            .children(self.icon.map(|icon| icon.size(IconSize::Medium)))
            .child(self.label)
            .children(keys)
            .when_some(tooltip, |div, (text, action)| match action {
                Some(action) => div.tooltip(Tooltip::for_action(text, action.as_ref())),
                None => div.tooltip(Tooltip::text(text)),
            })
            .when(enabled, |div| {
                div.on_click(press(self.action, self.on_click))
            })
    }
}

/// A button with an icon; its name is its tooltip.
#[derive(IntoElement)]
pub struct IconButton {
    id: ElementId,
    icon: Icon,
    name: SharedString,
    pressed: Option<bool>,
    disabled: bool,
    small: bool,
    tab_stop: bool,
    action: Option<Box<dyn Action>>,
    on_click: Option<OnClick>,
}

impl IconButton {
    /// Creates an icon button; the name describes its effect.
    pub fn new(id: impl Into<ElementId>, icon: Icon, name: impl Into<SharedString>) -> Self {
        Self {
            id: id.into(),
            icon,
            name: one_line(name),
            pressed: None,
            disabled: false,
            small: false,
            tab_stop: true,
            action: None,
            on_click: None,
        }
    }

    /// Makes it a toggle button and sets its state.
    pub fn pressed(mut self, pressed: bool) -> Self {
        self.pressed = Some(pressed);
        self
    }

    /// Disables the icon button.
    pub fn disabled(mut self, disabled: bool) -> Self {
        self.disabled = disabled;
        self
    }

    /// Uses the small size, for rows and tabs.
    pub fn small(mut self) -> Self {
        self.small = true;
        self
    }

    /// Sets whether Tab stops here; not needed if keys of the surrounding list have the same
    /// effect.
    pub fn tab_stop(mut self, tab_stop: bool) -> Self {
        self.tab_stop = tab_stop;
        self
    }

    /// Dispatches this action from the focused element when the button is clicked. The tooltip
    /// shows the action's key binding.
    pub fn action(mut self, action: Box<dyn Action>) -> Self {
        self.action = Some(action);
        self
    }

    /// Sets the handler for clicks.
    pub fn on_click(
        mut self,
        on_click: impl Fn(&ClickEvent, &mut Window, &mut App) + 'static,
    ) -> Self {
        self.on_click = Some(Box::new(on_click));
        self
    }
}

impl RenderOnce for IconButton {
    fn render(self, _: &mut Window, cx: &mut App) -> impl IntoElement {
        let c = cx.theme().colors;
        let on = self.pressed == Some(true);
        let color = if self.disabled {
            c.disabled
        } else if on {
            c.text
        } else {
            c.muted
        };
        let (side, size) = if self.small {
            (20.0, IconSize::Medium)
        } else {
            (26.0, IconSize::Large)
        };
        let name = self.name.clone();
        div()
            .id(self.id)
            .test_support()
            .role(Role::Button)
            .aria_label(self.name)
            .when_some(self.pressed, |div, on| {
                div.aria_toggled(if on { Toggled::True } else { Toggled::False })
            })
            .when(self.tab_stop, |div| div.tab_index(0))
            .flex()
            .flex_none()
            .items_center()
            .justify_center()
            .size(dp(side))
            .rounded(px(4.0))
            .border_1()
            .border_color(c.raised.opacity(0.0))
            .when(on, |div| div.bg(c.selected))
            .focus_visible(|style| style.border_color(c.focus))
            .when(!self.disabled, |div| {
                div.cursor_pointer().hover(|style| style.bg(c.hover))
            })
            .child(self.icon.size(size).color(color))
            .map(|div| match &self.action {
                Some(action) => div.tooltip(Tooltip::for_action(name, action.as_ref())),
                None => div.tooltip(Tooltip::text(name)),
            })
            .when(!self.disabled, |div| {
                div.on_click(press(self.action, self.on_click))
            })
    }
}

/// Returns the handler of a click: it calls `on_click`, then dispatches `action`.
fn press(
    action: Option<Box<dyn Action>>,
    on_click: Option<OnClick>,
) -> impl Fn(&ClickEvent, &mut Window, &mut App) + 'static {
    move |event, window, cx| {
        if let Some(on_click) = &on_click {
            on_click(event, window, cx);
        }
        if let Some(action) = &action {
            window.dispatch_action(action.boxed_clone(), cx);
        }
    }
}
