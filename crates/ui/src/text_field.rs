//! A text field of one or a few lines, built on the kit's.

use gpui_kit::component::Sizable as _;
use gpui_kit::component::input::{Copy, Cut, Input, InputState, Paste, SelectAll};
use gpui_kit::prelude::FluentBuilder as _;
use gpui_kit::{
    AnyElement, App, Entity, Focusable as _, InteractiveElement as _, IntoElement, MouseButton,
    ParentElement as _, RenderOnce, SharedString, Styled as _, Window, div, px,
};

use crate::foreign::one_line;
use crate::icon::Icon;
use crate::menu::{ContextMenuState, Menu, take_press};
use crate::theme::{ActiveTheme as _, dp};

/// A field over the kit's `InputState`, which holds the text and reports changes.
#[derive(IntoElement)]
pub struct TextField {
    state: Entity<InputState>,
    name: SharedString,
    icon: Option<Icon>,
    bare: bool,
    mono: bool,
    error: Option<SharedString>,
    end: Vec<AnyElement>,
}

impl TextField {
    /// Creates a field named after its expected content.
    pub fn new(state: &Entity<InputState>, name: impl Into<SharedString>) -> Self {
        Self {
            state: state.clone(),
            name: one_line(name),
            icon: None,
            bare: false,
            mono: false,
            error: None,
            end: Vec::new(),
        }
    }

    /// Adds an icon at the start.
    pub fn icon(mut self, icon: Icon) -> Self {
        self.icon = Some(icon);
        self
    }

    /// Removes the frame, for containers that draw one.
    pub fn bare(mut self) -> Self {
        self.bare = true;
        self
    }

    /// Uses the code font.
    pub fn mono(mut self) -> Self {
        self.mono = true;
        self
    }

    /// Sets the error message shown below the field.
    pub fn error(mut self, error: Option<SharedString>) -> Self {
        self.error = error;
        self
    }

    /// Adds an element at the end, such as a button.
    pub fn end_element(mut self, element: impl IntoElement) -> Self {
        self.end.push(element.into_any_element());
        self
    }
}

/// Builds the context menu of a field.
fn menu(state: &Entity<InputState>, cx: &App) -> Menu {
    let state = state.read(cx);
    let can = state.context_menu_capabilities();
    Menu::new()
        .focus(state.focus_handle(cx))
        .action_if("Cut", Box::new(Cut), can.is_editable() && can.is_copyable())
        .action_if("Copy", Box::new(Copy), can.is_copyable())
        .action_if("Paste", Box::new(Paste), can.is_editable())
        .separator()
        .action("Select all", Box::new(SelectAll))
}

impl RenderOnce for TextField {
    fn render(self, window: &mut Window, cx: &mut App) -> impl IntoElement {
        let is_focused = self.state.read(cx).focus_handle(cx).is_focused(window);
        let theme = cx.theme().clone();
        let c = theme.colors;
        let border = match (&self.error, is_focused) {
            (Some(_), _) => c.error,
            (None, true) => c.focus,
            (None, false) => c.border_strong,
        };
        let mono = theme.fonts.code_family.clone();
        let key = ("text-field-menu", self.state.entity_id());
        let open = window.use_keyed_state(key, cx, |_, _| ContextMenuState::default());
        let popup = open.read(cx).popup();
        let (open, state) = (open.downgrade(), self.state.downgrade());
        let input = Input::new(&self.state)
            .small()
            .aria_label(self.name)
            .appearance(false)
            .bordered(false)
            .focus_bordered(false)
            .text_size(dp(13.0))
            .px_0()
            .context_menu(move |none, window, cx| {
                let menu = state.upgrade().map(|state| menu(&state, cx));
                let position = window.mouse_position();
                let opened = open.update(cx, |open, cx| {
                    if let Some(menu) = menu {
                        open.open(menu, position, window, cx);
                    }
                });
                // A field that is gone needs no menu.
                opened.ok();
                // The kit does not show a menu without items.
                none
            })
            .when(self.mono, |input| input.font_family(mono));
        let field = div()
            .flex()
            .w_full()
            .items_center()
            .gap(dp(6.0))
            .when(!self.bare, |div| {
                div.h(dp(28.0))
                    .px(dp(8.0))
                    .rounded(px(4.0))
                    .border_1()
                    .border_color(border)
                    .bg(c.sunken)
            })
            .on_mouse_down(MouseButton::Right, |_, window, cx| {
                take_press(window, cx);
            })
            .children(self.icon.map(|icon| icon.color(c.muted)))
            .child(div().flex_1().min_w_0().child(input))
            .children(self.end)
            .children(popup);
        div()
            .flex()
            .flex_col()
            .w_full()
            .gap(dp(4.0))
            .child(field)
            .children(
                self.error
                    .map(|error| div().text_size(dp(12.0)).text_color(c.error).child(error)),
            )
    }
}

#[cfg(test)]
mod tests;
