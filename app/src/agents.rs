//! The engines behind the agent panel, on a runtime of their own, beside the window's thread.
//!
//! The runtime starts with the panel's first request.
//! Invariant: a session's events and commands keep their order.
//! Invariant: starting, opening or leaving a session never stops another one.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, PoisonError};

use agent::AgentEvent;
use agent::context::OpenFiles;
use agent::record::TurnEnd;
use agent::store::SessionState;
use base::AbsPath;
use composer_panel::agents::{
    AgentService, Consent, FolderTrust, ModelEntry, ModelList, NewSession, RunningSession,
    SessionActivity, SessionConnection, SessionEntry,
};
use composer_panel::board;
use futures::future::{BoxFuture, FutureExt as _};
use futures::stream::{self, BoxStream, Stream, StreamExt as _};
use host::Dirs;
use project::UnsavedTexts;
use runtime::agent_services::AgentServices;
use runtime::compose::service::{AgentWatch, ComposerHandle};
use runtime::indexes::IndexRegistry;
use runtime::live_sessions::{self, Attachment, LiveSessions, SessionStatus};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch::Receiver;
use tokio::sync::{Mutex, OnceCell};

/// The engines of the program.
pub(crate) struct EngineServices {
    dirs: Dirs,
    unsaved: Arc<UnsavedTexts>,
    indexes: Arc<IndexRegistry>,
    runtime: OnceLock<Result<Runtime, String>>,
    services: Arc<OnceCell<Arc<AgentServices>>>,
    /// The boards of folders, for as long as the program runs.
    boards: Arc<Mutex<HashMap<AbsPath, ComposerHandle>>>,
    /// The sessions that run, shown by a panel or not.
    sessions: LiveSessions,
    /// Held while a session is opened, so that two windows do not resume the same one twice.
    opening: Arc<Mutex<()>>,
    /// The files that windows show, by folder.
    open_files: Arc<std::sync::Mutex<HashMap<AbsPath, OpenFiles>>>,
}

/// The most sessions that are listed.
const LISTED: usize = 200;

impl EngineServices {
    /// Creates the engines with the program's folders, and the windows' unsaved texts and indexes.
    pub(crate) fn new(dirs: Dirs, unsaved: Arc<UnsavedTexts>, indexes: Arc<IndexRegistry>) -> Self {
        Self {
            dirs,
            unsaved,
            indexes,
            runtime: OnceLock::new(),
            services: Arc::default(),
            boards: Arc::default(),
            sessions: LiveSessions::default(),
            opening: Arc::default(),
            open_files: Arc::default(),
        }
    }

    /// Does something with the board of a folder, which is opened where it is not yet.
    fn with_board<T: Send + 'static>(
        &self,
        root: AbsPath,
        work: impl FnOnce(ComposerHandle) -> Result<T, String> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, String>> {
        let (dirs, unsaved, desks) = (self.dirs.clone(), self.unsaved.clone(), self.boards.clone());
        self.with(move |workshop| async move {
            let mut desks = desks.lock().await;
            let known = desks.get(&root).cloned();
            let (desk, done) = on_disk(move || {
                let desk = match known {
                    Some(desk) => desk,
                    None => ComposerHandle::open(&workshop, &dirs, &root, unsaved)?,
                };
                Ok(((root, desk.clone()), work(desk)))
            })
            .await?;
            desks.insert(desk.0, desk.1);
            done
        })
    }

