//! The engines behind the agent panel, on a runtime separate from the window's thread.
//!
//! The runtime starts with the panel's first request.
//! Invariant: a session's events and commands keep their order.
//! Invariant: starting, opening or leaving a session never stops another one.

mod kept_metrics;
mod signing_in;
mod stored_sessions;

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use agent::context::{NamedContext, OpenFiles, named_context};
use agent::drafts::{DraftStore, KeptPrompts};
use agent::{AgentEvent, SessionCommand};
use agent_service::board::{BoardConnection, Command, JobCommand, JobState};
use agent_service::{
    AccessChange, AgentService, Consent, Error, ExternalAgentEntry, FolderAccess, FolderAction,
    FolderState, FolderTrust, ModelEntry, ModelList, ModelTraits, NewSession, RunningSession,
    SessionActivity, SessionChange, SessionConnection, SessionEntry, SessionMark, SignInStep,
    SpendNotice, Spending, StoredChange, UndoOutcome,
};
use base::AbsPath;
use composer::service::{ComposerHandle, SessionView};
use futures::channel::mpsc::{UnboundedReceiver, unbounded};
use futures::future::{BoxFuture, FutureExt as _};
use futures::stream::{self, BoxStream, Stream, StreamExt as _};
use host::{Clock as _, Dirs, Files as _, RealClock, RealFiles};
use project::UnsavedTexts;
use runtime::agent_services::AgentServices;
use runtime::compose::service::open_composer;
use runtime::external_agents::install::install;
use runtime::external_agents::{ExternalAgent, directory};
use runtime::indexes::IndexRegistry;
use runtime::live_sessions::{Attachment, LiveSessions};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch::Receiver;
use tokio::sync::{Mutex, OnceCell};

use self::kept_metrics::KeptMetrics;
use crate::protocol::ServiceSession;

/// The engines of the program, for its windows. The engines start with the first request.
pub struct EngineServices {
    dirs: Dirs,
    unsaved: Arc<UnsavedTexts>,
    indexes: Arc<IndexRegistry>,
    runtime: OnceLock<io::Result<Runtime>>,
    services: Arc<OnceCell<Arc<AgentServices>>>,
    /// The boards of folders, for as long as the program runs.
    boards: Arc<Mutex<HashMap<AbsPath, ComposerHandle>>>,
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
            last_drafts: AtomicU64::new(0),
            stored_drafts: Arc::default(),
            dirs,
            unsaved,
            indexes,
            runtime: OnceLock::new(),
            services: Arc::default(),
            boards: Arc::default(),
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

