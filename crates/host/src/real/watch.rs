//! Watching through the system, on a thread of its own.
//!
//! On Linux that is inotify itself: libraries over it also ask to be told of every opening of a
//! file, and a search through a project would drown the changes in that. Elsewhere it is `notify`.

mod batch;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(test, not(target_os = "linux")))]
mod portable;

use crate::error::Error;
use crate::watch::{WatchRequest, Watcher};

/// Full when nobody reads for a while: then events gather in the thread, see `batch`.
const EVENTS: usize = 64;

pub(super) fn start(request: WatchRequest) -> Result<Watcher, Error> {
    #[cfg(target_os = "linux")]
    return linux::start(request);
    #[cfg(not(target_os = "linux"))]
    return portable::start(request);
}

#[cfg(test)]
mod tests;
