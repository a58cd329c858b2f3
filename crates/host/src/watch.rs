//! The interface of file watching.

use std::path::Path;
use std::sync::Arc;

use base::AbsPath;

/// Returns `true` for paths below the root that are not worth watching; the second argument says
/// whether the path is a folder.
pub type Ignore = Arc<dyn Fn(&Path, bool) -> bool + Send + Sync>;

/// A request to watch a folder.
#[derive(Clone)]
pub struct WatchRequest {
    /// The folder to watch with everything below.
    pub root: AbsPath,
    /// The paths to ignore below the root, with their subfolders.
    pub ignore: Ignore,
}

/// An event of a watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchEvent {
    /// Every folder that existed at the start is watched now.
    Ready,
    /// These paths were created, written, renamed or removed. Sorted, without duplicates. A folder
    /// that appears is followed by everything in it; one that goes is reported without its former
    /// contents.
    Changed(Vec<AbsPath>),
    /// Events were lost, or too many occurred at once: rescan everything below this path.
    Rescan(AbsPath),
    /// Watching is impaired; a sentence for the user.
    Problem(String),
}

/// An active watch. Dropping it ends it.
pub struct Watcher {
    /// The watch's events. Bounded: while it is full, events accumulate, and too many become a
    /// `Rescan`.
    pub events: async_channel::Receiver<WatchEvent>,
    pub(crate) control: Box<dyn WatchControl>,
}

/// The control side of an active watch.
pub(crate) trait WatchControl: Send + Sync {
    fn set_visible(&self, paths: Vec<AbsPath>);
}

impl Watcher {
    /// Sets the paths that the user sees. They are watched even if they lie outside the root or are
    /// ignored; if the system refuses watches, they are polled.
    pub fn set_visible(&self, paths: Vec<AbsPath>) {
        self.control.set_visible(paths);
    }
}

impl std::fmt::Debug for Watcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watcher")
    }
}
