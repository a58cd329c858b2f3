//! The engines behind the panel for agents: a runtime of their own, beside the window's thread.
//!
//! Nothing of it is there before the panel first asks. Invariant: a session's events and commands keep their order.
//! Invariant: starting, opening or leaving a session never stops another one.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, PoisonError};

use agent::Event;
use agent::context::OpenFiles;
use agent::record::TurnEnd;
use agent::store::SessionState;
use base::AbsPath;
use composer_panel::agents::{
    Activity, Agents, Consent, HouseRules, Live, ModelLine, ModelList, NewSession, RunningSession,
    SessionLine,
};
use composer_panel::board;
use futures::future::{BoxFuture, FutureExt as _};
use futures::stream::{self, BoxStream, Stream, StreamExt as _};
use headless::compose::desk::{Desk, Watched};
use headless::live_sessions::{self, Attachment, LiveSessions, SessionStatus};
use headless::workshop::Workshop;
use host::Dirs;
use project::Unsaved;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch::Receiver;
use tokio::sync::{Mutex, OnceCell};

/// The engines of the program.
pub(crate) struct Engines {
    dirs: Dirs,
    unsaved: Arc<Unsaved>,
    runtime: OnceLock<Result<Runtime, String>>,
    workshop: Arc<OnceCell<Arc<Workshop>>>,
    /// The boards of folders, for as long as the program runs.
    desks: Arc<Mutex<HashMap<AbsPath, Desk>>>,
    /// The sessions that run, shown by a panel or not.
    sessions: LiveSessions,
    /// Held while a session is opened, so that two windows do not resume the same one twice.
    opening: Arc<Mutex<()>>,
    /// The files that windows show, by folder.
    open_files: Arc<std::sync::Mutex<HashMap<AbsPath, OpenFiles>>>,
}

/// The most sessions that are listed.
const LISTED: usize = 200;

impl Engines {
    /// Engines with the program's folders, told by the windows which texts are not saved.
    pub(crate) fn new(dirs: Dirs, unsaved: Arc<Unsaved>) -> Self {
        Self {
            dirs,
            unsaved,
            runtime: OnceLock::new(),
            workshop: Arc::default(),
            desks: Arc::default(),
            sessions: LiveSessions::default(),
            opening: Arc::default(),
            open_files: Arc::default(),
        }
    }

