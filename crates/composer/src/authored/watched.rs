//! Tools of agents, watched: what a call changes is written down as its doing, and a paused session waits before its
//! next call.
//!
//! A watched tool is to a model what the tool itself is. Which tree a call works in is told by its root; sessions
//! whose root nobody watches run as they would without.
//! Start at `Watched::all`.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent::tool::{Access, Answer, Call, Scope as Touched, Shown, Tool, ToolClass, ToolContext};
use base::AbsPath;
use futures::future::BoxFuture;
use model::{Profile, ToolSpec};
use tokio::sync::watch;

use super::Authored;
use super::change::{Author, Doing};
use super::look::Scope;

/// The trees that are watched, by their roots. Clones are the same.
#[derive(Clone, Default)]
pub struct Watchers(Arc<Mutex<HashMap<AbsPath, Watch>>>);

#[derive(Clone)]
struct Watch {
    authored: Arc<Mutex<Authored>>,
    gate: Gate,
    /// Turns that have begun: session and number.
    begun: Arc<Mutex<HashSet<(String, u64)>>>,
}

/// Holds a session's calls back while it is closed. Clones are the same.
#[derive(Clone, Debug)]
pub struct Gate {
    is_closed: Arc<watch::Sender<bool>>,
    /// How many calls wait.
    waiting: Arc<watch::Sender<usize>>,
}

impl Default for Gate {
    fn default() -> Self {
        Self {
            is_closed: Arc::new(watch::channel(false).0),
            waiting: Arc::new(watch::channel(0).0),
        }
    }
}

impl Gate {
    /// Calls that have not begun wait from now on.
    pub fn close(&self) {
        self.is_closed.send_replace(true);
    }

    /// Calls go on.
    pub fn open(&self) {
        self.is_closed.send_replace(false);
    }

    /// Whether calls are held back.
    pub fn is_closed(&self) -> bool {
        *self.is_closed.borrow()
    }

    /// Tells how many calls wait.
    pub fn waiting(&self) -> watch::Receiver<usize> {
        self.waiting.subscribe()
    }

    /// Waits until it is open, or the session is to stop.
    pub async fn pass(&self, mut stop: watch::Receiver<bool>) {
        let mut closed = self.is_closed.subscribe();
        if !*closed.borrow_and_update() {
            return;
        }
        let _counted = Counted::new(&self.waiting);
        let is_open = async {
            // Its sender lives in `self`.
            closed.wait_for(|closed| !closed).await.ok();
        };
        let is_stopped = async {
            if stop.wait_for(|stopped| *stopped).await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            () = is_open => {}
            () = is_stopped => {}
        }
    }
}

/// Counts while it lives.
struct Counted(Arc<watch::Sender<usize>>);

