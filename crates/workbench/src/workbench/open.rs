//! Opening texts in a window: files, new texts, further views of open texts.

use std::rc::Rc;
use std::sync::Arc;

use base::{AbsPath, path_text};
use editor::{DocumentModel, Editor, EditorEvent, LanguageSources, ModelEvent, VimEvent};
use gpui_kit::{
    AppContext as _, Context, Div, Entity, InteractiveElement as _, Stateful, Subscription, Window,
};
use lsp::LocationKind;
use project::LoadError;

use super::formatting::ServerTypeFormatter;
use super::{
    ItemEntry, MAX_RECENT_FILES, Workbench, blame, code_lenses, conflicts, git_changes, history,
    language, links, locations, previews, refactor, review, save, search, snippets, test_runs,
    vim_keys,
};
use crate::actions::file::New;
use crate::crumbs::Crumbs;
use crate::documents::Documents;
use crate::file_error::FileErrorView;
use crate::item::TabItem;
use crate::layout::{ItemId, PaneId, TabOpenMode};
use crate::notices::Notice;
use crate::open_options::{Focus, GoToPosition, MissingFile, OpenOptions, go_to};
use crate::server_code_actions::ServerCodeActions;
use crate::server_highlights::ServerHighlights;
use crate::server_hover::ServerHover;
use crate::server_linked_spans::ServerLinkedSpans;
use crate::server_selection_ranges::ServerSelectionRanges;
use crate::server_signatures::ServerSignatures;
use crate::session::note_recent;
use crate::target::LineColumn;
use crate::workbench::close;

/// Registers the actions of this module.
pub(super) fn with_actions(element: Stateful<Div>, cx: &mut Context<Workbench>) -> Stateful<Div> {
    element.on_action(cx.listener(new_text))
}

impl Workbench {
    /// Opens a file in the active pane, in its existing tab there or in a new one.
    pub(crate) fn open_path(
        &mut self,
        path: AbsPath,
        options: OpenOptions,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let pane = self.layout.active_pane();
        self.open_path_in(path, pane, options, window, cx);
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
            let options = OpenOptions {
                focus,
                missing: MissingFile::Create,
                ..OpenOptions::lasting()
            };
            self.open_path(path, options.at(place.map(GoToPosition::Place)), window, cx);
        }
    }

    /// Opens a file in a pane: in the tab of the pane that shows the file, or in a new tab, which
    /// loads the file in the background. If the file cannot be shown, the tab shows the cause.
    pub(crate) fn open_path_in(
        &mut self,
        path: AbsPath,
        pane: PaneId,
        options: OpenOptions,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.leave_place(cx);
        if let Some(item) = item_in(self, pane, &path, cx) {
            show_again(self, item, options, window, cx);
            return;
        }
        if let Some(kind) = previews::kind_by_default(&path, options) {
            previews::open(self, path, kind, pane, options, window, cx);
            return;
        }
        if let Some(item) = pending_item(self, pane, &path, cx) {
            // The real tab replaces the placeholder of the restored session.
            self.items.remove(&item);
            self.layout.close(item);
        }
        let pane = if self.layout.tabs(pane).is_some() {
            pane
        } else {
            self.layout.active_pane()
        };
        let loading = Documents::open(path.clone(), options.binary, cx);
        if let Some(Ok(document)) = futures::FutureExt::now_or_never(loading.clone()) {
            self.open_document_in(document, pane, options, window, cx);
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
                    Ok(document) => this.open_document_in(document, pane, options, window, cx),
                    Err(error)
                        if options.missing == MissingFile::Create && error.is_not_found() =>
                    {
                        let document = Documents::new_at(path, cx);
                        this.open_document_in(document, pane, options, window, cx);
                    }
                    Err(error) => refuse(this, path, error, pane, options, window, cx),
                }
            });
            shown.ok();
        })
        .detach();
    }

    /// Opens a document in a pane.
    pub(crate) fn open_document_in(
        &mut self,
        document: Entity<DocumentModel>,
        pane: PaneId,
        options: OpenOptions,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let path = document.read(cx).path().cloned();
        if let Some(item) = path.and_then(|path| item_in(self, pane, &path, cx)) {
            show_again(self, item, options, window, cx);
            return;
        }
        Documents::stop_waiting(&document, cx);
        let editor = self.new_editor(document, window, cx);
        let item = self.add_item(TabItem::Text(editor), pane, options.opening, window, cx);
        go_to_requested(self, item, options, window, cx);
    }

    /// Creates a view of a document, configured for this window. Does not add the view to a tab.
    pub(super) fn new_editor(
        &mut self,
        document: Entity<DocumentModel>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> Entity<Editor> {
        let text = document.downgrade();
        let sources = LanguageSources {
            hover: Some(Rc::new(ServerHover::new(text.clone()))),
            highlights: Some(Rc::new(ServerHighlights::new(text.clone()))),
            linked_spans: Some(Rc::new(ServerLinkedSpans::new(text.clone()))),
            code_actions: Some(Rc::new(ServerCodeActions::new(text.clone()))),
            type_formatter: Some(Rc::new(ServerTypeFormatter::new(text.clone()))),
            selection_ranges: Some(Rc::new(ServerSelectionRanges::new(text.clone()))),
            signatures: Some(Rc::new(ServerSignatures::new(text))),
        };
        let editor = cx.new(|cx| Editor::new(document, window, cx));
        snippets::set_completion_sources(self, &editor, cx);
        let section = language::menu_section(editor.read(cx).model());
        let section = blame::with_menu_section(self, section);
        editor.update(cx, |editor, _| {
            editor.set_language_sources(sources);
            editor.set_menu_section(section);
        });
        let document = editor.read(cx).model().clone();
        if !conflicts::show_in(self, &editor, cx) {
            self.refresh_review_in(&editor, cx);
            conflicts::refresh(self, &document, cx);
        }
        blame::show_in(self, &editor, cx);
        editor
    }

    /// Adds an item in a new tab and shows it. A preview replaces the pane's previous preview.
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
        let root = self.root(cx);
        let crumbs = item
            .editor()
            .cloned()
            .map(|editor| cx.new(|cx| Crumbs::new(editor, root, cx)));
        let title = item.title(cx);
        self.items.insert(
            id,
            ItemEntry {
                item,
                title,
                crumbs,
                _subscriptions: subscriptions,
            },
        );
    }

    /// Subscribes to the requests of an item's view. The subscriptions end with the item.
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
            test_runs::watch(self, &document, cx);
            subscriptions.push(cx.subscribe_in(
                &document,
                window,
                move |this, document, event, window, cx| {
                    document_event(this, id, document, event, window, cx);
                },
            ));
        }
        match item {
            TabItem::Refused(refusal) => {
                subscriptions.push(cx.subscribe_in(refusal, window, save::retry_open));
            }
            TabItem::Search(panel) => {
                subscriptions.push(cx.subscribe_in(panel, window, search::panel_event));
            }
            TabItem::Tests(panel) => {
                subscriptions.push(cx.subscribe_in(panel, window, test_runs::panel_event));
            }
            TabItem::History(view) => {
                subscriptions.push(cx.subscribe_in(view, window, history::view_event));
            }
            TabItem::Preview(tab) => {
                subscriptions.push(tab.subscribe(previews::preview_event, window, cx));
            }
            TabItem::Text(_)
            | TabItem::Excerpts(..)
            | TabItem::Terminal(_)
            | TabItem::Waiting(_) => {}
        }
        if let Some(editor) = item.editor() {
            subscriptions.push(cx.subscribe_in(
                editor,
                window,
                |this, editor, event: &EditorEvent, window, cx| {
                    editor_event(this, editor, event, window, cx);
                },
            ));
        }
        subscriptions
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
            note_recent(
                &mut self.recent_files,
                &path_text(relative),
                MAX_RECENT_FILES,
            );
        }
    }

    /// Drops the item of a closed tab and remembers it for reopening.
    pub(super) fn forget_item(&mut self, item: ItemId, cx: &mut Context<Self>) {
        if let Some(entry) = self.items.remove(&item) {
            close::remember_closed(self, &entry.item, cx);
        }
    }
}

