//! The servers of one tree: started by the first query, ended when the last owner is gone or after a time without
//! queries.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use agent::PossibleChanges;
use agent::services::Buffers;
use base::AbsPath;
use composer::change_history::TreeWatchers;
use host::{Dirs, RealClock};
use language::{FolderServers, RunningOptions, RunningServers};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::documents::OpenDocuments;
use super::file_changes::FileChangeTracker;
use super::{AgentTree, TreeSandbox};
use crate::sandbox_policy::lock;

/// Time without a query after which the servers end.
const IDLE_TIME: Duration = Duration::from_secs(600);
/// Time after which a state is looked at again although no server announced a change.
const POLL_TIME: Duration = Duration::from_millis(100);

/// The servers of one tree.
pub(crate) struct TreeServers {
    dirs: Dirs,
    pub(super) tree: AgentTree,
    buffers: Option<Arc<dyn Buffers>>,
    watchers: TreeWatchers,
    state: Mutex<TreeState>,
    /// The servers themselves, for tasks that outlive a call.
    this: Weak<TreeServers>,
}

#[derive(Default)]
struct TreeState {
    running: Option<Arc<RunningTree>>,
    last_use: Option<Instant>,
}

/// Servers that run, with their documents.
pub(super) struct RunningTree {
    pub(super) servers: RunningServers,
    pub(super) documents: Mutex<OpenDocuments>,
    disk: Arc<FileChangeTracker>,
    /// Counts the announced changes.
    changes: watch::Receiver<u64>,
}

impl TreeServers {
    /// Prepares the servers of a tree; none starts yet.
    pub(super) fn new(
        dirs: Dirs,
        tree: AgentTree,
        buffers: Option<Arc<dyn Buffers>>,
        watchers: TreeWatchers,
    ) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            dirs,
            tree,
            buffers,
            watchers,
            state: Mutex::default(),
            this: this.clone(),
        })
    }

    /// Returns whether another session's tree may share these servers.
    pub(super) fn is_like(&self, other: &AgentTree) -> bool {
        let is_off = |tree: &AgentTree| matches!(tree.sandbox, TreeSandbox::Off);
        self.tree.root == other.root
            && self.tree.checkout == other.checkout
            && self.tree.is_trusted == other.is_trusted
            && is_off(&self.tree) == is_off(other)
    }

    /// Returns the servers to share them with a task; `None` while they are dropped.
    pub(super) fn shared(&self) -> Option<Arc<Self>> {
        self.this.upgrade()
    }

    /// Returns the servers if they run.
    pub(super) fn running(&self) -> Option<Arc<RunningTree>> {
        lock(&self.state).running.clone()
    }

    /// Returns the servers, which it starts unless they run. Must be called on a tokio runtime.
    pub(super) fn started(&self) -> Arc<RunningTree> {
        let mut state = lock(&self.state);
        state.last_use = Some(Instant::now());
        if let Some(running) = &state.running {
            return running.clone();
        }
        let (tree, dirs) = (self.tree.clone(), self.dirs.clone());
        let logs = dirs.server_logs().join("agents");
        let disk = FileChangeTracker::new(tree.root.clone(), self.watchers.clone());
        let disk = Arc::new(disk);
        let opened = disk.clone();
        let (servers, changed) = RunningServers::start(RunningOptions {
            open: Box::new(move || {
                opened.begin();
                tree.open(&dirs)
            }),
            logs,
            clock: Arc::new(RealClock::default()),
        });
        let (sender, changes) = watch::channel(0);
        let documents = OpenDocuments::new(self.tree.root.clone(), self.buffers.clone());
        let running = Arc::new(RunningTree {
            servers,
            documents: Mutex::new(documents),
            disk,
            changes,
        });
        tokio::spawn(count_changes(Arc::downgrade(&running), changed, sender));
        tokio::spawn(end_when_idle(self.this.clone()));
        state.running.insert(running).clone()
    }

    /// Notifies the servers in the background of files that a session in the folder `root` may have changed; servers that
    /// do not run read them when they start. Returns at once.
    pub(super) fn files_changed(&self, root: &AbsPath, changed: &PossibleChanges) {
        let Some(running) = self.running() else {
            return;
        };
        running.disk.note(root, changed);
        // A call can be dropped without a runtime; the next query then passes its changes on.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn_blocking(move || running.pass_changes_on());
        }
    }

    /// Ends the servers if no query came for `IDLE_TIME`; returns when to look again otherwise.
    fn end_if_idle(&self) -> Option<Instant> {
        let mut state = lock(&self.state);
        let end = state.last_use? + IDLE_TIME;
        if Instant::now() < end {
            return Some(end);
        }
        state.running = None;
        None
    }
}

