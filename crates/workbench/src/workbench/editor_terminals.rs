//! Terminals as tabs among the texts of a window.
//!
//! The panel owns every terminal of the window, so that mentions, saving and questions find those of the panes as well. A
//! tab only shows its view, which moves between the panel and the panes with its program.
//! Invariant: each terminal among the texts has one tab, and `TerminalPanel` knows which are shown.
//! Start at `move_into_editor` and `move_into_panel`.

use futures::channel::oneshot;
use gpui_kit::{
    AnyElement, App, Context, Div, Entity, InteractiveElement as _, IntoElement as _,
    ParentElement as _, Stateful, Styled as _, Window, div,
};
use terminal_panel::actions::{
    CloseAllTerminals, CloseTerminal, FocusNextSplit, MoveTerminalIntoEditorArea,
    MoveTerminalIntoPanel, NewTerminalInEditorArea, NextTerminal, PreviousTerminal, RenameTerminal,
    SplitTerminal,
};
use terminal_panel::{
    KEEP_OPEN, STOP_AND_CLOSE, TerminalPanel, TerminalRequest, TerminalView, closing_question, tab,
};
use ui::{ActiveTheme as _, ButtonStyle};

use super::{Workbench, panes, terminals};
use crate::item::TabItem;
use crate::layout::{CloseScope, ItemId, PaneId, PaneSide, TabList, TabOpenMode};
use crate::pickers::terminal_name::TerminalNamePicker;
use crate::question::QuestionSpec;

/// Key of the notices of this module.
const NOTICE: &str = "editor-terminals";
/// Index of the answer that closes terminals in which commands run.
pub(super) const CLOSE: usize = 1;

/// Registers the actions of this module.
pub(super) fn with_actions(element: Stateful<Div>, cx: &mut Context<Workbench>) -> Stateful<Div> {
    element
        .on_action(cx.listener(new_in_editor))
        .on_action(cx.listener(move_shown_into_editor))
        .on_action(cx.listener(move_active_into_panel))
}

/// Draws a terminal in a pane, with the actions that the panel has for its terminals.
pub(super) fn render_tab(view: AnyElement, pane: PaneId, cx: &Context<Workbench>) -> AnyElement {
    let colors = cx.theme().colors;
    div()
        .id(("terminal-in-pane", pane.0))
        .key_context("TerminalTab")
        .on_action(cx.listener(|this, _: &SplitTerminal, window, cx| {
            if let Some((_, view)) = active(this) {
                split(this, &view, PaneSide::Right, window, cx);
            }
        }))
        .on_action(cx.listener(|this, _: &CloseTerminal, window, cx| {
            if let Some((item, _)) = active(this) {
                this.close(CloseScope::One(item), window, cx);
            }
        }))
        .on_action(cx.listener(close_all))
        .on_action(cx.listener(|this, _: &NextTerminal, window, cx| {
            panes::step_tab(this, 1, window, cx);
        }))
        .on_action(cx.listener(|this, _: &PreviousTerminal, window, cx| {
            panes::step_tab(this, -1, window, cx);
        }))
        .on_action(cx.listener(|this, _: &FocusNextSplit, window, cx| {
            let next = this.layout.pane_beside(1);
            this.focus_pane(next, window, cx);
        }))
        .on_action(cx.listener(rename))
        .size_full()
        .bg(colors.surface)
        .child(view)
        .into_any_element()
}

/// Returns the tab of a terminal.
fn item_of(workbench: &Workbench, view: &Entity<TerminalView>) -> Option<ItemId> {
    let mut items = workbench.items.iter();
    let found = items.find(|(_, entry)| entry.item.terminal() == Some(view))?;
    Some(*found.0)
}

/// Returns the tab that the active pane shows, if it is a terminal.
fn active(workbench: &Workbench) -> Option<(ItemId, Entity<TerminalView>)> {
    let item = workbench.layout.active_item()?;
    let view = workbench.item(item)?.terminal()?.clone();
    Some((item, view))
}

/// Returns whether a pane shows the tab of a terminal.
pub(super) fn is_shown(workbench: &Workbench, view: &Entity<TerminalView>) -> bool {
    let Some(item) = item_of(workbench, view) else {
        return false;
    };
    let pane = workbench.layout.pane_of(item);
    let tabs = pane.and_then(|pane| workbench.layout.tabs(pane));
    tabs.and_then(TabList::active) == Some(item)
}

/// Tells the terminals among the texts which of them the panes show.
pub(super) fn follow_layout(workbench: &Workbench, cx: &mut Context<Workbench>) {
    let Some(panel) = workbench.terminals.panel() else {
        return;
    };
    let panes = workbench.layout.tree().panes().into_iter();
    let shown = panes.filter_map(|pane| workbench.layout.tabs(pane)?.active());
    let shown = shown.filter_map(|item| workbench.item(item)?.terminal().cloned());
    let shown: Vec<_> = shown.collect();
    panel.update(cx, |panel, cx| panel.show_in_editor(&shown, cx));
}

