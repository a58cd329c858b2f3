//! Storing and restoring a window.
//!
//! Files are read in the background: each tab appears at once and gets its text when loaded,
//! visible tabs first.

use base::{AbsPath, path_text, text_path};
use editor::{DocumentModel, Editor, ViewState};
use gpui_kit::{AppContext as _, Context, Entity, Window, WindowBounds, px};
use project::{Binary, DocumentKey};

use super::{STORE_AFTER, Workbench};
use crate::documents::Documents;
use crate::item::TabItem;
use crate::layout::{ItemId, PaneId, TabOpenMode};
use crate::pending_file::PendingFile;
use crate::search_panel::SearchPanel;
use crate::session::{SavedBounds, SavedEditor, SavedItem, SavedTree, SavedWindow};
use crate::windows;

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
                this.update(cx, |this, cx| {
                    this.storing = None;
                    this.store_now(window, cx);
                })
            });
            // The window may have been closed; it was stored then.
            stored.ok();
        }));
    }

    /// Stores the current state of the window.
    pub(crate) fn store_now(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let saved = self.saved(window, cx);
        windows::store(cx.entity().entity_id(), saved, cx);
    }

    fn saved(&self, window: &Window, cx: &mut Context<Self>) -> SavedWindow {
        let items: Vec<(ItemId, Option<SavedItem>)> = self
            .layout
            .items()
            .into_iter()
            .map(|id| {
                (
                    id,
                    self.item(id)
                        .and_then(|item| self.save_item_state(item, cx)),
                )
            })
            .collect();
        let layout = self.layout.save(|id| {
            items
                .iter()
                .find(|(item, _)| *item == id)
                .and_then(|(_, saved)| saved.clone())
        });
        let root = self.root(cx);
        SavedWindow {
            folder: root.as_ref().map(path_text),
            // Set by the code that opened the window.
            for_files: false,
            bounds: Some(saved_bounds(window.window_bounds())),
            layout: Some(layout),
            tree: self.saved_tree(root.as_ref(), cx),
            agents: self.agents.saved(),
            recent_files: self.recent_files.clone(),
        }
    }

    fn saved_tree(&self, root: Option<&AbsPath>, cx: &Context<Self>) -> SavedTree {
        let open = self.folder.as_ref().zip(root).map(|(folder, root)| {
            let open = folder.read(cx).tree().open_folders();
            open.filter_map(|path| Some(path_text(path.relative_to(root)?)))
                .collect()
        });
        SavedTree {
            is_shown: self.tree_shown,
            width: f32::from(self.tree_width),
            open: open.unwrap_or_default(),
        }
    }

    /// Returns the state to store for a tab.
    pub(super) fn save_item_state(
        &self,
        item: &TabItem,
        cx: &mut Context<Self>,
    ) -> Option<SavedItem> {
        match item {
            TabItem::Text(editor) => Some(SavedItem::Editor(save_editor(editor, cx))),
            TabItem::Search(panel) => Some(SavedItem::Search(panel.read(cx).saved(cx))),
            TabItem::Waiting(waiting) => Some(SavedItem::Editor(waiting.read(cx).saved().clone())),
            TabItem::Excerpts(..) | TabItem::Refused(_) => None,
        }
    }

    /// Restores panes, tabs and the tree.
    pub(super) fn restore(
        &mut self,
        saved: SavedWindow,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.tree_shown = saved.tree.is_shown;
        self.tree_width = px(saved.tree.width.clamp(140.0, 900.0));
        self.agents.restore(&saved.agents, window, cx);
        self.recent_files = saved.recent_files;
        if let Some((folder, root)) = self.folder.clone().zip(self.root(cx)) {
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
        self.layout = layout.restore(|id, item| match self.make(item, window, cx) {
            Some(item) => {
                made.push((id, item));
                true
            }
            None => false,
        });
        for (id, item) in made {
            let subscriptions = self.subscribe_to(id, &item, window, cx);
            self.keep_item(id, item, subscriptions, cx);
        }
        self.read_waiting(window, cx);
        self.layout_changed(cx);
        self.watch_visible(cx);
    }

    fn make(
        &mut self,
        saved: SavedItem,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> Option<TabItem> {
        match saved {
            SavedItem::Search(saved) => {
                let (this, root) = (cx.weak_entity(), self.root(cx));
                Some(TabItem::Search(cx.new(|cx| {
                    SearchPanel::restored(saved, this, root, window, cx)
                })))
            }
            SavedItem::Editor(saved) => {
                match saved.path.as_deref().map(text_path).and_then(AbsPath::new) {
                    Some(path) => Some(TabItem::Waiting(
                        cx.new(|cx| PendingFile::new(path, saved, cx)),
                    )),
                    None => {
                        let document = Documents::of_key(DocumentKey(saved.document?), cx)?;
                        Some(TabItem::Text(self.view_of(document, &saved, window, cx)))
                    }
                }
            }
        }
    }

    fn view_of(
        &mut self,
        document: Entity<DocumentModel>,
        saved: &SavedEditor,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> Entity<Editor> {
        Documents::stop_waiting(&document, cx);
        if let Some(language) = saved.language.as_deref().and_then(syntax::language_named) {
            document.update(cx, |document, cx| document.set_language(Some(language), cx));
        }
        let editor = self.new_editor(document, window, cx);
        restore_editor(&editor, saved, cx);
        editor
    }

    /// Loads the files of placeholder tabs, visible ones first.
    fn read_waiting(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let shown: Vec<ItemId> = {
            let panes = self.layout.tree().panes();
            panes
                .iter()
                .filter_map(|pane| self.layout.tabs(*pane)?.active())
                .collect()
        };
        let mut waiting: Vec<(ItemId, AbsPath)> = self
            .layout
            .items()
            .into_iter()
            .filter_map(|id| match self.item(id) {
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
                self.on_file_loaded(id, path, Ok(document), window, cx);
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
                    this.on_file_loaded(id, path, loaded, window, cx)
                });
                if arrived.is_err() {
                    return;
                }
            }
        })
        .detach();
    }

    fn on_file_loaded(
        &mut self,
        id: ItemId,
        path: AbsPath,
        loaded: crate::documents::Opened,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let Some(TabItem::Waiting(waiting)) = self.item(id).cloned() else {
            return;
        };
        let had_keyboard = waiting.read(cx).focus_is_in(window);
        let item = match loaded {
            Ok(document) => {
                let saved = waiting.read(cx).saved().clone();
                TabItem::Text(self.view_of(document, &saved, window, cx))
            }
            // The tab of a deleted file is closed.
            Err(error) if error.is_not_found() => {
                self.items.remove(&id);
                self.layout.close(id);
                self.layout_changed(cx);
                return;
            }
            Err(error) => {
                let this = cx.weak_entity();
                TabItem::Refused(
                    cx.new(|cx| crate::file_error::FileErrorView::new(path, error, this, cx)),
                )
            }
        };
        let subscriptions = self.subscribe_to(id, &item, window, cx);
        self.keep_item(id, item, subscriptions, cx);
        let is_active = self.layout.active_item() == Some(id);
        if is_active && (had_keyboard || window.focused(cx).is_none()) {
            self.focus_active(window, cx);
        }
        if is_active {
            self.tree_follows(cx);
        }
        self.layout_changed(cx);
        self.watch_visible(cx);
    }

    /// Reopens a closed tab.
    pub(super) fn reopen(
        &mut self,
        saved: SavedItem,
        pane: PaneId,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let Some(item) = self.make(saved, window, cx) else {
            return;
        };
        self.add_item(item, pane, TabOpenMode::Lasting, window, cx);
        self.read_waiting(window, cx);
        self.focus_active(window, cx);
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
            self.open_document_in(document, pane, super::OpenOptions::lasting(), window, cx);
        }
        self.report(
            crate::notices::Notice::new(ui::Tone::Info, sentence).key("recovered"),
            window,
            cx,
        );
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