    /// Does something on the engines' runtime.
    pub(crate) fn with<T: Send + 'static, F>(
        &self,
        work: impl FnOnce(Arc<AgentServices>) -> F + Send + 'static,
    ) -> BoxFuture<'static, Result<T, String>>
    where
        F: Future<Output = Result<T, String>> + Send + 'static,
    {
        let runtime = self.runtime.get_or_init(|| {
            let built = Builder::new_multi_thread()
                .worker_threads(2)
                .thread_name("agents")
                .enable_all()
                .build();
            built.map_err(|error| format!("the agents' threads did not start: {error}"))
        });
        let runtime = match runtime {
            Ok(runtime) => runtime,
            Err(sentence) => return std::future::ready(Err(sentence.clone())).boxed(),
        };
        let (dirs, cell) = (self.dirs.clone(), self.services.clone());
        let (unsaved, shown) = (self.unsaved.clone(), self.open_files.clone());
        let indexes = self.indexes.clone();
        let task = runtime.spawn(async move {
            let workshop = cell
                .get_or_try_init(|| async {
                    let open_files = move |root: &AbsPath| {
                        let shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
                        shown.get(root).cloned().unwrap_or_default()
                    };
                    let workshop = AgentServices::open(&dirs, unsaved, open_files, indexes).await;
                    workshop.map(Arc::new)
                })
                .await?
                .clone();
            work(workshop).await
        });
        task.map(|done| match done {
            Ok(done) => done,
            Err(error) => Err(format!("the engine broke off: {error}")),
        })
        .boxed()
    }
}

impl AgentService for EngineServices {
    fn models(&self) -> BoxFuture<'static, ModelList> {
        self.with(|workshop| async move { Ok(model_list(&workshop)) })
            .map(|list| {
                list.unwrap_or_else(|advice| ModelList {
                    models: Vec::new(),
                    default: String::new(),
                    advice,
                    problems: Vec::new(),
                })
            })
            .boxed()
    }

    fn sessions(&self, root: AbsPath) -> BoxFuture<'static, Result<Vec<SessionEntry>, String>> {
        self.with(move |workshop| async move {
            let lines = on_disk(move || Ok(workshop.sessions(LISTED)?)).await?;
            let root = root.to_string();
            let lines = lines
                .into_iter()
                .filter(|line| line.parent.is_none())
                .filter(|line| line.root == root || line.model.starts_with("demo"));
            Ok(lines.map(session_line).collect())
        })
    }

    fn start(&self, session: NewSession) -> BoxFuture<'static, Result<SessionConnection, String>> {
        let sessions = self.sessions.clone();
        self.with(move |workshop| async move {
            let folder = session.root.clone();
            let started = workshop
                .start(session.root, session.model, session.mode)
                .await?;
            let id = started.opened.id.to_string();
            let attachment = sessions.adopt(started.opened, folder, started.root);
            Ok(live(id, attachment, Vec::new(), started.notices))
        })
    }

    fn open(
        &self,
        root: AbsPath,
        id: String,
    ) -> BoxFuture<'static, Result<SessionConnection, String>> {
        let (sessions, opening) = (self.sessions.clone(), self.opening.clone());
        self.with(move |workshop| async move {
            let _opening = opening.lock().await;
            let (attachment, notices) = match sessions.attach(&id) {
                Some(attachment) => (attachment, Vec::new()),
                None => {
                    sessions.wait_until_closed(&id).await;
                    let started = workshop.resume(&id).await?;
                    let attachment = sessions.adopt(started.opened, root, started.root);
                    (attachment, started.notices)
                }
            };
            let session = id.clone();
            let records = on_disk(move || Ok(workshop.records(&session)?)).await?;
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

    fn running(&self) -> BoxStream<'static, Vec<RunningSession>> {
        let statuses = self.sessions.statuses();
        let next = |(mut statuses, is_first): (Receiver<Vec<SessionStatus>>, bool)| async move {
            if !is_first {
                statuses.changed().await.ok()?;
            }
            let now = statuses.borrow_and_update().iter().map(running).collect();
            Some((now, (statuses, false)))
        };
        stream::unfold((statuses, true), next).boxed()
    }

    fn board(&self, root: AbsPath) -> BoxFuture<'static, Result<board::BoardConnection, String>> {
        self.with_board(root, |desk| {
            let told = desk.clone();
            Ok(board::BoardConnection {
                send: Arc::new(move |wish| told.send(wish)),
                boards: desk.boards(),
            })
        })
    }

    fn watch(
        &self,
        root: AbsPath,
        id: String,
    ) -> BoxFuture<'static, Result<SessionConnection, String>> {
        self.with_board(root, move |desk| desk.watch(&id).map(to_live_session))
    }

    fn folder_trust(&self, root: AbsPath) -> BoxFuture<'static, Result<FolderTrust, String>> {
        self.with(|workshop| on_disk(move || Ok(workshop.folder_trust(&root))))
    }

    fn consent(
        &self,
        root: AbsPath,
        consent: Consent,
    ) -> BoxFuture<'static, Result<FolderTrust, String>> {
        self.with(move |workshop| {
            on_disk(move || {
                match consent {
                    Consent::Trust => workshop.set_trusted(&root, true)?,
                    Consent::Distrust => workshop.set_trusted(&root, false)?,
                    Consent::Hooks(shown) => workshop.allow_hooks(&root, &shown)?,
                    Consent::Server(shown) => workshop.decide_server(&root, &shown, true)?,
                    Consent::DenyServer(shown) => workshop.decide_server(&root, &shown, false)?,
                }
                Ok(workshop.folder_trust(&root))
            })
        })
    }
}

