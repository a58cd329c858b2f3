//! Terminals of tasks: each has a tab that is named by its task and used again.

use gpui_kit::{Context, Entity, Focusable as _, SharedString, Window};

use super::TerminalPanel;
use crate::service::TerminalRequest;
use crate::view::TerminalView;

impl TerminalPanel {
    /// Runs a program in the tab of its title: that of an ended task of the same name, or a new one. It starts at once, also
    /// while the panel is hidden, and neither shows its tab nor takes the focus.
    pub fn launch(
        &mut self,
        request: TerminalRequest,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> Entity<TerminalView> {
        let name = request.title.clone();
        let is_free = |view: &TerminalView| view.is_task() && view.is_over();
        let ended = self.tabs.iter().position(|tab| match &tab.panes[..] {
            [pane] => tab.name == name && is_free(pane.view.read(cx)),
            _ => false,
        });
        let view = self.create_view(request, None, window, cx);
        match ended {
            Some(at) => self.replace_view(at, view.clone(), window, cx),
            None => {
                let shown = self.tabs.get(self.active).map(|tab| tab.id);
                self.add_tab(view.clone(), name, window, cx);
                let shown = self.tabs.iter().position(|tab| Some(tab.id) == shown);
                self.active = shown.unwrap_or(self.active);
                self.update_shown(cx);
            }
        }
        view.update(cx, |view, cx| view.ensure_started(window, cx));
        view
    }

    fn replace_view(
        &mut self,
        at: usize,
        view: Entity<TerminalView>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let pane = self.create_pane(view.clone(), window, cx);
        let Some(tab) = self.tabs.get_mut(at) else {
            return;
        };
        tab.note = None;
        let Some(old) = tab.panes.first_mut() else {
            return;
        };
        let old = std::mem::replace(old, pane);
        let had_focus = old.view.read(cx).focus_handle(cx).is_focused(window);
        old.view.update(cx, |view, cx| view.end(cx));
        if had_focus {
            view.read(cx).focus_handle(cx).focus(window, cx);
        }
        self.panes_changed(cx);
    }

    /// Shows the tab of a terminal; the focus stays where it is.
    pub fn show(&mut self, view: &Entity<TerminalView>, cx: &mut Context<Self>) {
        let has_view = |tab: &super::PanelTab| tab.panes.iter().any(|pane| pane.view == *view);
        if let Some(at) = self.tabs.iter().position(has_view) {
            self.active = at;
            self.panes_changed(cx);
        }
    }

    /// Sets the note behind the name of a terminal's tab, such as "exit 0 after 1.2 s".
    pub fn set_note(
        &mut self,
        view: &Entity<TerminalView>,
        note: Option<SharedString>,
        cx: &mut Context<Self>,
    ) {
        let has_view = |tab: &&mut super::PanelTab| tab.panes.iter().any(|pane| pane.view == *view);
        if let Some(tab) = self.tabs.iter_mut().find(has_view) {
            tab.note = note;
            cx.notify();
        }
    }
}
