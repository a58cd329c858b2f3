//! Background work: searching texts for further edit locations, collecting names, querying the
//! index, storing learned statistics.
//!
//! Invariant: the texts are searched when typing rests; the next key cancels the search.
//! Invariant: a text is searched once per revision.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use autocomplete::EditorState;
use autocomplete::engine::EngineInput;
use autocomplete::local::{BackgroundResult, BackgroundTask};
use autocomplete::validate::TypeMembers;
use base::{AbsPath, LogErr as _, Revision, Row};
use gpui_kit::{AppContext as _, Context, Task};
use text::Change;
use ui::RestTimer;

use super::folder_context::{ContextLookup, look_up, missing};
use super::{Prediction, state_of};
use crate::code_index::CodeIndex;
use crate::services::Services;

/// Pause after a motion of the caret before the index is queried for its place.
const REST: Duration = Duration::from_millis(300);
/// Interval at which learned statistics are stored.
const STORE: Duration = Duration::from_secs(10);
/// Maximum size of the stored statistics, in bytes.
const MAX_LEARNED_BYTES: u64 = 1 << 20;

/// State of the background work.
pub(super) struct Background {
    /// Runs after a motion of the caret.
    motion: RestTimer<Prediction>,
    running: Option<RunningWork>,
    /// Whether work became due since `running` began.
    is_due_again: bool,
    /// The text whose members were read last.
    members_of: Option<TextState>,
    /// The text and the row for which the index was queried last.
    looked_up: Option<LookupPlace>,
    storing: Option<Task<()>>,
    recalling: Option<Task<()>>,
}

/// Work that runs; cancelled on drop.
struct RunningWork {
    is_over: Arc<AtomicBool>,
    _task: Task<()>,
}

/// A text and its tree at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TextState {
    path: Option<AbsPath>,
    revision: Revision,
    /// Revision whose structure the tree has; `None` without a tree.
    parsed: Option<Revision>,
}

/// The text and the row of the caret for which the index is queried.
type LookupPlace = (TextState, Row);

/// A round of background work.
struct BackgroundWork {
    task: Option<BackgroundTask>,
    /// The focused text, if its members are to be read.
    members: Option<EditorState>,
    lookup: Option<IndexLookup>,
}

/// A query of the index for the focused text.
struct IndexLookup {
    place: LookupPlace,
    index: Arc<dyn CodeIndex>,
    state: EditorState,
    unknown: Vec<String>,
}

/// Results of a round of background work; empty if it was cancelled.
#[derive(Default)]
struct BackgroundOutcome {
    done: Option<BackgroundResult>,
    /// The text whose members were read, and its members, if it has a tree.
    members: Option<(TextState, Option<TypeMembers>)>,
    looked_up: Option<(LookupPlace, ContextLookup)>,
}

impl Drop for RunningWork {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

impl Default for Background {
    fn default() -> Self {
        Self {
            motion: RestTimer::new(REST, |it| &mut it.background.motion, Prediction::start_work),
            running: None,
            is_due_again: false,
            members_of: None,
            looked_up: None,
            storing: None,
            recalling: None,
        }
    }
}

impl TextState {
    fn of(state: &EditorState) -> Self {
        Self {
            path: state.path.clone(),
            revision: state.snapshot.revision(),
            parsed: state.syntax.as_ref().and_then(|it| it.parsed_revision()),
        }
    }
}

impl Prediction {
    /// Starts the background work that is due, unless the focused text is being edited: a pause
    /// follows.
    pub(super) fn start_work(&mut self, cx: &mut Context<Self>) {
        let focused = self.focused.as_ref();
        if focused.is_none_or(|focused| focused.model.read(cx).is_being_edited()) {
            return;
        }
        if self.background.running.is_some() {
            self.background.is_due_again = true;
            return;
        }
        let Some(work) = self.due_work(cx) else {
            return self.search_unopened(cx);
        };
        let is_over = Arc::new(AtomicBool::new(false));
        let cancelled = is_over.clone();
        let found = cx.background_spawn(async move { work.run(&cancelled) });
        let task = cx.spawn(async move |this, cx| {
            let found = found.await;
            // The window may have been closed.
            this.update(cx, |this, cx| this.finish_work(found, cx)).ok();
        });
        self.background.running = Some(RunningWork {
            is_over,
            _task: task,
        });
    }

    /// Cancels running work, because the user types.
    pub(super) fn cancel_work(&mut self) {
        self.background.running = None;
        self.background.is_due_again = false;
        self.unopened_files.cancel();
    }

    /// Starts the work that is due after a pause, because the caret moved or another text has the
    /// focus.
    pub(super) fn work_after_motion(&mut self, cx: &mut Context<Self>) {
        self.background.motion.put_off(cx);
    }

    fn finish_work(&mut self, found: BackgroundOutcome, cx: &mut Context<Self>) {
        self.background.running = None;
        self.apply_outcome(found, cx);
        if std::mem::take(&mut self.background.is_due_again) {
            self.start_work(cx);
        }
    }

