//! Placeholder of an empty view: describes its content and how to add some.

use gpui_kit::{
    AnyElement, App, IntoElement, ParentElement, RenderOnce, SharedString, Styled as _, Window, div,
};

use crate::foreign::multi_line;
use crate::icon::{Icon, IconSize};
use crate::theme::{ActiveTheme as _, dp};

/// An icon, a title, and actions.
#[derive(IntoElement)]
pub struct EmptyState {
    icon: Option<Icon>,
    title: SharedString,
    detail: Option<SharedString>,
    children: Vec<AnyElement>,
}

impl EmptyState {
    /// Creates a placeholder with a title.
    pub fn new(title: impl Into<SharedString>) -> Self {
        Self {
            icon: None,
            title: multi_line(title),
            detail: None,
            children: Vec::new(),
        }
    }

    /// Sets the icon above the title.
    pub fn icon(mut self, icon: Icon) -> Self {
        self.icon = Some(icon);
        self
    }

    /// Adds a second sentence with the reason or advice.
    pub fn detail(mut self, detail: impl Into<SharedString>) -> Self {
        self.detail = Some(multi_line(detail));
        self
    }
}

impl ParentElement for EmptyState {
    fn extend(&mut self, elements: impl IntoIterator<Item = AnyElement>) {
        self.children.extend(elements);
    }
}

impl RenderOnce for EmptyState {
    fn render(self, _: &mut Window, cx: &mut App) -> impl IntoElement {
        let c = cx.theme().colors;
        div()
            .flex()
            .flex_col()
            .size_full()
            .items_center()
            .justify_center()
            .gap(dp(8.0))
            .p(dp(24.0))
            .text_size(dp(13.0))
            .children(
                self.icon
                    .map(|icon| icon.size(IconSize::Huge).color(c.disabled)),
            )
            .child(div().text_color(c.text).child(self.title))
            .children(self.detail.map(|detail| {
                div()
                    .max_w(dp(420.0))
                    .text_center()
                    .text_size(dp(12.0))
                    .text_color(c.muted)
                    .child(detail)
            }))
            .children(self.children)
    }
}