    /// Runs `work` with the board of a folder, which is opened if necessary, and returns its
    /// result.
    fn with_board<T: Send + 'static>(
        &self,
        root: AbsPath,
        work: impl FnOnce(ComposerHandle) -> Result<T, composer::Error> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, Error>> {
        let (dirs, unsaved) = (self.dirs.clone(), self.unsaved.clone());
        let boards = self.boards.clone();
        self.with(move |services| async move {
            let mut boards = boards.lock().await;
            let known = boards.get(&root).cloned();
            let (root, composer, done) = on_disk(move || {
                let composer = match known {
                    Some(composer) => composer,
                    None => open_composer(&services, &dirs, &root, unsaved)?,
                };
                let done = work(composer.clone());
                Ok::<_, composer::Error>((root, composer, done))
            })
            .await?;
            boards.insert(root, composer);
            Ok(done?)
        })
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
        for (root, composer) in self.boards.lock().await.iter() {
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
        for composer in self.boards.lock().await.values() {
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
        let runtime = self.runtime.get_or_init(|| {
            Builder::new_multi_thread()
                .worker_threads(2)
                .thread_name("agents")
                .enable_all()
                .build()
        });
        let runtime = match runtime {
            Ok(runtime) => runtime,
            Err(error) => {
                let sentence = format!("the agents' threads did not start: {error}");
                return std::future::ready(Err(Error::Unavailable(sentence))).boxed();
            }
        };
        let (dirs, cell) = (self.dirs.clone(), self.services.clone());
        let (unsaved, shown) = (self.unsaved.clone(), self.open_files.clone());
        let (indexes, kept) = (self.indexes.clone(), self.kept_metrics.clone());
        let sessions = self.sessions.clone();
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
            let metrics = lock(&kept).take();
            metrics.into_iter().for_each(|it| it.record(&services));
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

impl AgentService for EngineServices {
    fn models(&self) -> BoxFuture<'static, ModelList> {
        self.with(|services| async move { Ok(model_list(&services)) })
            .map(|list| {
                list.unwrap_or_else(|error| ModelList {
                    models: Vec::new(),
                    default: String::new(),
                    advice: error.to_string(),
                    problems: Vec::new(),
                })
            })
            .boxed()
    }

    fn sessions(&self, root: AbsPath) -> BoxFuture<'static, Result<Vec<SessionEntry>, Error>> {
        self.with(move |services| async move {
            let listed = on_disk(move || services.folder_sessions(&root).map_err(failed)).await?;
            Ok(listed.into_iter().map(stored_sessions::entry).collect())
        })
    }

    fn start(&self, session: NewSession) -> BoxFuture<'static, Result<SessionConnection, Error>> {
        let sessions = self.sessions.clone();
        self.with(move |services| async move {
            let folder = session.root.clone();
            let started = services.start(session.root, session.model, session.mode);
            let started = started.await.map_err(failed)?;
            let id = started.opened.id.to_string();
            let attachment = sessions.adopt(started.opened, folder, started.root);
            Ok(live(id, attachment, Vec::new(), started.notices))
        })
    }

    fn open(
        &self,
        root: AbsPath,
        id: String,
    ) -> BoxFuture<'static, Result<SessionConnection, Error>> {
        let (sessions, opening) = (self.sessions.clone(), self.opening.clone());
        self.with(move |services| async move {
            let _opening = opening.lock().await;
            let (attachment, notices) = match sessions.attach(&id) {
                Some(attachment) => (attachment, Vec::new()),
                None => {
                    sessions.wait_until_closed(&id).await;
                    let started = services.resume(&id).await.map_err(failed)?;
                    let attachment = sessions.adopt(started.opened, root, started.root);
                    (attachment, started.notices)
                }
            };
            // What was reported before the view was attached is not among its events.
            services.flush_records().await;
            let session = id.clone();
            let records = on_disk(move || services.records(&session).map_err(failed)).await?;
            let past = records
                .into_iter()
                .map(|it| AgentEvent::Recorded(Arc::new(it)));
            Ok(live(id, attachment, past.collect(), notices))
        })
    }

    fn set_open_files(&self, root: AbsPath, files: OpenFiles) {
        let mut shown = self
            .open_files
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        shown.insert(root, files);
    }

