//! Storing and restoring a window.
//!
//! Files are read in the background: each tab appears at once and gets its text when loaded,
//! visible tabs first.

use base::{AbsPath, path_text, text_path};
use editor::{DocumentModel, Editor, ViewState};
use gpui_kit::{AppContext as _, Context, Entity, Window, WindowBounds, px};
use project::{Binary, DocumentKey};
use terminal_panel::tab;

use super::{STORE_AFTER, Workbench, previews, terminals};
use crate::documents::Documents;
use crate::item::TabItem;
use crate::layout::{ItemId, PaneId, TabOpenMode};
use crate::pending_file::PendingFile;
use crate::search_panel::SearchPanel;
use crate::session::{
    SavedBounds, SavedEditor, SavedItem, SavedTerminalTab, SavedTree, SavedWindow,
};
use crate::window_registry;

impl Workbench {
    /// Schedules storing the window, gathering further changes.
    pub(crate) fn store_soon(&mut self, cx: &mut Context<Self>) {
        if self.storing.is_some() {
            return;
        }
        let window = self.window;
        self.storing = Some(cx.spawn(async move |this, cx| {
            cx.background_executor().timer(STORE_AFTER).await;
            let stored = window.update(cx, |_, window, cx| {
                this.update(cx, |this, cx| this.store_now(window, cx))
            });
            // The window may have been closed; it was stored then.
            stored.ok();
        }));
    }

    /// Stores the window after a pause.
    pub(super) fn store_rested(&mut self, cx: &mut Context<Self>) {
        let (window, this) = (self.window, cx.weak_entity());
        // The window cannot be borrowed during an update of this entity.
        cx.defer(move |cx| {
            let stored = window.update(cx, |_, window, cx| {
                this.update(cx, |this, cx| this.store_now(window, cx))
            });
            // The window may have been closed; it was stored then.
            stored.ok();
        });
    }

    /// Stores the current state of the window.
    pub(crate) fn store_now(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.storing = None;
        self.store_timer.cancel();
        let saved = saved(self, window, cx);
        window_registry::store(cx.entity().entity_id(), saved, cx);
    }

    /// Shows documents recovered from a crash that no window contains.
    pub(crate) fn show_recovered(
        &mut self,
        documents: Vec<Entity<DocumentModel>>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if documents.is_empty() {
            return;
        }
        let names: Vec<String> = documents
            .iter()
            .map(|document| document.read(cx).document().title())
            .take(5)
            .collect();
        let sentence = match documents.len() {
            1 => format!("Unsaved text was recovered: {}", names.join(", ")),
            count => format!("{count} unsaved texts were recovered: {}", names.join(", ")),
        };
        for document in documents {
            let pane = self.layout.active_pane();
            self.open_document_in(
                document,
                pane,
                crate::open_options::OpenOptions::lasting(),
                window,
                cx,
            );
        }
        self.tell("recovered", sentence, window, cx);
    }

    /// Returns the files of tabs that are still loading.
    pub(crate) fn waiting_paths(&self, cx: &gpui_kit::App) -> Vec<AbsPath> {
        let paths = self.items.values().filter_map(|entry| match &entry.item {
            TabItem::Waiting(waiting) => Some(waiting.read(cx).path().clone()),
            _ => None,
        });
        paths.collect()
    }
}

fn saved(workbench: &Workbench, window: &Window, cx: &mut Context<Workbench>) -> SavedWindow {
    let items: Vec<(ItemId, Option<SavedItem>)> = workbench
        .layout
        .items()
        .into_iter()
        .map(|id| {
            (
                id,
                workbench
                    .item(id)
                    .and_then(|item| save_item_state(item, cx)),
            )
        })
        .collect();
    let layout = workbench.layout.save(|id| {
        items
            .iter()
            .find(|(item, _)| *item == id)
            .and_then(|(_, saved)| saved.clone())
    });
    let root = workbench.root(cx);
    SavedWindow {
        folder: root.as_ref().map(path_text),
        // Set by the code that opened the window.
        for_files: false,
        bounds: Some(saved_bounds(window.window_bounds())),
        layout: Some(layout),
        tree: saved_tree(workbench, root.as_ref(), cx),
        agents: workbench.agents.saved(),
        terminals: workbench.terminals.saved(),
        recent_files: workbench.recent_files.clone(),
    }
}

fn saved_tree(workbench: &Workbench, root: Option<&AbsPath>, cx: &Context<Workbench>) -> SavedTree {
    let open = workbench.folder.as_ref().zip(root).map(|(folder, root)| {
        let open = folder.read(cx).tree().open_folders();
        open.filter_map(|path| Some(path_text(path.relative_to(root)?)))
            .collect()
    });
    SavedTree {
        is_shown: workbench.tree.is_shown,
        width: f32::from(workbench.tree.width),
        open: open.unwrap_or_default(),
    }
}

