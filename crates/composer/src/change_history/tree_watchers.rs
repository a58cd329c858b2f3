//! The observer of agents' tool calls: records the changes of every call and holds calls back while
//! the session is paused.
//!
//! A call's root decides to which log its changes go; calls below an unregistered root run
//! unchanged.
//! Start at `TreeWatchers`, which the engine calls as its `CallObserver`.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent::tool::{ToolClass, ToolContext, ToolDisplay, ToolResult};
use agent::{CallObserver, ObservedCall, PossibleChanges};
use base::AbsPath;
use futures::future::BoxFuture;
use tokio::sync::watch;

use super::ChangeHistory;
use super::change::{AgentCall, ChangeAuthor};
use super::scan::ObserveScope;
use crate::retention_recorder::RetentionRecorder;

/// The registered working trees by root. Clones share their state.
#[derive(Clone, Default)]
pub struct TreeWatchers {
    trees: Arc<Mutex<HashMap<AbsPath, WatchedTree>>>,
    /// Follows the texts that agents write in the trees.
    recorder: Option<RetentionRecorder>,
}

#[derive(Clone)]
struct WatchedTree {
    authored: Arc<Mutex<ChangeHistory>>,
    gate: CallGate,
    /// Turns that have begun, as session and number.
    begun: Arc<Mutex<HashSet<(String, u64)>>>,
}

/// Holds back a session's tool calls while it is closed, and reports changes that could not be
/// recorded. Clones share their state.
#[derive(Clone, Debug)]
pub struct CallGate {
    is_closed: Arc<watch::Sender<bool>>,
    /// Number of waiting calls.
    waiting: Arc<watch::Sender<usize>>,
    /// The latest reason why changes could not be recorded, as a sentence.
    failure: Arc<watch::Sender<Option<String>>>,
}

impl Default for CallGate {
    fn default() -> Self {
        Self {
            is_closed: Arc::new(watch::channel(false).0),
            waiting: Arc::new(watch::channel(0).0),
            failure: Arc::new(watch::channel(None).0),
        }
    }
}

impl CallGate {
    /// Closes the gate: calls that have not started wait, and running calls continue.
    pub fn close(&self) {
        self.is_closed.send_replace(true);
    }

    /// Opens the gate: waiting calls and new calls proceed.
    pub fn open(&self) {
        self.is_closed.send_replace(false);
    }

    /// Whether calls are held back.
    pub fn is_closed(&self) -> bool {
        *self.is_closed.borrow()
    }

    /// Subscribes to the number of calls that wait at the gate.
    pub fn waiting(&self) -> watch::Receiver<usize> {
        self.waiting.subscribe()
    }

    /// Subscribes to the latest reason why changes of calls could not be recorded, as a sentence.
    /// Without a record, review, blame and undo miss such changes.
    pub fn failure(&self) -> watch::Receiver<Option<String>> {
        self.failure.subscribe()
    }

    /// Logs and reports a failure, unless it is the same as the latest one.
    pub(crate) fn report(&self, sentence: String) {
        log::error!("{sentence}");
        self.failure.send_if_modified(|latest| {
            let is_new = latest.as_ref() != Some(&sentence);
            *latest = Some(sentence);
            is_new
        });
    }

