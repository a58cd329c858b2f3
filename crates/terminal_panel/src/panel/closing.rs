//! Closing terminals, with a question while a command runs.

use gpui_kit::{
    App, Context, Entity, FocusHandle, Focusable as _, InteractiveElement as _, IntoElement,
    ParentElement as _, StatefulInteractiveElement as _, Styled as _, TestSupportExt as _, Window,
    div,
};
use ui::{ActiveSettings as _, ActiveTheme as _, Button, ButtonStyle, Icon, dp};

use super::{TabPane, TerminalPanel, TerminalPanelEvent};
use crate::actions::{CloseAllTerminals, CloseTerminal, ConfirmQuestion, DismissQuestion};
use crate::view::{TerminalView, detached};

/// The harmless answer to `closing_question`.
pub const KEEP_OPEN: &str = "Keep open";
/// The answer to `closing_question` that ends the running commands.
pub const STOP_AND_CLOSE: &str = "Stop and close";

/// A question whether to close terminals in which commands run.
pub(super) struct ClosingQuestion {
    views: Vec<Entity<TerminalView>>,
    text: String,
    /// Focus of the harmless answer.
    keep: FocusHandle,
}

/// Returns the question before closing these terminals; `None` if no command runs in them, or if the user wants no question.
pub fn closing_question(views: &[Entity<TerminalView>], cx: &App) -> Option<String> {
    if !cx.settings().terminal.confirm_close {
        return None;
    }
    let running = views
        .iter()
        .filter_map(|view| view.read(cx).running_command());
    let running: Vec<String> = running.collect();
    match running.as_slice() {
        [] => None,
        [command] => Some(format!(
            "\u{201c}{command}\u{201d} is running. Stop it and close?"
        )),
        several => Some(format!(
            "{} commands are running. Stop them and close?",
            several.len()
        )),
    }
}

impl TerminalPanel {
    /// Handler of an action: closes the shown terminal.
    pub(super) fn close_terminal(
        &mut self,
        _: &CloseTerminal,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if let Some(view) = self.active_view().cloned() {
            self.ask_to_close(vec![view], window, cx);
        }
    }

    /// Handler of an action: closes all terminals.
    pub(super) fn close_all(
        &mut self,
        _: &CloseAllTerminals,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let views = self.views().cloned().collect();
        self.ask_to_close(views, window, cx);
    }

    /// Closes a tab.
    pub(super) fn close_tab(&mut self, id: u64, window: &mut Window, cx: &mut Context<Self>) {
        if let Some(tab) = self.tabs.iter().find(|tab| tab.id == id) {
            let views = tab.panes.iter().map(|pane| pane.view.clone()).collect();
            self.ask_to_close(views, window, cx);
        }
    }

    /// Closes terminals; asks first if a command runs in one of them.
    fn ask_to_close(
        &mut self,
        views: Vec<Entity<TerminalView>>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let Some(text) = closing_question(&views, cx) else {
            self.close_views(&views, window, cx);
            return;
        };
        let keep = cx.focus_handle().tab_stop(true);
        keep.focus(window, cx);
        self.closing = Some(ClosingQuestion { views, text, keep });
        cx.notify();
    }

    /// Closes a terminal without asking.
    pub(super) fn close_view(
        &mut self,
        view: &Entity<TerminalView>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.close_views(std::slice::from_ref(view), window, cx);
    }

