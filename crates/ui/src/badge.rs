//! A short label or number in a semantic colour.

use gpui_kit::{
    App, Hsla, IntoElement, ParentElement as _, RenderOnce, SharedString, Styled as _, Window, div,
    px,
};

use crate::foreign::one_line;
use crate::theme::{ActiveTheme as _, dp};

/// Semantic tone of a control, which decides its colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// No meaning beyond the text.
    #[default]
    Neutral,
    /// Information for the user.
    Info,
    /// An operation that succeeded.
    Success,
    /// A problem that may occur.
    Warning,
    /// An operation that failed.
    Error,
    /// Draws the user's attention.
    Accent,
}

impl Tone {
    /// Returns the colour of the tone.
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

/// A short label or number.
#[derive(IntoElement)]
pub struct Badge {
    text: SharedString,
    tone: Tone,
}

impl Badge {
    /// Creates a badge in the colour of secondary text.
    pub fn new(text: impl Into<SharedString>) -> Self {
        Self {
            text: one_line(text),
            tone: Tone::Neutral,
        }
    }

    /// Sets the tone of the badge.
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
