//! A tab of a tab bar.

use gpui_kit::prelude::FluentBuilder as _;
use gpui_kit::{
    AnyElement, App, ClickEvent, ElementId, Hsla, InteractiveElement, Interactivity, IntoElement,
    MouseButton, ParentElement as _, RenderOnce, Role, SharedString, StatefulInteractiveElement,
    Styled as _, TestSupportExt as _, Window, div, px,
};

use crate::button::IconButton;
use crate::foreign::one_line;
use crate::icon::{Icon, IconSize};
use crate::theme::{ActiveTheme as _, dp};

type OnClick = Box<dyn Fn(&ClickEvent, &mut Window, &mut App)>;
type OnClose = std::rc::Rc<dyn Fn(&mut Window, &mut App)>;

/// A colour for the title of a tab and a count behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct TabMark {
    /// The colour of the title and the count.
    pub color: Hsla,
    /// The count, for display.
    pub count: SharedString,
    /// The meaning of the count for screen readers, such as "2 errors".
    pub spoken: SharedString,
}

/// A tab with a title, an optional leading element and a close button.
///
/// It supports drag and drop like any `div`: it is an `InteractiveElement`.
#[derive(IntoElement)]
pub struct Tab {
    base: gpui_kit::Stateful<gpui_kit::Div>,
    id: ElementId,
    title: SharedString,
    detail: Option<SharedString>,
    start: Option<AnyElement>,
    active: bool,
    behind: bool,
    preview: bool,
    dirty: bool,
    pinned: bool,
    close_left: bool,
    mark: Option<TabMark>,
    on_click: Option<OnClick>,
    on_close: Option<OnClose>,
}

impl Tab {
    /// Creates a tab with a title.
    pub fn new(id: impl Into<ElementId>, title: impl Into<SharedString>) -> Self {
        let id = id.into();
        Self {
            base: div().id(id.clone()),
            id,
            title: one_line(title),
            detail: None,
            start: None,
            active: false,
            behind: false,
            preview: false,
            dirty: false,
            pinned: false,
            close_left: false,
            mark: None,
            on_click: None,
            on_close: None,
        }
    }

    /// Sets the text that distinguishes tabs with the same title, such as a folder.
    pub fn detail(mut self, detail: Option<SharedString>) -> Self {
        self.detail = detail.map(one_line);
        self
    }

    /// Sets the element before the title.
    pub fn start(mut self, start: impl IntoElement) -> Self {
        self.start = Some(start.into_any_element());
        self
    }

    /// Sets whether the tab's content is shown.
    pub fn active(mut self, active: bool) -> Self {
        self.active = active;
        self
    }

    /// Sets whether another pane has the focus; the active mark is then muted.
    pub fn inactive_pane(mut self, behind: bool) -> Self {
        self.behind = behind;
        self
    }

    /// Sets whether the tab is a preview; its title is in italics.
    pub fn preview(mut self, preview: bool) -> Self {
        self.preview = preview;
        self
    }

    /// Sets whether the content is unsaved; a dot replaces the close button.
    pub fn dirty(mut self, dirty: bool) -> Self {
        self.dirty = dirty;
        self
    }

    /// Sets whether the tab is pinned.
    pub fn pinned(mut self, pinned: bool) -> Self {
        self.pinned = pinned;
        self
    }

