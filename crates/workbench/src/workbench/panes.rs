//! Panes and tabs of a window: splitting, focusing, moving.

use base::AbsPath;
use gpui_kit::{Context, Div, Entity, InteractiveElement as _, Stateful, Window};

use super::{Workbench, WorkbenchRegion, editor_terminals, git_changes};
use crate::actions::pane::{
    ActivateTab, EvenOut, FocusDown, FocusLeft, FocusNext, FocusPrevious, FocusRight, FocusUp,
    KeepTab, LastTab, MoveTabLeft, MoveTabRight, MoveTabToNextPane, NextTab, PreviousTab,
    SplitDown, SplitLeft, SplitRight, SplitUp, TogglePinTab,
};
use crate::drag::DropPlace;
use crate::item::TabItem;
use crate::layout::{ItemId, PaneId, PaneSide};

/// Registers the actions of this module.
pub(super) fn with_actions(element: Stateful<Div>, cx: &mut Context<Workbench>) -> Stateful<Div> {
    element
        .on_action(cx.listener(split_right))
        .on_action(cx.listener(split_left))
        .on_action(cx.listener(split_up))
        .on_action(cx.listener(split_down))
        .on_action(cx.listener(focus_left))
        .on_action(cx.listener(focus_right))
        .on_action(cx.listener(focus_up))
        .on_action(cx.listener(focus_down))
        .on_action(cx.listener(focus_next))
        .on_action(cx.listener(focus_previous))
        .on_action(cx.listener(even_out_action))
        .on_action(cx.listener(next_tab))
        .on_action(cx.listener(previous_tab))
        .on_action(cx.listener(last_tab))
        .on_action(cx.listener(activate_tab))
        .on_action(cx.listener(toggle_pin))
        .on_action(cx.listener(keep_tab))
        .on_action(cx.listener(move_tab_left))
        .on_action(cx.listener(move_tab_right))
        .on_action(cx.listener(move_tab_to_next_pane))
}

impl Workbench {
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
        self.focused_region = WorkbenchRegion::Panes;
        if self.layout.active_pane() != pane {
            self.layout.set_active_pane(pane);
            self.layout_changed(cx);
        }
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

