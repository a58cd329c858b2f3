//! Tab suggestions in a window: passes every text change to the engine, queries models, and shows
//! the result in the focused view.
//!
//! The logic is in `autocomplete`: its engine returns effects, and this module applies them. Must
//! not know: how suggestions are drawn, how models are reached.
//! Invariant: nothing here blocks; work proportional to a text or the project runs in the
//! background.
//! Start at `Prediction::document_changed` and `apply_effect`.

mod background;
mod cross_file;
mod expand_word;
mod folder_context;
mod folder_reader;
mod model_requests;
mod shown_suggestions;
mod suggestion_settings;
mod suppression;
mod tab_status;
mod unopened_files;
mod watch;

use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use autocomplete::engine::{
    BlockReason, ChangedFiles, CompletionEngine, CycleStep, EngineEffect, EngineInput,
    EngineOptions,
};
use autocomplete::{ChangeCause, DocumentEdit, EditorState, Suggestion};
use base::{AbsPath, ByteOffset, Revision, Row};
use composer_panel::board::BoardHunk;
use editor::{
    CycleDirection, DocumentModel, Editor, EditorEvent, ModelEvent, SuggestionBlocker,
    SuggestionEvent, SuggestionMode, VimEvent,
};
use gpui_kit::{
    App, Context, Entity, EntityId, EventEmitter, SharedString, Subscription, Task, Window,
};
use settings::TabShow;
use text::Change;
use ui::ActiveSettings as _;

use crate::folder::{FolderEvent, OpenFolder};
use crate::services::Services;
use crate::tab_models::TextNews;
use folder_context::FolderContext;
use folder_reader::{FolderReader, ViewChanged};
pub(crate) use shown_suggestions::RefusedSuggestion;
use shown_suggestions::ShownSuggestions;
use suggestion_settings::SuggestionSettings;
pub(crate) use tab_status::TabStatus;
use watch::{TextChange, WatchedText, WatchedTexts};

/// Tab suggestions of one window.
pub(crate) struct Prediction {
    services: Services,
    engine: CompletionEngine,
    folder_context: FolderContext,
    settings: SuggestionSettings,
    folder: Option<Entity<OpenFolder>>,
    root: Option<AbsPath>,
    reader: Option<Entity<FolderReader>>,
    watched_texts: WatchedTexts,
    focused: Option<FocusedView>,
    /// The reasons for suppressing suggestions last sent to the engine.
    blocks: BTreeSet<BlockReason>,
    /// Reason the focused view shows no suggestions, if any.
    blocker: Option<SuggestionBlocker>,
    /// The focused text and its caret when they were last passed to the engine.
    passed: Option<(EntityId, Revision, ByteOffset)>,
    /// Whether the user requested a suggestion and has not typed since.
    is_requested: bool,
    /// A suggestion for a file that is being opened for it.
    entering: Option<Suggestion>,
    shown: ShownSuggestions,
    model_state: model_requests::TabModelState,
    background: background::Background,
    unopened_files: unopened_files::UnopenedFiles,
    wake_timer: Option<Task<()>>,
    /// Queries the local tier when the present key is answered.
    local_query: Option<Task<()>>,
    snooze: Option<Task<()>>,
    _followed: Vec<Subscription>,
}

/// The view with the focus.
struct FocusedView {
    editor: Entity<Editor>,
    model: Entity<DocumentModel>,
    /// Last row of the caret.
    row: Row,
    _followed: [Subscription; 2],
}

/// A request to the window.
pub(crate) enum PredictionEvent {
    /// Opens a file at a byte offset.
    Enter(AbsPath, ByteOffset),
}

impl EventEmitter<PredictionEvent> for Prediction {}

/// Distance, in rows, at which the caret has left a location.
const AWAY: u32 = 30;

