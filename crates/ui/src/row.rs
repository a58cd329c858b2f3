//! Rows of lists and trees.

use gpui_kit::prelude::FluentBuilder as _;
use gpui_kit::{
    AnyElement, App, ClickEvent, Div, ElementId, InteractiveElement as _, IntoElement,
    ParentElement, RenderOnce, Role, SharedString, Stateful, StatefulInteractiveElement as _,
    Styled as _, TestSupportExt as _, Window, div, px,
};

use gpui_kit::base::ObservedElement;

use crate::foreign::one_line;
use crate::icon::{Icon, IconSize};
use crate::theme::{ActiveTheme as _, dp, row_height};

type OnClick = Box<dyn Fn(&ClickEvent, &mut Window, &mut App)>;

/// A row of a list: 28 design pixels high, or as high as its lines.
#[derive(IntoElement)]
pub struct ListRow {
    id: ElementId,
    name: SharedString,
    selected: bool,
    lines: u8,
    children: Vec<AnyElement>,
    on_click: Option<OnClick>,
}

impl ListRow {
    /// Creates a row named after its item.
    pub fn new(id: impl Into<ElementId>, name: impl Into<SharedString>) -> Self {
        Self {
            id: id.into(),
            name: one_line(name),
            selected: false,
            lines: 1,
            children: Vec::new(),
            on_click: None,
        }
    }

    /// Sets whether the row is selected.
    pub fn selected(mut self, selected: bool) -> Self {
        self.selected = selected;
        self
    }

    /// Sets the number of text lines.
    pub fn lines(mut self, lines: u8) -> Self {
        self.lines = lines.max(1);
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

    /// Returns the height of a row with this many lines, in design pixels.
    pub fn height(lines: u8) -> f32 {
        28.0 + f32::from(lines.saturating_sub(1)) * 18.0
    }
}

impl ParentElement for ListRow {
    fn extend(&mut self, elements: impl IntoIterator<Item = AnyElement>) {
        self.children.extend(elements);
    }
}

impl RenderOnce for ListRow {
    fn render(self, _: &mut Window, cx: &mut App) -> impl IntoElement {
        let height = dp(Self::height(self.lines));
        base(
            self.id,
            Role::ListBoxOption,
            self.name,
            self.selected,
            self.on_click,
            cx,
        )
        .h(height)
        .px(dp(8.0))
        .gap(dp(8.0))
        .children(self.children)
    }
}

/// A row of a tree: 24 design pixels high, indented by its depth.
#[derive(IntoElement)]
pub struct TreeRow {
    id: ElementId,
    name: SharedString,
    depth: usize,
    expanded: Option<bool>,
    selected: bool,
    focused: bool,
    children: Vec<AnyElement>,
    on_click: Option<OnClick>,
}

impl TreeRow {
    /// Creates a row named after its item; top-level rows have depth 0.
    pub fn new(id: impl Into<ElementId>, name: impl Into<SharedString>, depth: usize) -> Self {
        Self {
            id: id.into(),
            name: one_line(name),
            depth,
            expanded: None,
            selected: false,
            focused: false,
            children: Vec::new(),
            on_click: None,
        }
    }

    /// Sets whether the row is expanded; `None` if it has no children.
    pub fn expanded(mut self, expanded: Option<bool>) -> Self {
        self.expanded = expanded;
        self
    }

    /// Sets whether the row is selected.
    pub fn selected(mut self, selected: bool) -> Self {
        self.selected = selected;
        self
    }

    /// Sets whether the tree has the focus, so that the selected row shows the focus ring.
    pub fn focused(mut self, focused: bool) -> Self {
        self.focused = focused;
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
}

impl ParentElement for TreeRow {
    fn extend(&mut self, elements: impl IntoIterator<Item = AnyElement>) {
        self.children.extend(elements);
    }
}

impl RenderOnce for TreeRow {
    fn render(self, _: &mut Window, cx: &mut App) -> impl IntoElement {
        let c = cx.theme().colors;
        let height = row_height(true, cx);
        let arrow = self.expanded.map(|open| {
            if open {
                Icon::ChevronDown
            } else {
                Icon::ChevronRight
            }
        });
        let depth = u16::try_from(self.depth.min(64)).unwrap_or(64);
        base(
            self.id,
            Role::TreeItem,
            self.name,
            self.selected,
            self.on_click,
            cx,
        )
        .aria_level(self.depth + 1)
        .when_some(self.expanded, |div, open| div.aria_expanded(open))
        .when(self.selected && self.focused, |div| {
            div.border_color(c.focus)
        })
        .h(height)
        .pl(dp(4.0 + 12.0 * f32::from(depth)))
        .pr(dp(8.0))
        .gap(dp(4.0))
        .child(
            div()
                .flex()
                .flex_none()
                .size(dp(16.0))
                .items_center()
                .justify_center()
                .children(arrow.map(|icon| icon.size(IconSize::Small).color(c.muted))),
        )
        .children(self.children)
    }
}

fn base(
    id: ElementId,
    role: Role,
    name: SharedString,
    selected: bool,
    on_click: Option<OnClick>,
    cx: &App,
) -> ObservedElement<Stateful<Div>> {
    let c = cx.theme().colors;
    div()
        .id(id)
        .test_support()
        .role(role)
        .aria_label(name)
        .aria_selected(selected)
        .flex()
        .w_full()
        .min_w_0()
        .items_center()
        .rounded(px(4.0))
        .border_1()
        .border_color(c.raised.opacity(0.0))
        .text_size(dp(13.0))
        .text_color(c.text)
        .when(selected, |div| div.bg(c.selected))
        .when(!selected, |div| div.hover(|style| style.bg(c.hover)))
        .when_some(on_click, |div, on_click| {
            div.on_click(move |event, window, cx| on_click(event, window, cx))
        })
}
