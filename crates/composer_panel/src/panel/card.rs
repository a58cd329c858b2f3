//! The frame of cards that wait for the user.

use gpui_kit::base::ObservedElement;
use gpui_kit::{
    Div, Hsla, InteractiveElement as _, Role, Stateful, StatefulInteractiveElement as _,
    Styled as _, TestSupportExt as _, div, px,
};
use ui::dp;

/// An empty frame; the text and the buttons are added as children.
pub(super) fn card(
    id: &'static str,
    role: Role,
    border: Hsla,
    ground: Hsla,
) -> ObservedElement<Stateful<Div>> {
    div()
        .id(id)
        .role(role)
        .test_support()
        .flex()
        .flex_col()
        .gap(dp(8.0))
        .p(dp(12.0))
        .rounded(px(6.0))
        .border_1()
        .border_color(border)
        .bg(ground)
}
