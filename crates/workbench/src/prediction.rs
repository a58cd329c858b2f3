//! Tab suggestions in a window: passes every text change to the engine, queries the local tier and
//! models, and shows the result in the focused view.
//!
//! The logic is in `autocomplete`: its engine returns effects, and this module applies them. Must
//! not know: how suggestions are drawn, how models are reached.
//! Invariant: nothing here blocks; work proportional to a text or the project runs in the
//! background.
//! Start at `Prediction::document_changed` and `carry_out`.

mod background;
mod cross_file;
mod expand_word;
mod folder_context;
mod folder_reader;
mod learn;
mod model_requests;
mod suggestion_settings;
mod suppression;
mod tab_status;
mod unopened_files;
mod watch;

use std::collections::BTreeSet;
use std::time::Duration;

use autocomplete::engine::{
    BlockReason, CompletionEngine, CycleStep, DocumentEdit, EngineEffect, EngineInput,
    EngineOptions, TabEvent,
};
use autocomplete::local::{self, LocalPredictor};
use autocomplete::{ChangeCause, EditorState, Suggestion, SuggestionId};
use base::{AbsPath, ByteOffset, Row};
use composer_panel::board::BoardHunk;
use editor::{
    CycleDirection, DocumentModel, Editor, EditorEvent, ModelEvent, SuggestionBlocker,
    SuggestionEvent, SuggestionMode,
};
use gpui_kit::{App, Context, Entity, EventEmitter, SharedString, Subscription, Task, Window};
use settings::TabShow;
use text::{Change, Timestamp};
use ui::ActiveSettings as _;

use crate::folder::{FolderEvent, OpenFolder};
use crate::services::Services;
use folder_context::FolderContext;
use folder_reader::{FolderReader, ViewChanged};
use learn::ShownSuggestions;
use suggestion_settings::SuggestionSettings;
pub(crate) use tab_status::TabStatus;
use watch::{TextChange, WatchedText, WatchedTexts};

/// Tab suggestions of one window.
pub(crate) struct Prediction {
    services: Services,
    engine: CompletionEngine,
    local: LocalPredictor,
    around: FolderContext,
    gate: SuggestionSettings,
    folder: Option<Entity<OpenFolder>>,
    root: Option<AbsPath>,
    reading: Option<Entity<FolderReader>>,
    watching: WatchedTexts,
    front: Option<FocusedView>,
    /// The reasons for suppressing suggestions last sent to the engine.
    blocks: BTreeSet<BlockReason>,
    /// Reason the focused view shows no suggestions, if any.
    unsuited: Option<SuggestionBlocker>,
    /// Whether the user requested a suggestion and has not typed since.
    is_asked: bool,
    /// An edit that accepted a suggestion, held until the accepted part is known.
    taken: Option<Box<DocumentEdit>>,
    /// A suggestion for a file that is being opened for it.
    entering: Option<Suggestion>,
    last_id: u64,
    shown: ShownSuggestions,
    /// The last suggestion painted in the previously focused view.
    painted: Option<SuggestionId>,
    asking: model_requests::TabModelState,
    background: background::Background,
    outside: unopened_files::UnopenedFiles,
    wake: Option<Task<()>>,
    waking: Option<Task<()>>,
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
    pub(crate) fn new(cx: &mut Context<Self>) -> Self {
        let settings = cx.settings().clone();
        let mut this = Self {
            services: Services::of(cx),
            engine: CompletionEngine::new(EngineOptions::local()),
            local: LocalPredictor::new(),
            around: FolderContext::default(),
            gate: SuggestionSettings::new(&settings.tab, None),
            folder: None,
            root: None,
            reading: None,
            watching: WatchedTexts::new(),
            front: None,
            blocks: BTreeSet::new(),
            unsuited: None,
            is_asked: false,
            taken: None,
            entering: None,
            last_id: 0,
            shown: ShownSuggestions::default(),
            painted: None,
            asking: model_requests::TabModelState::default(),
            background: background::Background::default(),
            outside: unopened_files::UnopenedFiles::default(),
            wake: None,
            waking: None,
            _followed: Vec::new(),
        };
        this.load_learned(cx);
        this
    }

