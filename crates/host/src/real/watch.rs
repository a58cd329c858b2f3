//! File watching through the system, on its own thread.
//!
//! Linux uses inotify directly: libraries over it also subscribe to every opening of a file, and a
//! project-wide search would drown the changes. Other systems use `notify`.

mod batch;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(test, not(target_os = "linux")))]
mod portable;

use crate::error::Error;
use crate::watch::{WatchRequest, Watcher};

/// When full because no receiver reads, events accumulate in the thread; see `batch`.
const EVENTS: usize = 64;

/// Starts watching a folder on a thread of its own. Fails if the root is missing or cannot be
/// watched.
pub(super) fn start(request: WatchRequest) -> Result<Watcher, Error> {
    #[cfg(target_os = "linux")]
    return linux::start(request);
    #[cfg(not(target_os = "linux"))]
    return portable::start(request);
}

#[cfg(test)]
mod tests;
