//! A separator line between elements.

use gpui_kit::{App, IntoElement, RenderOnce, Styled as _, Window, div, px};

use crate::theme::ActiveTheme as _;

/// A line of one pixel, horizontal or vertical.
#[derive(IntoElement)]
pub struct Divider {
    vertical: bool,
}

impl Divider {
    /// Creates a horizontal line.
    pub fn horizontal() -> Self {
        Self { vertical: false }
    }

    /// Creates a vertical line.
    pub fn vertical() -> Self {
        Self { vertical: true }
    }
}

impl RenderOnce for Divider {
    fn render(self, _: &mut Window, cx: &mut App) -> impl IntoElement {
        let line = div().flex_none().bg(cx.theme().colors.border);
        if self.vertical {
            line.w(px(1.0)).h_full()
        } else {
            line.h(px(1.0)).w_full()
        }
    }
}