/// Returns the state to store for a tab, or `None` for a tab that cannot be restored, such as
/// excerpts.
pub(super) fn save_item_state(item: &TabItem, cx: &mut Context<Workbench>) -> Option<SavedItem> {
    match item {
        TabItem::Text(editor) => Some(SavedItem::Editor(save_editor(editor, cx))),
        TabItem::Search(panel) => Some(SavedItem::Search(panel.read(cx).saved(cx))),
        TabItem::Waiting(waiting) => Some(waiting.read(cx).stored()),
        TabItem::Terminal(view) => {
            let id = tab::saved_id(view.read(cx))?;
            Some(SavedItem::Terminal(SavedTerminalTab { id }))
        }
        TabItem::Preview(tab) => tab.saved(cx).map(SavedItem::Preview),
        TabItem::Excerpts(..) | TabItem::Tests(_) | TabItem::History(_) | TabItem::Refused(_) => {
            None
        }
    }
}

/// Restores panes, tabs and the tree.
pub(super) fn restore(
    workbench: &mut Workbench,
    saved: SavedWindow,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    workbench.tree.is_shown = saved.tree.is_shown;
    workbench.tree.width = px(saved.tree.width.clamp(140.0, 900.0));
    workbench.agents.restore(&saved.agents, window, cx);
    terminals::restore(workbench, &saved.terminals, window, cx);
    workbench.recent_files = saved.recent_files;
    if let Some((folder, root)) = workbench.folder.clone().zip(workbench.root(cx)) {
        folder.update(cx, |folder, cx| {
            for open in &saved.tree.open {
                folder.expand(&root.join(text_path(open)), cx);
            }
        });
    }
    let Some(layout) = saved.layout else {
        return;
    };
    let mut made: Vec<(ItemId, TabItem)> = Vec::new();
    workbench.layout = layout.restore(|id, item| match make(workbench, item, window, cx) {
        Some(item) => {
            made.push((id, item));
            true
        }
        None => false,
    });
    for (id, item) in made {
        let subscriptions = workbench.subscribe_to(id, &item, window, cx);
        workbench.keep_item(id, item, subscriptions, cx);
    }
    read_waiting(workbench, window, cx);
    workbench.layout_changed(cx);
    workbench.watch_visible(cx);
}

