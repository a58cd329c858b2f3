//! What takes time: searching texts for further places, reading their names, asking the index, storing what was learned.

use std::sync::Arc;
use std::time::Duration;

use autocomplete::Scene;
use autocomplete::engine::Input;
use autocomplete::local::{Done, Job};
use autocomplete::validate::Names;
use base::{AbsPath, LogErr as _};
use gpui_kit::{AppContext as _, Context, Task};

use super::around::{LookedUp, look_up, missing};
use super::{Prediction, scene_of};
use crate::code_index::CodeIndex;
use crate::services::Services;
use text::Change;

/// How long typing rests before texts are searched through.
const REST: Duration = Duration::from_millis(120);
/// How long what was learned gathers before it is stored.
const STORE: Duration = Duration::from_secs(10);
/// What was learned is a few numbers, in bytes.
const MOST_LEARNED: u64 = 1 << 20;

/// What runs beside.
#[derive(Default)]
pub(super) struct Background {
    working: Option<Task<()>>,
    is_due: bool,
    storing: Option<Task<()>>,
    recalling: Option<Task<()>>,
}

/// What was found out beside.
struct Found {
    done: Option<Done>,
    names: Option<Names>,
    looked_up: Option<LookedUp>,
}

impl Prediction {
    /// Has the texts looked through when typing rests. While that goes on, one more time is noted.
    pub(super) fn work_soon(&mut self, cx: &mut Context<Self>) {
        self.background.is_due = true;
        if self.background.working.is_some() {
            return;
        }
        self.background.working = Some(cx.spawn(async move |this, cx| {
            loop {
                cx.background_executor().timer(REST).await;
                // The window may be gone.
                let Ok(work) = this.update(cx, |this, cx| this.work(cx)) else {
                    return;
                };
                if let Some(work) = work {
                    let found = work.await;
                    this.update(cx, |this, cx| this.found(found, cx)).ok();
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

    fn work(&mut self, cx: &mut Context<Self>) -> Option<Task<Found>> {
        self.background.is_due = false;
        let front = self.scene(cx)?;
        let mut open = vec![front.clone()];
        for watched in self.watching.values() {
            let Some(model) = watched.model.upgrade() else {
                continue;
            };
            let revision = model.read(cx).snapshot().revision();
            let scene = scene_of(&model, &Change::none(revision), cx);
            if scene.path != front.path {
                open.push(scene);
            }
        }
        let job = self.local.job(&open);
        let index = self
            .folder
            .as_ref()
            .and_then(|folder| folder.read(cx).index().cloned());
        let unknown = missing(&self.around, &front);
        Some(cx.background_spawn(async move { find_out(job, index, front, unknown) }))
    }

    fn found(&mut self, found: Found, cx: &mut Context<Self>) {
        if let Some(looked_up) = found.looked_up {
            self.around.learn(looked_up);
        }
        if let Some(names) = found.names {
            self.feed(Input::Known(Arc::new(names)), cx);
        }
        if let Some(done) = found.done {
            self.local.finish(done);
            self.ask_local(cx);
        }
        self.look_outside(cx);
    }

    /// Stores what was learned of this person, after a while.
    pub(super) fn remember_soon(&mut self, cx: &mut Context<Self>) {
        if self.background.storing.is_some() {
            return;
        }
        self.background.storing = Some(cx.spawn(async move |this, cx| {
            cx.background_executor().timer(STORE).await;
            let store = this.update(cx, |this, cx| {
                this.background.storing = None;
                let learned = this.local.learned();
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

    /// Goes on from what was learned before.
    pub(super) fn recall(&mut self, cx: &mut Context<Self>) {
        let (path, files) = (learned_path(&self.services), self.services.files.clone());
        let read = cx.background_spawn(async move {
            let bytes = files.read(&path, MOST_LEARNED).ok()?;
            String::from_utf8(bytes).ok()
        });
        self.background.recalling = Some(cx.spawn(async move |this, cx| {
            if let Some(learned) = read.await {
                this.update(cx, |this, cx| {
                    if !this.local.recall(&learned) {
                        log::warn!("what Tab had learned cannot be read; it learns anew");
                    }
                    this.set_options(cx);
                })
                .ok();
            }
        }));
    }
}

fn learned_path(services: &Services) -> AbsPath {
    services.dirs.state.join("tab.json")
}

fn find_out(
    job: Option<Job>,
    index: Option<Arc<dyn CodeIndex>>,
    front: Scene,
    unknown: Vec<String>,
) -> Found {
    Found {
        done: job.map(Job::run),
        names: Names::of(&front),
        looked_up: index.map(|index| look_up(index.as_ref(), &front, unknown)),
    }
}