    /// Puts the close button before the title.
    pub fn close_left(mut self, close_left: bool) -> Self {
        self.close_left = close_left;
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

    /// Sets the handler of the close button and of a middle click on the tab, in place of an
    /// earlier one. Without it, the tab has no close button.
    pub fn on_close(mut self, on_close: impl Fn(&mut Window, &mut App) + 'static) -> Self {
        self.on_close = Some(std::rc::Rc::new(on_close));
        self
    }

    /// Marks the title, for example with the errors of the file.
    pub fn mark(mut self, mark: Option<TabMark>) -> Self {
        self.mark = mark;
        self
    }

    /// Returns the accessible label.
    fn spoken(&self) -> SharedString {
        let mut spoken = self.title.to_string();
        for (is, word) in [
            (self.dirty, ", not saved"),
            (self.pinned, ", pinned"),
            (self.preview, ", preview"),
        ] {
            if is {
                spoken.push_str(word);
            }
        }
        if let Some(mark) = &self.mark {
            spoken.push_str(", ");
            spoken.push_str(&mark.spoken);
        }
        spoken.into()
    }

    /// Renders the button that closes the tab, with its state as icon. Returns `None` if the tab
    /// cannot be closed.
    fn close_button(&self) -> Option<AnyElement> {
        let on_close = self.on_close.clone()?;
        let id = ElementId::NamedChild(std::sync::Arc::new(self.id.clone()), "close".into());
        let (icon, name) = if self.pinned {
            (Icon::Pin, "Pinned; close")
        } else if self.dirty {
            (Icon::CircleDot, "Not saved; close")
        } else {
            (Icon::Close, "Close")
        };
        let button = IconButton::new(id, icon, format!("{name} {}", self.title))
            .small()
            .tab_stop(false)
            .on_click(move |_, window, cx| {
                cx.stop_propagation();
                on_close(window, cx);
            });
        Some(button.into_any_element())
    }
}

impl InteractiveElement for Tab {
    fn interactivity(&mut self) -> &mut Interactivity {
        self.base.interactivity()
    }
}

impl StatefulInteractiveElement for Tab {}

impl RenderOnce for Tab {
    fn render(self, _: &mut Window, cx: &mut App) -> impl IntoElement {
        let c = cx.theme().colors;
        let spoken = self.spoken();
        let close = self.close_button();
        let (left, right) = if self.close_left {
            (close, None)
        } else {
            (None, close)
        };
        let middle = self.on_close.clone();
        let color = self.mark.as_ref().map(|mark| mark.color);
        self.base
            .test_support()
            .role(Role::Tab)
            .aria_label(spoken)
            .aria_selected(self.active)
            .flex()
            .flex_none()
            .items_center()
            .gap(dp(6.0))
            .h(dp(32.0))
            .px(dp(8.0))
            .max_w(dp(240.0))
            .border_r_1()
            .border_b_1()
            .border_color(c.border)
            .text_size(dp(13.0))
            .map(|div| {
                if self.active {
                    div.bg(c.surface)
                        .text_color(c.text)
                        .border_b_1()
                        .border_color(c.surface)
                } else {
                    div.bg(c.sunken)
                        .text_color(c.muted)
                        .hover(|style| style.text_color(c.text))
                }
            })
            .when(self.active, |tab| {
                let mark = if self.behind {
                    c.border_strong
                } else {
                    c.accent
                };
                tab.child(
                    div()
                        .absolute()
                        .top_0()
                        .left_0()
                        .w_full()
                        .h(px(2.0))
                        .bg(mark),
                )
            })
            .children(left)
            .children(self.start)
            .child(
                div()
                    .min_w_0()
                    .truncate()
                    .when(self.preview, |div| div.italic())
                    .when_some(color, |div, color| div.text_color(color))
                    .child(self.title),
            )
            .children(self.mark.map(|mark| {
                div()
                    .flex_none()
                    .text_color(mark.color)
                    .text_size(dp(11.0))
                    .child(mark.count)
            }))
            .children(self.detail.map(|detail| {
                div()
                    .min_w_0()
                    .truncate()
                    .text_color(c.muted)
                    .text_size(dp(12.0))
                    .child(detail)
            }))
            .when(self.dirty && self.on_close.is_none(), |div| {
                div.child(Icon::CircleDot.size(IconSize::Small))
            })
            .children(right)
            .when_some(self.on_click, |div, on_click| {
                div.on_click(move |event, window, cx| on_click(event, window, cx))
            })
            .when_some(middle, |div, on_close| {
                div.on_mouse_up(MouseButton::Middle, move |_, window, cx| {
                    on_close(window, cx)
                })
            })
    }
}
