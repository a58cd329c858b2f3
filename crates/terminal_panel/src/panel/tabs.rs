//! Opening, choosing and splitting terminals.

use std::sync::Arc;

use gpui_kit::{AppContext as _, Context, Entity, Focusable as _, Window};
use terminal::SavedTerminal;

use super::{PanelTab, TabPane, TerminalPanel, TerminalPanelEvent};
use crate::actions::{FocusNextSplit, NewTerminal, NextTerminal, PreviousTerminal, SplitTerminal};
use crate::attached::AttachedProgram;
use crate::service::TerminalRequest;
use crate::view::TerminalView;

/// Most terminals side by side in one tab.
const MAX_SPLITS: usize = 4;

impl TerminalPanel {
    /// Creates the view of a terminal. `saved` is its text from an earlier run of Burin.
    pub(super) fn create_view(
        &mut self,
        mut request: TerminalRequest,
        saved: Option<SavedTerminal>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> Entity<TerminalView> {
        if request.folder.is_none() {
            request.folder.clone_from(&self.folder);
        }
        let service = self.service.clone();
        cx.new(|cx| TerminalView::new(request, saved, service, window, cx))
    }

    pub(super) fn create_pane(
        &self,
        view: Entity<TerminalView>,
        window: &Window,
        cx: &mut Context<Self>,
    ) -> TabPane {
        let events = cx.subscribe_in(&view, window, Self::on_view_event);
        TabPane {
            view,
            _events: events,
        }
    }

    /// Adds a tab behind the shown one and shows it.
    pub(super) fn add_tab(
        &mut self,
        view: Entity<TerminalView>,
        name: Option<String>,
        window: &Window,
        cx: &mut Context<Self>,
    ) {
        let pane = self.create_pane(view, window, cx);
        self.add_pane(pane, name, cx);
    }

    /// Adds a tab with a terminal behind the shown one and shows it.
    pub(super) fn add_pane(&mut self, pane: TabPane, name: Option<String>, cx: &mut Context<Self>) {
        let id = self.next_id;
        self.next_id += 1;
        let tab = PanelTab {
            id,
            name,
            panes: vec![pane],
            active: 0,
        };
        let at = (self.active + 1).min(self.tabs.len());
        self.tabs.insert(at, tab);
        self.active = at;
        self.panes_changed(cx);
    }

    /// Adds a terminal to the last tab, beside its others.
    pub(super) fn add_split(
        &mut self,
        at: usize,
        view: Entity<TerminalView>,
        window: &Window,
        cx: &mut Context<Self>,
    ) {
        let pane = self.create_pane(view, window, cx);
        if let Some(tab) = self.tabs.get_mut(at) {
            let place = (tab.active + 1).min(tab.panes.len());
            tab.panes.insert(place, pane);
            tab.active = place;
        }
        self.panes_changed(cx);
    }

    /// Updates everything that follows from the number and the order of terminals.
    pub(super) fn panes_changed(&mut self, cx: &mut Context<Self>) {
        self.update_shown(cx);
        self.save_soon(cx);
        cx.emit(TerminalPanelEvent::Changed);
        cx.notify();
    }

    /// Opens a terminal for a program of an agent in a new tab and shows it. The request names its sandbox. The focus stays
    /// where it is.
    pub fn open_attached(
        &mut self,
        request: TerminalRequest,
        program: Arc<AttachedProgram>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> Entity<TerminalView> {
        let view = self.open(request, window, cx);
        view.update(cx, |view, _| view.attach(program));
        view
    }

    /// Shows the tab of a terminal. Returns false if the panel has none with it.
    pub fn reveal(
        &mut self,
        view: &Entity<TerminalView>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> bool {
        let has_view = |tab: &PanelTab| tab.panes.iter().any(|pane| pane.view == *view);
        let Some(at) = self.tabs.iter().position(has_view) else {
            return false;
        };
        self.note_focus(view, cx);
        self.activate(at, window, cx);
        true
    }

    /// Tells each terminal whether it is shown.
    pub(super) fn update_shown(&mut self, cx: &mut Context<Self>) {
        for (ix, tab) in self.tabs.iter().enumerate() {
            let is_shown = self.is_visible && ix == self.active;
            for pane in &tab.panes {
                pane.view
                    .update(cx, |view, cx| view.set_shown(is_shown, cx));
            }
        }
    }

    /// Shows a tab and focuses its terminal.
    pub(super) fn activate(&mut self, at: usize, window: &mut Window, cx: &mut Context<Self>) {
        if at < self.tabs.len() {
            self.active = at;
            self.update_shown(cx);
            self.focus_handle(cx).focus(window, cx);
            cx.emit(TerminalPanelEvent::Changed);
            cx.notify();
        }
    }

    pub(super) fn note_focus(&mut self, view: &Entity<TerminalView>, cx: &mut Context<Self>) {
        self.last_focused = Some(view.entity_id());
        for tab in &mut self.tabs {
            if let Some(at) = tab.panes.iter().position(|pane| pane.view == *view) {
                tab.active = at;
            }
        }
        cx.notify();
    }

    /// Handler of an action: opens a terminal in the folder of the shown one.
    pub(super) fn new_terminal(
        &mut self,
        _: &NewTerminal,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.open(TerminalRequest::default(), window, cx);
        self.focus(window, cx);
    }

    /// Handler of an action: opens a terminal beside the shown one, in the folder of its shell.
    pub(super) fn split(&mut self, _: &SplitTerminal, window: &mut Window, cx: &mut Context<Self>) {
        let Some(tab) = self.tabs.get(self.active) else {
            self.focus(window, cx);
            return;
        };
        if tab.panes.len() >= MAX_SPLITS {
            return;
        }
        let folder = self.active_view().and_then(|view| view.read(cx).folder());
        let request = TerminalRequest {
            folder,
            ..TerminalRequest::default()
        };
        let view = self.create_view(request, None, window, cx);
        self.add_split(self.active, view, window, cx);
        self.focus(window, cx);
    }

    /// Handler of an action.
    pub(super) fn next_terminal(
        &mut self,
        _: &NextTerminal,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let count = self.tabs.len().max(1);
        self.activate((self.active + 1) % count, window, cx);
    }

    /// Handler of an action.
    pub(super) fn previous_terminal(
        &mut self,
        _: &PreviousTerminal,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let count = self.tabs.len().max(1);
        self.activate((self.active + count - 1) % count, window, cx);
    }

    /// Handler of an action: focuses the next terminal of the shown tab.
    pub(super) fn focus_next_split(
        &mut self,
        _: &FocusNextSplit,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if let Some(tab) = self.tabs.get_mut(self.active) {
            tab.active = (tab.active + 1) % tab.panes.len().max(1);
        }
        self.focus(window, cx);
    }
}
