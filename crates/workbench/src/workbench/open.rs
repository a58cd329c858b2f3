//! Opening texts in a window: files, places in files, new texts, views of what is open already.

use std::sync::Arc;

use base::{AbsPath, Point, path_text};
use editor::{DocumentModel, Editor, EditorEvent, ModelEvent, Reveal};
use gpui_kit::{App, AppContext as _, Context, Entity, Subscription, Window};
use project::{Binary, LoadError};

use super::{Entry, RECENT_KEPT, Workbench};
use crate::actions::file::New;
use crate::crumbs::Crumbs;
use crate::documents::Documents;
use crate::item::Item;
use crate::layout::{ItemId, Opening, PaneId};
use crate::notices::Notice;
use crate::refusal::Refusal;
use crate::session::note_recent;
use crate::target::Place;

/// How a file is opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How {
    /// Whether its tab gives way to the next look at a file.
    pub(crate) opening: Opening,
    /// Whether the keyboard goes to it.
    pub(crate) focus: Focus,
    /// Where to go in it.
    pub(crate) place: Option<Goal>,
    /// What to do when it is no text.
    pub(crate) binary: Binary,
    /// What to do when there is no such file.
    pub(crate) missing: Missing,
}

/// What to do with a path at which there is no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// Say so.
    Refuse,
    /// Show an empty text that creates the file when it is saved.
    Create,
}

/// Whether the keyboard goes to what was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Focus {
    /// It does.
    Take,
    /// It stays where it is.
    Leave,
}

/// A place in a text to go to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Goal {
    /// A line and column as people count.
    Place(Place),
    /// From one byte to another.
    Span(base::Span),
    /// A row and bytes of it to select.
    InRow {
        /// The row.
        row: base::Row,
        /// First byte of the row.
        start: u32,
        /// One behind the last byte.
        end: u32,
    },
}

impl How {
    /// To stay, with the keyboard.
    pub(crate) fn lasting() -> Self {
        Self {
            opening: Opening::Lasting,
            focus: Focus::Take,
            place: None,
            binary: Binary::Refuse,
            missing: Missing::Refuse,
        }
    }

    /// To look at; the keyboard stays where it is.
    pub(crate) fn preview(cx: &App) -> Self {
        use ui::ActiveSettings as _;
        let opening = if cx.settings().window.preview_tabs {
            Opening::Preview
        } else {
            Opening::Lasting
        };
        Self {
            opening,
            focus: Focus::Leave,
            ..Self::lasting()
        }
    }

    /// At a place.
    pub(crate) fn at(self, place: Option<Goal>) -> Self {
        Self { place, ..self }
    }
}

impl Workbench {
    /// Shows a file in the active pane, in the tab it already has there or in a new one.
    pub(crate) fn open_path(
        &mut self,
        path: AbsPath,
        how: How,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let pane = self.layout.active_pane();
        self.open_path_in(path, pane, how, window, cx);
    }

    /// Shows files at their places, each in a tab to stay; behind a picker or a question that is shown.
    pub(crate) fn open_files(
        &mut self,
        files: Vec<(AbsPath, Option<Place>)>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let focus = match self.modal.read(cx).is_open() {
            true => Focus::Leave,
            false => Focus::Take,
        };
        for (path, place) in files {
            let how = How {
                focus,
                missing: Missing::Create,
                ..How::lasting()
            };
            self.open_path(path, how.at(place.map(Goal::Place)), window, cx);
        }
    }

