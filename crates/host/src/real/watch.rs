//! File watching through the system, on its own thread.
//!
//! Linux uses inotify directly: libraries over it also subscribe to every opening of a file, and a
//! project-wide search would drown the changes. Other systems use `notify`; their events are
//! interpreted by `reported`, which is pure, and tested on every system.

mod batch;
#[cfg(all(target_os = "linux", not(burin_portable)))]
mod linux;
mod polled;
#[cfg(any(test, burin_portable, not(target_os = "linux")))]
mod portable;
#[cfg(any(test, burin_portable, not(target_os = "linux")))]
mod reported;

#[cfg(all(target_os = "linux", not(burin_portable)))]
use self::linux as system;
#[cfg(any(burin_portable, not(target_os = "linux")))]
use self::portable as system;
use crate::error::Error;
use crate::watch::{WatchRequest, Watcher};

/// When full because no receiver reads, events accumulate in the thread; see `batch`.
const EVENTS: usize = 64;

/// Whether `start` misses what happens in a new folder before it adds its watch, as `notify` does on
/// Linux.
#[cfg(test)]
const MISSES_EARLY_CHANGES: bool = cfg!(all(target_os = "linux", burin_portable));

pub(super) fn start(request: WatchRequest) -> Result<Watcher, Error> {
    system::start(request)
}

#[cfg(test)]
mod tests;
