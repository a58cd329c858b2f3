//! The frame of everything that waits for the person.

use gpui_kit::base::ObservedElement;
use gpui_kit::{
    Div, Hsla, InteractiveElement as _, Role, Stateful, StatefulInteractiveElement as _,
    Styled as _, TestSupportExt as _, div, px,
};
use ui::dp;

/// An empty frame; what it says and its buttons are children.
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