/// Does something that blocks on the disk.
async fn on_disk<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| format!("the engine broke off: {error}"))?
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

/// An agent of a board, as the panel wants it.
fn to_live_session(watched: AgentWatch) -> SessionConnection {
    SessionConnection {
        id: watched.session,
        root: watched.root,
        send: watched.tell,
        events: from_past(watched.past, Vec::new(), watched.events),
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

fn running(status: &SessionStatus) -> RunningSession {
    RunningSession {
        id: status.id.clone(),
        folder: status.folder.clone(),
        activity: match status.activity {
            live_sessions::LiveActivity::Idle => SessionActivity::Idle,
            live_sessions::LiveActivity::Working => SessionActivity::Working,
            live_sessions::LiveActivity::WaitingForUser => SessionActivity::WaitingForUser,
        },
    }
}

/// The number of the record that an event is.
fn number(event: &AgentEvent) -> Option<u64> {
    match event {
        AgentEvent::Recorded(stored) => Some(stored.seq),
        _ => None,
    }
}

fn model_list(workshop: &AgentServices) -> ModelList {
    let able = workshop.models().iter().filter(|model| model.has_tools);
    let mut models: Vec<ModelEntry> = able
        .map(|model| ModelEntry {
            id: model.id.clone(),
            name: model.id.clone(),
            about: if model.is_local {
                "on this machine".to_owned()
            } else {
                String::new()
            },
        })
        .collect();
    let wanted = workshop.default_model();
    let is_known = wanted == "auto" || models.iter().any(|model| model.id == wanted);
    let default = match models.first() {
        None => "demo",
        Some(_) if is_known => wanted,
        Some(first) => &first.id,
    };
    let default = default.to_owned();
    let advice = if models.is_empty() {
        no_models(workshop.missing_keys())
    } else {
        String::new()
    };
    if !models.is_empty() {
        let auto = ModelEntry {
            id: "auto".to_owned(),
            name: "Auto".to_owned(),
            about: "chosen for each task".to_owned(),
        };
        models.insert(0, auto);
    }
    models.push(ModelEntry {
        id: "demo".to_owned(),
        name: "Demo model".to_owned(),
        about: "a script, on a sample project".to_owned(),
    });
    ModelList {
        models,
        default,
        advice,
        problems: workshop.problems().to_vec(),
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

fn session_line(line: agent::store::SessionSummary) -> SessionEntry {
    let end = match &line.state {
        SessionState::New => "new",
        SessionState::Open => "open",
        SessionState::Ended(TurnEnd::Done) => "done",
        SessionState::Ended(TurnEnd::Stopped) => "stopped",
        SessionState::Ended(TurnEnd::Interrupted) => "interrupted",
        SessionState::Ended(_) => "failed",
    };
    SessionEntry {
        id: line.id,
        title: line.title,
        last_ms: line.last_ms,
        model: line.model,
        cost_nano: (!line.has_unknown_cost).then_some(line.cost_nano),
        end: end.to_owned(),
    }
}

#[cfg(test)]
mod tests;
