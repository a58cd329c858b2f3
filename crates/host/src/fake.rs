//! In-memory files for tests.
//!
//! They behave as the real ones do, which the shared tests check, except that the parent folders of
//! a new file always exist. In addition they offer injected faults, changes made "by other
//! programs", and watch events that are sent before the call that caused them returns.

mod ops;
mod world;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::{AbsPath, NameRules};

use crate::error::{Error, ErrorReason};
use crate::watch::WatchEvent;

use self::world::{FakeFileSystem, FakeNode, InjectedFault};

/// In-memory files. A clone is another handle to the same files.
#[derive(Clone, Default)]
pub struct FakeFiles {
    world: Arc<Mutex<FakeFileSystem>>,
}

/// The kinds of calls that can be made to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FakeOperation {
    /// Reading a file's content.
    Read,
    /// Reading metadata, listing, resolving.
    Look,
    /// Saving a user's file.
    Save,
    /// Writing a private file.
    WritePrivate,
    /// Appending to a log.
    Append,
    /// Making a log durable.
    Sync,
    /// Creating, renaming, copying, trashing, removing.
    Arrange,
    /// Starting to watch a folder.
    Watch,
}

impl FakeFiles {
    /// Creates an empty file system with a root folder.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an empty file system whose volume compares names by `rules`. It stores each name as
    /// it was first written.
    pub fn with_names(rules: NameRules) -> Self {
        let files = Self::default();
        files.world().names = rules;
        files
    }

    /// Writes a file and its parent folders as another program would.
    pub fn write(&self, path: &AbsPath, content: impl AsRef<[u8]>) {
        self.world().write(path, content.as_ref().to_vec());
    }

    /// Creates a folder as another program would.
    pub fn folder(&self, path: &AbsPath) {
        self.world().add_folders(path);
    }

    /// Creates a symbolic link as another program would.
    pub fn link(&self, path: &AbsPath, target: impl Into<std::path::PathBuf>) {
        self.world().insert(path, FakeNode::Link(target.into()));
    }

    /// Creates a pipe as another program would.
    pub fn pipe(&self, path: &AbsPath) {
        self.world().insert(path, FakeNode::Other);
    }

    /// Removes a file or folder as another program would.
    pub fn delete(&self, path: &AbsPath) {
        let mut world = self.world();
        let path = world.stored_path(path);
        world.remove(&path);
    }

    /// Changes the permission bits of a file or folder; without any write bit it is read-only.
    pub fn set_mode(&self, path: &AbsPath, mode: u32) {
        self.world().set_mode(path, mode);
    }

    /// Returns the content of a file; `None` if there is none.
    pub fn content(&self, path: &AbsPath) -> Option<Vec<u8>> {
        self.world().content(path)
    }

    /// Returns the trashed paths in order.
    pub fn trashed(&self) -> Vec<AbsPath> {
        self.world().trashed.clone()
    }

    /// Makes the `nth` call of this kind from now on (1 is the next) fail once.
    pub fn fail(&self, operation: FakeOperation, nth: usize, reason: ErrorReason) {
        self.world().faults.push(InjectedFault {
            operation,
            nth,
            reason,
            is_lasting: false,
        });
    }

    /// Makes every call of this kind fail until `heal`.
    pub fn fail_always(&self, operation: FakeOperation, reason: ErrorReason) {
        self.world().faults.push(InjectedFault {
            operation,
            nth: 1,
            reason,
            is_lasting: true,
        });
    }

    /// Removes all injected faults.
    pub fn heal(&self) {
        self.world().faults.clear();
    }

    /// Sends an event to all watchers, as after an overflow.
    pub fn announce(&self, event: &WatchEvent) {
        self.world().announce(event);
    }

    fn world(&self) -> MutexGuard<'_, FakeFileSystem> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the state, unless a fault is due.
    fn enter(
        &self,
        operation: FakeOperation,
        path: &AbsPath,
        doing: &'static str,
    ) -> Result<MutexGuard<'_, FakeFileSystem>, Error> {
        let mut world = self.world();
        match world.strike(operation) {
            Some(reason) => Err(Error::new(path, doing, reason)),
            None => Ok(world),
        }
    }
}

impl std::fmt::Debug for FakeFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FakeFiles")
    }
}