/// Returns the item of a pane that shows the text of this file. Returns `None` if there is none;
/// tabs that still load do not count.
fn item_in(
    workbench: &Workbench,
    pane: PaneId,
    path: &AbsPath,
    cx: &Context<Workbench>,
) -> Option<ItemId> {
    let tabs = workbench.layout.tabs(pane)?.tabs();
    let shows =
        |item: ItemId| workbench.item(item).and_then(|item| item.path(cx)).as_ref() == Some(path);
    let text = |item: ItemId| matches!(workbench.item(item), Some(TabItem::Text(_)));
    tabs.iter()
        .map(|tab| tab.item)
        .find(|item| text(*item) && shows(*item))
}

/// Returns the item of a pane that still loads this file; `None` if there is none.
fn pending_item(
    workbench: &Workbench,
    pane: PaneId,
    path: &AbsPath,
    cx: &Context<Workbench>,
) -> Option<ItemId> {
    let tabs = workbench
        .layout
        .tabs(pane)?
        .tabs()
        .iter()
        .map(|tab| tab.item);
    tabs.into_iter().find(|item| match workbench.item(*item) {
        Some(TabItem::Waiting(waiting)) => {
            let waiting = waiting.read(cx);
            waiting.path() == path && waiting.preview().is_none()
        }
        _ => false,
    })
}

pub(super) fn show_again(
    workbench: &mut Workbench,
    item: ItemId,
    options: OpenOptions,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if options.opening == TabOpenMode::Lasting {
        workbench.keep_open(item, cx);
    }
    workbench.layout.activate(item);
    workbench.note_recent(item, cx);
    workbench.layout_changed(cx);
    go_to_requested(workbench, item, options, window, cx);
}

