//! Panes and tabs of a window: splitting, focusing, moving.

use base::AbsPath;
use gpui_kit::{Context, Entity, Window};

use super::{Workbench, WorkbenchRegion};
use crate::actions::pane::{
    ActivateTab, EvenOut, FocusDown, FocusLeft, FocusNext, FocusPrevious, FocusRight, FocusUp,
    KeepTab, LastTab, MoveTabLeft, MoveTabRight, MoveTabToNextPane, NextTab, PreviousTab,
    SplitDown, SplitLeft, SplitRight, SplitUp, TogglePinTab,
};
use crate::grid::DropPlace;
use crate::item::TabItem;
use crate::layout::{ItemId, PaneId, PaneSide};

impl Workbench {
    pub(super) fn split_right(
        &mut self,
        _: &SplitRight,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.split(PaneSide::Right, window, cx);
    }

    pub(super) fn split_left(
        &mut self,
        _: &SplitLeft,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.split(PaneSide::Left, window, cx);
    }

    pub(super) fn split_up(&mut self, _: &SplitUp, window: &mut Window, cx: &mut Context<Self>) {
        self.split(PaneSide::Up, window, cx);
    }

    pub(super) fn split_down(
        &mut self,
        _: &SplitDown,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.split(PaneSide::Down, window, cx);
    }

    /// Splits the active pane and shows a second view of its text.
    fn split(&mut self, side: PaneSide, window: &mut Window, cx: &mut Context<Self>) {
        let Some(TabItem::Text(editor)) = self.active_item().cloned() else {
            return;
        };
        let pane = self.layout.active_pane();
        if let Some(new) = self.layout.split(pane, side) {
            let twin = self.duplicate_view(&editor, window, cx);
            self.add_item(
                TabItem::Text(twin),
                new,
                crate::layout::TabOpenMode::Lasting,
                window,
                cx,
            );
            self.focus_active(window, cx);
        }
    }

