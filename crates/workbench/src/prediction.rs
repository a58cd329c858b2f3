//! Tab in a window: hears of every change of its texts, asks the local tier and models, and has the view at hand show
//! what comes of it.
//!
//! The thinking is done in `autocomplete`: its engine says what is to be done, and this carries it out. Must not know:
//! how suggestions are drawn, how models are reached.
//! Invariant: nothing here waits; what takes time in proportion to a text or the project runs in the background.
//! Start at `Prediction::document_changed` and `carry_out`.

mod around;
mod asking;
mod background;
mod elsewhere;
mod gate;
mod holding;
mod learn;
mod portal;
mod reading;
mod standing;
mod watch;
mod words;

use std::collections::BTreeSet;
use std::time::Duration;

use autocomplete::engine::{Blocked, Edited, Effect, Engine, Happened, Input, Options, Turn};
use autocomplete::local::{self, Local};
use autocomplete::{Cause, Scene, Suggestion, SuggestionId};
use base::{AbsPath, ByteOffset, Row};
use composer_panel::board::Hunk;
use editor::{
    Cycle, DocumentModel, Editor, EditorEvent, ModelEvent, SuggestionEvent, SuggestionMode,
    Unsuited,
};
use gpui_kit::{App, Context, Entity, EventEmitter, SharedString, Subscription, Task, Window};
use settings::TabShow;
use text::{Change, Timestamp};
use ui::ActiveSettings as _;

use crate::folder::{Folder, FolderEvent};
use crate::services::Services;
use around::Around;
use gate::Gate;
use learn::Shown;
use reading::{Reading, ViewChanged};
pub(crate) use standing::Standing;
use watch::{Changed, Watched, Watching};

/// Tab in one window.
pub(crate) struct Prediction {
    services: Services,
    engine: Engine,
    local: Local,
    around: Around,
    gate: Gate,
    folder: Option<Entity<Folder>>,
    root: Option<AbsPath>,
    reading: Option<Entity<Reading>>,
    watching: Watching,
    front: Option<Front>,
    /// What the engine was told to hold back for.
    blocks: BTreeSet<Blocked>,
    /// Why the view at hand is unsuited.
    unsuited: Option<Unsuited>,
    /// Whether something was asked for by hand and nothing was typed since.
    is_asked: bool,
    /// A change that took a suggestion, until it is heard which part that was.
    taken: Option<Box<Edited>>,
    /// A suggestion for a file that is being opened for it.
    entering: Option<Suggestion>,
    last_id: u64,
    shown: Shown,
    /// What was seen last in the view that was at hand before.
    painted: Option<SuggestionId>,
    asking: asking::Asking,
    background: background::Background,
    outside: elsewhere::Outside,
    wake: Option<Task<()>>,
    waking: Option<Task<()>>,
    _followed: Vec<Subscription>,
}

/// The view at hand.
struct Front {
    editor: Entity<Editor>,
    model: Entity<DocumentModel>,
    /// Where the caret was last.
    row: Row,
    _followed: [Subscription; 2],
}

/// What is asked of the window.
pub(crate) enum PredictionEvent {
    /// Open a file at a byte of it.
    Enter(AbsPath, ByteOffset),
}

impl EventEmitter<PredictionEvent> for Prediction {}

/// Who goes so many rows further has left a place.
const AWAY: u32 = 30;

impl Prediction {
    pub(crate) fn new(cx: &mut Context<Self>) -> Self {
        let settings = cx.settings().clone();
        let mut this = Self {
            services: Services::of(cx),
            engine: Engine::new(Options::local()),
            local: Local::new(),
            around: Around::default(),
            gate: Gate::new(&settings.tab, None),
            folder: None,
            root: None,
            reading: None,
            watching: Watching::new(),
            front: None,
            blocks: BTreeSet::new(),
            unsuited: None,
            is_asked: false,
            taken: None,
            entering: None,
            last_id: 0,
            shown: Shown::default(),
            painted: None,
            asking: asking::Asking::default(),
            background: background::Background::default(),
            outside: elsewhere::Outside::default(),
            wake: None,
            waking: None,
            _followed: Vec::new(),
        };
        this.recall(cx);
        this
    }

