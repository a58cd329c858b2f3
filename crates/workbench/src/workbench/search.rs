//! Opening the project search in a window.

use gpui_kit::{AppContext as _, Context, Entity, InteractiveElement as _, Window};
use ui::{ActiveSettings as _, Tone};

use super::Workbench;
use crate::actions::project_search::{Show, ShowReplace, UndoReplace};
use crate::actions::project_tree;
use crate::item::TabItem;
use crate::layout::{ItemId, TabOpenMode};
use crate::notices::Notice;
use crate::search_panel::SearchPanel;

impl Workbench {
    pub(super) fn show_search(&mut self, _: &Show, window: &mut Window, cx: &mut Context<Self>) {
        let seed = self.search_seed(cx);
        let panel = self.search_panel(window, cx);
        panel.update(cx, |panel, cx| panel.search_for(seed, window, cx));
    }

    pub(super) fn show_replace(
        &mut self,
        _: &ShowReplace,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let seed = self.search_seed(cx);
        let panel = self.search_panel(window, cx);
        panel.update(cx, |panel, cx| {
            panel.show_replace(cx);
            panel.search_for(seed, window, cx);
        });
    }

    pub(super) fn undo_replace(
        &mut self,
        _: &UndoReplace,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        match self.open_search() {
            Some((_, panel)) => panel.update(cx, |panel, cx| panel.undo_replace(window, cx)),
            None => {
                let notice = Notice::new(Tone::Info, "there is no replacement to undo");
                self.report(notice, window, cx);
            }
        }
    }

    pub(super) fn show_search_in(
        &mut self,
        glob: Option<String>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let panel = self.search_panel(window, cx);
        panel.update(cx, |panel, cx| {
            if let Some(glob) = glob.filter(|glob| !glob.is_empty()) {
                panel.search_in_folder(glob, window, cx);
            }
            panel.search_for(None, window, cx);
        });
    }

    /// Returns the selected text in the active editor, if it lies within one line.
    fn search_seed(&self, cx: &mut Context<Self>) -> Option<String> {
        if !cx.settings().search.seed_from_cursor {
            return None;
        }
        let editor = self.active_item()?.editor()?.clone();
        let text = editor.update(cx, |editor, cx| editor.selected_text(cx));
        (!text.is_empty() && !text.contains('\n')).then_some(text)
    }

    /// Returns the search panel of this window, if it has a tab.
    fn open_search(&self) -> Option<(ItemId, Entity<SearchPanel>)> {
        let mut items = self.layout.items().into_iter();
        items.find_map(|id| match self.item(id) {
            Some(TabItem::Search(panel)) => Some((id, panel.clone())),
            _ => None,
        })
    }

    /// Returns the search panel of this window, in its tab or in a new one.
    fn search_panel(&mut self, window: &mut Window, cx: &mut Context<Self>) -> Entity<SearchPanel> {
        self.leave_place(cx);
        if let Some((id, panel)) = self.open_search() {
            self.activate(id, window, cx);
            return panel;
        }
        let (this, root) = (cx.weak_entity(), self.root(cx));
        let panel = cx.new(|cx| SearchPanel::new(this, root, window, cx));
        let pane = self.layout.active_pane();
        self.add_item(
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
        &self,
        element: gpui_kit::Stateful<gpui_kit::Div>,
        cx: &mut Context<Self>,
    ) -> gpui_kit::Stateful<gpui_kit::Div> {
        element
            .on_action(
                cx.listener(|this, action: &project_tree::NewFile, window, cx| {
                    let before = window.focused(cx);
                    this.focus_tree(window, cx);
                    this.tree.update(cx, |tree, cx| {
                        tree.new_file(action, window, cx);
                        tree.set_focus_return(before);
                    });
                }),
            )
            .on_action(
                cx.listener(|this, action: &project_tree::NewFolder, window, cx| {
                    let before = window.focused(cx);
                    this.focus_tree(window, cx);
                    this.tree.update(cx, |tree, cx| {
                        tree.new_folder(action, window, cx);
                        tree.set_focus_return(before);
                    });
                }),
            )
            .on_action(
                cx.listener(|this, action: &project_tree::CollapseAll, window, cx| {
                    this.tree
                        .update(cx, |tree, cx| tree.collapse_all(action, window, cx));
                }),
            )
            .on_action(
                cx.listener(|this, action: &project_tree::ToggleIgnored, window, cx| {
                    this.tree
                        .update(cx, |tree, cx| tree.toggle_ignored(action, window, cx));
                }),
            )
            .on_action(
                cx.listener(|this, action: &project_tree::Refresh, window, cx| {
                    this.tree
                        .update(cx, |tree, cx| tree.refresh(action, window, cx));
                }),
            )
            .on_action(
                cx.listener(|this, action: &project_tree::Undo, window, cx| {
                    this.tree
                        .update(cx, |tree, cx| tree.undo(action, window, cx));
                }),
            )
    }
}
