//! Renders a terminal: search bar, text, marks of commands, and what lies over the text.

use std::cell::RefCell;
use std::rc::Rc;

use gpui_kit::prelude::FluentBuilder as _;
use gpui_kit::{
    AnyElement, Context, InteractiveElement as _, IntoElement, KeyContext, ModifiersChangedEvent,
    ParentElement as _, Render, Role, SharedString, StatefulInteractiveElement as _, Styled as _,
    TestSupportExt as _, Window, div, px,
};
use terminal::CommandState;
use ui::{
    ActiveTheme as _, Button, ButtonStyle, Icon, IconSize, Menu, MenuExt as _, Tooltip, dp, foreign,
};

use super::contents::CommandMark;
use super::element::{TerminalElement, describe};
use super::links::LinkTarget;
use super::{ProgramState, TerminalStatus, TerminalView};
use super::{commands, control, copy_mode, keys, mouse};
use crate::actions::RestartTerminal;

impl TerminalView {
    fn key_context(&self) -> KeyContext {
        let mut context = KeyContext::default();
        context.add("Terminal");
        let modes = &self.contents.snapshot.modes;
        for (flag, is_set) in [
            ("alternate_screen", modes.is_alternate_screen),
            ("selection", self.contents.snapshot.selection.is_some()),
            ("searching", self.search.bar.is_some()),
            ("ended", self.is_over() && !self.is_agents()),
            ("send_all_keys", self.send_all_keys),
            ("watching", control::can_take_over(self)),
            ("taken", self.has_control()),
            ("copy_mode", self.is_copying()),
        ] {
            if is_set {
                context.add(flag);
            }
        }
        context
    }

    fn accessible_name(&self) -> SharedString {
        let state = match self.status() {
            TerminalStatus::Starting => ", starting",
            TerminalStatus::Running => "",
            TerminalStatus::Ended(_) => ", ended",
            TerminalStatus::Failed => ", not started",
        };
        format!("{}, terminal{state}", self.title()).into()
    }

    fn render_text(&self, cx: &mut Context<Self>) -> impl IntoElement + use<> {
        let accessible = Rc::new(RefCell::new(Vec::new()));
        let element = TerminalElement::new(cx.entity(), accessible.clone());
        let this = cx.weak_entity();
        div()
            .id("terminal")
            .role(Role::Terminal)
            .test_support()
            .aria_label(self.accessible_name())
            .key_context(self.key_context())
            .track_focus(&self.focus)
            .on_key_down(cx.listener(keys::key_down))
            .on_key_up(cx.listener(keys::key_up))
            .on_modifiers_changed(cx.listener(|this, event: &ModifiersChangedEvent, _, cx| {
                let is_over = this.mouse.is_over;
                mouse::point_at_link(this, is_over, &event.modifiers, cx);
            }))
            .a11y_synthetic_children(move |builder| describe(&accessible.borrow(), builder))
            .size_full()
            .child(element)
            .menu_on_right_click(move |window, cx| match this.upgrade() {
                Some(view) => view.read(cx).menu(window),
                None => Menu::new(),
            })
    }

    /// Renders the marks of the commands in view, in the column before the text.
    fn render_marks(&self, cx: &Context<Self>) -> Vec<AnyElement> {
        let marks = self.contents.commands.iter();
        marks
            .filter_map(|mark| self.render_mark(mark, cx))
            .collect()
    }

    fn render_mark(&self, mark: &CommandMark, cx: &Context<Self>) -> Option<AnyElement> {
        let colors = cx.theme().colors;
        let (icon, color) = match mark.state {
            CommandState::Prompt | CommandState::Editing => return None,
            CommandState::Running => (Icon::CircleDot, colors.info),
            CommandState::Finished(None) => (Icon::Circle, colors.muted),
            CommandState::Finished(Some(0)) => (Icon::Circle, colors.success),
            CommandState::Finished(Some(_)) => (Icon::CircleX, colors.error),
        };
        let geometry = self.geometry.as_ref()?;
        let text = foreign::one_line(mark.description());
        let element = div()
            .id(("terminal-command", mark.id.0))
            .role(Role::Image)
            .aria_label(text.clone())
            .test_support()
            .absolute()
            .left_0()
            .top(geometry.y_of(mark.row) - geometry.bounds.top())
            .w(geometry.cells.left() - geometry.bounds.left())
            .h(geometry.line_height)
            .flex()
            .items_center()
            .justify_center()
            .tooltip(Tooltip::text(text))
            .child(icon.size(IconSize::Small).color(color));
        Some(element.into_any_element())
    }