/// Counts the changes that servers announce, and drops their messages for the user.
async fn count_changes(
    tree: Weak<RunningTree>,
    changed: async_channel::Receiver<()>,
    count: watch::Sender<u64>,
) {
    while changed.recv().await.is_ok() {
        let Some(tree) = tree.upgrade() else {
            return;
        };
        drop(tree.servers.take_changes());
        count.send_modify(|count| *count += 1);
    }
}

async fn end_when_idle(tree: Weak<TreeServers>) {
    let mut next = Some(Instant::now() + IDLE_TIME);
    while let Some(time) = next {
        sleep_until(time).await;
        next = tree.upgrade().and_then(|tree| tree.end_if_idle());
    }
}

impl RunningTree {
    /// Returns the known servers of the tree; `None` if it was not read until `deadline`.
    pub(super) async fn folder(&self, deadline: Instant) -> Option<Arc<FolderServers>> {
        loop {
            if let Some(folder) = self.servers.folder() {
                return Some(folder);
            }
            if !self.wait(deadline).await {
                return None;
            }
        }
    }

    /// Waits until something may have changed; returns false at `deadline`.
    pub(super) async fn wait(&self, deadline: Instant) -> bool {
        let mut changes = self.changes.clone();
        changes.mark_unchanged();
        let until = deadline.min(Instant::now() + POLL_TIME);
        // At the end of the time, and of the servers, the state is looked at again.
        timeout_at(until, changes.changed()).await.ok();
        Instant::now() < deadline
    }

    /// Waits until nothing has changed for `quiet`, at most until `deadline`.
    pub(super) async fn wait_for_quiet(&self, quiet: Duration, deadline: Instant) {
        let mut changes = self.changes.clone();
        loop {
            changes.mark_unchanged();
            let until = Instant::now() + quiet;
            let changed = timeout_at(until.min(deadline), changes.changed()).await;
            if !matches!(changed, Ok(Ok(()))) || Instant::now() >= deadline {
                return;
            }
        }
    }

    /// Passes the changes of files since the last call on to the servers: the texts of open documents, and events about
    /// all files. Returns whether there were any. Blocks on the disk.
    pub(super) fn pass_changes_on(&self) -> bool {
        let has_new_text = self.documents().refresh(&self.servers);
        self.disk.pass_on(&self.servers) || has_new_text
    }

    /// Asks the servers again about the open documents if other files changed since their reports. Returns whether it
    /// did; does nothing without time left.
    pub(super) async fn renew_reports(self: &Arc<Self>, deadline: Instant) -> bool {
        let time = deadline.saturating_duration_since(Instant::now());
        if time.is_zero() || !self.disk.take_notice() {
            return false;
        }
        let shared = self.clone();
        let pulled = tokio::task::spawn_blocking(move || shared.servers.pull_diagnostics(time));
        // A server that is late is asked no further; its reports count when they come.
        timeout_at(deadline, pulled).await.ok();
        true
    }

    /// Locks the documents, even if another holder has panicked.
    pub(super) fn documents(&self) -> std::sync::MutexGuard<'_, OpenDocuments> {
        self.documents
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the path below `root` with `/`, or the absolute path outside of it.
pub(super) fn shown_path(root: &AbsPath, path: &AbsPath) -> String {
    match path.relative_to(root) {
        Some(inner) => inner.to_string_lossy().into_owned(),
        None => path.to_string(),
    }
}