impl Prediction {
    /// Creates the suggestions of a window without a folder.
    pub(crate) fn new(cx: &mut Context<Self>) -> Self {
        let settings = cx.settings().clone();
        let mut this = Self {
            services: Services::of(cx),
            engine: CompletionEngine::new(EngineOptions::local()),
            folder_context: FolderContext::default(),
            settings: SuggestionSettings::new(&settings.tab, None),
            folder: None,
            root: None,
            reader: None,
            watched_texts: WatchedTexts::new(),
            focused: None,
            blocks: BTreeSet::new(),
            blocker: None,
            passed: None,
            is_requested: false,
            entering: None,
            shown: ShownSuggestions::default(),
            model_state: model_requests::TabModelState::default(),
            background: background::Background::default(),
            unopened_files: unopened_files::UnopenedFiles::default(),
            wake_timer: None,
            local_query: None,
            snooze: None,
            _followed: Vec::new(),
        };
        this.load_learned(cx);
        this
    }

    /// Switches to another folder; `None` means no folder. Discards the data gathered for the
    /// previous folder.
    pub(crate) fn set_folder(
        &mut self,
        folder: Option<Entity<OpenFolder>>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.folder_context = FolderContext::default();
        self.unopened_files = unopened_files::UnopenedFiles::default();
        self.root = folder.as_ref().map(|folder| folder.read(cx).root().clone());
        self.reader = folder.as_ref().map(|folder| FolderReader::of(folder, cx));
        self._followed = self
            .reader
            .iter()
            .map(|reader| {
                cx.subscribe(reader, |this, reader, _: &ViewChanged, cx| {
                    this.engine.set_corpus(reader.read(cx).view().clone());
                })
            })
            .collect();
        if let Some(reader) = &self.reader {
            self.engine.set_corpus(reader.read(cx).view().clone());
        }
        self._followed.extend(folder.iter().map(|folder| {
            cx.subscribe(folder, |this, _, event: &FolderEvent, cx| match event {
                FolderEvent::Changed(paths) => {
                    this.folder_context.clear_lookups();
                    this.files_changed_on_disk(Some(paths), cx);
                }
                FolderEvent::Rescan => {
                    this.folder_context.clear_lookups();
                    this.files_changed_on_disk(None, cx);
                }
                _ => {}
            })
        }));
        self.folder = folder;
        let files = ChangedFiles::AllExcept(HashSet::new());
        self.handle(EngineInput::FilesChanged(files), cx);
        self.settings_changed(window, cx);
    }

    /// Sets the hunks of agents that are not landed yet.
    pub(crate) fn set_unmerged(&mut self, hunks: Vec<BoardHunk>) {
        self.folder_context.set_unmerged(hunks);
    }

    /// Applies settings after a change.
    pub(crate) fn settings_changed(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let settings = cx.settings().clone();
        let snoozed = self.settings.snoozed_until();
        self.settings = SuggestionSettings::new(&settings.tab, self.root.as_ref());
        self.settings.snooze(snoozed);
        self.model_state.set_model_name(&settings.tab.model);
        if self.model_state.is_needed {
            self.choose_model(cx);
        }
        self.set_options(cx);
        self.set_mode(cx);
        self.sync_blocks(Some(window), cx);
        cx.notify();
    }

    /// Starts watching a text that is open in this window.
    pub(crate) fn watch(
        &mut self,
        model: &Entity<DocumentModel>,
        window: &Window,
        cx: &mut Context<Self>,
    ) {
        self.watched_texts
            .retain(|_, watched| watched.model.upgrade().is_some());
        if self.watched_texts.contains_key(&model.entity_id()) {
            return;
        }
        let followed = cx.subscribe_in(model, window, |this, model, event, window, cx| {
            match event {
                ModelEvent::Edited(change) => this.document_changed(model, change, window, cx),
                // The engine interprets an edit with the syntax tree of the text before it.
                ModelEvent::SyntaxUpdated => {
                    this.track(model, cx);
                    this.start_work(cx);
                }
                ModelEvent::Rested => this.start_work(cx),
                ModelEvent::StateChanged => this.follow_path(model, cx),
                ModelEvent::Saved
                | ModelEvent::HunksUpdated
                | ModelEvent::DiagnosticsUpdated
                | ModelEvent::GutterMarksUpdated => {}
            }
        });
        let models = self.services.tab.clone();
        // The texts of a closed window are released after this entity.
        App::observe_release(cx, model, move |model: &mut DocumentModel, _| {
            if let (Some(models), Some(path)) = (&models, model.path()) {
                models.record_text(path.clone(), TextNews::Closed);
            }
        })
        .detach();
        let opened = model.read(cx);
        self.record_text(opened, TextNews::Opened(opened.snapshot()));
        let watched = WatchedText::new(model, followed, cx);
        self.watched_texts.insert(model.entity_id(), watched);
        self.track(model, cx);
    }

