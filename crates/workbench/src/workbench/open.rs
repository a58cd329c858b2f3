//! Opening texts in a window: files, locations in files, new texts, further views of open texts.

use std::sync::Arc;

use base::{AbsPath, Point, path_text};
use editor::{DocumentModel, Editor, EditorEvent, ModelEvent, Reveal};
use gpui_kit::{App, AppContext as _, Context, Entity, Subscription, Window};
use project::{Binary, LoadError};

use super::{ItemEntry, RECENT_KEPT, Workbench};
use crate::actions::file::New;
use crate::crumbs::Crumbs;
use crate::documents::Documents;
use crate::file_error::FileErrorView;
use crate::item::TabItem;
use crate::layout::{ItemId, PaneId, TabOpenMode};
use crate::notices::Notice;
use crate::session::note_recent;
use crate::target::LineColumn;

/// Options for opening a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenOptions {
    /// Whether the tab is a preview.
    pub(crate) opening: TabOpenMode,
    /// Whether the opened view takes the focus.
    pub(crate) focus: Focus,
    /// Location to go to.
    pub(crate) place: Option<GoToPosition>,
    /// Behaviour for a binary file.
    pub(crate) binary: Binary,
    /// Behaviour if the file does not exist.
    pub(crate) missing: MissingFile,
}

/// Behaviour for a path without a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MissingFile {
    /// Show an error instead.
    Refuse,
    /// Show an empty text that creates the file when it is saved.
    Create,
}

/// Whether the opened view takes the focus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Focus {
    /// Focus the opened view.
    Take,
    /// Keep the current focus.
    Leave,
}

/// A location in a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum GoToPosition {
    /// Line and column, counted from 1.
    Place(LineColumn),
    /// A span of bytes to select.
    Span(base::Span),
    /// A row and a range of its bytes to select.
    InRow {
        /// Row of the selection.
        row: base::Row,
        /// First byte in the row.
        start: u32,
        /// End of the range in the row, exclusive.
        end: u32,
    },
}

impl OpenOptions {
    /// Opens a permanent tab and focuses it.
    pub(crate) fn lasting() -> Self {
        Self {
            opening: TabOpenMode::Lasting,
            focus: Focus::Take,
            place: None,
            binary: Binary::Refuse,
            missing: MissingFile::Refuse,
        }
    }

    /// Opens a preview without changing the focus.
    pub(crate) fn preview(cx: &App) -> Self {
        use ui::ActiveSettings as _;
        let opening = if cx.settings().window.preview_tabs {
            TabOpenMode::Preview
        } else {
            TabOpenMode::Lasting
        };
        Self {
            opening,
            focus: Focus::Leave,
            ..Self::lasting()
        }
    }

    /// Sets the location to go to.
    pub(crate) fn at(self, place: Option<GoToPosition>) -> Self {
        Self { place, ..self }
    }
}

impl Workbench {
    /// Opens a file in the active pane, in its existing tab there or in a new one.
    pub(crate) fn open_path(
        &mut self,
        path: AbsPath,
        how: OpenOptions,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let pane = self.layout.active_pane();
        self.open_path_in(path, pane, how, window, cx);
    }

    /// Opens files at their locations in permanent tabs, behind an open picker or question.
    pub(crate) fn open_files(
        &mut self,
        files: Vec<(AbsPath, Option<LineColumn>)>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let focus = if self.modal.read(cx).is_open() {
            Focus::Leave
        } else {
            Focus::Take
        };
        for (path, place) in files {
            let how = OpenOptions {
                focus,
                missing: MissingFile::Create,
                ..OpenOptions::lasting()
            };
            self.open_path(path, how.at(place.map(GoToPosition::Place)), window, cx);
        }
    }