    /// Renders the line of the command whose output is in view, if its prompt is not.
    fn render_sticky(&self, cx: &mut Context<Self>) -> Option<impl IntoElement + use<>> {
        let sticky = self.contents.sticky.as_ref()?;
        let geometry = self.geometry.as_ref()?;
        let theme = cx.theme();
        let (colors, mono) = (theme.colors, theme.fonts.code_family.clone());
        let line = sticky.prompt;
        let text = foreign::one_line(sticky.line.clone());
        let header = div()
            .id("terminal-sticky")
            .role(Role::Button)
            .aria_label(format!("Command: {text}"))
            .test_support()
            .occlude()
            .absolute()
            .top_0()
            .left_0()
            .right(geometry.scrollbar.size.width)
            .h(geometry.line_height + px(4.0))
            .flex()
            .items_center()
            .pl(geometry.cells.left() - geometry.bounds.left())
            .bg(colors.raised)
            .border_b_1()
            .border_color(colors.border)
            .font_family(mono)
            .text_size(dp(12.0))
            .cursor_pointer()
            .tooltip(Tooltip::text("Scroll to the command"))
            .on_click(cx.listener(move |this, _, _, cx| commands::show_line(this, line, cx)))
            .child(div().min_w_0().truncate().child(text));
        Some(header)
    }

    /// Renders the target of the link under the pointer.
    fn render_link(&self, cx: &Context<Self>) -> Option<impl IntoElement + use<>> {
        let text = match self.link.target()? {
            LinkTarget::Url(url) => url.clone(),
            LinkTarget::File { path, line, column } => {
                let part = |part: &Option<u32>| part.map_or(String::new(), |it| format!(":{it}"));
                format!("{}{}{}", path.printable(), part(line), part(column))
            }
        };
        Some(
            label("terminal-link", Role::Tooltip, foreign::one_line(text), cx)
                .left_0()
                .test_support(),
        )
    }

    fn render_notice(&self, cx: &Context<Self>) -> Option<impl IntoElement + use<>> {
        let notice = self.notice.clone()?;
        Some(
            label("terminal-notice", Role::Status, notice, cx)
                .right_0()
                .test_support(),
        )
    }

    /// Renders the strip below the text of a program that ended or did not start.
    fn render_end(&self, cx: &Context<Self>) -> Option<AnyElement> {
        let colors = cx.theme().colors;
        if self.is_agents() {
            let strip =
                control::control_strip("terminal-ended", control::end_of_command(self)?, cx);
            return Some(strip.into_any_element());
        }
        let text: SharedString = match (&self.state, self.status()) {
            (ProgramState::Failed(reason), _) => {
                format!("Cannot start the program: {reason}").into()
            }
            (_, TerminalStatus::Ended(Some(code))) => {
                format!("Process ended with code {code} \u{2014} Enter starts it again").into()
            }
            (_, TerminalStatus::Ended(None)) => {
                "Process was killed \u{2014} Enter starts it again".into()
            }
            _ => return None,
        };
        let restart = Button::new("terminal-restart", "Start again")
            .style(ButtonStyle::Plain)
            .action(Box::new(RestartTerminal));
        let strip = div()
            .id("terminal-ended")
            .role(Role::Status)
            .aria_label(text.clone())
            .test_support()
            .flex()
            .flex_none()
            .flex_wrap()
            .items_center()
            .gap(dp(8.0))
            .px(dp(12.0))
            .py(dp(4.0))
            .border_t_1()
            .border_color(colors.border)
            .bg(colors.raised)
            .text_size(dp(12.0))
            .child(div().flex_1().min_w(dp(120.0)).child(text))
            .child(restart);
        Some(strip.into_any_element())
    }
}

/// Builds a label over the lower edge of the text.
fn label(
    id: &'static str,
    role: Role,
    text: SharedString,
    cx: &Context<TerminalView>,
) -> gpui_kit::Stateful<gpui_kit::Div> {
    let colors = cx.theme().colors;
    div()
        .id(id)
        .role(role)
        .aria_label(text.clone())
        .absolute()
        .bottom_0()
        .max_w_full()
        .px(dp(8.0))
        .py(dp(2.0))
        .bg(colors.raised)
        .border_1()
        .border_color(colors.border)
        .text_color(colors.text)
        .text_size(dp(12.0))
        .truncate()
        .child(text)
}

impl Render for TerminalView {
    fn render(&mut self, window: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let is_held = self.placement.as_ref().is_some_and(|it| it.is_held);
        if matches!(self.state, ProgramState::Waiting) && self.is_shown && !is_held {
            // The terminal is seen now.
            cx.defer_in(window, Self::ensure_started);
        }
        self.refresh(cx);
        let is_starting = matches!(self.state, ProgramState::Starting { .. });
        let body = div()
            .relative()
            .flex_1()
            .min_h_0()
            .w_full()
            .overflow_hidden()
            .child(self.render_text(cx))
            .children(self.render_marks(cx))
            .children(self.render_sticky(cx))
            .children(self.render_link(cx))
            .children(self.render_notice(cx))
            .children(copy_mode::render_copy_badge(self, cx))
            .children(self.render_question(cx))
            .when(is_starting, |body| {
                body.child(label(
                    "terminal-starting",
                    Role::Status,
                    "Starting\u{2026}".into(),
                    cx,
                ))
            });
        let whole = div()
            .flex()
            .flex_col()
            .size_full()
            .children(control::render_control(self, cx))
            .children(self.render_search(cx))
            .child(body)
            .children(self.render_end(cx));
        self.with_actions(whole, cx)
    }
}
