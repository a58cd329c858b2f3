//! A strip above a view that reports a problem and offers actions.

use gpui_kit::{
    AnyElement, App, ElementId, InteractiveElement as _, IntoElement, ParentElement, RenderOnce,
    Role, SharedString, StatefulInteractiveElement as _, Styled as _, TestSupportExt as _, Window,
    div,
};

use crate::badge::Tone;
use crate::foreign::multi_line;
use crate::icon::Icon;
use crate::theme::{ActiveTheme as _, dp};

/// A message with buttons.
#[derive(IntoElement)]
pub struct Banner {
    id: ElementId,
    tone: Tone,
    text: SharedString,
    children: Vec<AnyElement>,
}

impl Banner {
    /// Creates a banner with a message; its buttons are children.
    pub fn new(id: impl Into<ElementId>, tone: Tone, text: impl Into<SharedString>) -> Self {
        Self {
            id: id.into(),
            tone,
            text: multi_line(text),
            children: Vec::new(),
        }
    }
}

impl ParentElement for Banner {
    fn extend(&mut self, elements: impl IntoIterator<Item = AnyElement>) {
        self.children.extend(elements);
    }
}

impl RenderOnce for Banner {
    fn render(self, _: &mut Window, cx: &mut App) -> impl IntoElement {
        let c = cx.theme().colors;
        let color = self.tone.color(cx);
        let icon = match self.tone {
            Tone::Warning => Icon::Warning,
            Tone::Error => Icon::CircleX,
            Tone::Success => Icon::CircleCheck,
            Tone::Neutral | Tone::Info | Tone::Accent => Icon::Info,
        };
        div()
            .id(self.id)
            .test_support()
            .role(if self.tone == Tone::Error {
                Role::Alert
            } else {
                Role::Status
            })
            .aria_label(self.text.clone())
            .flex()
            .flex_none()
            .flex_wrap()
            .w_full()
            .items_center()
            .gap(dp(8.0))
            .px(dp(12.0))
            .py(dp(6.0))
            .border_b_1()
            .border_color(color.opacity(0.5))
            .bg(c.raised.blend(color.opacity(0.12)))
            .text_size(dp(13.0))
            .text_color(c.text)
            .child(icon.color(color))
            // In a narrow window, the buttons go below the message.
            .child(div().flex_1().min_w(dp(200.0)).child(self.text))
            .children(self.children)
    }
}