    /// Waits until the gate is open, or until `stop` becomes true because the session must stop.
    pub async fn pass(&self, mut stop: watch::Receiver<bool>) {
        let mut closed = self.is_closed.subscribe();
        if !*closed.borrow_and_update() {
            return;
        }
        let _counted = WaitingCall::new(&self.waiting);
        let is_open = async {
            // The sender lives in `self`, so this cannot fail.
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

/// Counts a waiting call until it is dropped.
struct WaitingCall(Arc<watch::Sender<usize>>);

impl WaitingCall {
    fn new(count: &Arc<watch::Sender<usize>>) -> Self {
        count.send_modify(|count| *count += 1);
        Self(Arc::clone(count))
    }
}

impl Drop for WaitingCall {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

impl TreeWatchers {
    /// Creates a registry whose trees are followed by a recorder.
    pub fn recording(recorder: RetentionRecorder) -> Self {
        Self {
            trees: Arc::default(),
            recorder: Some(recorder),
        }
    }

    /// Returns the recorder of what is kept; `None` if nothing is recorded.
    pub(crate) fn recorder(&self) -> Option<&RetentionRecorder> {
        self.recorder.as_ref()
    }

    /// Registers the working tree of a change log and returns the gate for calls below it. Replaces
    /// an earlier registration of the same root.
    pub fn add(&self, authored: Arc<Mutex<ChangeHistory>>) -> CallGate {
        let root = {
            let mut history = lock(&authored);
            if let Some(recorder) = &self.recorder {
                history.follow(recorder.clone());
            }
            history.root().clone()
        };
        let gate = CallGate::default();
        let watch = WatchedTree {
            authored,
            gate: gate.clone(),
            begun: Arc::default(),
        };
        lock(&self.trees).insert(root, watch);
        gate
    }

    /// Unregisters a working tree. From now on, changes by calls below it are not recorded.
    pub fn remove(&self, root: &AbsPath) {
        let removed = lock(&self.trees).remove(root);
        if let Some(recorder) = self.recorder.as_ref().filter(|_| removed.is_some()) {
            recorder.close(root);
        }
    }

    /// Returns the change log of the tree with this root, or `None` if the tree is not registered.
    pub fn authored(&self, root: &AbsPath) -> Option<Arc<Mutex<ChangeHistory>>> {
        let watches = lock(&self.trees);
        watches.get(root).map(|watch| watch.authored.clone())
    }

    /// Returns the registered tree with this root; `None` if there is none.
    fn get(&self, root: &AbsPath) -> Option<WatchedTree> {
        lock(&self.trees).get(root).cloned()
    }
}

/// The scope of the observations around a call, and their author.
#[derive(Clone)]
struct CallScan {
    /// The observed paths; `None` for the whole tree.
    paths: Option<Vec<String>>,
    author: ChangeAuthor,
}

impl CallScan {
    /// The observation that a call needs; `None` if it changes nothing.
    fn of(observed: &ObservedCall<'_>) -> Option<Self> {
        let paths = match observed.possible_changes()? {
            PossibleChanges::Paths(paths) => Some(paths),
            PossibleChanges::All => None,
        };
        let call = AgentCall {
            session: observed.context.session.as_ref().to_owned(),
            turn: observed.context.turn,
            call: observed.call.id.clone(),
            tool: observed.call.tool.clone(),
        };
        // A command that names the files it writes is an edit in the form of a command.
        let author = match (&paths, &observed.access.command) {
            (None, Some(_)) => ChangeAuthor::Command(call),
            _ => ChangeAuthor::Agent(call),
        };
        Some(Self { paths, author })
    }

    /// Records the changes in this scope, and reports to `gate` those that cannot be recorded.
    fn run(&self, authored: &mut ChangeHistory, author: &ChangeAuthor, gate: &CallGate) {
        let scope = match &self.paths {
            Some(paths) => ObserveScope::Paths(paths),
            None => ObserveScope::All,
        };
        if let Err(sentence) = authored.observe(scope, author) {
            gate.report(format!("cannot record changes: {sentence}"));
        }
        for problem in authored.take_problems() {
            gate.report(format!("cannot record some changes: {problem}"));
        }
    }
}

impl CallObserver for TreeWatchers {
    fn observe<'a>(
        &'a self,
        call: ObservedCall<'a>,
        run: BoxFuture<'a, ToolResult>,
    ) -> BoxFuture<'a, ToolResult> {
        // The calls of a subagent are observed one by one.
        if call.class == ToolClass::Delegate {
            return run;
        }
        Box::pin(async move {
            let Some(watch) = self.get(&call.context.root) else {
                return run.await;
            };
            watch.gate.pass(call.context.stop.clone()).await;
            watch.begin_turn(call.context).await;
            let Some(scan) = CallScan::of(&call) else {
                return run.await;
            };
            watch.begin_call(scan.clone()).await;
            let after = PendingScan {
                author: scan.author.clone(),
                looks: Some(scan),
                watch,
            };
            let answer = run.await;
            after.finish(&answer).await;
            answer
        })
    }

    fn observe_hooks<'a>(
        &'a self,
        call: ObservedCall<'a>,
        run: BoxFuture<'a, ()>,
    ) -> BoxFuture<'a, ()> {
        let scan = CallScan::of(&call).filter(|scan| scan.paths.is_some());
        let (Some(scan), Some(watch)) = (scan, self.get(&call.context.root)) else {
            return run;
        };
        Box::pin(async move {
            run.await;
            watch.note_formatted(scan).await;
        })
    }
}

