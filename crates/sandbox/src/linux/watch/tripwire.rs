//! Ends a sandbox in which a protected name came into being all the same.
//!
//! Who changes a path between our look at it and the kernel's gets past the answers given here. A git
//! folder that was not there is the one thing that must not exist even for a moment, since git on the
//! outside trusts it: the folders in question are watched, and whatever runs inside is killed before it
//! can try twice. What was made stays where it is, for `scan` to find; it may be the person's own.

use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::{Arc, PoisonError};

use rustix::event::epoll;
use rustix::fs::inotify;

use super::{WATCHER, begin, next_key};
use crate::linux::kernel;
use crate::linux::plan::{Plan, absolute};
use crate::{Access, Denials, Denied};

/// Names that are not to appear in the folders of one plan. Taken down when dropped.
#[derive(Debug)]
pub(in crate::linux) struct Tripwire {
    key: u64,
}

/// What the watching thread knows of it.
#[derive(Debug)]
pub(super) struct Wire {
    events: OwnedFd,
    plan: Arc<Plan>,
    /// What is killed.
    process: Arc<OwnedFd>,
    denials: Denials,
}

impl Tripwire {
    /// Watches what the plan says is absent; `None` when there is nothing to watch.
    pub(in crate::linux) fn set(
        plan: &Arc<Plan>,
        process: &Arc<OwnedFd>,
        denials: &Denials,
    ) -> Option<Self> {
        if plan.absent.is_empty() {
            return None;
        }
        let watcher = WATCHER.get_or_init(begin).as_ref()?;
        let flags = inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK;
        let events = inotify::init(flags).ok()?;
        let what = inotify::WatchFlags::CREATE | inotify::WatchFlags::MOVED_TO;
        for path in &plan.absent {
            if let Some(folder) = path.parent() {
                inotify::add_watch(&events, folder, what).ok()?;
            }
        }
        let key = next_key();
        let mut wires = watcher.wires.lock().unwrap_or_else(PoisonError::into_inner);
        let data = epoll::EventData::new_u64(key);
        epoll::add(&watcher.poll, &events, data, epoll::EventFlags::IN).ok()?;
        let wire = Wire {
            events,
            plan: plan.clone(),
            process: process.clone(),
            denials: denials.clone(),
        };
        wires.insert(key, Arc::new(wire));
        Some(Self { key })
    }
}

impl Drop for Tripwire {
    fn drop(&mut self) {
        if let Some(Some(watcher)) = WATCHER.get() {
            let mut wires = watcher.wires.lock().unwrap_or_else(PoisonError::into_inner);
            wires.remove(&self.key);
        }
    }
}

impl Wire {
    /// Something came into being in one of the folders.
    pub(super) fn pull(&self) {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = inotify::Reader::new(&self.events, &mut buffer);
        // Which name an event is about does not matter: what counts is what is there now, or was.
        let mut names = Vec::new();
        while let Ok(event) = reader.next() {
            let name = event
                .file_name()
                .map(|name| name.to_bytes().to_ascii_lowercase());
            names.extend(name);
        }
        for path in &self.plan.absent {
            let name = path.file_name().unwrap_or_default().as_bytes();
            if names.iter().any(|known| known == name) && path.symlink_metadata().is_ok() {
                kernel::kill_by_descriptor(self.process.as_raw_fd(), libc::SIGKILL);
                if let Some(path) = absolute(path) {
                    let access = Access::Create;
                    self.denials.add(Denied::Path { path, access });
                }
            }
        }
    }
}