    /// Returns the work that is due for the focused text and the other watched ones. Returns `None`
    /// if no text has the focus, its parse is pending, or everything is known.
    fn due_work(&mut self, cx: &mut Context<Self>) -> Option<BackgroundWork> {
        let focused = self.state(cx).filter(is_parsed)?;
        let mut open = vec![focused.clone()];
        for watched in self.watched_texts.values() {
            let Some(model) = watched.model.upgrade() else {
                continue;
            };
            let revision = model.read(cx).snapshot().revision();
            let state = state_of(&model, &Change::none(revision), cx);
            if state.path != focused.path && is_parsed(&state) {
                open.push(state);
            }
        }
        let text = TextState::of(&focused);
        let is_read = self.background.members_of.as_ref() == Some(&text);
        let work = BackgroundWork {
            task: self.engine.background_task(&open),
            lookup: self.due_lookup(&focused, text, cx),
            members: (!is_read).then_some(focused),
        };
        work.is_any().then_some(work)
    }

    /// Returns the query of the index that is due. Only requests to models use its result.
    fn due_lookup(
        &self,
        focused: &EditorState,
        text: TextState,
        cx: &Context<Self>,
    ) -> Option<IndexLookup> {
        self.model_state.model()?;
        let index = self.folder.as_ref()?.read(cx).index()?.clone();
        let row = focused.snapshot.point_at(focused.caret).row;
        let place = (text, row);
        let is_known = self.background.looked_up.as_ref() == Some(&place);
        (!is_known).then(|| IndexLookup {
            place,
            index,
            unknown: missing(&self.folder_context, focused),
            state: focused.clone(),
        })
    }

    fn apply_outcome(&mut self, found: BackgroundOutcome, cx: &mut Context<Self>) {
        if let Some((place, looked_up)) = found.looked_up {
            self.background.looked_up = Some(place);
            self.folder_context.apply_lookup(looked_up);
        }
        if let Some((text, members)) = found.members {
            self.background.members_of = Some(text);
            if let Some(members) = members {
                self.handle(EngineInput::MembersRead(Arc::new(members)), cx);
            }
        }
        if let Some(done) = found.done {
            self.handle_refreshed(EngineInput::TaskFinished(Box::new(done)), cx);
        }
        self.search_unopened(cx);
    }

    /// Schedules storing the learned statistics.
    pub(super) fn store_learned_soon(&mut self, cx: &mut Context<Self>) {
        if self.background.storing.is_some() {
            return;
        }
        self.background.storing = Some(cx.spawn(async move |this, cx| {
            cx.background_executor().timer(STORE).await;
            let store = this.update(cx, |this, cx| {
                this.background.storing = None;
                let learned = this.engine.learned_json();
                let (path, files) = (learned_path(&this.services), this.services.files.clone());
                cx.background_spawn(async move {
                    let learned = learned.map_err(|error| error.to_string())?;
                    let written = files.write_private(&path, learned.as_bytes());
                    written.map_err(|error| error.to_string())
                })
            });
            if let Ok(store) = store {
                store.await.log_err();
            }
        }));
    }

    /// Loads the stored statistics.
    pub(super) fn load_learned(&mut self, cx: &mut Context<Self>) {
        let (path, files) = (learned_path(&self.services), self.services.files.clone());
        let read = cx.background_spawn(async move {
            let bytes = files.read(&path, MAX_LEARNED_BYTES).ok()?;
            String::from_utf8(bytes).ok()
        });
        self.background.recalling = Some(cx.spawn(async move |this, cx| {
            if let Some(learned) = read.await {
                this.update(cx, |this, _| {
                    if !this.engine.restore_learned(&learned) {
                        log::warn!("cannot read the statistics of Tab; learning starts again");
                    }
                })
                .ok();
            }
        }));
    }
}

/// Returns whether the tree of a text is up to date, or there is none. Otherwise,
/// `ModelEvent::SyntaxUpdated` follows.
fn is_parsed(state: &EditorState) -> bool {
    let revision = state.snapshot.revision();
    let syntax = state.syntax.as_ref();
    syntax.is_none_or(|syntax| syntax.parsed_revision() == Some(revision))
}

fn learned_path(services: &Services) -> AbsPath {
    services.dirs.state.join("tab.json")
}

impl BackgroundWork {
    fn is_any(&self) -> bool {
        self.task.is_some() || self.members.is_some() || self.lookup.is_some()
    }

    /// Runs the work. Returns nothing of what comes after `is_over` was set.
    fn run(self, is_over: &AtomicBool) -> BackgroundOutcome {
        let go_on = || !is_over.load(Ordering::Relaxed);
        let done = self.task.and_then(|task| task.run_until(is_over));
        let members = self.members.filter(|_| go_on());
        let lookup = self.lookup.filter(|_| go_on());
        BackgroundOutcome {
            done,
            members: members.map(|state| (TextState::of(&state), TypeMembers::of(&state))),
            looked_up: lookup.map(IndexLookup::run),
        }
    }
}

impl IndexLookup {
    fn run(self) -> (LookupPlace, ContextLookup) {
        let found = look_up(self.index.as_ref(), &self.state, self.unknown);
        (self.place, found)
    }
}