    fn track(&mut self, model: &Entity<DocumentModel>, cx: &App) {
        let revision = model.read(cx).snapshot().revision();
        self.engine
            .note_tree(&state_of(model, &Change::none(revision), cx));
    }

    /// Sets the focused view, in which suggestions may show; `None` means no view. Hides the
    /// suggestion in the previous view.
    pub(crate) fn set_focused_view(
        &mut self,
        editor: Option<Entity<Editor>>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if editor.as_ref() == self.focused.as_ref().map(|focused| &focused.editor) {
            return;
        }
        self.note_left(cx);
        self.note_painted(cx);
        if let Some(focused) = self.focused.take() {
            focused
                .editor
                .update(cx, |editor, cx| editor.set_suggestion(None, cx));
        }
        let Some(editor) = editor else {
            self.sync_blocks(Some(window), cx);
            return;
        };
        let model = editor.read(cx).model().clone();
        self.watch(&model, window, cx);
        let followed = [
            cx.subscribe_in(&editor, window, Self::editor_event),
            cx.observe(&model, |_, _, cx| cx.notify()),
        ];
        self.focused = Some(FocusedView {
            row: editor.update(cx, |editor, cx| editor.caret_point(cx).row),
            editor,
            model,
            _followed: followed,
        });
        self.set_mode(cx);
        self.is_requested = false;
        self.sync_blocks(Some(window), cx);
        if let Some(state) = self.state_to_pass(cx) {
            self.handle(EngineInput::Moved { state }, cx);
        }
        self.enter(cx);
        self.work_after_motion(cx);
    }

    /// Handles a change of a watched text.
    fn document_changed(
        &mut self,
        model: &Entity<DocumentModel>,
        change: &Change,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let focused = self
            .focused
            .as_ref()
            .filter(|focused| focused.model == *model);
        let is_focused = focused.is_some();
        let accepted = focused.and_then(|focused| focused.editor.read(cx).last_taken());
        let Some(watched) = self.watched_texts.get_mut(&model.entity_id()) else {
            return;
        };
        let revision = accepted.map(|(revision, _)| revision);
        let text = model.read(cx);
        let TextChange { before, cause } = watched.changed(text, change.author, revision);
        let edited = TextNews::Edited {
            change: change.clone(),
            after: text.snapshot(),
            cause,
        };
        self.record_text(text, edited);
        let state = if is_focused {
            self.state_to_pass(cx)
        } else {
            Some(state_of(model, change, cx))
        };
        let Some(state) = state else {
            return;
        };
        let edit = Box::new(DocumentEdit {
            before,
            state,
            change: change.clone(),
            cause,
        });
        if cause == ChangeCause::Typed {
            self.is_requested = false;
            self.need_model(cx);
        }
        self.suppress(Some(window), cx);
        let input = match accepted {
            _ if !is_focused => EngineInput::EditedElsewhere(edit),
            Some((_, part)) if cause == ChangeCause::Accepted => {
                EngineInput::Accepted { part, edit }
            }
            _ => EngineInput::Edited(edit),
        };
        self.handle(input, cx);
        self.unsuppress(Some(window), cx);
        if is_focused {
            self.cancel_work();
        }
    }