    /// Switches to another folder.
    pub(crate) fn set_folder(
        &mut self,
        folder: Option<Entity<OpenFolder>>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.around = FolderContext::default();
        self.outside = unopened_files::UnopenedFiles::default();
        self.local.invalidate_changed(&|_| true);
        self.root = folder.as_ref().map(|folder| folder.read(cx).root().clone());
        self.reading = folder.as_ref().map(|folder| FolderReader::of(folder, cx));
        self._followed = self
            .reading
            .iter()
            .map(|reading| {
                cx.subscribe(reading, |this, reading, _: &ViewChanged, cx| {
                    this.local.set_corpus(reading.read(cx).view().clone());
                })
            })
            .collect();
        if let Some(reading) = &self.reading {
            self.local.set_corpus(reading.read(cx).view().clone());
        }
        self._followed.extend(folder.iter().map(|folder| {
            cx.subscribe(folder, |this, _, event: &FolderEvent, cx| match event {
                FolderEvent::Changed(paths) => {
                    this.around.clear_lookups();
                    this.changed_outside(Some(paths), cx);
                }
                FolderEvent::Rescan => {
                    this.around.clear_lookups();
                    this.changed_outside(None, cx);
                }
                _ => {}
            })
        }));
        self.folder = folder;
        self.settings_changed(window, cx);
    }

    /// Sets the hunks of agents that are not landed yet.
    pub(crate) fn set_unmerged(&mut self, hunks: Vec<BoardHunk>) {
        self.around.set_unmerged(hunks);
    }

    /// Applies settings after a change.
    pub(crate) fn settings_changed(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let settings = cx.settings().clone();
        let snoozed = self.gate.snoozed_until();
        self.gate = SuggestionSettings::new(&settings.tab, self.root.as_ref());
        self.gate.snooze(snoozed);
        self.asking.set_model_name(&settings.tab.model);
        if self.asking.is_needed {
            self.choose_model(cx);
        }
        self.set_options(cx);
        self.set_mode(cx);
        self.follow_blocks(Some(window), cx);
        cx.notify();
    }

    /// Starts watching a text that is open in this window.
    pub(crate) fn watch(
        &mut self,
        model: &Entity<DocumentModel>,
        window: &Window,
        cx: &mut Context<Self>,
    ) {
        self.watching
            .retain(|_, watched| watched.model.upgrade().is_some());
        if self.watching.contains_key(&model.entity_id()) {
            return;
        }
        let followed = cx.subscribe_in(model, window, |this, model, event, window, cx| {
            match event {
                ModelEvent::Edited(change) => this.document_changed(model, change, window, cx),
                // The engine interprets an edit with the syntax tree of the text before it.
                ModelEvent::SyntaxUpdated => this.track(model, cx),
                ModelEvent::Saved | ModelEvent::StateChanged | ModelEvent::HunksUpdated => {}
            }
        });
        let watched = WatchedText::new(model, followed, cx);
        self.watching.insert(model.entity_id(), watched);
        self.track(model, cx);
    }

    fn track(&mut self, model: &Entity<DocumentModel>, cx: &App) {
        let revision = model.read(cx).snapshot().revision();
        self.local
            .note_tree(&state_of(model, &Change::none(revision), cx));
    }

    /// Sets the focused view, or none.
    pub(crate) fn set_focused_view(
        &mut self,
        editor: Option<Entity<Editor>>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if editor.as_ref() == self.front.as_ref().map(|front| &front.editor) {
            return;
        }
        self.note_left(cx);
        if let Some(front) = self.front.take() {
            self.painted = front.editor.read(cx).last_painted().map(|(id, _)| id);
            front
                .editor
                .update(cx, |editor, cx| editor.set_suggestion(None, cx));
        }
        let Some(editor) = editor else {
            self.follow_blocks(Some(window), cx);
            return;
        };
        let model = editor.read(cx).model().clone();
        self.watch(&model, window, cx);
        let followed = [
            cx.subscribe_in(&editor, window, Self::editor_event),
            cx.observe(&model, |_, _, cx| cx.notify()),
        ];
        self.front = Some(FocusedView {
            row: editor.update(cx, |editor, cx| editor.caret_point(cx).row),
            editor,
            model,
            _followed: followed,
        });
        self.set_mode(cx);
        self.is_asked = false;
        self.follow_blocks(Some(window), cx);
        if let Some(state) = self.state(cx) {
            self.handle(EngineInput::Moved { state }, cx);
        }
        self.enter(cx);
        self.work_soon(cx);
    }