/// Creates the content of a stored tab; a file is loaded later. Returns `None` for a text without a
/// file that is neither open nor recovered.
fn make(
    workbench: &mut Workbench,
    saved: SavedItem,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> Option<TabItem> {
    match saved {
        SavedItem::Search(saved) => {
            let (modal, root) = (workbench.modal.clone(), workbench.root(cx));
            Some(TabItem::Search(cx.new(|cx| {
                SearchPanel::restored(saved, modal, root, window, cx)
            })))
        }
        SavedItem::Terminal(saved) => {
            let panel = terminals::panel(workbench, window, cx)?;
            let view = panel.update(cx, |panel, cx| {
                panel.restore_in_editor(saved.id, window, cx)
            })?;
            Some(TabItem::Terminal(view))
        }
        SavedItem::Preview(saved) => previews::restored(workbench, saved, window, cx),
        SavedItem::Editor(saved) => {
            match saved.path.as_deref().map(text_path).and_then(AbsPath::new) {
                Some(path) => Some(TabItem::Waiting(
                    cx.new(|cx| PendingFile::new(path, saved, cx)),
                )),
                None => {
                    let document = Documents::of_key(DocumentKey(saved.document?), cx)?;
                    Some(TabItem::Text(view_of(
                        workbench, document, &saved, window, cx,
                    )))
                }
            }
        }
    }
}

fn view_of(
    workbench: &mut Workbench,
    document: Entity<DocumentModel>,
    saved: &SavedEditor,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> Entity<Editor> {
    Documents::stop_waiting(&document, cx);
    if let Some(language) = saved.language.as_deref().and_then(syntax::language_named) {
        document.update(cx, |document, cx| document.set_language(Some(language), cx));
    }
    let editor = workbench.new_editor(document, window, cx);
    restore_editor(&editor, saved, cx);
    editor
}

/// Loads the files of placeholder tabs, visible ones first.
fn read_waiting(workbench: &mut Workbench, window: &mut Window, cx: &mut Context<Workbench>) {
    let shown: Vec<ItemId> = {
        let panes = workbench.layout.tree().panes();
        panes
            .iter()
            .filter_map(|pane| workbench.layout.tabs(*pane)?.active())
            .collect()
    };
    let mut waiting: Vec<(ItemId, AbsPath)> = workbench
        .layout
        .items()
        .into_iter()
        .filter_map(|id| match workbench.item(id) {
            Some(TabItem::Waiting(waiting)) => Some((id, waiting.read(cx).path().clone())),
            _ => None,
        })
        .collect();
    waiting.sort_by_key(|(id, _)| !shown.contains(id));
    // Files visible in the first frame are read before it.
    let first: Vec<_> = waiting
        .iter()
        .filter(|(id, _)| shown.contains(id))
        .cloned()
        .collect();
    for (id, path) in first {
        if let Some(document) = Documents::open_now(&path, cx) {
            on_file_loaded(workbench, id, path, Ok(document), window, cx);
        }
    }
    cx.spawn_in(window, async move |this, cx| {
        for (id, path) in waiting {
            let Ok(loading) = this.update(cx, |_, cx| {
                Documents::open(path.clone(), Binary::Refuse, cx)
            }) else {
                return;
            };
            let loaded = loading.await;
            let arrived = this.update_in(cx, |this, window, cx| {
                on_file_loaded(this, id, path, loaded, window, cx)
            });
            if arrived.is_err() {
                return;
            }
        }
    })
    .detach();
}

fn on_file_loaded(
    workbench: &mut Workbench,
    id: ItemId,
    path: AbsPath,
    loaded: crate::documents::Opened,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(TabItem::Waiting(waiting)) = workbench.item(id).cloned() else {
        return;
    };
    let had_keyboard = waiting.read(cx).focus_is_in(window);
    let item = match loaded {
        Ok(document) => {
            let preview = waiting.read(cx).preview().map(|saved| saved.top);
            let saved = waiting.read(cx).saved().clone();
            match preview {
                Some(top) => TabItem::Preview(previews::markdown_tab(workbench, document, top, cx)),
                None => TabItem::Text(view_of(workbench, document, &saved, window, cx)),
            }
        }
        // The tab of a deleted file is closed.
        Err(error) if error.is_not_found() => {
            workbench.items.remove(&id);
            workbench.layout.close(id);
            workbench.layout_changed(cx);
            return;
        }
        Err(error) => {
            TabItem::Refused(cx.new(|cx| crate::file_error::FileErrorView::new(path, error, cx)))
        }
    };
    let subscriptions = workbench.subscribe_to(id, &item, window, cx);
    workbench.keep_item(id, item, subscriptions, cx);
    let is_active = workbench.layout.active_item() == Some(id);
    if is_active && (had_keyboard || window.focused(cx).is_none()) {
        workbench.focus_active(window, cx);
    }
    if is_active {
        workbench.tree_follows(cx);
    }
    workbench.layout_changed(cx);
    workbench.watch_visible(cx);
}

/// Reopens a closed tab.
pub(super) fn reopen(
    workbench: &mut Workbench,
    saved: SavedItem,
    pane: PaneId,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(item) = make(workbench, saved, window, cx) else {
        return;
    };
    workbench.add_item(item, pane, TabOpenMode::Lasting, window, cx);
    read_waiting(workbench, window, cx);
    workbench.focus_active(window, cx);
}

fn save_editor(editor: &Entity<Editor>, cx: &mut Context<Workbench>) -> SavedEditor {
    let state = editor.update(cx, |editor, cx| editor.view_state(cx));
    let model = editor.read(cx).model().read(cx);
    let document = model.document();
    SavedEditor {
        path: document.path().map(path_text),
        document: Some(document.key().0),
        selections: state.selections,
        scroll: state.scroll.0,
        scroll_offset: state.scroll.1,
        folds: state.folds,
        language: model.language().map(|language| language.name().to_owned()),
    }
}

fn restore_editor(editor: &Entity<Editor>, saved: &SavedEditor, cx: &mut Context<Workbench>) {
    if saved.selections.is_empty() {
        return;
    }
    let state = ViewState {
        selections: saved.selections.clone(),
        scroll: (saved.scroll, saved.scroll_offset),
        folds: saved.folds.clone(),
    };
    editor.update(cx, |editor, cx| editor.restore_view_state(&state, cx));
}

fn saved_bounds(bounds: WindowBounds) -> SavedBounds {
    let inner = bounds.get_bounds();
    SavedBounds {
        x: f32::from(inner.origin.x),
        y: f32::from(inner.origin.y),
        width: f32::from(inner.size.width),
        height: f32::from(inner.size.height),
        is_maximized: matches!(bounds, WindowBounds::Maximized(_)),
        is_full_screen: matches!(bounds, WindowBounds::Fullscreen(_)),
    }
}