    fn editor_event(
        &mut self,
        _: &Entity<Editor>,
        event: &EditorEvent,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        match event {
            EditorEvent::SelectionsChanged => {
                self.note_left(cx);
                self.suppress(Some(window), cx);
                let before = self.passed;
                if let Some(state) = self.state_to_pass(cx) {
                    // An edit has passed its carets already.
                    if self.passed != before {
                        self.handle(EngineInput::Moved { state }, cx);
                    }
                }
                self.unsuppress(Some(window), cx);
                self.work_after_motion(cx);
            }
            EditorEvent::Focused | EditorEvent::Vim(VimEvent::StatusChanged) => {
                self.sync_blocks(Some(window), cx);
            }
            EditorEvent::Suggestion(event) => self.suggestion_event(event, window, cx),
            EditorEvent::Edited
            | EditorEvent::Scrolled
            | EditorEvent::Refused(_)
            | EditorEvent::LinkClicked(_)
            | EditorEvent::LensClicked(_)
            | EditorEvent::DefinitionRequested
            | EditorEvent::CodeActionsRequested
            | EditorEvent::GutterMarkClicked(_)
            | EditorEvent::LineAuthorClicked(_)
            | EditorEvent::LineAuthorsWanted
            | EditorEvent::Vim(VimEvent::Commands(_)) => {}
        }
    }

    fn suggestion_event(
        &mut self,
        event: &SuggestionEvent,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        match event {
            SuggestionEvent::Dismissed(_) => self.handle(EngineInput::Dismissed, cx),
            SuggestionEvent::Cycled(CycleDirection::Next) => {
                self.handle(EngineInput::Cycle(CycleStep::Next), cx)
            }
            SuggestionEvent::Cycled(CycleDirection::Previous) => {
                self.handle(EngineInput::Cycle(CycleStep::Previous), cx)
            }
            SuggestionEvent::Requested => {
                self.is_requested = true;
                self.need_model(cx);
                self.sync_blocks(Some(window), cx);
                if let Some(state) = self.state_to_pass(cx) {
                    self.handle(EngineInput::Requested { state }, cx);
                }
            }
            // `document_changed` reports the edit that accepted a suggestion.
            SuggestionEvent::Taken { .. } | SuggestionEvent::Jumped(_) => {}
            SuggestionEvent::WordsWanted(cycle) => self.expand_word(*cycle, window, cx),
            SuggestionEvent::Entered(id) => self.open_place(*id, cx),
        }
    }

    /// Passes an input to the engine and applies the resulting effects.
    fn handle(&mut self, input: EngineInput, cx: &mut Context<Self>) {
        self.note_painted(cx);
        let now = self.services.clock.elapsed();
        let is_query = matches!(input, EngineInput::QueryLocal);
        let effects = self.engine.handle(now, input, &self.folder_context);
        // A query that finds nothing must not draw the window again.
        let is_changed = !is_query || !effects.is_empty();
        for effect in effects {
            self.apply_effect(effect, cx);
        }
        let retired = self.engine.take_retired();
        if !retired.is_empty() {
            let freed = async move { drop(retired) };
            cx.background_executor().spawn(freed).detach();
        }
        if is_changed {
            cx.notify();
        }
    }

    /// Passes an input whose suggestions may differ to the engine, with the editor state of now:
    /// since the last input the view may have scrolled, or the text may have been parsed again.
    fn handle_refreshed(&mut self, input: EngineInput, cx: &mut Context<Self>) {
        if let Some(state) = self.state_to_pass(cx) {
            self.handle(EngineInput::Moved { state }, cx);
        }
        self.handle(input, cx);
    }

    /// Reports to the engine which suggestion the focused view painted last.
    fn note_painted(&mut self, cx: &App) {
        let focused = self.focused.as_ref();
        if let Some((id, _)) = focused.and_then(|focused| focused.editor.read(cx).last_painted()) {
            self.engine.note_painted(id);
        }
    }

    fn apply_effect(&mut self, effect: EngineEffect, cx: &mut Context<Self>) {
        match effect {
            EngineEffect::Ask { request, body } => self.ask(request, body, cx),
            EngineEffect::Cancel { request } => self.model_state.cancel(request),
            EngineEffect::Show(shown) => {
                self.shown.show(&shown.suggestion);
                let note = (shown.count > 1)
                    .then(|| SharedString::from(format!("{} of {}", shown.index + 1, shown.count)));
                let place = self.place_of(&shown.suggestion, cx);
                if let Some(focused) = &self.focused {
                    focused.editor.update(cx, |editor, cx| {
                        editor.set_suggestion(Some(shown.suggestion), cx);
                        editor.set_suggestion_note(note, cx);
                        editor.set_suggestion_place(place, cx);
                    });
                }
            }
            EngineEffect::Hide => {
                if let Some(focused) = &self.focused {
                    focused
                        .editor
                        .update(cx, |editor, cx| editor.set_suggestion(None, cx));
                }
            }
            EngineEffect::Wake { at } => self.schedule_wake(at, cx),
            EngineEffect::QueryLocal => {
                self.local_query = Some(cx.spawn(async move |this, cx| {
                    // The window may have been closed.
                    this.update(cx, |this, cx| this.handle(EngineInput::QueryLocal, cx))
                        .ok();
                }));
            }
            EngineEffect::Note(event) => {
                let measurement = self.shown.note(&event);
                self.record_measurement(measurement);
                self.store_learned_soon(cx);
            }
        }
    }