    /// The window shows another folder.
    pub(crate) fn set_folder(
        &mut self,
        folder: Option<Entity<Folder>>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.around = Around::default();
        self.outside = elsewhere::Outside::default();
        self.local.look_again(&|_| true);
        self.root = folder.as_ref().map(|folder| folder.read(cx).root().clone());
        self.reading = folder.as_ref().map(|folder| Reading::of(folder, cx));
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
                    this.around.forget();
                    this.changed_outside(Some(paths), cx);
                }
                FolderEvent::Rescan => {
                    this.around.forget();
                    this.changed_outside(None, cx);
                }
                _ => {}
            })
        }));
        self.folder = folder;
        self.settings_changed(window, cx);
    }

    /// What agents changed and has not landed.
    pub(crate) fn set_unmerged(&mut self, hunks: Vec<Hunk>) {
        self.around.set_unmerged(hunks);
    }

    /// The settings are others.
    pub(crate) fn settings_changed(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let settings = cx.settings().clone();
        let snoozed = self.gate.snoozed_until();
        self.gate = Gate::new(&settings.tab, self.root.as_ref());
        self.gate.snooze(snoozed);
        self.asking.want(&settings.tab.model);
        if self.asking.is_needed {
            self.choose_model(cx);
        }
        self.set_options(cx);
        self.set_mode(cx);
        self.follow_blocks(Some(window), cx);
        cx.notify();
    }

    /// Follows a text that is open in this window.
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
                // An edit is understood by the tree of the text before it.
                ModelEvent::SyntaxUpdated => this.see(model, cx),
                ModelEvent::Saved | ModelEvent::StateChanged | ModelEvent::HunksUpdated => {}
            }
        });
        let watched = Watched::new(model, followed, cx);
        self.watching.insert(model.entity_id(), watched);
        self.see(model, cx);
    }

    fn see(&mut self, model: &Entity<DocumentModel>, cx: &App) {
        let revision = model.read(cx).snapshot().revision();
        self.local
            .see(&scene_of(model, &Change::none(revision), cx));
    }

    /// Another view is at hand, or none.
    pub(crate) fn set_front(
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
        self.front = Some(Front {
            row: editor.update(cx, |editor, cx| editor.caret_point(cx).row),
            editor,
            model,
            _followed: followed,
        });
        self.set_mode(cx);
        self.is_asked = false;
        self.follow_blocks(Some(window), cx);
        if let Some(scene) = self.scene(cx) {
            self.feed(Input::Moved { scene }, cx);
        }
        self.enter(cx);
        self.work_soon(cx);
    }

    /// A text that is followed has changed.
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
        let Changed { before, cause } = watched.changed(model.read(cx), change.author, taken);
        let scene = match is_front {
            true => self.scene(cx),
            false => Some(scene_of(model, change, cx)),
        };
        let Some(scene) = scene else {
            return;
        };
        self.local.edited(&local::Edited {
            path: scene.path.clone(),
            before: before.clone(),
            after: scene.snapshot.clone(),
            change: change.clone(),
            syntax: scene.syntax.clone(),
            at: Timestamp(self.services.clock.wall_ms()),
            cause,
        });
        let edited = Box::new(Edited {
            before,
            scene,
            change: change.clone(),
            cause,
        });
        if cause == Cause::Typed {
            self.is_asked = false;
            self.need_model(cx);
        }
        self.hold_back(Some(window), cx);
        match cause {
            Cause::Accepted if is_front => self.taken = Some(edited),
            _ => self.feed(Input::Edited(edited), cx),
        }
        self.let_go(Some(window), cx);
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
                self.hold_back(Some(window), cx);
                if let Some(scene) = self.scene(cx) {
                    self.feed(Input::Moved { scene }, cx);
                }
                self.let_go(Some(window), cx);
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
                    self.feed(
                        Input::Accepted {
                            part: *part,
                            edited,
                        },
                        cx,
                    );
                }
            }
            SuggestionEvent::Dismissed(_) => self.feed(Input::Dismissed, cx),
            SuggestionEvent::Cycled(Cycle::Next) => self.feed(Input::Cycle(Turn::Next), cx),
            SuggestionEvent::Cycled(Cycle::Previous) => self.feed(Input::Cycle(Turn::Previous), cx),
            SuggestionEvent::Requested => {
                self.is_asked = true;
                self.need_model(cx);
                self.follow_blocks(Some(window), cx);
                if let Some(scene) = self.scene(cx) {
                    self.feed(Input::Requested { scene }, cx);
                }
            }
            SuggestionEvent::Jumped(_) => {}
            SuggestionEvent::WordsWanted(cycle) => self.write_words(*cycle, window, cx),
            SuggestionEvent::Entered(id) => self.open_place(*id, cx),
        }
    }

    /// Hands something to the engine and does what it says.
    fn feed(&mut self, input: Input, cx: &mut Context<Self>) {
        let now = self.services.clock.elapsed();
        let effects = self.engine.handle(now, input, &self.around);
        let asks_local = effects.contains(&Effect::AskLocal);
        for effect in effects {
            self.carry_out(effect, cx);
        }
        // Behind the others: what it finds is shown, and none of them may take that away.
        if asks_local {
            self.ask_local(cx);
        }
        let spent = self.engine.take_spent();
        if !spent.is_empty() {
            let freed = async move { drop(spent) };
            cx.background_executor().spawn(freed).detach();
        }
        cx.notify();
    }

    fn carry_out(&mut self, effect: Effect, cx: &mut Context<Self>) {
        match effect {
            Effect::Ask { request, what } => self.ask(request, what, cx),
            Effect::Cancel { request } => self.asking.cancel(request),
            Effect::Show(shown) => {
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
            Effect::Hide => {
                if let Some(front) = &self.front {
                    front
                        .editor
                        .update(cx, |editor, cx| editor.set_suggestion(None, cx));
                }
            }
            Effect::Wake { at } => self.wake_at(at, cx),
            // When the others are done, see `feed`.
            Effect::AskLocal => {}
            Effect::Note(happened) => {
                let now = self.services.clock.elapsed();
                let is_seen = self.was_painted(&happened, cx);
                let measured = self.shown.note(&happened, (now, is_seen), &mut self.local);
                self.write_down(measured);
                self.remember_soon(cx);
                self.set_options(cx);
            }
        }
    }

    /// Whether the person saw anything of the suggestion that something happened to.
    fn was_painted(&self, happened: &Happened, cx: &App) -> bool {
        let front = self.front.as_ref();
        let here = front.and_then(|front| front.editor.read(cx).last_painted());
        let seen = [here.map(|(id, _)| id), self.painted];
        seen.contains(&Some(happened.id()))
    }

    fn wake_at(&mut self, at: Duration, cx: &mut Context<Self>) {
        let wait = at.saturating_sub(self.services.clock.elapsed());
        self.wake = Some(cx.spawn(async move |this, cx| {
            cx.background_executor().timer(wait).await;
            // The window may be gone.
            this.update(cx, |this, cx| this.feed(Input::Time, cx)).ok();
        }));
    }

    /// What this machine finds by itself for the text at hand.
    fn ask_local(&mut self, cx: &mut Context<Self>) {
        let Some(scene) = self.scene(cx) else {
            return;
        };
        let at = Timestamp(self.services.clock.wall_ms());
        let last = &mut self.last_id;
        let mut next = || {
            *last += 1;
            SuggestionId(*last)
        };
        let suggestions = match self.engine.is_by_hand() {
            true => self.local.asked(&scene, at, &mut next),
            false => self.local.everything(&scene, at, &mut next),
        };
        let revision = scene.snapshot.revision();
        self.feed(
            Input::Local {
                revision,
                suggestions,
            },
            cx,
        );
    }

    /// The text at hand as it is now.
    fn scene(&self, cx: &mut Context<Self>) -> Option<Scene> {
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

    /// Tells the engine by whom, and how boldly, is suggested.
    fn set_options(&mut self, cx: &mut Context<Self>) {
        let least = cx.settings().tab.least_likely;
        let threshold = match least {
            0 => self.local.threshold(),
            percent => percent as f32 / 100.0,
        };
        let options = Options {
            root: self.root.clone(),
            model: self.asking.model().cloned(),
            threshold,
        };
        if self.asking.options.as_ref() != Some(&options) {
            self.asking.options = Some(options.clone());
            self.feed(Input::Options(options), cx);
        }
    }

    /// Keeps what was looked at, when the caret has gone away from it.
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
            let shown = around::shown(path, root);
            self.around.left(shown, &model.snapshot(), before);
        }
    }
}

/// A text that is not at hand, with the place of its change for a caret.
fn scene_of(model: &Entity<DocumentModel>, change: &Change, cx: &App) -> Scene {
    let model = model.read(cx);
    let at = change
        .splices
        .last()
        .map_or(ByteOffset(0), |splice| splice.new.end);
    Scene {
        path: model.path().cloned(),
        snapshot: model.snapshot(),
        syntax: model.syntax().cloned(),
        language: model.language(),
        caret: at,
        rows: (Row(0), Row(0)),
        indent: "    ".to_owned(),
    }
}