    fn takes_images(&self, model: String) -> BoxFuture<'static, Option<bool>> {
        self.with(move |services| async move { Ok(services.takes_images(&model)) })
            .map(Result::unwrap_or_default)
            .boxed()
    }

    fn spending(&self, days: u64) -> BoxFuture<'static, Result<Spending, Error>> {
        self.with(move |services| on_disk(move || services.spending(days).map_err(failed)))
    }

    fn budget_notices(&self) -> BoxStream<'static, SpendNotice> {
        let notices = self.with(|services| async move { Ok(services.budget_notices()) });
        // Without services nothing is spent.
        stream::once(notices)
            .filter_map(|notices| std::future::ready(notices.ok()))
            .flat_map(|mut notices| stream::poll_fn(move |cx| notices.poll_recv(cx)))
            .map(|notice| SpendNotice {
                at_ms: RealClock::default().wall_ms(),
                scope: notice.scope.to_string(),
                percent: u64::from(notice.percent),
            })
            .boxed()
    }

    fn read_file(&self, path: AbsPath, limit: u64) -> BoxFuture<'static, Result<Vec<u8>, Error>> {
        self.with(move |_| on_disk(move || RealFiles.read(&path, limit).map_err(failed)))
    }

    fn named_context(&self, root: AbsPath) -> BoxFuture<'static, Vec<NamedContext>> {
        let config = self.dirs.config.clone();
        self.with(|services| {
            on_disk(move || {
                let is_trusted = services.folder_trust(&root).is_trusted;
                Ok::<_, Error>(named_context(&RealFiles, &root, is_trusted, &config))
            })
        })
        .map(Result::unwrap_or_default)
        .boxed()
    }

    fn kept_prompts(&self, root: AbsPath) -> BoxFuture<'static, KeptPrompts> {
        let drafts = self.drafts.clone();
        self.with(|_| on_disk(move || Ok::<_, Error>(drafts.load(&root))))
            .map(Result::unwrap_or_default)
            .boxed()
    }

    fn keep_prompts(
        &self,
        root: AbsPath,
        kept: KeptPrompts,
    ) -> BoxFuture<'static, Result<(), Error>> {
        let (drafts, stored) = (self.drafts.clone(), self.stored_drafts.clone());
        let number = self.last_drafts.fetch_add(1, Ordering::Relaxed) + 1;
        self.with(move |_| {
            on_disk(move || {
                let mut stored = stored.lock().unwrap_or_else(PoisonError::into_inner);
                // A later request may have come first.
                let latest = stored.entry(root.clone()).or_default();
                if *latest < number {
                    *latest = number;
                    drafts.save(&root, &kept).map_err(failed)?;
                }
                Ok::<_, Error>(())
            })
        })
    }

    fn running(&self) -> BoxStream<'static, Vec<RunningSession>> {
        let statuses = self.sessions.statuses();
        let next = |(mut statuses, is_first): (Receiver<Vec<RunningSession>>, bool)| async move {
            if !is_first {
                statuses.changed().await.ok()?;
            }
            let now = statuses.borrow_and_update().clone();
            Some((now, (statuses, false)))
        };
        stream::unfold((statuses, true), next).boxed()
    }

    fn session_changes(&self) -> BoxStream<'static, SessionChange> {
        let mut changes = self.sessions.changes();
        stream::poll_fn(move |cx| changes.poll_recv(cx)).boxed()
    }

    fn stored_changes(&self) -> BoxStream<'static, StoredChange> {
        let changes = self.with(|services| async move { Ok(services.session_changes()) });
        // Without services nothing is stored.
        stream::once(changes)
            .filter_map(|changes| std::future::ready(changes.ok()))
            .flat_map(stored_sessions::changes)
            .boxed()
    }

    fn problems(&self) -> BoxStream<'static, String> {
        let unwritten = self.with(|services| async move { Ok(services.unwritten_records()) });
        // Without services there are no records.
        stream::once(unwritten)
            .filter_map(|unwritten| std::future::ready(unwritten.ok()))
            .flat_map(stored_sessions::unwritten)
            .boxed()
    }

    fn mark_session(&self, id: String, mark: SessionMark) -> BoxFuture<'static, Result<(), Error>> {
        self.with(
            move |services| async move { services.mark_session(&id, &mark).await.map_err(failed) },
        )
    }

    fn fork_session(
        &self,
        root: AbsPath,
        id: String,
        after: u64,
    ) -> BoxFuture<'static, Result<String, Error>> {
        self.with(move |services| async move {
            let forked = services.fork_session(root, &id, after).await;
            forked.map_err(failed)
        })
    }

    fn export_session(&self, id: String) -> BoxFuture<'static, Result<String, Error>> {
        self.with(move |services| on_disk(move || services.export_session(&id).map_err(failed)))
    }

    fn board(&self, root: AbsPath) -> BoxFuture<'static, Result<BoardConnection, Error>> {
        self.with_board(root, |composer| {
            let events = composer.events();
            Ok(BoardConnection {
                send: Arc::new(move |command| composer.send(command)),
                events,
            })
        })
    }

    fn watch(
        &self,
        root: AbsPath,
        id: String,
    ) -> BoxFuture<'static, Result<SessionConnection, Error>> {
        self.with_board(root, move |composer| {
            composer.watch(&id).map(view_connection)
        })
    }

    fn folder_changes(&self, root: AbsPath, session: String) -> BoxStream<'static, FolderState> {
        let states = self.with(move |services| async move {
            let folders = services.reviews().folders();
            let changed = folders.is_users_folder(&root).then(|| folders.changed());
            Ok(changed.map(|changed| folder_states(services, root, session, changed)))
        });
        let states = stream::once(states);
        let states = states.filter_map(|states| async move { states.ok().flatten() });
        states.flatten().boxed()
    }

    fn file_saved(&self, path: AbsPath) {
        // Without services no session has changed anything.
        if self.services.get().is_some() {
            // The task runs on the engines' runtime; its result is not needed.
            drop(self.with(move |services| {
                on_disk(move || {
                    services.reviews().folders().note_saved(&path);
                    Ok::<_, Error>(())
                })
            }));
        }
    }

    fn change_folder(
        &self,
        root: AbsPath,
        session: String,
        action: FolderAction,
    ) -> BoxFuture<'static, Result<UndoOutcome, Error>> {
        self.with(move |services| on_disk(move || services.reviews().run(&root, &session, &action)))
    }

    fn folder_access(&self, root: AbsPath) -> BoxFuture<'static, Result<FolderAccess, Error>> {
        self.with(|services| on_disk(move || Ok::<_, Error>(services.folder_access(&root))))
    }

    fn change_access(
        &self,
        root: AbsPath,
        change: AccessChange,
    ) -> BoxFuture<'static, Result<FolderAccess, Error>> {
        self.with(move |services| async move {
            let changed = services.change_access(root, change).await;
            changed.map_err(failed)
        })
    }

    fn sign_in(&self, root: AbsPath, server: String) -> BoxStream<'static, SignInStep> {
        signing_in::steps(self, root, server)
    }

    fn folder_trust(&self, root: AbsPath) -> BoxFuture<'static, Result<FolderTrust, Error>> {
        self.with(|services| on_disk(move || Ok::<_, Error>(services.folder_trust(&root))))
    }

    fn consent(
        &self,
        root: AbsPath,
        consent: Consent,
    ) -> BoxFuture<'static, Result<FolderTrust, Error>> {
        self.with(move |services| {
            on_disk(move || {
                let stored = match consent {
                    Consent::Trust => services.set_trusted(&root, true),
                    Consent::Distrust => services.set_trusted(&root, false),
                    Consent::Hooks(shown) => services.allow_hooks(&root, &shown),
                    Consent::Server(shown) => services.decide_server(&root, &shown, true),
                    Consent::DenyServer(shown) => services.decide_server(&root, &shown, false),
                };
                stored.map_err(failed)?;
                Ok::<_, Error>(services.folder_trust(&root))
            })
        })
    }

    fn external_agents(&self) -> BoxFuture<'static, Result<Vec<ExternalAgentEntry>, Error>> {
        let dirs = self.dirs.clone();
        self.with(move |_| {
            on_disk(move || {
                let (agents, problems) = directory::list(&RealFiles, &dirs);
                for problem in problems {
                    log::warn!("{problem}");
                }
                let entries = agents.iter().map(|agent| external_agent(agent, &dirs));
                Ok::<_, Error>(entries.collect())
            })
        })
    }

    fn install_agent(&self, id: String) -> BoxFuture<'static, Result<ExternalAgentEntry, Error>> {
        let dirs = self.dirs.clone();
        self.with(move |_| {
            on_disk(move || {
                let agent = install(&dirs, &id).map_err(failed)?;
                Ok::<_, Error>(external_agent(&agent, &dirs))
            })
        })
    }
}

