//! The engines behind the panel for agents: a runtime of their own, beside the window's thread.
//!
//! Nothing of it is there before the panel first asks. Invariant: what a session tells arrives in order, and what it
//! is told too.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use agent::engine::Opened;
use agent::record::TurnEnd;
use agent::store::SessionState;
use agent::{Command, Event};
use base::AbsPath;
use composer_panel::agents::{
    Agents, Consent, HouseRules, Live, ModelLine, ModelList, NewSession, SessionLine,
};
use composer_panel::board;
use futures::StreamExt as _;
use futures::channel::mpsc;
use futures::future::{BoxFuture, FutureExt as _};
use headless::compose::desk::{Desk, Watched};
use headless::workshop::Workshop;
use host::Dirs;
use project::Unsaved;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Mutex, OnceCell};

/// The engines of the program.
pub(crate) struct Engines {
    dirs: Dirs,
    unsaved: Arc<Unsaved>,
    runtime: OnceLock<Result<Runtime, String>>,
    workshop: Arc<OnceCell<Arc<Workshop>>>,
    /// The boards of folders, for as long as the program runs.
    desks: Arc<Mutex<HashMap<AbsPath, Desk>>>,
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
        let unsaved = self.unsaved.clone();
        let task = runtime.spawn(async move {
            let workshop = cell
                .get_or_try_init(|| async {
                    let workshop = Workshop::open(&dirs, unsaved).await?;
                    for problem in workshop.problems() {
                        log::warn!("{problem}");
                    }
                    Ok::<_, String>(Arc::new(workshop))
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
        self.with(move |workshop| async move {
            let start = workshop.start(session.root, session.model, session.mode);
            let (opened, root) = start.await?;
            Ok(live(opened, root, Vec::new()))
        })
    }

    fn open(&self, id: String) -> BoxFuture<'static, Result<Live, String>> {
        self.with(move |workshop| async move {
            let (opened, root) = workshop.resume(&id).await?;
            let records = on_disk(move || workshop.records(&id)).await?;
            let past = records.into_iter().map(|it| Event::Recorded(Arc::new(it)));
            Ok(live(opened, root, past.collect()))
        })
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

/// A session's channels as the panel wants them; must be called on the runtime.
fn live(opened: Opened, root: AbsPath, past: Vec<Event>) -> Live {
    let Opened {
        id,
        commands,
        mut events,
    } = opened;
    let (told, heard) = mpsc::unbounded();
    let (tell, mut wishes) = mpsc::unbounded::<Command>();
    let close = commands.clone();
    tokio::spawn(async move {
        while let Some(command) = wishes.next().await {
            if commands.send(command).await.is_err() {
                return;
            }
        }
    });
    tokio::spawn(async move {
        for event in past {
            if told.unbounded_send(event).is_err() {
                break;
            }
        }
        while let Some(event) = events.recv().await {
            if told.unbounded_send(event).is_err() {
                // Nobody looks any more. A session that has closed by itself does not hear it.
                close.send(Command::Close).await.ok();
            }
        }
    });
    Live {
        id: id.as_ref().to_owned(),
        root,
        tell: Arc::new(move |command| {
            // A session that is over hears nothing.
            tell.unbounded_send(command).ok();
        }),
        events: heard,
    }
}

/// An agent of a board, as the panel wants it: what was told already is not told twice.
fn looked_on(watched: Watched) -> Live {
    let Watched {
        session,
        root,
        past,
        mut events,
        tell,
    } = watched;
    let (told, heard) = mpsc::unbounded();
    let known = past.iter().filter_map(number).max();
    tokio::spawn(async move {
        let mut past = past.into_iter();
        loop {
            let event = match past.next() {
                Some(event) => event,
                None => match events.next().await {
                    Some(event)
                        if known.is_some()
                            && number(&event).is_some_and(|it| Some(it) <= known) =>
                    {
                        continue;
                    }
                    Some(event) => event,
                    None => return,
                },
            };
            if told.unbounded_send(event).is_err() {
                return;
            }
        }
    });
    Live {
        id: session,
        root,
        tell,
        events: heard,
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