    /// Handles a change of a watched text.
    fn document_changed(
        &mut self,
        model: &Entity<DocumentModel>,
        change: &Change,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let is_front = self
            .front
            .as_ref()
            .is_some_and(|front| front.model == *model);
        let taken = self.front.as_ref().filter(|_| is_front);
        let taken = taken.and_then(|front| front.editor.read(cx).last_taken());
        let Some(watched) = self.watching.get_mut(&model.entity_id()) else {
            return;
        };
        let TextChange { before, cause } = watched.changed(model.read(cx), change.author, taken);
        let state = if is_front {
            self.state(cx)
        } else {
            Some(state_of(model, change, cx))
        };
        let Some(state) = state else {
            return;
        };
        self.local.edited(&local::ObservedEdit {
            path: state.path.clone(),
            before: before.clone(),
            after: state.snapshot.clone(),
            change: change.clone(),
            syntax: state.syntax.clone(),
            at: Timestamp(self.services.clock.wall_ms()),
            cause,
        });
        let edited = Box::new(DocumentEdit {
            before,
            state,
            change: change.clone(),
            cause,
        });
        if cause == ChangeCause::Typed {
            self.is_asked = false;
            self.need_model(cx);
        }
        self.suppress(Some(window), cx);
        match cause {
            ChangeCause::Accepted if is_front => self.taken = Some(edited),
            _ => self.handle(EngineInput::Edited(edited), cx),
        }
        self.unsuppress(Some(window), cx);
        self.work_soon(cx);
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
                if let Some(state) = self.state(cx) {
                    self.handle(EngineInput::Moved { state }, cx);
                }
                self.unsuppress(Some(window), cx);
                self.work_soon(cx);
            }
            EditorEvent::Focused => self.follow_blocks(Some(window), cx),
            EditorEvent::Suggestion(event) => self.suggestion_event(event, window, cx),
            EditorEvent::Edited | EditorEvent::Scrolled | EditorEvent::Refused(_) => {}
        }
    }

    fn suggestion_event(
        &mut self,
        event: &SuggestionEvent,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        match event {
            SuggestionEvent::Taken { part, .. } => {
                if let Some(edited) = self.taken.take() {
                    self.handle(
                        EngineInput::Accepted {
                            part: *part,
                            edited,
                        },
                        cx,
                    );
                }
            }
            SuggestionEvent::Dismissed(_) => self.handle(EngineInput::Dismissed, cx),
            SuggestionEvent::Cycled(CycleDirection::Next) => {
                self.handle(EngineInput::Cycle(CycleStep::Next), cx)
            }
            SuggestionEvent::Cycled(CycleDirection::Previous) => {
                self.handle(EngineInput::Cycle(CycleStep::Previous), cx)
            }
            SuggestionEvent::Requested => {
                self.is_asked = true;
                self.need_model(cx);
                self.follow_blocks(Some(window), cx);
                if let Some(state) = self.state(cx) {
                    self.handle(EngineInput::Requested { state }, cx);
                }
            }
            SuggestionEvent::Jumped(_) => {}
            SuggestionEvent::WordsWanted(cycle) => self.expand_word(*cycle, window, cx),
            SuggestionEvent::Entered(id) => self.open_place(*id, cx),
        }
    }

    /// Passes an input to the engine and applies the resulting effects.
    fn handle(&mut self, input: EngineInput, cx: &mut Context<Self>) {
        let now = self.services.clock.elapsed();
        let effects = self.engine.handle(now, input, &self.around);
        let asks_local = effects.contains(&EngineEffect::AskLocal);
        for effect in effects {
            self.apply_effect(effect, cx);
        }
        // The local tier runs after the other effects, because none of them may remove its
        // suggestion.
        if asks_local {
            self.ask_local(cx);
        }
        let spent = self.engine.take_retired();
        if !spent.is_empty() {
            let freed = async move { drop(spent) };
            cx.background_executor().spawn(freed).detach();
        }
        cx.notify();
    }

    fn apply_effect(&mut self, effect: EngineEffect, cx: &mut Context<Self>) {
        match effect {
            EngineEffect::Ask { request, what } => self.ask(request, what, cx),
            EngineEffect::Cancel { request } => self.asking.cancel(request),
            EngineEffect::Show(shown) => {
                let now = self.services.clock.elapsed();
                self.shown.show(&shown.suggestion, now);
                let note = (shown.count > 1)
                    .then(|| SharedString::from(format!("{} of {}", shown.index + 1, shown.count)));
                let place = self.place_of(&shown.suggestion, cx);
                if let Some(front) = &self.front {
                    front.editor.update(cx, |editor, cx| {
                        editor.set_suggestion(Some(shown.suggestion), cx);
                        editor.set_suggestion_note(note, cx);
                        editor.set_suggestion_place(place, cx);
                    });
                }
            }
            EngineEffect::Hide => {
                if let Some(front) = &self.front {
                    front
                        .editor
                        .update(cx, |editor, cx| editor.set_suggestion(None, cx));
                }
            }
            EngineEffect::Wake { at } => self.schedule_wake(at, cx),
            // Handled after the other effects, see `feed`.
            EngineEffect::AskLocal => {}
            EngineEffect::Note(happened) => {
                let now = self.services.clock.elapsed();
                let is_seen = self.was_painted(&happened, cx);
                let measured = self.shown.note(&happened, (now, is_seen), &mut self.local);
                self.write_down(measured);
                self.remember_soon(cx);
                self.set_options(cx);
            }
        }
    }

    /// Returns whether any part of the affected suggestion was painted.
    fn was_painted(&self, happened: &TabEvent, cx: &App) -> bool {
        let front = self.front.as_ref();
        let here = front.and_then(|front| front.editor.read(cx).last_painted());
        let seen = [here.map(|(id, _)| id), self.painted];
        seen.contains(&Some(happened.id()))
    }

    fn schedule_wake(&mut self, at: Duration, cx: &mut Context<Self>) {
        let wait = at.saturating_sub(self.services.clock.elapsed());
        self.wake = Some(cx.spawn(async move |this, cx| {
            cx.background_executor().timer(wait).await;
            // The window may have been closed.
            this.update(cx, |this, cx| this.handle(EngineInput::Time, cx))
                .ok();
        }));
    }

    /// Queries the local tier for the focused text.
    fn ask_local(&mut self, cx: &mut Context<Self>) {
        let Some(state) = self.state(cx) else {
            return;
        };
        let at = Timestamp(self.services.clock.wall_ms());
        let last = &mut self.last_id;
        let mut next = || {
            *last += 1;
            SuggestionId(*last)
        };
        let suggestions = if self.engine.is_explicit() {
            self.local.requested_suggestions(&state, at, &mut next)
        } else {
            self.local.all_suggestions(&state, at, &mut next)
        };
        let revision = state.snapshot.revision();
        self.handle(
            EngineInput::Local {
                revision,
                suggestions,
            },
            cx,
        );
    }

    /// Captures the state of the focused text.
    fn state(&self, cx: &mut Context<Self>) -> Option<EditorState> {
        let editor = self.front.as_ref()?.editor.clone();
        Some(editor.update(cx, |editor, cx| editor.scene(cx)))
    }

    fn set_mode(&self, cx: &mut Context<Self>) {
        let mode = match self.gate.show() {
            TabShow::Subtle => SuggestionMode::Subtle,
            TabShow::Always | TabShow::Asked | TabShow::Off => SuggestionMode::Eager,
        };
        if let Some(front) = &self.front {
            front
                .editor
                .update(cx, |editor, cx| editor.set_suggestion_mode(mode, cx));
        }
    }

    /// Sends the engine its options: the source of suggestions and the confidence threshold.
    fn set_options(&mut self, cx: &mut Context<Self>) {
        let least = cx.settings().tab.least_likely;
        let threshold = match least {
            0 => self.local.threshold(),
            percent => percent as f32 / 100.0,
        };
        let options = EngineOptions {
            root: self.root.clone(),
            model: self.asking.model().cloned(),
            threshold,
        };
        if self.asking.options.as_ref() != Some(&options) {
            self.asking.options = Some(options.clone());
            self.handle(EngineInput::Options(options), cx);
        }
    }

    /// Records the viewed rows after the caret left them.
    fn note_left(&mut self, cx: &mut Context<Self>) {
        let (Some(front), Some(root)) = (&mut self.front, &self.root) else {
            return;
        };
        let row = front
            .editor
            .update(cx, |editor, cx| editor.caret_point(cx).row);
        let before = front.row;
        if row.0.abs_diff(before.0) < AWAY {
            return;
        }
        front.row = row;
        let model = front.model.read(cx);
        if let Some(path) = model.path() {
            let shown = folder_context::relative_name(path, root);
            self.around.record_view(shown, &model.snapshot(), before);
        }
    }
}

/// Captures a text without focus, with the start of its change as the caret.
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
