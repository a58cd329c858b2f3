//! Terminals of tasks: each has a tab that is named by its task and used again.

use gpui_kit::{Context, Entity, Focusable as _, SharedString, Window};

use super::{TabPane, TerminalPanel, TerminalPanelEvent};
use crate::service::TerminalRequest;
use crate::view::{EditorPlacement, TerminalView};

/// A terminal in which a task was started.
pub struct LaunchedTerminal {
    /// The terminal.
    pub view: Entity<TerminalView>,
    /// The ended terminal among the texts whose tab it takes over.
    pub replaced: Option<Entity<TerminalView>>,
}

impl TerminalPanel {
    /// Runs a program in the tab of its title: that of an ended task of the same name, or a new one. It starts at once, also
    /// while the panel is hidden, and neither shows its tab nor takes the focus. The window shows it in place of the replaced
    /// one.
    pub fn launch(
        &mut self,
        request: TerminalRequest,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> LaunchedTerminal {
        let name = request.title.clone();
        let is_free = |view: &TerminalView| view.is_task() && view.is_over();
        let in_editor = self.in_editor.iter().position(|pane| {
            let view = pane.view.read(cx);
            let placement = view.placement.as_ref();
            placement.is_some_and(|it| it.name == name) && is_free(view)
        });
        let ended = self.tabs.iter().position(|tab| match &tab.panes[..] {
            [pane] => tab.name == name && is_free(pane.view.read(cx)),
            _ => false,
        });
        let view = self.create_view(request, None, window, cx);
        let mut replaced = None;
        match (in_editor, ended) {
            (Some(at), _) => replaced = self.replace_in_editor(at, &view, window, cx),
            (None, Some(at)) => self.replace_view(at, view.clone(), window, cx),
            (None, None) => {
                let shown = self.tabs.get(self.active).map(|tab| tab.id);
                self.add_tab(view.clone(), name, window, cx);
                let shown = self.tabs.iter().position(|tab| Some(tab.id) == shown);
                self.active = shown.unwrap_or(self.active);
                self.update_shown(cx);
            }
        }
        view.update(cx, |view, cx| view.ensure_started(window, cx));
        LaunchedTerminal { view, replaced }
    }

    fn replace_in_editor(
        &mut self,
        at: usize,
        view: &Entity<TerminalView>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> Option<Entity<TerminalView>> {
        let pane = self.create_pane(view.clone(), window, cx);
        let old = std::mem::replace(self.in_editor.get_mut(at)?, pane);
        let placement = take_place(&old, view, window, cx);
        view.update(cx, |view, _| view.placement = placement);
        self.panes_changed(cx);
        Some(old.view)
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
        let Some(old) = tab.panes.first_mut() else {
            return;
        };
        let old = std::mem::replace(old, pane);
        take_place(&old, &view, window, cx);
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
        if self.views().any(|known| known == view) {
            view.update(cx, |view, _| view.note = note);
            cx.emit(TerminalPanelEvent::Changed);
            cx.notify();
        }
    }
}

/// Ends a terminal whose place another one takes, with the focus. Returns its place among the texts.
fn take_place(
    old: &TabPane,
    view: &Entity<TerminalView>,
    window: &mut Window,
    cx: &mut Context<TerminalPanel>,
) -> Option<EditorPlacement> {
    let had_focus = old.view.read(cx).focus_handle(cx).is_focused(window);
    let placement = old.view.update(cx, |view, cx| {
        view.end(cx);
        view.placement.take()
    });
    if had_focus {
        view.read(cx).focus_handle(cx).focus(window, cx);
    }
    placement
}
