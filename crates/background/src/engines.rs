//! The engines behind the agent panel, on a runtime separate from the window's thread.
//!
//! The runtime starts with the panel's first request, or to look for automations.
//! Invariant: a session's events and commands keep their order.
//! Invariant: starting, opening or leaving a session never stops another one.

mod automations;
mod boards;
mod commands;
mod connections;
mod kept_metrics;
mod models;
mod service;
mod signing_in;
mod stored_sessions;

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use agent::SessionCommand;
use agent::context::OpenFiles;
use agent::drafts::DraftStore;
use agent_service::board::{Command, JobCommand, JobState};
use agent_service::{Error, RunningSession, SessionActivity};
use base::AbsPath;
use composer::service::ComposerHandle;
use futures::future::{BoxFuture, FutureExt as _};
use host::{Clock, Dirs, RealClock, RealFiles};
use project::UnsavedTexts;
use runtime::agent_services::AgentServices;
use runtime::indexes::IndexRegistry;
use runtime::live_sessions::LiveSessions;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Mutex, OnceCell};

use self::automations::{Automations, Reports, Scheduling};
use self::boards::Boards;
use self::kept_metrics::KeptMetrics;
use crate::protocol::ServiceSession;

/// The engines of the program, for its windows. The engines start with the first request.
pub struct EngineServices {
    dirs: Dirs,
    unsaved: Arc<UnsavedTexts>,
    indexes: Arc<IndexRegistry>,
    runtime: OnceLock<io::Result<Runtime>>,
    services: Arc<OnceCell<Arc<AgentServices>>>,
    boards: Boards,
    /// The automations, once the services are open; `None` if those of another process run.
    automations: Arc<OnceLock<Automations>>,
    runs_automations: AtomicBool,
    automation_clock: Arc<dyn Clock>,
    reports: Reports,
    /// The running sessions, whether a panel shows them or not.
    sessions: LiveSessions,
    /// Held while a session is opened, so that two windows do not resume the same one twice.
    opening: Arc<Mutex<()>>,
    /// The files that windows show, by folder.
    open_files: Arc<std::sync::Mutex<HashMap<AbsPath, OpenFiles>>>,
    drafts: DraftStore,
    /// The number of the latest request to store drafts. Held while they are stored, by folder: that
    /// of the stored ones.
    last_drafts: AtomicU64,
    stored_drafts: Arc<std::sync::Mutex<HashMap<AbsPath, u64>>>,
    /// Measurements from before the services were open.
    kept_metrics: Arc<std::sync::Mutex<KeptMetrics>>,
    clock: RealClock,
}

/// A measurement for the ledger.
pub struct Metric {
    /// Name of the measured quantity.
    pub name: &'static str,
    /// The value, in the unit that the name says.
    pub value: f64,
    /// A JSON object.
    pub tags: String,
}

impl Metric {
    fn record(self, services: &AgentServices) {
        services.record_metric(self.name, self.value, self.tags);
    }
}

/// Time after the start in which no measurement starts the services.
const START_TIME: Duration = Duration::from_secs(10);

impl EngineServices {
    /// Creates the engines with the program's folders, and the windows' unsaved texts and indexes.
    pub fn new(dirs: Dirs, unsaved: Arc<UnsavedTexts>, indexes: Arc<IndexRegistry>) -> Self {
        Self {
            drafts: DraftStore::new(Arc::new(RealFiles), &dirs.state),
            boards: Boards::new(&dirs, unsaved.clone()),
            automations: Arc::default(),
            runs_automations: AtomicBool::new(false),
            automation_clock: Arc::new(RealClock::default()),
            reports: Reports::default(),
            last_drafts: AtomicU64::new(0),
            stored_drafts: Arc::default(),
            dirs,
            unsaved,
            indexes,
            runtime: OnceLock::new(),
            services: Arc::default(),
            sessions: LiveSessions::default(),
            opening: Arc::default(),
            open_files: Arc::default(),
            kept_metrics: Arc::default(),
            clock: RealClock::default(),
        }
    }

