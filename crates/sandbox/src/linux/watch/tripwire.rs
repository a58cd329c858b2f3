//! Ends a sandbox in which a protected name came into being all the same.
//!
//! Who changes a path between our look at it and the kernel's gets past the answers given here. A git
//! folder that was not there is the one thing that must not exist even for a moment, since git on the
//! outside trusts it: the folders in question are watched, and whatever runs inside is killed before it
//! can try twice. What was made stays where it is, for `scan` to find; it may be the person's own.
//!
//! All share one list of watched folders, since the kernel takes longer to close such a list than to put up a sandbox.

use std::collections::HashMap;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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

/// The wires of all sandboxes.
#[derive(Debug)]
pub(super) struct Wires {
    events: OwnedFd,
    strung: Mutex<Strung>,
}

#[derive(Debug, Default)]
struct Strung {
    wires: HashMap<u64, Arc<Wire>>,
    /// By the number of a watched folder: the wires that watch it. Never empty.
    folders: HashMap<i32, Vec<u64>>,
}

#[derive(Debug)]
struct Wire {
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
        let wire = Wire {
            plan: plan.clone(),
            process: process.clone(),
            denials: denials.clone(),
        };
        let key = next_key();
        watcher.wires.string(key, wire)?;
        Some(Self { key })
    }
}

impl Drop for Tripwire {
    fn drop(&mut self) {
        if let Some(Some(watcher)) = WATCHER.get() {
            watcher.wires.take_down(self.key);
        }
    }
}

impl Wires {
    /// None yet; `poll` tells of what happens, under `key`.
    pub(super) fn new(poll: &OwnedFd, key: u64) -> Option<Self> {
        let flags = inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK;
        let events = inotify::init(flags).ok()?;
        let data = epoll::EventData::new_u64(key);
        epoll::add(poll, &events, data, epoll::EventFlags::IN).ok()?;
        let strung = Mutex::default();
        Some(Self { events, strung })
    }

    fn string(&self, key: u64, wire: Wire) -> Option<()> {
        let what = inotify::WatchFlags::CREATE | inotify::WatchFlags::MOVED_TO;
        let plan = wire.plan.clone();
        let mut strung = self.strung();
        strung.wires.insert(key, Arc::new(wire));
        for folder in plan.absent.iter().filter_map(|path| path.parent()) {
            let Ok(folder) = inotify::add_watch(&self.events, folder, what) else {
                drop(strung);
                self.take_down(key);
                return None;
            };
            let keys = strung.folders.entry(folder).or_default();
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        Some(())
    }

    fn take_down(&self, key: u64) {
        let mut strung = self.strung();
        strung.wires.remove(&key);
        strung.folders.retain(|folder, keys| {
            keys.retain(|known| *known != key);
            if keys.is_empty() {
                // A folder that is gone is not watched any more.
                inotify::remove_watch(&self.events, *folder).ok();
            }
            !keys.is_empty()
        });
    }

    /// Something came into being in some of the folders.
    pub(super) fn pull(&self) {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = inotify::Reader::new(&self.events, &mut buffer);
        let mut pulled: HashMap<u64, Vec<Vec<u8>>> = HashMap::new();
        let mut is_cut = false;
        while let Ok(event) = reader.next() {
            is_cut |= event.events().contains(inotify::ReadFlags::QUEUE_OVERFLOW);
            let Some(name) = event.file_name() else {
                continue;
            };
            let name = name.to_bytes().to_ascii_lowercase();
            for key in self.strung().folders.get(&event.wd()).into_iter().flatten() {
                pulled.entry(*key).or_default().push(name.clone());
            }
        }
        let wires: Vec<(u64, Arc<Wire>)> = {
            let strung = self.strung();
            let wires = strung.wires.iter();
            wires.map(|(key, wire)| (*key, wire.clone())).collect()
        };
        for (key, wire) in wires {
            match pulled.get(&key) {
                // More happened than was told.
                _ if is_cut => wire.look(|_| true),
                Some(names) => wire.look(|name| names.iter().any(|known| known == name)),
                None => {}
            }
        }
    }

    fn strung(&self) -> MutexGuard<'_, Strung> {
        self.strung.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wire {
    /// What an event was about does not matter: what counts is what is there now.
    fn look(&self, is_told: impl Fn(&[u8]) -> bool) {
        for path in &self.plan.absent {
            let name = path.file_name().unwrap_or_default().as_bytes();
            if is_told(name) && path.symlink_metadata().is_ok() {
                kernel::kill_by_descriptor(self.process.as_raw_fd(), libc::SIGKILL);
                if let Some(path) = absolute(path) {
                    let access = Access::Create;
                    self.denials.add(Denied::Path { path, access });
                }
            }
        }
    }
}
