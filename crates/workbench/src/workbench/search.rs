//! Opening the project search in a window.

use gpui_kit::{AppContext as _, Context, Div, Entity, InteractiveElement as _, Stateful, Window};
use ui::{ActiveSettings as _, Tone};

use super::Workbench;
use crate::actions::project_search::{Show, ShowReplace, UndoReplace};
use crate::actions::project_tree;
use crate::item::TabItem;
use crate::layout::{ItemId, TabOpenMode};
use crate::notices::Notice;
use crate::search_panel::{SearchPanel, SearchPanelEvent};

/// Registers the actions of this module.
pub(super) fn with_actions(element: Stateful<Div>, cx: &mut Context<Workbench>) -> Stateful<Div> {
    element
        .on_action(cx.listener(show_search))
        .on_action(cx.listener(show_replace))
        .on_action(cx.listener(undo_replace))
}

fn show_search(
    workbench: &mut Workbench,
    _: &Show,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let seed = search_seed(workbench, cx);
    let panel = search_panel(workbench, window, cx);
    panel.update(cx, |panel, cx| panel.search_for(seed, window, cx));
}

pub(super) fn show_replace(
    workbench: &mut Workbench,
    _: &ShowReplace,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let seed = search_seed(workbench, cx);
    let panel = search_panel(workbench, window, cx);
    panel.update(cx, |panel, cx| {
        panel.show_replace(cx);
        panel.search_for(seed, window, cx);
    });
}

pub(super) fn undo_replace(
    workbench: &mut Workbench,
    _: &UndoReplace,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    match open_search(workbench) {
        Some((_, panel)) => panel.update(cx, |panel, cx| panel.undo_replace(window, cx)),
        None => {
            let notice = Notice::new(Tone::Info, "there is no replacement to undo");
            workbench.report(notice, window, cx);
        }
    }
}

/// Opens the project search. If `glob` is given, restricts the search to files that match it.
pub(super) fn show_search_in(
    workbench: &mut Workbench,
    glob: Option<String>,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let panel = search_panel(workbench, window, cx);
    panel.update(cx, |panel, cx| {
        if let Some(glob) = glob.filter(|glob| !glob.is_empty()) {
            panel.search_in_folder(glob, window, cx);
        }
        panel.search_for(None, window, cx);
    });
}

/// Returns the selected text in the active editor, if it lies within one line.
fn search_seed(workbench: &Workbench, cx: &mut Context<Workbench>) -> Option<String> {
    if !cx.settings().search.seed_from_cursor {
        return None;
    }
    let editor = workbench.active_item()?.editor()?.clone();
    let text = editor.update(cx, |editor, cx| editor.selected_text(cx));
    (!text.is_empty() && !text.contains('\n')).then_some(text)
}

/// Returns the search panel of this window, if it has a tab.
fn open_search(workbench: &Workbench) -> Option<(ItemId, Entity<SearchPanel>)> {
    let mut items = workbench.layout.items().into_iter();
    items.find_map(|id| match workbench.item(id) {
        Some(TabItem::Search(panel)) => Some((id, panel.clone())),
        _ => None,
    })
}

/// Returns the search panel of this window, in its tab or in a new one.
fn search_panel(
    workbench: &mut Workbench,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> Entity<SearchPanel> {
    workbench.leave_place(cx);
    if let Some((id, panel)) = open_search(workbench) {
        workbench.activate(id, window, cx);
        return panel;
    }
    let (modal, root) = (workbench.modal.clone(), workbench.root(cx));
    let panel = cx.new(|cx| SearchPanel::new(modal, root, window, cx));
    let pane = workbench.layout.active_pane();
    workbench.add_item(
        TabItem::Search(panel.clone()),
        pane,
        TabOpenMode::Lasting,
        window,
        cx,
    );
    panel
}

/// Registers tree commands that apply regardless of the focus.
pub(super) fn with_tree_actions(
    element: gpui_kit::Stateful<gpui_kit::Div>,
    cx: &mut Context<Workbench>,
) -> gpui_kit::Stateful<gpui_kit::Div> {
    element
        .on_action(
            cx.listener(|this, action: &project_tree::NewFile, window, cx| {
                let before = window.focused(cx);
                this.focus_tree(window, cx);
                this.tree.panel.update(cx, |tree, cx| {
                    tree.new_file(action, window, cx);
                    tree.set_focus_return(before);
                });
            }),
        )
        .on_action(
            cx.listener(|this, action: &project_tree::NewFolder, window, cx| {
                let before = window.focused(cx);
                this.focus_tree(window, cx);
                this.tree.panel.update(cx, |tree, cx| {
                    tree.new_folder(action, window, cx);
                    tree.set_focus_return(before);
                });
            }),
        )
        .on_action(
            cx.listener(|this, action: &project_tree::CollapseAll, window, cx| {
                this.tree
                    .panel
                    .update(cx, |tree, cx| tree.collapse_all(action, window, cx));
            }),
        )
        .on_action(
            cx.listener(|this, action: &project_tree::ToggleIgnored, window, cx| {
                this.tree
                    .panel
                    .update(cx, |tree, cx| tree.toggle_ignored(action, window, cx));
            }),
        )
        .on_action(
            cx.listener(|this, action: &project_tree::Refresh, window, cx| {
                this.tree
                    .panel
                    .update(cx, |tree, cx| tree.refresh(action, window, cx));
            }),
        )
        .on_action(
            cx.listener(|this, action: &project_tree::Undo, window, cx| {
                this.tree
                    .panel
                    .update(cx, |tree, cx| tree.undo(action, window, cx));
            }),
        )
}

/// Handles a request of the search panel.
pub(super) fn panel_event(
    workbench: &mut Workbench,
    _: &Entity<SearchPanel>,
    event: &SearchPanelEvent,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    match event {
        SearchPanelEvent::Open(path, options) => {
            workbench.open_path(path.clone(), *options, window, cx)
        }
        SearchPanelEvent::OpenExcerpts { title, files } => {
            workbench.open_excerpts(title.clone(), files.clone(), window, cx);
        }
        SearchPanelEvent::Report(notice) => workbench.report(notice.clone(), window, cx),
    }
}
