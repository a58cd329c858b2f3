//! A small word or number in a colour that means something.

use gpui_kit::{
    App, Hsla, IntoElement, ParentElement as _, RenderOnce, SharedString, Styled as _, Window, div,
    px,
};

use crate::foreign::one_line;
use crate::theme::{ActiveTheme as _, dp};

/// What a colour says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Nothing in particular.
    #[default]
    Neutral,
    /// To know.
    Info,
    /// It went well.
    Success,
    /// It may go wrong.
    Warning,
    /// It went wrong.
    Error,
    /// Look here.
    Accent,
}

impl Tone {
    /// The colour that says it.
    pub fn color(self, cx: &App) -> Hsla {
        let colors = &cx.theme().colors;
        match self {
            Self::Neutral => colors.muted,
            Self::Info => colors.info,
            Self::Success => colors.success,
            Self::Warning => colors.warning,
            Self::Error => colors.error,
            Self::Accent => colors.accent,
        }
    }
}

/// A small word or number.
#[derive(IntoElement)]
pub struct Badge {
    text: SharedString,
    tone: Tone,
}

impl Badge {
    /// In the colour of secondary text.
    pub fn new(text: impl Into<SharedString>) -> Self {
        Self {
            text: one_line(text),
            tone: Tone::Neutral,
        }
    }

    /// In a colour that means something.
    pub fn tone(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }
}

impl RenderOnce for Badge {
    fn render(self, _: &mut Window, cx: &mut App) -> impl IntoElement {
        let color = self.tone.color(cx);
        div()
            .flex_none()
            .px(dp(5.0))
            .rounded(px(4.0))
            .border_1()
            .border_color(color.opacity(0.5))
            .text_color(color)
            .text_size(dp(11.0))
            .child(self.text)
    }
}