/// The panel's entry of an external agent.
fn external_agent(agent: &ExternalAgent, dirs: &Dirs) -> ExternalAgentEntry {
    ExternalAgentEntry {
        id: agent.id.clone(),
        name: agent.name.clone(),
        is_installed: agent.command.is_some(),
        install_command: agent.install_command(dirs).map(|words| words.join(" ")),
        advice: agent.install.clone(),
        sign_in: agent.sign_in.clone(),
    }
}

/// Streams the changes of a session in a folder: now, and after each announcement of `changed`. Must
/// be called on the engines' runtime; the stream may be read on any thread.
fn folder_states(
    services: Arc<AgentServices>,
    root: AbsPath,
    session: String,
    mut changed: Receiver<u64>,
) -> UnboundedReceiver<FolderState> {
    // Unbounded: the panel takes states as fast as calls end.
    let (sender, receiver) = unbounded();
    tokio::spawn(async move {
        // Only the latest state counts: announcements during a look lead to a single further one.
        loop {
            changed.borrow_and_update();
            let (services, root, session) = (services.clone(), root.clone(), session.clone());
            let look = move || Ok::<_, Error>(services.reviews().changes(&root, &session));
            let state = match on_disk(look).await {
                Ok(Ok(Some(changes))) => Some(FolderState::Changes(changes)),
                Ok(Ok(None)) => None,
                Ok(Err(error)) => Some(FolderState::Unrecorded(error.to_string())),
                Err(error) => Some(FolderState::Unrecorded(error.to_string())),
            };
            let is_read = state.is_none_or(|state| sender.unbounded_send(state).is_ok());
            if !is_read || sender.is_closed() || changed.changed().await.is_err() {
                return;
            }
        }
    });
    receiver
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

/// Returns a session for the panel: its past, then its live events.
fn live(
    id: String,
    attachment: Attachment,
    past: Vec<AgentEvent>,
    notices: Vec<String>,
) -> SessionConnection {
    let Attachment {
        root,
        handle,
        pending,
        mut events,
    } = attachment;
    let events = stream::poll_fn(move |cx| events.poll_recv(cx));
    SessionConnection {
        id,
        root,
        send: Arc::new(move |command| handle.send(command)),
        events: from_past(past, pending, events),
        notices,
    }
}

/// The panel's connection to the session of a job.
fn view_connection(view: SessionView) -> SessionConnection {
    SessionConnection {
        id: view.session,
        root: view.root,
        send: view.send,
        events: from_past(view.past, Vec::new(), view.events),
        notices: Vec::new(),
    }
}

/// Returns past events, pending ones, and live ones without records that the past contains.
fn from_past(
    past: Vec<AgentEvent>,
    pending: Vec<AgentEvent>,
    events: impl Stream<Item = AgentEvent> + Send + 'static,
) -> BoxStream<'static, AgentEvent> {
    let known = past.iter().filter_map(number).max();
    let is_new = move |event: &AgentEvent| {
        let number = number(event);
        std::future::ready(number.is_none() || number > known)
    };
    stream::iter(past.into_iter().chain(pending))
        .chain(events.filter(is_new))
        .boxed()
}