    /// Shows a file in a pane.
    pub(crate) fn open_path_in(
        &mut self,
        path: AbsPath,
        pane: PaneId,
        how: How,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.leave_place(cx);
        if let Some(item) = self.item_in(pane, &path, cx) {
            self.show_again(item, how, window, cx);
            return;
        }
        if let Some(item) = self.waiting_in(pane, &path, cx) {
            // The tab of the last session makes way for the real one.
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
                    Err(error) if how.missing == Missing::Create && error.is_not_found() => {
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
        let text = |item: ItemId| matches!(self.item(item), Some(Item::Text(_)));
        tabs.iter()
            .map(|tab| tab.item)
            .find(|item| text(*item) && shows(*item))
    }

    fn waiting_in(&self, pane: PaneId, path: &AbsPath, cx: &Context<Self>) -> Option<ItemId> {
        let tabs = self.layout.tabs(pane)?.tabs().iter().map(|tab| tab.item);
        tabs.into_iter().find(|item| match self.item(*item) {
            Some(Item::Waiting(waiting)) => waiting.read(cx).path() == path,
            _ => false,
        })
    }

    fn show_again(&mut self, item: ItemId, how: How, window: &mut Window, cx: &mut Context<Self>) {
        if how.opening == Opening::Lasting {
            self.keep(item, cx);
        }
        self.layout.activate(item);
        self.note_recent(item, cx);
        self.layout_changed(cx);
        self.arrive(item, how, window, cx);
    }

    /// Shows a document in a pane.
    pub(crate) fn open_document_in(
        &mut self,
        document: Entity<DocumentModel>,
        pane: PaneId,
        how: How,
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
        let item = self.add_item(Item::Text(editor), pane, how.opening, window, cx);
        self.arrive(item, how, window, cx);
    }

    /// Goes to the place asked for, and takes the keyboard there if that was asked for too.
    fn arrive(&mut self, item: ItemId, how: How, window: &mut Window, cx: &mut Context<Self>) {
        if let (Some(goal), Some(editor)) =
            (how.place, self.item(item).and_then(Item::editor).cloned())
        {
            go_to(&editor, goal, cx);
        }
        if how.focus == Focus::Take {
            self.focus_active(window, cx);
        }
        self.tree_follows(cx);
    }

    /// Shows in a tab why a file is not opened.
    fn refuse(
        &mut self,
        path: AbsPath,
        error: Arc<LoadError>,
        pane: PaneId,
        how: How,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let this = cx.weak_entity();
        let refusal = cx.new(|cx| Refusal::new(path, error, this, cx));
        self.add_item(Item::Refused(refusal), pane, how.opening, window, cx);
        if how.focus == Focus::Take {
            self.focus_active(window, cx);
        }
    }

    /// A view of a document.
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

    /// Puts something into a tab of its own and shows it.
    pub(crate) fn add_item(
        &mut self,
        item: Item,
        pane: PaneId,
        opening: Opening,
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

    /// Files an item under its name, with the line above it where it is a text.
    pub(super) fn keep_item(
        &mut self,
        id: ItemId,
        item: Item,
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
            Entry {
                item,
                crumbs,
                _subscriptions: subscriptions,
            },
        );
    }

    pub(super) fn subscribe_to(
        &mut self,
        id: ItemId,
        item: &Item,
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
                // What is edited is meant to stay.
                self.keep(item, cx);
                self.autosave_later(document, window, cx);
                self.title_may_change(document, cx);
            }
            ModelEvent::Saved => self.refresh_git(cx),
            ModelEvent::StateChanged => self.layout_changed(cx),
            ModelEvent::SyntaxUpdated => self.status.update(cx, |_, cx| cx.notify()),
            ModelEvent::HunksUpdated => {}
        }
    }

    /// An unnamed text is called by its first words.
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

    /// Starts a new, unnamed text.
    pub(super) fn new_text(&mut self, _: &New, window: &mut Window, cx: &mut Context<Self>) {
        let document = Documents::untitled(cx);
        self.leave_place(cx);
        let pane = self.layout.active_pane();
        self.open_document_in(document, pane, How::lasting(), window, cx);
    }

    /// Opens what was dropped from outside: files in tabs, a folder as the folder of the window.
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
                    this.open_path(path, How::lasting(), window, cx);
                }
                if let Some(folder) = folders.into_iter().next() {
                    this.open_folder_here(folder, window, cx);
                }
            });
            opened.ok();
        })
        .detach();
    }

    /// Notes that a file was used, for the finder.
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

/// Puts the caret of a view at a place and shows it in the middle.
pub(crate) fn go_to(editor: &Entity<Editor>, goal: Goal, cx: &mut App) {
    editor.update(cx, |editor, cx| {
        let snapshot = editor.model().read(cx).snapshot();
        let span = match goal {
            Goal::Span(span) => span,
            Goal::Place(place) => base::Span::at(offset_of(&snapshot, place)),
            Goal::InRow { row, start, end } => {
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

/// The byte at which a line and a column, as people count, stand.
fn offset_of(snapshot: &text::Snapshot, place: Place) -> base::ByteOffset {
    let row = base::Row(place.line.saturating_sub(1)).min(snapshot.last_row());
    let start = snapshot.row_start(row);
    let chars = snapshot
        .chars_at(start)
        .take_while(|c| *c != '\n' && *c != '\r');
    let before = usize::try_from(place.column.saturating_sub(1)).unwrap_or(0);
    let bytes: usize = chars.take(before).map(char::len_utf8).sum();
    start + bytes
}