    /// Opens a file in a pane.
    pub(crate) fn open_path_in(
        &mut self,
        path: AbsPath,
        pane: PaneId,
        how: OpenOptions,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.leave_place(cx);
        if let Some(item) = self.item_in(pane, &path, cx) {
            self.show_again(item, how, window, cx);
            return;
        }
        if let Some(item) = self.pending_item(pane, &path, cx) {
            // The real tab replaces the placeholder of the restored session.
            self.items.remove(&item);
            self.layout.close(item);
        }
        let pane = if self.layout.tabs(pane).is_some() {
            pane
        } else {
            self.layout.active_pane()
        };
        let loading = Documents::open(path.clone(), how.binary, cx);
        if let Some(Ok(document)) = futures::FutureExt::now_or_never(loading.clone()) {
            self.open_document_in(document, pane, how, window, cx);
            return;
        }
        cx.spawn_in(window, async move |this, cx| {
            let loaded = loading.await;
            let shown = this.update_in(cx, |this, window, cx| {
                let pane = if this.layout.tabs(pane).is_some() {
                    pane
                } else {
                    this.layout.active_pane()
                };
                match loaded {
                    Ok(document) => this.open_document_in(document, pane, how, window, cx),
                    Err(error) if how.missing == MissingFile::Create && error.is_not_found() => {
                        let document = Documents::new_at(path, cx);
                        this.open_document_in(document, pane, how, window, cx);
                    }
                    Err(error) => this.refuse(path, error, pane, how, window, cx),
                }
            });
            shown.ok();
        })
        .detach();
    }

    fn item_in(&self, pane: PaneId, path: &AbsPath, cx: &Context<Self>) -> Option<ItemId> {
        let tabs = self.layout.tabs(pane)?.tabs();
        let shows =
            |item: ItemId| self.item(item).and_then(|item| item.path(cx)).as_ref() == Some(path);
        let text = |item: ItemId| matches!(self.item(item), Some(TabItem::Text(_)));
        tabs.iter()
            .map(|tab| tab.item)
            .find(|item| text(*item) && shows(*item))
    }

    fn pending_item(&self, pane: PaneId, path: &AbsPath, cx: &Context<Self>) -> Option<ItemId> {
        let tabs = self.layout.tabs(pane)?.tabs().iter().map(|tab| tab.item);
        tabs.into_iter().find(|item| match self.item(*item) {
            Some(TabItem::Waiting(waiting)) => waiting.read(cx).path() == path,
            _ => false,
        })
    }

    fn show_again(
        &mut self,
        item: ItemId,
        how: OpenOptions,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if how.opening == TabOpenMode::Lasting {
            self.keep_open(item, cx);
        }
        self.layout.activate(item);
        self.note_recent(item, cx);
        self.layout_changed(cx);
        self.go_to_requested(item, how, window, cx);
    }

    /// Opens a document in a pane.
    pub(crate) fn open_document_in(
        &mut self,
        document: Entity<DocumentModel>,
        pane: PaneId,
        how: OpenOptions,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let path = document.read(cx).path().cloned();
        if let Some(item) = path.and_then(|path| self.item_in(pane, &path, cx)) {
            self.show_again(item, how, window, cx);
            return;
        }
        Documents::stop_waiting(&document, cx);
        let editor = self.new_editor(document, window, cx);
        let item = self.add_item(TabItem::Text(editor), pane, how.opening, window, cx);
        self.go_to_requested(item, how, window, cx);
    }

    /// Goes to the requested location and takes the focus if requested.
    fn go_to_requested(
        &mut self,
        item: ItemId,
        how: OpenOptions,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if let (Some(goal), Some(editor)) = (
            how.place,
            self.item(item).and_then(TabItem::editor).cloned(),
        ) {
            go_to(&editor, goal, cx);
        }
        if how.focus == Focus::Take {
            self.focus_active(window, cx);
        }
        self.tree_follows(cx);
    }

