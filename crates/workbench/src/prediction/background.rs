//! Background work: searching texts for further edit locations, collecting names, querying the
//! index, storing learned statistics.

use std::sync::Arc;
use std::time::Duration;

use autocomplete::EditorState;
use autocomplete::engine::EngineInput;
use autocomplete::local::{BackgroundResult, BackgroundTask};
use autocomplete::validate::TypeMembers;
use base::{AbsPath, LogErr as _};
use gpui_kit::{AppContext as _, Context, Task};

use super::folder_context::{ContextLookup, look_up, missing};
use super::{Prediction, state_of};
use crate::code_index::CodeIndex;
use crate::services::Services;
use text::Change;

/// Pause in typing before texts are searched.
const REST: Duration = Duration::from_millis(120);
/// Interval at which learned statistics are stored.
const STORE: Duration = Duration::from_secs(10);
/// Maximum size of the stored statistics, in bytes.
const MAX_LEARNED_BYTES: u64 = 1 << 20;

/// State of the background work.
#[derive(Default)]
pub(super) struct Background {
    working: Option<Task<()>>,
    is_due: bool,
    storing: Option<Task<()>>,
    recalling: Option<Task<()>>,
}

/// Results of a round of background work.
struct BackgroundOutcome {
    done: Option<BackgroundResult>,
    names: Option<TypeMembers>,
    looked_up: Option<ContextLookup>,
}

impl Prediction {
    /// Schedules the search after a pause in typing. Calls during a run schedule one more.
    pub(super) fn schedule_work(&mut self, cx: &mut Context<Self>) {
        self.background.is_due = true;
        if self.background.working.is_some() {
            return;
        }
        self.background.working = Some(cx.spawn(async move |this, cx| {
            loop {
                cx.background_executor().timer(REST).await;
                // The window may have been closed.
                let Ok(work) = this.update(cx, |this, cx| this.work(cx)) else {
                    return;
                };
                if let Some(work) = work {
                    let found = work.await;
                    this.update(cx, |this, cx| this.apply_outcome(found, cx))
                        .ok();
                }
                let is_over = this.update(cx, |this, _| {
                    let is_over = !this.background.is_due;
                    if is_over {
                        this.background.working = None;
                    }
                    is_over
                });
                if is_over.unwrap_or(true) {
                    return;
                }
            }
        }));
    }

    /// Starts the work that is due, for the focused text and the other watched ones. Returns `None`
    /// if no text has the focus.
    fn work(&mut self, cx: &mut Context<Self>) -> Option<Task<BackgroundOutcome>> {
        self.background.is_due = false;
        let focused = self.state(cx)?;
        let mut open = vec![focused.clone()];
        for watched in self.watched_texts.values() {
            let Some(model) = watched.model.upgrade() else {
                continue;
            };
            let revision = model.read(cx).snapshot().revision();
            let state = state_of(&model, &Change::none(revision), cx);
            if state.path != focused.path {
                open.push(state);
            }
        }
        let job = self.engine.background_task(&open);
        let index = self
            .folder
            .as_ref()
            .and_then(|folder| folder.read(cx).index().cloned());
        let unknown = missing(&self.folder_context, &focused);
        Some(cx.background_spawn(async move { run_lookup(job, index, focused, unknown) }))
    }

    fn apply_outcome(&mut self, found: BackgroundOutcome, cx: &mut Context<Self>) {
        if let Some(looked_up) = found.looked_up {
            self.folder_context.apply_lookup(looked_up);
        }
        if let Some(names) = found.names {
            self.handle(EngineInput::MembersRead(Arc::new(names)), cx);
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

fn learned_path(services: &Services) -> AbsPath {
    services.dirs.state.join("tab.json")
}

fn run_lookup(
    job: Option<BackgroundTask>,
    index: Option<Arc<dyn CodeIndex>>,
    focused: EditorState,
    unknown: Vec<String>,
) -> BackgroundOutcome {
    BackgroundOutcome {
        done: job.map(BackgroundTask::run),
        names: TypeMembers::of(&focused),
        looked_up: index.map(|index| look_up(index.as_ref(), &focused, unknown)),
    }
}