/// Goes to the requested location and takes the focus if requested.
fn go_to_requested(
    workbench: &mut Workbench,
    item: ItemId,
    options: OpenOptions,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if let (Some(position), Some(editor)) = (
        options.place,
        workbench.item(item).and_then(TabItem::editor).cloned(),
    ) {
        go_to(&editor, position, cx);
    }
    if options.focus == Focus::Take {
        workbench.focus_active(window, cx);
    }
    workbench.tree_follows(cx);
}

/// Shows in a tab why a file cannot be opened.
fn refuse(
    workbench: &mut Workbench,
    path: AbsPath,
    error: Arc<LoadError>,
    pane: PaneId,
    options: OpenOptions,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let refusal = cx.new(|cx| FileErrorView::new(path, error, cx));
    workbench.add_item(TabItem::Refused(refusal), pane, options.opening, window, cx);
    if options.focus == Focus::Take {
        workbench.focus_active(window, cx);
    }
}

fn document_event(
    workbench: &mut Workbench,
    item: ItemId,
    document: &Entity<DocumentModel>,
    event: &ModelEvent,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    match event {
        ModelEvent::Edited(_) => {
            conflicts::follow(workbench, document, cx);
            // An edited preview becomes permanent.
            workbench.keep_open(item, cx);
            workbench.autosave_later(document, window, cx);
            if document.read(cx).path().is_none() {
                title_may_change(workbench, item, cx);
            }
        }
        ModelEvent::Saved => {
            if let Some(path) = document.read(cx).path().cloned() {
                let unformatted = workbench.unformatted.remove(&document.entity_id());
                let unformatted = unformatted.map(|it| it.text(it.full_span()).into_owned());
                let panel = workbench.agents.local.read(cx);
                panel.note_saved(path, unformatted);
            }
            workbench.refresh_git(cx);
        }
        ModelEvent::StateChanged => workbench.layout_changed(cx),
        // The language may be another one.
        ModelEvent::SyntaxUpdated if !document.read(cx).is_being_edited() => {
            workbench.status.update(cx, |_, cx| cx.notify());
        }
        ModelEvent::SyntaxUpdated
        | ModelEvent::HunksUpdated
        | ModelEvent::DiagnosticsUpdated
        | ModelEvent::GutterMarksUpdated => {}
        // A text that was read again after an agent's edit has the agent's changes.
        ModelEvent::Rested => {
            review::refresh_document(workbench, document, cx);
            conflicts::refresh(workbench, document, cx);
            git_changes::text_rested(workbench, item, document, window, cx);
        }
    }
}

/// Redraws the tabs if the title of an item changed. The title of an untitled text is its first
/// words.
fn title_may_change(workbench: &mut Workbench, item: ItemId, cx: &mut Context<Workbench>) {
    let Some(entry) = workbench.items.get_mut(&item) else {
        return;
    };
    let title = entry.item.title(cx);
    if title != entry.title {
        entry.title = title;
        workbench.follow_layout(cx);
    }
}

fn editor_event(
    workbench: &mut Workbench,
    editor: &Entity<Editor>,
    event: &EditorEvent,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    match event {
        EditorEvent::SelectionsChanged => {
            if editor.read(cx).excerpts().is_none() {
                let selections = editor.update(cx, |editor, cx| editor.selections(cx).clone());
                let model = editor.read(cx).model().clone();
                Documents::note_selections(&model, &selections, cx);
            }
            workbench.store_timer.put_off(cx);
        }
        EditorEvent::Scrolled => workbench.store_timer.put_off(cx),
        EditorEvent::Refused(sentence) => {
            workbench.report(
                Notice::new(ui::Tone::Warning, sentence.clone()).key("refused"),
                window,
                cx,
            );
        }
        EditorEvent::LinkClicked(link) => {
            let model = editor.read(cx).model().clone();
            links::open_link(&model, link, window, cx);
        }
        EditorEvent::LensClicked(command) => {
            let model = editor.read(cx).model().clone();
            code_lenses::run_lens(workbench, &model, command, window, cx);
        }
        EditorEvent::DefinitionRequested => {
            locations::go_to(workbench, LocationKind::Definition, window, cx);
        }
        EditorEvent::CodeActionsRequested => refactor::show_code_actions(workbench, window, cx),
        EditorEvent::GutterMarkClicked(key) => test_runs::run_mark(workbench, editor, *key, cx),
        EditorEvent::LineAuthorClicked(key) => {
            blame::open_commit(workbench, editor, *key, window, cx);
        }
        EditorEvent::LineAuthorsWanted => blame::ensure(workbench, editor, cx),
        EditorEvent::Vim(VimEvent::Commands(commands)) => {
            vim_keys::carry_out(workbench, editor, commands, window, cx);
        }
        EditorEvent::Vim(VimEvent::StatusChanged) => {}
        EditorEvent::Edited | EditorEvent::Focused | EditorEvent::Suggestion(_) => {}
    }
}

/// Creates an untitled text.
fn new_text(workbench: &mut Workbench, _: &New, window: &mut Window, cx: &mut Context<Workbench>) {
    let document = Documents::untitled(cx);
    workbench.leave_place(cx);
    let pane = workbench.layout.active_pane();
    workbench.open_document_in(document, pane, OpenOptions::lasting(), window, cx);
}