    /// Shows in a tab why a file cannot be opened.
    fn refuse(
        &mut self,
        path: AbsPath,
        error: Arc<LoadError>,
        pane: PaneId,
        how: OpenOptions,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let this = cx.weak_entity();
        let refusal = cx.new(|cx| FileErrorView::new(path, error, this, cx));
        self.add_item(TabItem::Refused(refusal), pane, how.opening, window, cx);
        if how.focus == Focus::Take {
            self.focus_active(window, cx);
        }
    }

    /// Creates a view of a document.
    pub(super) fn new_editor(
        &mut self,
        document: Entity<DocumentModel>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> Entity<Editor> {
        let editor = cx.new(|cx| Editor::new(document, window, cx));
        self.refresh_review_in(&editor, cx);
        editor
    }

    /// Adds an item in a new tab and shows it.
    pub(crate) fn add_item(
        &mut self,
        item: TabItem,
        pane: PaneId,
        opening: TabOpenMode,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> ItemId {
        let id = self.layout.new_item();
        let subscriptions = self.subscribe_to(id, &item, window, cx);
        self.keep_item(id, item, subscriptions, cx);
        if let Some(gone) = self.layout.open(pane, id, opening) {
            self.forget_item(gone, cx);
        }
        self.note_recent(id, cx);
        self.layout_changed(cx);
        self.watch_visible(cx);
        id
    }

    /// Registers an item under its id, with breadcrumbs if it shows a text.
    pub(super) fn keep_item(
        &mut self,
        id: ItemId,
        item: TabItem,
        subscriptions: Vec<Subscription>,
        cx: &mut Context<Self>,
    ) {
        let this = cx.weak_entity();
        let crumbs = item
            .editor()
            .cloned()
            .map(|editor| cx.new(|cx| Crumbs::new(editor, this, cx)));
        self.items.insert(
            id,
            ItemEntry {
                item,
                crumbs,
                _subscriptions: subscriptions,
            },
        );
    }

    pub(super) fn subscribe_to(
        &mut self,
        id: ItemId,
        item: &TabItem,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> Vec<Subscription> {
        let focus = item.focus_handle(cx);
        let mut subscriptions =
            vec![cx.on_focus_in(&focus, window, move |this, _, cx| this.item_focused(id, cx))];
        for document in item.documents(cx) {
            self.prediction
                .update(cx, |prediction, cx| prediction.watch(&document, window, cx));
            subscriptions.push(cx.subscribe_in(
                &document,
                window,
                move |this, document, event, window, cx| {
                    this.document_event(id, document, event, window, cx);
                },
            ));
        }
        if let Some(editor) = item.editor() {
            subscriptions.push(cx.subscribe_in(
                editor,
                window,
                |this, editor, event: &EditorEvent, window, cx| {
                    this.editor_event(editor, event, window, cx);
                },
            ));
        }
        subscriptions
    }

    fn document_event(
        &mut self,
        item: ItemId,
        document: &Entity<DocumentModel>,
        event: &ModelEvent,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        match event {
            ModelEvent::Edited(_) => {
                // An edited preview becomes permanent.
                self.keep_open(item, cx);
                self.autosave_later(document, window, cx);
                self.title_may_change(document, cx);
            }
            ModelEvent::Saved => self.refresh_git(cx),
            ModelEvent::StateChanged => self.layout_changed(cx),
            ModelEvent::SyntaxUpdated => self.status.update(cx, |_, cx| cx.notify()),
            ModelEvent::HunksUpdated => {}
        }
    }

    /// Updates titles: an untitled text is named after its first words.
    fn title_may_change(&mut self, document: &Entity<DocumentModel>, cx: &mut Context<Self>) {
        if document.read(cx).path().is_none() {
            self.follow_layout(cx);
        }
    }

    fn editor_event(
        &mut self,
        editor: &Entity<Editor>,
        event: &EditorEvent,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        match event {
            EditorEvent::SelectionsChanged => {
                if editor.read(cx).excerpts().is_none() {
                    let selections = editor.update(cx, |editor, cx| editor.selections(cx).clone());
                    let model = editor.read(cx).model().clone();
                    Documents::note_selections(&model, &selections, cx);
                }
                self.store_soon(cx);
            }
            EditorEvent::Scrolled => self.store_soon(cx),
            EditorEvent::Refused(sentence) => {
                self.report(
                    Notice::new(ui::Tone::Warning, sentence.clone()).key("refused"),
                    window,
                    cx,
                );
            }
            EditorEvent::Edited | EditorEvent::Focused | EditorEvent::Suggestion(_) => {}
        }
    }

    /// Creates an untitled text.
    pub(super) fn new_text(&mut self, _: &New, window: &mut Window, cx: &mut Context<Self>) {
        let document = Documents::untitled(cx);
        self.leave_place(cx);
        let pane = self.layout.active_pane();
        self.open_document_in(document, pane, OpenOptions::lasting(), window, cx);
    }

    /// Opens dropped paths: files in tabs, a folder as the folder of the window.
    pub(super) fn open_dropped(
        &mut self,
        paths: Vec<AbsPath>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let files = self.services.files.clone();
        let sort = cx.background_spawn(async move {
            let is_folder = |path: &AbsPath| {
                files
                    .stat(path)
                    .is_ok_and(|stat| stat.kind == host::FileKind::Folder)
            };
            paths.into_iter().partition::<Vec<_>, _>(is_folder)
        });
        cx.spawn_in(window, async move |this, cx| {
            let (folders, files) = sort.await;
            let opened = this.update_in(cx, |this, window, cx| {
                for path in files {
                    this.open_path(path, OpenOptions::lasting(), window, cx);
                }
                if let Some(folder) = folders.into_iter().next() {
                    this.open_folder_here(folder, window, cx);
                }
            });
            opened.ok();
        })
        .detach();
    }

    /// Records that a file was used, for the finder.
    pub(super) fn note_recent(&mut self, item: ItemId, cx: &Context<Self>) {
        let path = self.item(item).and_then(|item| item.path(cx));
        let root = self.root(cx);
        if let (Some(path), Some(root)) = (path, root)
            && let Some(relative) = path.relative_to(&root)
        {
            note_recent(&mut self.recent_files, &path_text(relative), RECENT_KEPT);
        }
    }

    pub(super) fn forget_item(&mut self, item: ItemId, cx: &mut Context<Self>) {
        if let Some(entry) = self.items.remove(&item) {
            self.remember_closed(&entry.item, cx);
        }
    }
}

/// Moves the caret of a view to a location and scrolls it to the middle.
pub(crate) fn go_to(editor: &Entity<Editor>, goal: GoToPosition, cx: &mut App) {
    editor.update(cx, |editor, cx| {
        let snapshot = editor.model().read(cx).snapshot();
        let span = match goal {
            GoToPosition::Span(span) => span,
            GoToPosition::Place(place) => base::Span::at(offset_of(&snapshot, place)),
            GoToPosition::InRow { row, start, end } => {
                let at = |column| {
                    snapshot.offset_at(Point {
                        row,
                        column: base::Column(column),
                    })
                };
                base::Span::new(at(start), at(end))
            }
        };
        editor.select(vec![span], Reveal::Center, cx);
    });
}

/// Converts a line and column, counted from 1, into a byte offset.
fn offset_of(snapshot: &text::Snapshot, place: LineColumn) -> base::ByteOffset {
    let row = base::Row(place.line.saturating_sub(1)).min(snapshot.last_row());
    let start = snapshot.row_start(row);
    let chars = snapshot
        .chars_at(start)
        .take_while(|c| *c != '\n' && *c != '\r');
    let before = usize::try_from(place.column.saturating_sub(1)).unwrap_or(0);
    let bytes: usize = chars.take(before).map(char::len_utf8).sum();
    start + bytes
}