    /// Records a measurement in the ledger. What a window measures while it opens is no reason to start the services:
    /// they would take the cores from its first frames. It is kept until they are open, unless many others follow.
    pub fn record(&self, metric: Metric) {
        let is_opening = {
            let mut kept = lock(&self.kept_metrics);
            // Under the lock: what is kept before the services are open is recorded when they are.
            if let Some(services) = self.services.get() {
                drop(kept);
                return metric.record(services);
            }
            kept.keep(metric);
            self.clock.elapsed() >= START_TIME && kept.begin_opening()
        };
        if is_opening {
            // The task runs on the engines' runtime; its result is not needed.
            drop(self.with(|_| async { Ok(()) }));
        }
    }

    /// Does small work, such as storing rows. Like a measurement, it waits until the services are open.
    pub fn record_later(&self, work: impl FnOnce(&AgentServices) + Send + 'static) {
        let is_opening = {
            let mut kept = lock(&self.kept_metrics);
            if let Some(services) = self.services.get() {
                drop(kept);
                return work(services);
            }
            kept.keep_work(Box::new(work));
            self.clock.elapsed() >= START_TIME && kept.begin_opening()
        };
        if is_opening {
            // The task runs on the engines' runtime; its result is not needed.
            drop(self.with(|_| async { Ok(()) }));
        }
    }

    /// Lets these engines run the user's automations, from when the services are open. If an automation
    /// is on, opens the services after `delay`. Only one engine of a process does this.
    pub fn run_automations(self: &Arc<Self>, delay: Duration) {
        self.runs_automations.store(true, Ordering::Relaxed);
        let this = Arc::downgrade(self);
        // A runtime that does not start is reported by the first request.
        if let Ok(runtime) = self.runtime() {
            runtime.spawn(async move {
                tokio::time::sleep(delay).await;
                let look = move || this.upgrade().map(|this| this.has_automations());
                tokio::task::spawn_blocking(look).await.ok();
            });
        }
    }

    /// Returns whether an automation was turned on that runs in these engines, and opens the services
    /// for it. Blocks on the disk.
    pub(crate) fn has_automations(&self) -> bool {
        if !self.runs_automations.load(Ordering::Relaxed) {
            return false;
        }
        match self.automations.get() {
            Some(automations) => automations.is_on(),
            None => {
                let consents = runtime::automations::consents(&self.dirs).read(&RealFiles);
                if !consents.is_empty() {
                    // The task runs on the engines' runtime; its result is not needed.
                    drop(self.with(|_| async { Ok(()) }));
                }
                !consents.is_empty()
            }
        }
    }

    /// The engines' runtime, which is started if necessary.
    fn runtime(&self) -> Result<&Runtime, Error> {
        let runtime = self.runtime.get_or_init(|| {
            Builder::new_multi_thread()
                .worker_threads(2)
                .thread_name("agents")
                .enable_all()
                .build()
        });
        let started = runtime.as_ref();
        started.map_err(|error| {
            Error::Unavailable(format!("the agents' threads did not start: {error}"))
        })
    }

    /// The parts that start the automations with the services.
    fn scheduling(&self) -> Scheduling {
        Scheduling {
            is_wanted: self.runs_automations.load(Ordering::Relaxed),
            dirs: self.dirs.clone(),
            clock: self.automation_clock.clone(),
            boards: self.boards.clone(),
            reports: self.reports.clone(),
            started: self.automations.clone(),
        }
    }

    /// Runs `work` with the board of a folder, which is opened if necessary, and returns its
    /// result.
    fn with_board<T: Send + 'static>(
        &self,
        root: AbsPath,
        work: impl FnOnce(ComposerHandle) -> Result<T, composer::Error> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, Error>> {
        let boards = self.boards.clone();
        self.with(move |services| async move { boards.with(services, root, work).await })
    }

    /// Returns the open sessions: those of folders, and the jobs of open boards that are not
    /// finished.
    pub async fn open_sessions(&self) -> Vec<ServiceSession> {
        let running = self.sessions.statuses().borrow().clone();
        let mut sessions: Vec<ServiceSession> = running
            .into_iter()
            .map(|session| ServiceSession {
                id: session.id,
                folder: session.folder,
                activity: session.activity,
                waiting_for: session.waiting_for,
            })
            .collect();
        for (root, composer) in self.boards.opened().await.iter() {
            let board = composer.board();
            let live = board.jobs.iter().filter(|job| job.state().is_live());
            sessions.extend(live.map(|job| ServiceSession {
                id: job.id().to_owned(),
                folder: root.clone(),
                activity: match job.state() {
                    JobState::Waiting { .. } => SessionActivity::WaitingForUser,
                    _ => SessionActivity::Working,
                },
                waiting_for: match job.state() {
                    JobState::Waiting { .. } => job.activity.clone(),
                    _ => String::new(),
                },
            }));
        }
        sessions
    }

