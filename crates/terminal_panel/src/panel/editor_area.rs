//! Terminals that the window shows as tabs among its texts. They belong to the panel as well, which saves them, quotes
//! them and counts their commands.
//!
//! Invariant: a terminal with an `EditorPlacement` is in `TerminalPanel::in_editor`, every other one in a tab of the panel.

use gpui_kit::{Context, Entity, SharedString, Window};

use super::naming::clean_name;
use super::{PanelTab, TabPane, TerminalPanel, TerminalPanelEvent};
use crate::service::{SavedPane, TerminalRequest};
use crate::view::{EditorPlacement, TerminalView, give_saved};

/// A terminal of the panel that is being dragged by its tab.
#[derive(Clone)]
pub struct DraggedTerminal {
    /// The terminal.
    pub view: Entity<TerminalView>,
    /// The title of its tab.
    pub(crate) title: SharedString,
}

impl TerminalPanel {
    /// Opens a terminal that the window shows among its texts.
    pub fn open_in_editor(
        &mut self,
        request: TerminalRequest,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> Entity<TerminalView> {
        let name = request.title.clone();
        let view = self.create_view(request, None, window, cx);
        let pane = self.create_pane(view.clone(), window, cx);
        self.place_in_editor(pane, name, cx);
        view
    }

    /// Moves a terminal out of the panel, so that the window shows it among its texts. Its program goes on. Returns false
    /// if the panel has no tab with it.
    pub fn move_into_editor(
        &mut self,
        view: &Entity<TerminalView>,
        cx: &mut Context<Self>,
    ) -> bool {
        let has_view = |tab: &&PanelTab| tab.panes.iter().any(|it| it.view == *view);
        let Some(tab) = self.tabs.iter().find(has_view) else {
            return false;
        };
        // The name of several terminals is not that of one of them.
        let name = tab.name.clone().filter(|_| tab.panes.len() == 1);
        for pane in self.take_panes(std::slice::from_ref(view)) {
            self.place_in_editor(pane, name.clone(), cx);
        }
        if self.tabs.is_empty() {
            cx.emit(TerminalPanelEvent::CloseRequested);
        }
        true
    }

    /// Moves a terminal from the texts of the window into a tab of the panel and shows it there. Its program goes on. Returns
    /// false if it is not among the texts.
    pub fn move_into_panel(&mut self, view: &Entity<TerminalView>, cx: &mut Context<Self>) -> bool {
        let at = self.in_editor.iter().position(|pane| pane.view == *view);
        let Some(pane) = at.map(|at| self.in_editor.remove(at)) else {
            return false;
        };
        let placement = view.update(cx, |view, _| view.placement.take());
        self.add_pane(pane, placement.and_then(|it| it.name), cx);
        true
    }

    /// Returns the terminal of a tab that the window restores under its number. It gets its text once the saved terminals
    /// are loaded. Returns `None` if another tab has the number.
    pub fn restore_in_editor(
        &mut self,
        id: u64,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> Option<Entity<TerminalView>> {
        if self.editor_pane(id, cx).is_some() {
            return None;
        }
        let view = self.create_view(TerminalRequest::default(), None, window, cx);
        let pane = self.create_pane(view.clone(), window, cx);
        let placement = EditorPlacement {
            id,
            name: None,
            is_held: !self.saving.is_loaded(),
        };
        view.update(cx, |view, _| view.placement = Some(placement));
        self.next_editor_id = self.next_editor_id.max(id.saturating_add(1));
        self.in_editor.push(pane);
        self.panes_changed(cx);
        Some(view)
    }

    /// Returns whether the window shows a terminal among its texts.
    pub fn is_in_editor(&self, view: &Entity<TerminalView>) -> bool {
        self.in_editor.iter().any(|pane| pane.view == *view)
    }

    /// Returns the terminal among the texts that had the focus last, or the newest one.
    pub fn last_in_editor(&self) -> Option<&Entity<TerminalView>> {
        let last = self.in_editor.last().map(|pane| &pane.view);
        self.focused_in_editor().or(last)
    }

    /// Returns the terminal among the texts that had the focus after all terminals of the panel.
    pub(super) fn focused_in_editor(&self) -> Option<&Entity<TerminalView>> {
        let mut views = self.in_editor.iter().map(|pane| &pane.view);
        views.find(|view| Some(view.entity_id()) == self.last_focused)
    }

    /// Tells each terminal among the texts whether the window shows it.
    pub fn show_in_editor(&self, shown: &[Entity<TerminalView>], cx: &mut Context<Self>) {
        for pane in &self.in_editor {
            let is_shown = shown.contains(&pane.view);
            pane.view
                .update(cx, |view, cx| view.set_shown(is_shown, cx));
        }
    }

    /// Names the tab of a terminal among the texts. An empty name returns to the title of the program.
    pub fn rename_in_editor(
        &mut self,
        view: &Entity<TerminalView>,
        name: &str,
        cx: &mut Context<Self>,
    ) {
        view.update(cx, |view, _| {
            if let Some(placement) = &mut view.placement {
                placement.name = clean_name(name);
            }
        });
        self.panes_changed(cx);
    }

    /// Gives a saved terminal to the tab that waits for it; gives it back if there is none.
    pub(super) fn fill_held(
        &mut self,
        saved: SavedPane,
        cx: &mut Context<Self>,
    ) -> Option<SavedPane> {
        let Some(view) = saved.editor.and_then(|id| self.editor_pane(id, cx)) else {
            return Some(saved);
        };
        view.update(cx, |view, cx| {
            let Some(placement) = view.placement.as_mut().filter(|it| it.is_held) else {
                return Some(saved);
            };
            placement.is_held = false;
            placement.name = saved.name;
            view.set_shell(saved.shell);
            give_saved(view, saved.terminal, cx);
            None
        })
    }

    /// Lets the terminals among the texts start: the saved terminals are loaded, or cannot be.
    pub(super) fn release_held(&mut self, cx: &mut Context<Self>) {
        for pane in &self.in_editor {
            pane.view.update(cx, |view, cx| {
                if let Some(placement) = &mut view.placement {
                    placement.is_held = false;
                }
                cx.notify();
            });
        }
    }

    fn place_in_editor(&mut self, pane: TabPane, name: Option<String>, cx: &mut Context<Self>) {
        let placement = EditorPlacement {
            id: self.next_editor_id,
            name,
            is_held: false,
        };
        self.next_editor_id = self.next_editor_id.saturating_add(1);
        pane.view
            .update(cx, |view, _| view.placement = Some(placement));
        self.in_editor.push(pane);
        self.panes_changed(cx);
    }

    fn editor_pane(&self, id: u64, cx: &Context<Self>) -> Option<Entity<TerminalView>> {
        let mut views = self.in_editor.iter().map(|pane| &pane.view);
        let has_id = |view: &&Entity<TerminalView>| {
            let placement = view.read(cx).placement.as_ref();
            placement.is_some_and(|placement| placement.id == id)
        };
        views.find(has_id).cloned()
    }
}