impl WatchedTree {
    /// Adds a checkpoint before the first call of a turn.
    async fn begin_turn(&self, context: &ToolContext) {
        let turn = (context.session.as_ref().to_owned(), context.turn);
        if !lock(&self.begun).insert(turn.clone()) {
            return;
        }
        let gate = self.gate.clone();
        self.blocking(move |authored| {
            if let Err(sentence) = authored.checkpoint(&turn.0, turn.1) {
                gate.report(format!("cannot record checkpoint: {sentence}"));
            }
        })
        .await;
    }

    /// Records what other programs changed, and the beginning of a call.
    async fn begin_call(&self, looks: CallScan) {
        let gate = self.gate.clone();
        self.blocking(move |authored| {
            looks.run(authored, &ChangeAuthor::Disk, &gate);
            authored.begin_call(looks.author, looks.paths);
        })
        .await;
    }

    /// Records that hooks changed the files of a call that ended.
    async fn note_formatted(&self, scan: CallScan) {
        let gate = self.gate.clone();
        self.blocking(move |authored| {
            let cause = Box::new(scan.author.clone());
            scan.run(authored, &ChangeAuthor::Formatter { cause }, &gate);
        })
        .await;
    }

    async fn blocking(&self, act: impl FnOnce(&mut ChangeHistory) + Send + 'static) {
        let authored = self.authored.clone();
        let done = tokio::task::spawn_blocking(move || act(&mut lock(&authored))).await;
        if let Err(error) = done {
            self.gate.report(format!("cannot record changes: {error}"));
        }
    }
}

/// The observation after a call. It also runs if the call is cancelled.
struct PendingScan {
    author: ChangeAuthor,
    looks: Option<CallScan>,
    watch: WatchedTree,
}

impl PendingScan {
    async fn finish(mut self, answer: &ToolResult) {
        let Some(looks) = self.looks.take() else {
            return;
        };
        let (author, is_command) = (self.author.clone(), is_exec(&self.author));
        let mut codes = answer.display.iter().filter_map(|shown| match shown {
            ToolDisplay::Command { code, .. } => Some(*code),
            _ => None,
        });
        let code = codes.next_back();
        let gate = self.watch.gate.clone();
        self.watch
            .blocking(move |authored| {
                looks.run(authored, &author, &gate);
                authored.end_call(&author);
                match code {
                    Some(None) => authored.set_running(Some(author)),
                    // A new foreground command says nothing about one in the background.
                    Some(Some(_)) if !is_command => authored.set_running(None),
                    _ => {}
                }
            })
            .await;
    }
}

impl Drop for PendingScan {
    fn drop(&mut self) {
        if let Some(looks) = self.looks.take()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let (watch, author) = (self.watch.clone(), self.author.clone());
            runtime.spawn_blocking(move || {
                let mut authored = lock(&watch.authored);
                looks.run(&mut authored, &author, &watch.gate);
                authored.end_call(&author);
            });
        }
    }
}

/// Returns whether the author is a call of the tool `exec_command`.
fn is_exec(author: &ChangeAuthor) -> bool {
    author
        .agent_call()
        .is_some_and(|doing| doing.tool == "exec_command")
}

/// Locks a mutex, ignoring poison: a panic leaves the log at most out of date, which the next
/// observation repairs.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
