//! What watching looks like to the rest of the program.

use std::path::Path;
use std::sync::Arc;

use base::AbsPath;

/// Says which paths below the root are not worth watching; `true` for a folder's second argument.
pub type Ignore = Arc<dyn Fn(&Path, bool) -> bool + Send + Sync>;

/// What to watch.
#[derive(Clone)]
pub struct WatchRequest {
    /// The folder that is watched with everything below.
    pub root: AbsPath,
    /// What is left out below the root, subfolders included.
    pub ignore: Ignore,
}

/// Something happened on the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchEvent {
    /// Every folder that existed at the start is watched now.
    Ready,
    /// These paths were created, written, renamed or removed. Sorted, each once.
    Changed(Vec<AbsPath>),
    /// Events were lost, or too many came at once: look at everything below anew.
    Rescan(AbsPath),
    /// Watching does not work as it should: a sentence for the user.
    Problem(String),
}

/// A watch under way. Dropping it ends it.
pub struct Watcher {
    /// What happens. Bounded: while it is full, events gather, and too many become a `Rescan`.
    pub events: async_channel::Receiver<WatchEvent>,
    pub(crate) control: Box<dyn WatchControl>,
}

/// What can be said to a watch under way.
pub(crate) trait WatchControl: Send + Sync {
    fn set_visible(&self, paths: Vec<AbsPath>);
}

impl Watcher {
    /// Names the files and folders the user looks at. They are watched too when they lie outside
    /// the root or are ignored; and where the system refuses watches, these are polled.
    pub fn set_visible(&self, paths: Vec<AbsPath>) {
        self.control.set_visible(paths);
    }
}

impl std::fmt::Debug for Watcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watcher")
    }
}
