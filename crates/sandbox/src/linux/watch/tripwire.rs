//! Kills a sandbox in which a protected name was created despite all checks.
//!
//! A process that changes a path between our check and the kernel's gets past the answers given
//! here. A missing git folder is the one thing that must not exist even for a moment, since git
//! outside trusts it: the folders in question are watched, and all processes inside are killed
//! before they can try again. What was created stays in place for `scan` to find; it may be the
//! user's own.
//!
//! All sandboxes share one inotify instance, since closing one takes the kernel longer than setting
//! up a sandbox.

use std::collections::HashMap;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::names::widest_key;
use rustix::event::epoll;
use rustix::fs::inotify;

use super::{WATCHER, next_key, start_watcher};
use crate::linux::kernel;
use crate::linux::plan::{SandboxPlan, absolute};
use crate::{DenialLog, DeniedAccess, PathAccess};

/// Watches for names that must not appear in the folders of one plan. Removed on drop.
#[derive(Debug)]
pub(in crate::linux) struct Tripwire {
    key: u64,
}

/// The tripwires of all sandboxes.
#[derive(Debug)]
pub(super) struct Tripwires {
    events: OwnedFd,
    watched: Mutex<WatchedFolders>,
}

#[derive(Debug, Default)]
struct WatchedFolders {
    entries: HashMap<u64, Arc<TripwireEntry>>,
    /// The tripwires of each watch descriptor. No list is empty.
    folders: HashMap<i32, Vec<u64>>,
}

#[derive(Debug)]
struct TripwireEntry {
    plan: Arc<SandboxPlan>,
    /// The pidfd of the process to kill.
    process: Arc<OwnedFd>,
    denials: DenialLog,
}

impl Tripwire {
    /// Watches the paths that the plan lists as absent; returns `None` if there are none or they
    /// cannot be watched.
    pub(in crate::linux) fn set(
        plan: &Arc<SandboxPlan>,
        process: &Arc<OwnedFd>,
        denials: &DenialLog,
    ) -> Option<Self> {
        if plan.absent.is_empty() {
            return None;
        }
        let watcher = WATCHER.get_or_init(start_watcher).as_ref()?;
        let wire = TripwireEntry {
            plan: plan.clone(),
            process: process.clone(),
            denials: denials.clone(),
        };
        let key = next_key();
        watcher.wires.add(key, wire)?;
        Some(Self { key })
    }
}

impl Drop for Tripwire {
    fn drop(&mut self) {
        if let Some(Some(watcher)) = WATCHER.get() {
            watcher.wires.remove(self.key);
        }
    }
}

impl Tripwires {
    /// Creates an empty set; `poll` reports its events under `key`.
    pub(super) fn new(poll: &OwnedFd, key: u64) -> Option<Self> {
        let flags = inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK;
        let events = inotify::init(flags).ok()?;
        let data = epoll::EventData::new_u64(key);
        epoll::add(poll, &events, data, epoll::EventFlags::IN).ok()?;
        let strung = Mutex::default();
        Some(Self {
            events,
            watched: strung,
        })
    }

    /// Adds a tripwire under `key` and watches the folders of its absent paths. `None`, with
    /// nothing added, if one of them cannot be watched.
    fn add(&self, key: u64, wire: TripwireEntry) -> Option<()> {
        let what = inotify::WatchFlags::CREATE | inotify::WatchFlags::MOVED_TO;
        let plan = wire.plan.clone();
        let mut strung = self.watched();
        strung.entries.insert(key, Arc::new(wire));
        for folder in plan.absent.iter().filter_map(|path| path.parent()) {
            let Ok(folder) = inotify::add_watch(&self.events, folder, what) else {
                drop(strung);
                self.remove(key);
                return None;
            };
            let keys = strung.folders.entry(folder).or_default();
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        Some(())
    }

    fn remove(&self, key: u64) {
        let mut strung = self.watched();
        strung.entries.remove(&key);
        strung.folders.retain(|folder, keys| {
            keys.retain(|known| *known != key);
            if keys.is_empty() {
                // A removed folder is no longer watched.
                inotify::remove_watch(&self.events, *folder).ok();
            }
            !keys.is_empty()
        });
    }

    /// Checks the folders in which something was created.
    pub(super) fn handle_events(&self) {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = inotify::Reader::new(&self.events, &mut buffer);
        let mut pulled: HashMap<u64, Vec<Vec<u8>>> = HashMap::new();
        let mut is_cut = false;
        while let Ok(event) = reader.next() {
            is_cut |= event.events().contains(inotify::ReadFlags::QUEUE_OVERFLOW);
            let Some(name) = event.file_name() else {
                continue;
            };
            let name = widest_key(name.to_bytes()).into_owned();
            for key in self
                .watched()
                .folders
                .get(&event.wd())
                .into_iter()
                .flatten()
            {
                pulled.entry(*key).or_default().push(name.clone());
            }
        }
        let wires: Vec<(u64, Arc<TripwireEntry>)> = {
            let strung = self.watched();
            let wires = strung.entries.iter();
            wires.map(|(key, wire)| (*key, wire.clone())).collect()
        };
        for (key, wire) in wires {
            match pulled.get(&key) {
                // The events are incomplete, so every name is checked.
                _ if is_cut => wire.check(|_| true),
                Some(names) => wire.check(|name| names.iter().any(|known| known == name)),
                None => {}
            }
        }
    }

    fn watched(&self) -> MutexGuard<'_, WatchedFolders> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TripwireEntry {
    /// Kills the sandbox if a watched name exists now; the kind of event does not matter.
    fn check(&self, is_told: impl Fn(&[u8]) -> bool) {
        for path in &self.plan.absent {
            let name = path.file_name().unwrap_or_default().as_bytes();
            if is_told(name) && path.symlink_metadata().is_ok() {
                kernel::kill_pidfd(self.process.as_raw_fd(), libc::SIGKILL);
                if let Some(path) = absolute(path) {
                    let access = PathAccess::Create;
                    self.denials.add(DeniedAccess::Path { path, access });
                }
            }
        }
    }
}
