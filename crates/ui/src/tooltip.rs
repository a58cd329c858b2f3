//! Tooltips with text and key bindings.

use gpui_kit::{
    Action, AnyView, App, AppContext as _, Context, InteractiveElement as _, IntoElement,
    ParentElement as _, Render, Role, SharedString, StatefulInteractiveElement as _, Styled as _,
    TestSupportExt as _, TextLayout, Window, div, px,
};

use crate::foreign::multi_line;
use crate::key_hint::KeyHint;
use crate::theme::{ActiveTheme as _, dp};

/// A text with the key binding of an action.
pub struct Tooltip {
    text: SharedString,
    action: Option<Box<dyn Action>>,
    /// Layout of the label that the tooltip completes; nothing is shown if it has the whole text.
    label: Option<TextLayout>,
}

impl Tooltip {
    /// Builds a tooltip with text only.
    pub fn text(
        text: impl Into<SharedString>,
    ) -> impl Fn(&mut Window, &mut App) -> AnyView + 'static {
        let text = multi_line(text);
        move |_, cx| {
            cx.new(|_| Self {
                text: text.clone(),
                action: None,
                label: None,
            })
            .into()
        }
    }

    /// Builds a tooltip with the text of a label, shown only while the label is elided. `layout` is
    /// that of the label's text.
    pub fn of_elided(
        text: SharedString,
        layout: TextLayout,
    ) -> impl Fn(&mut Window, &mut App) -> AnyView + 'static {
        move |_, cx| {
            cx.new(|_| Self {
                text: text.clone(),
                action: None,
                label: Some(layout.clone()),
            })
            .into()
        }
    }

    /// Builds a tooltip with text and an action's key binding.
    pub fn for_action(
        text: impl Into<SharedString>,
        action: &dyn Action,
    ) -> impl Fn(&mut Window, &mut App) -> AnyView + 'static {
        let (text, action) = (multi_line(text), action.boxed_clone());
        move |_, cx| {
            cx.new(|_| Self {
                text: text.clone(),
                action: Some(action.boxed_clone()),
                label: None,
            })
            .into()
        }
    }
}

impl Render for Tooltip {
    fn render(&mut self, window: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let is_complete = |label: &TextLayout| label.text() == *self.text;
        if self.label.as_ref().is_some_and(is_complete) {
            return div();
        }
        let keys = self
            .action
            .as_ref()
            .and_then(|action| KeyHint::for_action(action.as_ref(), window, cx));
        let colors = &cx.theme().colors;
        div().pt(dp(12.0)).pl(dp(4.0)).child(
            div()
                .id("tooltip")
                .test_support()
                .role(Role::Tooltip)
                .aria_label(self.text.clone())
                .flex()
                .items_center()
                .gap(dp(8.0))
                .px(dp(8.0))
                .py(dp(4.0))
                .max_w(dp(480.0))
                .rounded(px(6.0))
                .border_1()
                .border_color(colors.border)
                .bg(colors.raised)
                .shadow_md()
                .text_color(colors.text)
                .font_family(cx.theme().fonts.ui_family.clone())
                .text_size(dp(12.0))
                .child(self.text.clone())
                .children(keys),
        )
    }
}