    /// Closes terminals of the panel, or among the texts, without asking.
    pub fn close_views(
        &mut self,
        views: &[Entity<TerminalView>],
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let detached = views.iter().filter_map(|view| detached(view.read(cx)));
        let detached: Vec<_> = detached.collect();
        for view in views {
            view.update(cx, |view, cx| view.end(cx));
        }
        let is_of_panel = !self.take_panes(views).is_empty();
        let in_editor = std::mem::take(&mut self.in_editor).into_iter();
        let is_closed = |pane: &TabPane| views.contains(&pane.view);
        let (closed, kept): (Vec<TabPane>, Vec<TabPane>) = in_editor.partition(is_closed);
        self.in_editor = kept;
        self.panes_changed(cx);
        for title in detached {
            cx.emit(TerminalPanelEvent::Detached(title));
        }
        for pane in closed {
            cx.emit(TerminalPanelEvent::ClosedInEditor(pane.view));
        }
        if !is_of_panel {
            return;
        }
        if self.tabs.is_empty() {
            cx.emit(TerminalPanelEvent::CloseRequested);
        } else {
            self.focus_handle(cx).focus(window, cx);
        }
    }

    /// Removes terminals from the tabs of the panel, and tabs without terminals. The shown tab stays if it has others.
    pub(super) fn take_panes(&mut self, views: &[Entity<TerminalView>]) -> Vec<TabPane> {
        let shown = self.tabs.get(self.active).map(|tab| tab.id);
        let mut taken = Vec::new();
        for tab in &mut self.tabs {
            let panes = std::mem::take(&mut tab.panes).into_iter();
            let is_taken = |pane: &TabPane| views.contains(&pane.view);
            let (gone, kept): (Vec<TabPane>, Vec<TabPane>) = panes.partition(is_taken);
            taken.extend(gone);
            tab.panes = kept;
            tab.active = tab.active.min(tab.panes.len().saturating_sub(1));
        }
        self.tabs.retain(|tab| !tab.panes.is_empty());
        let still = self.tabs.iter().position(|tab| Some(tab.id) == shown);
        let last = self.tabs.len().saturating_sub(1);
        self.active = still.unwrap_or(self.active.min(last));
        taken
    }

    fn answer_closing(&mut self, closes: bool, window: &mut Window, cx: &mut Context<Self>) {
        let Some(question) = self.closing.take() else {
            return;
        };
        if closes {
            self.close_views(&question.views, window, cx);
        } else {
            self.focus_handle(cx).focus(window, cx);
        }
        cx.notify();
    }

    pub(super) fn render_closing(
        &self,
        cx: &mut Context<Self>,
    ) -> Option<impl IntoElement + use<>> {
        let question = self.closing.as_ref()?;
        let colors = cx.theme().colors;
        let keep = Button::new("terminal-keep", KEEP_OPEN)
            .style(ButtonStyle::Primary)
            .track_focus(&question.keep)
            .on_click(cx.listener(|this, _, window, cx| this.answer_closing(false, window, cx)));
        let close = Button::new("terminal-close", STOP_AND_CLOSE)
            .style(ButtonStyle::Danger)
            .on_click(cx.listener(|this, _, window, cx| this.answer_closing(true, window, cx)));
        let strip = div()
            .id("terminal-closing")
            .role(gpui_kit::Role::AlertDialog)
            .aria_label(question.text.clone())
            .test_support()
            .key_context("TerminalQuestion")
            .on_action(cx.listener(|this, _: &ConfirmQuestion, window, cx| {
                let keep = this.closing.as_ref().map(|question| &question.keep);
                // Enter on the other button presses it.
                if keep.is_some_and(|keep| keep.is_focused(window)) {
                    this.answer_closing(false, window, cx);
                } else {
                    cx.propagate();
                }
            }))
            .on_action(cx.listener(|this, _: &DismissQuestion, window, cx| {
                this.answer_closing(false, window, cx);
            }))
            .flex()
            .flex_none()
            .flex_wrap()
            .items_center()
            .gap(dp(8.0))
            .px(dp(12.0))
            .py(dp(6.0))
            .bg(colors.raised)
            .border_b_1()
            .border_color(colors.border)
            .child(Icon::Warning.color(colors.warning))
            .child(div().flex_1().min_w(dp(160.0)).child(question.text.clone()))
            .child(close)
            .child(keep);
        Some(strip)
    }
}