    /// Creates a second view of the same text.
    fn duplicate_view(
        &mut self,
        editor: &Entity<editor::Editor>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> Entity<editor::Editor> {
        let document = editor.read(cx).model().clone();
        let state = editor.update(cx, |editor, cx| editor.view_state(cx));
        let twin = self.new_editor(document, window, cx);
        twin.update(cx, |twin, cx| twin.restore_view_state(&state, cx));
        twin
    }

    pub(super) fn focus_left(
        &mut self,
        _: &FocusLeft,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.focus_side(PaneSide::Left, window, cx);
    }

    pub(super) fn focus_right(
        &mut self,
        _: &FocusRight,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.focus_side(PaneSide::Right, window, cx);
    }

    pub(super) fn focus_up(&mut self, _: &FocusUp, window: &mut Window, cx: &mut Context<Self>) {
        self.focus_side(PaneSide::Up, window, cx);
    }

    pub(super) fn focus_down(
        &mut self,
        _: &FocusDown,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.focus_side(PaneSide::Down, window, cx);
    }

    fn focus_side(&mut self, side: PaneSide, window: &mut Window, cx: &mut Context<Self>) {
        let active = self.layout.active_pane();
        match self.layout.tree().neighbour(active, side) {
            Some(pane) => self.focus_pane(pane, window, cx),
            // The tree is to the left of all panes.
            None if side == PaneSide::Left && self.tree_shown && self.folder.is_some() => {
                self.focus_tree(window, cx);
            }
            None => {}
        }
    }

    pub(super) fn focus_next(
        &mut self,
        _: &FocusNext,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let pane = self.layout.pane_beside(1);
        self.focus_pane(pane, window, cx);
    }

    pub(super) fn focus_previous(
        &mut self,
        _: &FocusPrevious,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let pane = self.layout.pane_beside(-1);
        self.focus_pane(pane, window, cx);
    }

    /// Activates and focuses a pane.
    pub(crate) fn focus_pane(&mut self, pane: PaneId, window: &mut Window, cx: &mut Context<Self>) {
        if self.layout.set_active_pane(pane) {
            self.focus_active(window, cx);
            self.layout_changed(cx);
        }
    }

    /// Handles an item gaining the focus directly, for example by a click.
    pub(super) fn item_focused(&mut self, item: ItemId, cx: &mut Context<Self>) {
        let Some(pane) = self.layout.pane_of(item) else {
            return;
        };
        self.keyboard_in = WorkbenchRegion::Panes;
        if self.layout.active_pane() != pane {
            self.layout.set_active_pane(pane);
            self.layout_changed(cx);
        }
    }

    pub(super) fn even_out_action(&mut self, _: &EvenOut, _: &mut Window, cx: &mut Context<Self>) {
        self.even_out(cx);
    }

    /// Gives all panes the same size.
    pub(crate) fn even_out(&mut self, cx: &mut Context<Self>) {
        self.layout.even_out();
        self.layout_changed(cx);
    }

    /// Sets the weights of the children of a split.
    pub(crate) fn set_weights(&mut self, path: &[usize], weights: &[f32], cx: &mut Context<Self>) {
        if self.layout.set_weights(path, weights) {
            self.store_soon(cx);
            cx.notify();
        }
    }

    /// Shows a tab and focuses it.
    pub(crate) fn activate(&mut self, item: ItemId, window: &mut Window, cx: &mut Context<Self>) {
        if self.layout.activate(item) {
            self.note_recent(item, cx);
            self.focus_active(window, cx);
            self.layout_changed(cx);
            self.tree_follows(cx);
        }
    }

    pub(super) fn next_tab(&mut self, _: &NextTab, window: &mut Window, cx: &mut Context<Self>) {
        self.step_tab(1, window, cx);
    }

    pub(super) fn previous_tab(
        &mut self,
        _: &PreviousTab,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.step_tab(-1, window, cx);
    }

    fn step_tab(&mut self, step: isize, window: &mut Window, cx: &mut Context<Self>) {
        let tabs = self.layout.tabs(self.layout.active_pane());
        if let Some(item) = tabs.and_then(|tabs| tabs.neighbour(step)) {
            self.activate(item, window, cx);
        }
    }

    pub(super) fn activate_tab(
        &mut self,
        place: &ActivateTab,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let tabs = self.layout.tabs(self.layout.active_pane());
        let tab = tabs.and_then(|tabs| tabs.tabs().get(place.0.checked_sub(1)?));
        if let Some(item) = tab.map(|tab| tab.item) {
            self.activate(item, window, cx);
        }
    }

    pub(super) fn last_tab(&mut self, _: &LastTab, window: &mut Window, cx: &mut Context<Self>) {
        let tabs = self.layout.tabs(self.layout.active_pane());
        if let Some(item) = tabs.and_then(|tabs| tabs.tabs().last()).map(|tab| tab.item) {
            self.activate(item, window, cx);
        }
    }

    pub(super) fn toggle_pin(&mut self, _: &TogglePinTab, _: &mut Window, cx: &mut Context<Self>) {
        if let Some(item) = self.layout.active_item() {
            self.pin(item, cx);
        }
    }

    /// Pins a tab to the front, or unpins it.
    pub(crate) fn pin(&mut self, item: ItemId, cx: &mut Context<Self>) {
        let Some(tabs) = self
            .layout
            .pane_of(item)
            .and_then(|pane| self.layout.tabs_mut(pane))
        else {
            return;
        };
        let pinned = tabs.tabs().iter().any(|tab| tab.item == item && tab.pinned);
        tabs.set_pinned(item, !pinned);
        self.layout_changed(cx);
    }

    pub(super) fn keep_tab(&mut self, _: &KeepTab, _: &mut Window, cx: &mut Context<Self>) {
        if let Some(item) = self.layout.active_item() {
            self.keep_open(item, cx);
        }
    }

    /// Turns a preview into a permanent tab.
    pub(crate) fn keep_open(&mut self, item: ItemId, cx: &mut Context<Self>) {
        let pane = self.layout.pane_of(item);
        let tabs = pane.and_then(|pane| self.layout.tabs_mut(pane));
        if tabs.is_some_and(|tabs| tabs.keep_open(item)) {
            self.layout_changed(cx);
        }
    }

    pub(super) fn move_tab_left(
        &mut self,
        _: &MoveTabLeft,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.move_tab(-1, cx);
    }

    pub(super) fn move_tab_right(
        &mut self,
        _: &MoveTabRight,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.move_tab(1, cx);
    }

    fn move_tab(&mut self, step: isize, cx: &mut Context<Self>) {
        let pane = self.layout.active_pane();
        let Some(item) = self.layout.active_item() else {
            return;
        };
        if let Some(tabs) = self.layout.tabs_mut(pane)
            && let Some(index) = tabs.index_of(item)
        {
            // `reorder` inserts before the tab at the index, so moving right past one tab needs
            // index + 2.
            let index = if step > 0 {
                index + 2
            } else {
                index.saturating_sub(1)
            };
            tabs.reorder(item, index);
            self.layout_changed(cx);
        }
    }

    pub(super) fn move_tab_to_next_pane(
        &mut self,
        _: &MoveTabToNextPane,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let Some(item) = self.layout.active_item() else {
            return;
        };
        let next = self.layout.pane_beside(1);
        if next == self.layout.active_pane() {
            self.layout.move_to_side(item, next, PaneSide::Right);
        } else {
            self.layout.move_to_pane(item, next, usize::MAX);
        }
        self.layout_changed(cx);
        self.focus_active(window, cx);
    }

    /// Moves a tab to a position in a tab bar.
    pub(crate) fn move_tab_to(
        &mut self,
        item: ItemId,
        pane: PaneId,
        index: usize,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.drop_place = None;
        self.layout.move_to_pane(item, pane, index);
        self.layout_changed(cx);
        self.focus_active(window, cx);
    }

    /// Drops a tab into a pane or beside it, at the highlighted position.
    pub(crate) fn drop_tab(
        &mut self,
        item: ItemId,
        pane: PaneId,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let side = self
            .drop_place
            .take()
            .filter(|place| place.pane == pane)
            .and_then(|place| place.side);
        match side {
            Some(side) => {
                self.layout.move_to_side(item, pane, side);
            }
            None if self.layout.pane_of(item) != Some(pane) => {
                self.layout.move_to_pane(item, pane, usize::MAX);
            }
            None => {}
        }
        self.layout_changed(cx);
        self.focus_active(window, cx);
    }

    /// Opens files dropped into a pane or beside it.
    pub(crate) fn drop_paths(
        &mut self,
        paths: Vec<AbsPath>,
        pane: PaneId,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let side = self
            .drop_place
            .take()
            .filter(|place| place.pane == pane)
            .and_then(|place| place.side);
        let pane = side
            .and_then(|side| self.layout.split(pane, side))
            .unwrap_or(pane);
        self.layout.set_active_pane(pane);
        self.layout_changed(cx);
        self.open_dropped(paths, window, cx);
    }

    /// Highlights the drop target.
    pub(crate) fn set_drop_place(&mut self, place: Option<DropPlace>, cx: &mut Context<Self>) {
        if self.drop_place != place {
            self.drop_place = place;
            cx.notify();
        }
    }
}