/// Returns the record number of an event; `None` if it is not a record.
fn number(event: &AgentEvent) -> Option<u64> {
    match event {
        AgentEvent::Recorded(stored) => Some(stored.seq),
        _ => None,
    }
}

fn model_list(services: &AgentServices) -> ModelList {
    let able = services.models().iter().filter(|model| model.has_tools);
    let mut models: Vec<ModelEntry> = able
        .map(|model| ModelEntry {
            id: model.id.clone(),
            name: model.id.clone(),
            about: if model.is_local {
                "on this machine".to_owned()
            } else {
                String::new()
            },
            traits: Some(ModelTraits {
                tier: model.tier,
                price: model.price.clone(),
                context: model.context.0,
                efforts: model.efforts.clone(),
                takes_images: model.takes_images,
            }),
        })
        .collect();
    let wanted = services.default_model();
    let is_known = wanted == "auto" || models.iter().any(|model| model.id == wanted);
    let default = match models.first() {
        None => "demo",
        Some(_) if is_known => wanted,
        Some(first) => &first.id,
    };
    let default = default.to_owned();
    let advice = if models.is_empty() {
        no_models(services.missing_keys())
    } else {
        String::new()
    };
    if !models.is_empty() {
        let auto = ModelEntry {
            id: "auto".to_owned(),
            name: "Auto".to_owned(),
            about: "chosen for each task".to_owned(),
            traits: None,
        };
        models.insert(0, auto);
    }
    models.push(ModelEntry {
        id: "demo".to_owned(),
        name: "Demo model".to_owned(),
        about: "a script, on a sample project".to_owned(),
        traits: None,
    });
    ModelList {
        models,
        default,
        advice,
        problems: services.problems().to_vec(),
    }
}

fn no_models(missing_keys: &[String]) -> String {
    let keys: Vec<&str> = missing_keys.iter().map(String::as_str).take(3).collect();
    let keys = if keys.is_empty() {
        String::new()
    } else {
        format!(
            "put a key into {} and start Burin again, ",
            keys.join(" or ")
        )
    };
    format!(
        "No model was found: {keys}or start Ollama, llama.cpp or LM Studio. The demo model needs neither: it plays a \
         script on a sample project, with real tools."
    )
}

#[cfg(test)]
mod tests;
