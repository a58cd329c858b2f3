//! Words that appear beside what the pointer rests on, with the keys that do the same.

use gpui_kit::{
    Action, AnyView, App, AppContext as _, Context, IntoElement, ParentElement as _, Render,
    SharedString, Styled as _, Window, div, px,
};

use crate::foreign::lines;
use crate::key_hint::KeyHint;
use crate::theme::{ActiveTheme as _, dp};

/// A sentence, and the action whose keys are shown beside it.
pub struct Tooltip {
    text: SharedString,
    action: Option<Box<dyn Action>>,
}

impl Tooltip {
    /// Just the sentence.
    pub fn text(
        text: impl Into<SharedString>,
    ) -> impl Fn(&mut Window, &mut App) -> AnyView + 'static {
        let text = lines(text);
        move |_, cx| {
            cx.new(|_| Self {
                text: text.clone(),
                action: None,
            })
            .into()
        }
    }

    /// The sentence and the keys of an action.
    pub fn for_action(
        text: impl Into<SharedString>,
        action: &dyn Action,
    ) -> impl Fn(&mut Window, &mut App) -> AnyView + 'static {
        let (text, action) = (lines(text), action.boxed_clone());
        move |_, cx| {
            cx.new(|_| Self {
                text: text.clone(),
                action: Some(action.boxed_clone()),
            })
            .into()
        }
    }
}

impl Render for Tooltip {
    fn render(&mut self, window: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let keys = self
            .action
            .as_ref()
            .and_then(|action| KeyHint::for_action(action.as_ref(), window, cx));
        let colors = &cx.theme().colors;
        div().pt(dp(12.0)).pl(dp(4.0)).child(
            div()
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
