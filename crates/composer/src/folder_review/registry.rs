//! The reviews of the folders in which this program's sessions work.
//!
//! Start at `FolderReviews::open`.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use ::base::AbsPath;
use agent::services::Buffers;
use host::{Dirs, Files as _, RealClock, RealFiles};
use tokio::sync::watch;

use crate::Error;
use crate::change_history::TreeWatchers;

use crate::worktrees::lock_of;

use super::FolderReview;

/// Opens the review of a folder when a session there first changes something, and keeps it open.
/// Clones share the reviews.
#[derive(Clone)]
pub struct FolderReviews(Arc<ReviewRegistry>);

struct ReviewRegistry {
    dirs: Dirs,
    watchers: TreeWatchers,
    unsaved: Option<Arc<dyn Buffers>>,
    /// Held while a folder is opened, so that two calls do not open it twice.
    open: Mutex<HashMap<AbsPath, Arc<FolderReview>>>,
    /// The folders in which sessions of this program work without a worktree.
    users_folders: Mutex<HashSet<AbsPath>>,
    /// The reasons why folders could not be opened.
    failures: Mutex<HashMap<AbsPath, OpenFailure>>,
    /// Number of changes of the reviews so far.
    changed: watch::Sender<u64>,
}

/// The reason why a folder could not be opened.
struct OpenFailure {
    sentence: String,
    /// Whether it may pass: another process has the folder open.
    may_pass: bool,
}

impl FolderReviews {
    /// Creates the registry. Calls of sessions in opened folders are recorded by `watchers`.
    pub fn new(dirs: &Dirs, watchers: TreeWatchers, unsaved: Option<Arc<dyn Buffers>>) -> Self {
        Self(Arc::new(ReviewRegistry {
            dirs: dirs.clone(),
            watchers,
            unsaved,
            open: Mutex::default(),
            users_folders: Mutex::default(),
            failures: Mutex::default(),
            changed: watch::Sender::new(0),
        }))
    }

    /// Opens the review of a folder, given by its real path, and records calls there from now on.
    /// Returns the open one if there is one. Blocks on the disk. Fails like `FolderReview::open`.
    pub fn open(&self, root: &AbsPath) -> Result<Arc<FolderReview>, Error> {
        let mut open = lock_of(&self.0.open);
        if let Some(known) = open.get(root) {
            return Ok(known.clone());
        }
        let review = FolderReview::open(
            root,
            self.folder_of(root),
            Arc::new(RealFiles),
            Arc::new(RealClock::default()),
            self.0.unsaved.clone(),
        );
        let review = match review {
            Ok(review) => Arc::new(review),
            Err(error) => {
                let failure = OpenFailure {
                    sentence: error.to_string(),
                    may_pass: matches!(error, Error::Busy(_)),
                };
                lock_of(&self.0.failures).insert(root.clone(), failure);
                return Err(error);
            }
        };
        lock_of(&self.0.failures).remove(root);
        self.0.watchers.add(review.history().clone());
        open.insert(root.clone(), review.clone());
        Ok(review)
    }

    /// Records that a session works in a folder of the user, so that `watch` opens its review.
    pub fn add_users_folder(&self, root: &AbsPath) {
        lock_of(&self.0.users_folders).insert(root.clone());
    }

    /// Whether a session of this program works in this folder of the user without a worktree.
    pub fn is_users_folder(&self, root: &AbsPath) -> bool {
        lock_of(&self.0.users_folders).contains(root)
    }

    /// Opens the review of a folder before a call there changes something, if it is a folder of the
    /// user. A folder that is open in another
    /// process is tried again at each call, one that failed otherwise is not; then the calls run unrecorded, and
    /// `failure` has the reason. Must be called on a tokio runtime.
    pub async fn watch(&self, root: &AbsPath) {
        let is_users = self.is_users_folder(root);
        let is_failed = {
            let failures = lock_of(&self.0.failures);
            failures.get(root).is_some_and(|failure| !failure.may_pass)
        };
        if !is_users || is_failed || self.0.watchers.authored(root).is_some() {
            return;
        }
        let (this, opened) = (self.clone(), root.clone());
        let opened = tokio::task::spawn_blocking(move || this.open(&opened).map(drop)).await;
        match opened {
            Ok(Ok(())) => {}
            Ok(Err(error)) => log::warn!("changes in {root} are not recorded: {error}"),
            Err(error) => log::error!("changes in {root} are not recorded: {error}"),
        }
    }

    /// Records the present content of a file as the user's, who just saved it: a call that runs in
    /// its folder does not count as its author. `unformatted` is the text before the save ran a
    /// formatter, if it ran one. Blocks on the disk.
    pub fn note_saved(&self, file: &AbsPath, unformatted: Option<&str>) {
        let open: Vec<Arc<FolderReview>> = lock_of(&self.0.open).values().cloned().collect();
        let mut is_changed = false;
        for review in open {
            is_changed |= review.note_saved(file, unformatted);
        }
        if is_changed {
            self.note_changed();
        }
    }

    /// Returns why the changes of agents in a folder are never recorded, as a sentence; `None` if
    /// they are, or may be later.
    pub fn failure(&self, root: &AbsPath) -> Option<String> {
        let failures = lock_of(&self.0.failures);
        let failure = failures.get(root).filter(|failure| !failure.may_pass);
        failure.map(|failure| failure.sentence.clone())
    }

    /// Announces that changes were recorded, kept or taken out.
    pub fn note_changed(&self) {
        self.0.changed.send_modify(|count| *count += 1);
    }

    /// Subscribes to changes of the reviews.
    pub fn changed(&self) -> watch::Receiver<u64> {
        self.0.changed.subscribe()
    }

    /// Whether a folder has a log of an earlier session. Blocks on the disk.
    pub fn has_log(&self, root: &AbsPath) -> bool {
        RealFiles.exists(&self.folder_of(root).join("changes.jsonl"))
    }

    /// The folder of the records of a root.
    fn folder_of(&self, root: &AbsPath) -> AbsPath {
        let hash = host::ContentHash::of(root.to_string().as_bytes()).0;
        self.0.dirs.state.join(format!("folders/{hash:032x}"))
    }
}