/// Updates the tabs after the title or the state of a terminal changed.
pub(super) fn note_change(workbench: &Workbench, cx: &mut Context<Workbench>) {
    let is_terminal = |item: &TabItem| item.terminal().is_some();
    let mut items = workbench.items.values();
    if !items.any(|entry| is_terminal(&entry.item)) {
        return;
    }
    for strip in workbench.strips.values() {
        strip.update(cx, |_, cx| cx.notify());
    }
    if workbench.active_item().is_some_and(is_terminal) {
        workbench.follow_title(cx);
    }
}

/// Shows the tab of a terminal and focuses it. Returns false if it has none.
pub(super) fn focus(
    workbench: &mut Workbench,
    view: &Entity<TerminalView>,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> bool {
    let item = item_of(workbench, view);
    if let Some(item) = item {
        workbench.activate(item, window, cx);
    }
    item.is_some()
}

/// Shows the tab of a terminal unless it would cover the active tab, in which the user works. Returns false if it has no tab.
pub(super) fn reveal(
    workbench: &mut Workbench,
    view: &Entity<TerminalView>,
    cx: &mut Context<Workbench>,
) -> bool {
    let Some(item) = item_of(workbench, view) else {
        return false;
    };
    let active = workbench.layout.active_pane();
    let pane = workbench.layout.pane_of(item).filter(|it| *it != active);
    let tabs = pane.and_then(|pane| workbench.layout.tabs_mut(pane));
    if tabs.is_some_and(|tabs| tabs.activate(item)) {
        workbench.layout_changed(cx);
    }
    true
}

/// Shows the terminal of a task in the tab of the one that it replaces.
pub(super) fn replace(
    workbench: &mut Workbench,
    old: &Entity<TerminalView>,
    new: Entity<TerminalView>,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(id) = item_of(workbench, old) else {
        return;
    };
    let item = TabItem::Terminal(new);
    let subscriptions = workbench.subscribe_to(id, &item, window, cx);
    workbench.keep_item(id, item, subscriptions, cx);
    workbench.layout_changed(cx);
}

/// Returns the terminals among tabs.
pub(super) fn views_of(workbench: &Workbench, items: &[ItemId]) -> Vec<Entity<TerminalView>> {
    let items = items.iter().filter_map(|item| workbench.item(*item));
    items.filter_map(|item| item.terminal().cloned()).collect()
}

/// Returns the question before closing terminals; `None` if they are closed without one.
pub(super) fn question(views: &[Entity<TerminalView>], cx: &App) -> Option<QuestionSpec> {
    Some(QuestionSpec {
        title: closing_question(views, cx)?.into(),
        detail: "Closing the tab ends its program.".into(),
        answers: vec![
            (KEEP_OPEN.into(), ButtonStyle::Primary),
            (STOP_AND_CLOSE.into(), ButtonStyle::Danger),
        ],
        safest: 0,
    })
}

/// Ends the programs of terminals whose tabs were closed.
pub(super) fn end(
    workbench: &Workbench,
    views: &[Entity<TerminalView>],
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if let Some(panel) = workbench.terminals.panel().filter(|_| !views.is_empty()) {
        panel.update(cx, |panel, cx| panel.close_views(views, window, cx));
    }
}

/// Removes the tab of a terminal whose program goes on in the panel, or that the panel closed.
pub(super) fn remove_tab(
    workbench: &mut Workbench,
    view: &Entity<TerminalView>,
    cx: &mut Context<Workbench>,
) -> bool {
    let Some(item) = item_of(workbench, view) else {
        return false;
    };
    workbench.items.remove(&item);
    workbench.layout.close(item);
    workbench.layout_changed(cx);
    true
}

/// Handler of an action.
fn new_in_editor(
    workbench: &mut Workbench,
    _: &NewTerminalInEditorArea,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let pane = workbench.layout.active_pane();
    open(workbench, TerminalRequest::default(), pane, window, cx);
}

/// Opens a terminal in a tab of a pane and focuses it.
fn open(
    workbench: &mut Workbench,
    request: TerminalRequest,
    pane: PaneId,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(panel) = terminals::panel(workbench, window, cx) else {
        return terminals::tell_unavailable(workbench, window, cx);
    };
    let view = panel.update(cx, |panel, cx| panel.open_in_editor(request, window, cx));
    add(workbench, view, pane, window, cx);
}

fn add(
    workbench: &mut Workbench,
    view: Entity<TerminalView>,
    pane: PaneId,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    workbench.leave_place(cx);
    let item = TabItem::Terminal(view);
    workbench.add_item(item, pane, TabOpenMode::Lasting, window, cx);
    workbench.focus_active(window, cx);
}

/// Opens a terminal beside one of the panes, in the folder of its shell.
pub(super) fn split(
    workbench: &mut Workbench,
    view: &Entity<TerminalView>,
    side: PaneSide,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let request = TerminalRequest {
        folder: view.read(cx).folder(),
        ..TerminalRequest::default()
    };
    let pane = workbench.layout.active_pane();
    if let Some(new) = workbench.layout.split(pane, side) {
        open(workbench, request, new, window, cx);
    }
}

/// Handler of an action: moves the terminal that the panel shows.
fn move_shown_into_editor(
    workbench: &mut Workbench,
    _: &MoveTerminalIntoEditorArea,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let panel = workbench.terminals.panel();
    let shown = panel.and_then(|panel| panel.read(cx).active_view().cloned());
    let Some(view) = shown else {
        return workbench.tell(NOTICE, "The panel has no terminal.", window, cx);
    };
    let pane = workbench.layout.active_pane();
    move_into_editor(workbench, view, pane, window, cx);
}

fn move_into_editor(
    workbench: &mut Workbench,
    view: Entity<TerminalView>,
    pane: PaneId,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(panel) = workbench.terminals.panel().cloned() else {
        return;
    };
    if panel.update(cx, |panel, cx| panel.move_into_editor(&view, cx)) {
        add(workbench, view, pane, window, cx);
    }
}

/// Handler of an action: moves the terminal of the active tab, or else the one among the texts that had the focus last.
fn move_active_into_panel(
    workbench: &mut Workbench,
    _: &MoveTerminalIntoPanel,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let active = active(workbench).map(|(_, view)| view);
    match active.or_else(|| last(workbench, cx)) {
        Some(view) => move_into_panel(workbench, &view, window, cx),
        None => workbench.tell(NOTICE, "No terminal is among the texts.", window, cx),
    }
}

/// Returns the terminal among the texts that had the focus last.
pub(super) fn last(workbench: &Workbench, cx: &App) -> Option<Entity<TerminalView>> {
    let panel: &Entity<TerminalPanel> = workbench.terminals.panel()?;
    panel.read(cx).last_in_editor().cloned()
}

fn move_into_panel(
    workbench: &mut Workbench,
    view: &Entity<TerminalView>,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(panel) = workbench.terminals.panel().cloned() else {
        return;
    };
    if panel.update(cx, |panel, cx| panel.move_into_panel(view, cx)) {
        remove_tab(workbench, view, cx);
        terminals::show(workbench, window, cx);
    }
}

/// Moves the terminal of a tab that was dropped on the panel.
pub(super) fn drop_on_panel(
    workbench: &mut Workbench,
    item: ItemId,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let view = workbench.item(item).and_then(TabItem::terminal).cloned();
    if let Some(view) = view {
        move_into_panel(workbench, &view, window, cx);
    }
}

/// Moves a terminal of the panel that was dropped on a pane, or beside it if a side is highlighted.
pub(crate) fn drop_on_pane(
    workbench: &mut Workbench,
    view: Entity<TerminalView>,
    pane: PaneId,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let place = workbench.drop_place.take();
    let side = place.filter(|it| it.pane == pane).and_then(|it| it.side);
    let split = side.and_then(|side| workbench.layout.split(pane, side));
    move_into_editor(workbench, view, split.unwrap_or(pane), window, cx);
}

/// Handler of an action: closes the terminals of the panel and among the texts.
fn close_all(
    workbench: &mut Workbench,
    _: &CloseAllTerminals,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let panel = workbench.terminals.panel();
    let views: Vec<_> =
        panel.map_or_else(Vec::new, |panel| panel.read(cx).views().cloned().collect());
    let Some(spec) = question(&views, cx) else {
        return end(workbench, &views, window, cx);
    };
    let answer = workbench.ask(spec, window, cx);
    cx.spawn_in(window, async move |this, cx| {
        if answer.await == Ok(CLOSE) {
            let closed = this.update_in(cx, |this, window, cx| end(this, &views, window, cx));
            // The window may be gone by then.
            closed.ok();
        }
    })
    .detach();
}

/// Handler of an action: asks for the name of the active terminal.
fn rename(
    workbench: &mut Workbench,
    _: &RenameTerminal,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some((_, view)) = active(workbench) else {
        return;
    };
    let (reply, answer) = oneshot::channel();
    let name = tab::name(view.read(cx));
    workbench.pick_with(TerminalNamePicker::new(reply), &name, window, cx);
    cx.spawn_in(window, async move |this, cx| {
        // Without an answer, the user dismissed the picker.
        let Ok(name) = answer.await else {
            return;
        };
        let renamed = this.update(cx, |this, cx| {
            if let Some(panel) = this.terminals.panel() {
                panel.update(cx, |panel, cx| panel.rename_in_editor(&view, &name, cx));
            }
        });
        // The window may be gone by then.
        renamed.ok();
    })
    .detach();
}