impl Counted {
    fn new(count: &Arc<watch::Sender<usize>>) -> Self {
        count.send_modify(|count| *count += 1);
        Self(Arc::clone(count))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

impl Watchers {
    /// Watches a tree from now on. Answers the gate before its calls.
    pub fn add(&self, authored: Arc<Mutex<Authored>>) -> Gate {
        let root = lock(&authored).root().clone();
        let gate = Gate::default();
        let watch = Watch {
            authored,
            gate: gate.clone(),
            begun: Arc::default(),
        };
        lock(&self.0).insert(root, watch);
        gate
    }

    /// Watches it no longer.
    pub fn remove(&self, root: &AbsPath) {
        lock(&self.0).remove(root);
    }

    /// The changes of a tree that is watched.
    pub fn authored(&self, root: &AbsPath) -> Option<Arc<Mutex<Authored>>> {
        let watches = lock(&self.0);
        watches.get(root).map(|watch| watch.authored.clone())
    }

    fn of(&self, root: &AbsPath) -> Option<Watch> {
        lock(&self.0).get(root).cloned()
    }
}

/// A tool that is watched.
pub struct Watched {
    inner: Arc<dyn Tool>,
    watchers: Watchers,
}

impl Watched {
    /// These tools, watched.
    pub fn all(tools: Vec<Arc<dyn Tool>>, watchers: &Watchers) -> Vec<Arc<dyn Tool>> {
        let watched = tools.into_iter().map(|inner| {
            let watchers = watchers.clone();
            Arc::new(Self { inner, watchers }) as Arc<dyn Tool>
        });
        watched.collect()
    }

    /// What is looked at around a call; `None` for one that changes nothing.
    fn looks(&self, call: &Call, context: &ToolContext) -> Option<Looks> {
        let is_command = match self.inner.class() {
            ToolClass::Read | ToolClass::Interact | ToolClass::Delegate => return None,
            ToolClass::Edit | ToolClass::Network => false,
            ToolClass::Execute | ToolClass::Foreign => true,
        };
        let access: Access = self.inner.access(call, context).ok()?;
        let mut paths = Vec::new();
        let mut is_all = is_command;
        for scope in access.writes {
            match scope {
                Touched::Path(path) if !path.starts_with('/') => paths.push(path),
                Touched::Tree(_) => is_all = true,
                Touched::Path(_) | Touched::Own(_) => {}
            }
        }
        let doing = Doing {
            session: context.session.as_ref().to_owned(),
            turn: context.turn,
            call: call.id.clone(),
            tool: call.tool.clone(),
        };
        match (is_all, paths.is_empty()) {
            (false, true) => None,
            (false, false) => Some(Looks {
                paths: Some(paths),
                author: Author::Agent(doing),
            }),
            // A command that names the files it writes is an edit that was typed as one.
            (true, false) if access.command.is_none() => Some(Looks {
                paths: None,
                author: Author::Agent(doing),
            }),
            (true, _) => Some(Looks {
                paths: None,
                author: Author::Command(doing),
            }),
        }
    }
}

/// What is looked at around a call, and whose doing what is found is.
#[derive(Clone)]
struct Looks {
    /// Everything where it is `None`.
    paths: Option<Vec<String>>,
    author: Author,
}

impl Looks {
    fn look(&self, authored: &mut Authored, author: &Author) {
        let scope = match &self.paths {
            Some(paths) => Scope::Paths(paths),
            None => Scope::All,
        };
        if let Err(sentence) = authored.observe(scope, author) {
            log::error!("changes were not written down: {sentence}");
        }
        for problem in authored.take_problems() {
            log::warn!("{problem}");
        }
    }
}

impl Tool for Watched {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        self.inner.spec(profile)
    }

    fn class(&self) -> ToolClass {
        self.inner.class()
    }

    fn access(&self, call: &Call, context: &ToolContext) -> Result<Access, Answer> {
        self.inner.access(call, context)
    }

    fn run<'a>(&'a self, call: &'a Call, context: &'a ToolContext) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let Some(watch) = self.watchers.of(&context.root) else {
                return self.inner.run(call, context).await;
            };
            watch.gate.pass(context.stop.clone()).await;
            watch.begin_turn(context).await;
            let Some(looks) = self.looks(call, context) else {
                return self.inner.run(call, context).await;
            };
            watch.look(looks.clone(), Author::Disk).await;
            let after = After {
                author: looks.author.clone(),
                looks: Some(looks),
                watch,
            };
            let answer = self.inner.run(call, context).await;
            after.end(&answer).await;
            answer
        })
    }
}

impl Watch {
    /// Marks the beginning of a turn before the first call of it.
    async fn begin_turn(&self, context: &ToolContext) {
        let turn = (context.session.as_ref().to_owned(), context.turn);
        if !lock(&self.begun).insert(turn.clone()) {
            return;
        }
        self.blocking(move |authored| {
            if let Err(sentence) = authored.checkpoint(&turn.0, turn.1) {
                log::error!("a checkpoint was not written down: {sentence}");
            }
        })
        .await;
    }

    async fn look(&self, looks: Looks, author: Author) {
        self.blocking(move |authored| looks.look(authored, &author))
            .await;
    }

    async fn blocking(&self, act: impl FnOnce(&mut Authored) + Send + 'static) {
        let authored = self.authored.clone();
        let done = tokio::task::spawn_blocking(move || act(&mut lock(&authored))).await;
        if let Err(error) = done {
            log::error!("looking at changes failed: {error}");
        }
    }
}

/// The look after a call. One that is given up is looked after all the same.
struct After {
    author: Author,
    looks: Option<Looks>,
    watch: Watch,
}

impl After {
    async fn end(mut self, answer: &Answer) {
        let Some(looks) = self.looks.take() else {
            return;
        };
        let (author, is_command) = (self.author.clone(), is_exec(&self.author));
        let mut codes = answer.shown.iter().filter_map(|shown| match shown {
            Shown::Command { code, .. } => Some(*code),
            _ => None,
        });
        let code = codes.next_back();
        self.watch
            .blocking(move |authored| {
                looks.look(authored, &author);
                match code {
                    Some(None) => authored.set_running(Some(author)),
                    // A command of its own says nothing about one that goes on beside it.
                    Some(Some(_)) if !is_command => authored.set_running(None),
                    _ => {}
                }
            })
            .await;
    }
}

impl Drop for After {
    fn drop(&mut self) {
        if let Some(looks) = self.looks.take()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let (authored, author) = (self.watch.authored.clone(), self.author.clone());
            runtime.spawn_blocking(move || looks.look(&mut lock(&authored), &author));
        }
    }
}

fn is_exec(author: &Author) -> bool {
    author
        .doing()
        .is_some_and(|doing| doing.tool == "exec_command")
}

/// Nothing that a panic interrupts leaves a log half written: what it knows is behind at most, and looks again.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