    fn schedule_wake(&mut self, at: Duration, cx: &mut Context<Self>) {
        let wait = at.saturating_sub(self.services.clock.elapsed());
        self.wake_timer = Some(cx.spawn(async move |this, cx| {
            cx.background_executor().timer(wait).await;
            // The window may have been closed.
            this.update(cx, |this, cx| this.handle(EngineInput::Time, cx))
                .ok();
        }));
    }

    /// Captures the state of the focused text.
    fn state(&self, cx: &mut Context<Self>) -> Option<EditorState> {
        let editor = self.focused.as_ref()?.editor.clone();
        Some(editor.update(cx, |editor, cx| editor.scene(cx)))
    }

    /// Captures the state of the focused text to pass it to the engine.
    fn state_to_pass(&mut self, cx: &mut Context<Self>) -> Option<EditorState> {
        let state = self.state(cx)?;
        let model = &self.focused.as_ref()?.model;
        let nearby = folder_context::nearby_diagnostics(model.read(cx), &state);
        let text = model.entity_id();
        self.folder_context.set_diagnostics(nearby);
        self.passed = Some((text, state.snapshot.revision(), state.caret));
        Some(state)
    }

    fn set_mode(&self, cx: &mut Context<Self>) {
        let mode = match self.settings.show() {
            TabShow::Subtle => SuggestionMode::Subtle,
            TabShow::Always | TabShow::Asked | TabShow::Off => SuggestionMode::Eager,
        };
        if let Some(focused) = &self.focused {
            focused
                .editor
                .update(cx, |editor, cx| editor.set_suggestion_mode(mode, cx));
        }
    }

    /// Sends the engine its options: the source of suggestions and the confidence threshold.
    fn set_options(&mut self, cx: &mut Context<Self>) {
        let threshold = match cx.settings().tab.least_likely {
            0 => None,
            percent => Some(percent as f32 / 100.0),
        };
        let options = EngineOptions {
            root: self.root.clone(),
            model: self.model_state.model().cloned(),
            has_local_tier: true,
            threshold,
        };
        if self.model_state.options.as_ref() != Some(&options) {
            self.model_state.options = Some(options.clone());
            self.handle(EngineInput::Options(options), cx);
        }
    }

    /// Records the viewed rows after the caret left them.
    fn note_left(&mut self, cx: &mut Context<Self>) {
        let (Some(focused), Some(root)) = (&mut self.focused, &self.root) else {
            return;
        };
        let row = focused
            .editor
            .update(cx, |editor, cx| editor.caret_point(cx).row);
        let before = focused.row;
        if row.0.abs_diff(before.0) < AWAY {
            return;
        }
        focused.row = row;
        let model = focused.model.read(cx);
        if let Some(path) = model.path() {
            let shown = folder_context::relative_name(path, root);
            self.folder_context
                .record_view(shown, &model.snapshot(), before);
        }
    }
}

/// Returns the editor state of a text without focus, with the caret after its last change.
fn state_of(model: &Entity<DocumentModel>, change: &Change, cx: &App) -> EditorState {
    let model = model.read(cx);
    let at = change
        .splices
        .last()
        .map_or(ByteOffset(0), |splice| splice.new.end);
    EditorState {
        path: model.path().cloned(),
        snapshot: model.snapshot(),
        syntax: model.syntax().cloned(),
        language: model.language(),
        caret: at,
        rows: (Row(0), Row(0)),
        indent: "    ".to_owned(),
    }
}