    /// Stops all sessions and boards. Returns when no session works any more, at the latest after
    /// `timeout`.
    pub async fn stop_sessions(&self, timeout: Duration) {
        for composer in self.boards.opened().await.values() {
            composer.send(Command::Job(JobCommand::Close));
        }
        let mut statuses = self.sessions.statuses();
        let running = statuses.borrow().clone();
        for session in running {
            if let Some(attachment) = self.sessions.attach(&session.id) {
                attachment.handle.send(SessionCommand::Stop);
            }
        }
        let are_idle =
            |now: &Vec<RunningSession>| now.iter().all(|it| it.activity == SessionActivity::Idle);
        // The sender lives as long as the sessions. What works after the timeout ends with the process.
        tokio::time::timeout(timeout, statuses.wait_for(are_idle))
            .await
            .ok();
    }

    /// Runs `work` with the services on the engines' runtime and returns the result of `work`.
    /// Starts the runtime and the services if necessary. The future may be awaited on any thread.
    /// Fails if the runtime or the services do not start, or if `work` panics.
    pub fn with<T: Send + 'static, F>(
        &self,
        work: impl FnOnce(Arc<AgentServices>) -> F + Send + 'static,
    ) -> BoxFuture<'static, Result<T, Error>>
    where
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let runtime = match self.runtime() {
            Ok(runtime) => runtime,
            Err(error) => return std::future::ready(Err(error)).boxed(),
        };
        let (dirs, cell) = (self.dirs.clone(), self.services.clone());
        let (unsaved, shown) = (self.unsaved.clone(), self.open_files.clone());
        let (indexes, kept) = (self.indexes.clone(), self.kept_metrics.clone());
        let sessions = self.sessions.clone();
        let scheduling = self.scheduling();
        let task = runtime.spawn(async move {
            let opened = cell
                .get_or_try_init(|| async {
                    let open_files = move |root: &AbsPath| {
                        let shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
                        shown.get(root).cloned().unwrap_or_default()
                    };
                    let services = AgentServices::open(&dirs, unsaved, open_files, indexes).await;
                    let services = services.map(Arc::new).map_err(failed)?;
                    tokio::spawn(stored_sessions::follow(
                        services.clone(),
                        sessions.changes(),
                    ));
                    scheduling.start(&services, sessions);
                    Ok(services)
                })
                .await;
            let services = match opened {
                Ok(services) => services.clone(),
                Err(error) => {
                    lock(&kept).opening_failed();
                    return Err(error);
                }
            };
            let (metrics, waiting) = {
                let mut kept = lock(&kept);
                (kept.take(), kept.take_work())
            };
            metrics.into_iter().for_each(|it| it.record(&services));
            waiting.into_iter().for_each(|work| work(&services));
            work(services).await
        });
        task.map(|done| done.unwrap_or_else(|error| Err(broke_off(&error))))
            .boxed()
    }
}

impl Drop for EngineServices {
    fn drop(&mut self) {
        if let Some(Ok(runtime)) = self.runtime.take() {
            // May be dropped by a task, which must not wait.
            runtime.shutdown_background();
        }
    }
}

fn lock(kept: &std::sync::Mutex<KeptMetrics>) -> MutexGuard<'_, KeptMetrics> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `work`, which blocks on the disk, on a thread for blocking work.
async fn on_disk<T: Send + 'static, E: Into<Error> + Send + 'static>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, Error> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(Into::into),
        Err(error) => Err(broke_off(&error)),
    }
}

/// Returns the sentence for an error of the engines.
fn failed(error: impl std::fmt::Display) -> Error {
    Error::Failed(error.to_string())
}

fn broke_off(error: &tokio::task::JoinError) -> Error {
    Error::Unavailable(format!("the engine broke off: {error}"))
}

#[cfg(test)]
mod tests;