    /// Turns a preview into a permanent tab.
    pub(crate) fn keep_open(&mut self, item: ItemId, cx: &mut Context<Self>) {
        let pane = self.layout.pane_of(item);
        let tabs = pane.and_then(|pane| self.layout.tabs_mut(pane));
        if tabs.is_some_and(|tabs| tabs.keep_open(item)) {
            self.layout_changed(cx);
        }
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

    /// Drops a tab beside a pane if a side of the pane is highlighted, else at the end of the
    /// pane's tabs. In the second case, a tab that is already in the pane keeps its position.
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

fn split_right(
    workbench: &mut Workbench,
    _: &SplitRight,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    split(workbench, PaneSide::Right, window, cx);
}

fn split_left(
    workbench: &mut Workbench,
    _: &SplitLeft,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    split(workbench, PaneSide::Left, window, cx);
}

fn split_up(
    workbench: &mut Workbench,
    _: &SplitUp,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    split(workbench, PaneSide::Up, window, cx);
}

fn split_down(
    workbench: &mut Workbench,
    _: &SplitDown,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    split(workbench, PaneSide::Down, window, cx);
}

/// Splits the active pane and shows a second view of its text, or a new terminal beside a terminal.
fn split(
    workbench: &mut Workbench,
    side: PaneSide,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let editor = match workbench.active_item().cloned() {
        Some(TabItem::Text(editor)) => editor,
        Some(TabItem::Terminal(view)) => {
            return editor_terminals::split(workbench, &view, side, window, cx);
        }
        _ => return,
    };
    let pane = workbench.layout.active_pane();
    if let Some(new) = workbench.layout.split(pane, side) {
        let twin = duplicate_view(workbench, &editor, window, cx);
        workbench.add_item(
            TabItem::Text(twin),
            new,
            crate::layout::TabOpenMode::Lasting,
            window,
            cx,
        );
        workbench.focus_active(window, cx);
    }
}

/// Creates a second view of the same text.
fn duplicate_view(
    workbench: &mut Workbench,
    editor: &Entity<editor::Editor>,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> Entity<editor::Editor> {
    let document = editor.read(cx).model().clone();
    let state = editor.update(cx, |editor, cx| editor.view_state(cx));
    let twin = workbench.new_editor(document, window, cx);
    twin.update(cx, |twin, cx| twin.restore_view_state(&state, cx));
    twin
}

fn focus_left(
    workbench: &mut Workbench,
    _: &FocusLeft,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    focus_side(workbench, PaneSide::Left, window, cx);
}

fn focus_right(
    workbench: &mut Workbench,
    _: &FocusRight,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    focus_side(workbench, PaneSide::Right, window, cx);
}

fn focus_up(
    workbench: &mut Workbench,
    _: &FocusUp,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    focus_side(workbench, PaneSide::Up, window, cx);
}

fn focus_down(
    workbench: &mut Workbench,
    _: &FocusDown,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    focus_side(workbench, PaneSide::Down, window, cx);
}

fn focus_side(
    workbench: &mut Workbench,
    side: PaneSide,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let active = workbench.layout.active_pane();
    if let Some(pane) = workbench.layout.tree().neighbour(active, side) {
        return workbench.focus_pane(pane, window, cx);
    }
    // The tree and the changes panel are to the left of all panes.
    let is_shown = workbench.tree.is_shown && workbench.folder.is_some();
    let is_left = side == PaneSide::Left && is_shown;
    if is_left && !git_changes::focus_shown(workbench, window, cx) {
        workbench.focus_tree(window, cx);
    }
}

fn focus_next(
    workbench: &mut Workbench,
    _: &FocusNext,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let pane = workbench.layout.pane_beside(1);
    workbench.focus_pane(pane, window, cx);
}

fn focus_previous(
    workbench: &mut Workbench,
    _: &FocusPrevious,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let pane = workbench.layout.pane_beside(-1);
    workbench.focus_pane(pane, window, cx);
}

fn even_out_action(
    workbench: &mut Workbench,
    _: &EvenOut,
    _: &mut Window,
    cx: &mut Context<Workbench>,
) {
    workbench.even_out(cx);
}

fn next_tab(
    workbench: &mut Workbench,
    _: &NextTab,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    step_tab(workbench, 1, window, cx);
}

fn previous_tab(
    workbench: &mut Workbench,
    _: &PreviousTab,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    step_tab(workbench, -1, window, cx);
}

/// Shows the tab `step` positions after the active one, wrapping around.
pub(super) fn step_tab(
    workbench: &mut Workbench,
    step: isize,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let tabs = workbench.layout.tabs(workbench.layout.active_pane());
    if let Some(item) = tabs.and_then(|tabs| tabs.neighbour(step)) {
        workbench.activate(item, window, cx);
    }
}

fn activate_tab(
    workbench: &mut Workbench,
    place: &ActivateTab,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let tabs = workbench.layout.tabs(workbench.layout.active_pane());
    let tab = tabs.and_then(|tabs| tabs.tabs().get(place.0.checked_sub(1)?));
    if let Some(item) = tab.map(|tab| tab.item) {
        workbench.activate(item, window, cx);
    }
}

fn last_tab(
    workbench: &mut Workbench,
    _: &LastTab,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let tabs = workbench.layout.tabs(workbench.layout.active_pane());
    if let Some(item) = tabs.and_then(|tabs| tabs.tabs().last()).map(|tab| tab.item) {
        workbench.activate(item, window, cx);
    }
}

fn toggle_pin(
    workbench: &mut Workbench,
    _: &TogglePinTab,
    _: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if let Some(item) = workbench.layout.active_item() {
        workbench.pin(item, cx);
    }
}

fn keep_tab(workbench: &mut Workbench, _: &KeepTab, _: &mut Window, cx: &mut Context<Workbench>) {
    if let Some(item) = workbench.layout.active_item() {
        workbench.keep_open(item, cx);
    }
}

fn move_tab_left(
    workbench: &mut Workbench,
    _: &MoveTabLeft,
    _: &mut Window,
    cx: &mut Context<Workbench>,
) {
    move_tab(workbench, -1, cx);
}

fn move_tab_right(
    workbench: &mut Workbench,
    _: &MoveTabRight,
    _: &mut Window,
    cx: &mut Context<Workbench>,
) {
    move_tab(workbench, 1, cx);
}

fn move_tab(workbench: &mut Workbench, step: isize, cx: &mut Context<Workbench>) {
    let pane = workbench.layout.active_pane();
    let Some(item) = workbench.layout.active_item() else {
        return;
    };
    if let Some(tabs) = workbench.layout.tabs_mut(pane)
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
        workbench.layout_changed(cx);
    }
}

fn move_tab_to_next_pane(
    workbench: &mut Workbench,
    _: &MoveTabToNextPane,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(item) = workbench.layout.active_item() else {
        return;
    };
    let next = workbench.layout.pane_beside(1);
    if next == workbench.layout.active_pane() {
        workbench.layout.move_to_side(item, next, PaneSide::Right);
    } else {
        workbench.layout.move_to_pane(item, next, usize::MAX);
    }
    workbench.layout_changed(cx);
    workbench.focus_active(window, cx);
}
