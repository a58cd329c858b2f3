//! Files in memory, for tests.
//!
//! They behave as the real ones do, the same tests say so; but every folder above a new file is
//! simply there. On top: faults on demand, changes made "by other programs", and watch events that
//! are sent before the call that caused them returns.

mod ops;
mod world;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::AbsPath;

use crate::error::{Error, Reason};
use crate::watch::WatchEvent;

use self::world::{Fault, Node, World};

/// Files in memory. A clone is another handle to the same files.
#[derive(Clone, Default)]
pub struct FakeFiles {
    world: Arc<Mutex<World>>,
}

/// The kinds of calls that can be told to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Reading a file.
    Read,
    /// Looking at a path, listing, resolving.
    Look,
    /// A save.
    Save,
    /// Writing a private file.
    WritePrivate,
    /// Adding to a log.
    Append,
    /// Making a log durable.
    Sync,
    /// Creating, renaming, copying, trashing, removing.
    Arrange,
    /// Starting to watch.
    Watch,
}

impl FakeFiles {
    /// An empty world with a root folder.
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes a file as another program would, with the folders above it.
    pub fn write(&self, path: &AbsPath, content: impl AsRef<[u8]>) {
        self.world().write(path, content.as_ref().to_vec());
    }

    /// Creates a folder as another program would.
    pub fn folder(&self, path: &AbsPath) {
        self.world().add_folders(path);
    }

    /// Creates a link as another program would.
    pub fn link(&self, path: &AbsPath, target: impl Into<std::path::PathBuf>) {
        self.world().put(path, Node::Link(target.into()));
    }

    /// Creates a pipe as another program would.
    pub fn pipe(&self, path: &AbsPath) {
        self.world().put(path, Node::Other);
    }

    /// Removes a file or folder as another program would.
    pub fn delete(&self, path: &AbsPath) {
        self.world().remove(path);
    }

    /// Changes the permission bits of a file or folder; without any write bit it is read-only.
    pub fn set_mode(&self, path: &AbsPath, mode: u32) {
        self.world().set_mode(path, mode);
    }

    /// The content of a file; `None` when there is none.
    pub fn content(&self, path: &AbsPath) -> Option<Vec<u8>> {
        self.world().content(path)
    }

    /// What was moved to the trash, in order.
    pub fn trashed(&self) -> Vec<AbsPath> {
        self.world().trashed.clone()
    }

    /// Makes the `nth` call of this kind from now on (1 is the next) fail, once.
    pub fn fail(&self, operation: Operation, nth: usize, reason: Reason) {
        self.world().faults.push(Fault {
            operation,
            nth,
            reason,
            is_lasting: false,
        });
    }

    /// Makes every call of this kind fail until `heal`.
    pub fn fail_always(&self, operation: Operation, reason: Reason) {
        self.world().faults.push(Fault {
            operation,
            nth: 1,
            reason,
            is_lasting: true,
        });
    }

    /// Takes all faults back.
    pub fn heal(&self) {
        self.world().faults.clear();
    }

    /// Sends an event to everybody who watches, as after an overflow.
    pub fn announce(&self, event: &WatchEvent) {
        self.world().announce(event);
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The world, unless a fault strikes.
    fn enter(
        &self,
        operation: Operation,
        path: &AbsPath,
        doing: &'static str,
    ) -> Result<MutexGuard<'_, World>, Error> {
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