    /// Does something with the board of a folder, which is opened where it is not yet.
    fn desk<T: Send + 'static>(
        &self,
        root: AbsPath,
        work: impl FnOnce(Desk) -> Result<T, String> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, String>> {
        let (dirs, unsaved, desks) = (self.dirs.clone(), self.unsaved.clone(), self.desks.clone());
        self.with(move |workshop| async move {
            let mut desks = desks.lock().await;
            let known = desks.get(&root).cloned();
            let (desk, done) = on_disk(move || {
                let desk = match known {
                    Some(desk) => desk,
                    None => Desk::open(&workshop, &dirs, &root, unsaved)?,
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
        work: impl FnOnce(Arc<Workshop>) -> F + Send + 'static,
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
        let (dirs, cell) = (self.dirs.clone(), self.workshop.clone());
        let (unsaved, shown) = (self.unsaved.clone(), self.open_files.clone());
        let task = runtime.spawn(async move {
            let workshop = cell
                .get_or_try_init(|| async {
                    let open_files = move |root: &AbsPath| {
                        let shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
                        shown.get(root).cloned().unwrap_or_default()
                    };
                    let workshop = Workshop::open(&dirs, unsaved, open_files).await;
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

impl Agents for Engines {
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

    fn sessions(&self, root: AbsPath) -> BoxFuture<'static, Result<Vec<SessionLine>, String>> {
        self.with(move |workshop| async move {
            let lines = on_disk(move || workshop.sessions(LISTED)).await?;
            let root = root.to_string();
            let lines = lines
                .into_iter()
                .filter(|line| line.parent.is_none())
                .filter(|line| line.root == root || line.model.starts_with("demo"));
            Ok(lines.map(session_line).collect())
        })
    }

    fn start(&self, session: NewSession) -> BoxFuture<'static, Result<Live, String>> {
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

    fn open(&self, root: AbsPath, id: String) -> BoxFuture<'static, Result<Live, String>> {
        let (sessions, opening) = (self.sessions.clone(), self.opening.clone());
        self.with(move |workshop| async move {
            let _opening = opening.lock().await;
            let (attachment, notices) = match sessions.attach(&id) {
                Some(attachment) => (attachment, Vec::new()),
                None => {
                    sessions.ended(&id).await;
                    let started = workshop.resume(&id).await?;
                    let attachment = sessions.adopt(started.opened, root, started.root);
                    (attachment, started.notices)
                }
            };
            let session = id.clone();
            let records = on_disk(move || workshop.records(&session)).await?;
            let past = records.into_iter().map(|it| Event::Recorded(Arc::new(it)));
            Ok(live(id, attachment, past.collect(), notices))
        })
    }

    fn note_open_files(&self, root: AbsPath, files: OpenFiles) {
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

    fn board(&self, root: AbsPath) -> BoxFuture<'static, Result<board::Live, String>> {
        self.desk(root, |desk| {
            let told = desk.clone();
            Ok(board::Live {
                tell: Arc::new(move |wish| told.tell(wish)),
                boards: desk.boards(),
            })
        })
    }

    fn watch(&self, root: AbsPath, id: String) -> BoxFuture<'static, Result<Live, String>> {
        self.desk(root, move |desk| desk.watch(&id).map(looked_on))
    }

    fn house(&self, root: AbsPath) -> BoxFuture<'static, Result<HouseRules, String>> {
        self.with(|workshop| on_disk(move || Ok(workshop.house(&root))))
    }

    fn consent(
        &self,
        root: AbsPath,
        consent: Consent,
    ) -> BoxFuture<'static, Result<HouseRules, String>> {
        self.with(move |workshop| {
            on_disk(move || {
                match consent {
                    Consent::Trust => workshop.set_trusted(&root, true)?,
                    Consent::Distrust => workshop.set_trusted(&root, false)?,
                    Consent::Hooks(shown) => workshop.allow_hooks(&root, &shown)?,
                    Consent::Server(shown) => workshop.decide_server(&root, &shown, true)?,
                    Consent::NoServer(shown) => workshop.decide_server(&root, &shown, false)?,
                }
                Ok(workshop.house(&root))
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

/// A session as the panel wants it: its past, and then what happens.
fn live(id: String, attachment: Attachment, past: Vec<Event>, notices: Vec<String>) -> Live {
    let Attachment {
        root,
        handle,
        pending,
        mut events,
    } = attachment;
    let events = stream::poll_fn(move |cx| events.poll_recv(cx));
    Live {
        id,
        root,
        tell: Arc::new(move |command| handle.send(command)),
        events: from_past(past, pending, events),
        notices,
    }
}

/// An agent of a board, as the panel wants it.
fn looked_on(watched: Watched) -> Live {
    Live {
        id: watched.session,
        root: watched.root,
        tell: watched.tell,
        events: from_past(watched.past, Vec::new(), watched.events),
        notices: Vec::new(),
    }
}

/// Events of the past, those that are pending, and then those to come but for records that are in the past already.
fn from_past(
    past: Vec<Event>,
    pending: Vec<Event>,
    events: impl Stream<Item = Event> + Send + 'static,
) -> BoxStream<'static, Event> {
    let known = past.iter().filter_map(number).max();
    let is_new = move |event: &Event| {
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
            live_sessions::Activity::Idle => Activity::Idle,
            live_sessions::Activity::Working => Activity::Working,
            live_sessions::Activity::WaitingForUser => Activity::WaitingForUser,
        },
    }
}

/// The number of the record that an event is.
fn number(event: &Event) -> Option<u64> {
    match event {
        Event::Recorded(stored) => Some(stored.seq),
        _ => None,
    }
}

fn model_list(workshop: &Workshop) -> ModelList {
    let able = workshop.models().iter().filter(|model| model.has_tools);
    let mut models: Vec<ModelLine> = able
        .map(|model| ModelLine {
            id: model.id.clone(),
            name: model.id.clone(),
            about: match model.is_local {
                true => "on this machine".to_owned(),
                false => String::new(),
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
    let advice = match models.is_empty() {
        true => no_models(workshop.missing_keys()),
        false => String::new(),
    };
    if !models.is_empty() {
        let auto = ModelLine {
            id: "auto".to_owned(),
            name: "Auto".to_owned(),
            about: "chosen for each task".to_owned(),
        };
        models.insert(0, auto);
    }
    models.push(ModelLine {
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
    let keys = match keys.is_empty() {
        true => String::new(),
        false => format!(
            "put a key into {} and start Burin again, ",
            keys.join(" or ")
        ),
    };
    format!(
        "No model was found: {keys}or start Ollama, llama.cpp or LM Studio. The demo model needs neither: it plays a \
         script on a sample project, with real tools."
    )
}

fn session_line(line: agent::store::SessionLine) -> SessionLine {
    let end = match &line.state {
        SessionState::New => "new",
        SessionState::Open => "open",
        SessionState::Ended(TurnEnd::Done) => "done",
        SessionState::Ended(TurnEnd::Stopped) => "stopped",
        SessionState::Ended(TurnEnd::Interrupted) => "interrupted",
        SessionState::Ended(_) => "failed",
    };
    SessionLine {
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
