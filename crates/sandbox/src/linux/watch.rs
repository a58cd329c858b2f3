//! Answers the filter's notifications: records denials, keeps protected names from being created,
//! and connects sockets on the caller's behalf.
//!
//! Invariant: confinement does not depend on a path read from the command's memory, which may
//! change before the kernel reads it again. Mounts and Landlock decide about files; here a denial
//! is only recorded. Two decisions are made here: creating a missing protected name is refused
//! (`scan` finds what a race let through), and a socket is connected with our own copy of the
//! address, never by the kernel reading it a second time.
//! Invariant: when the program ends, pending and later notifications fail.

use std::collections::HashMap;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rustix::event::epoll;

use super::filter;
use super::kernel::{self, NotificationReply, SyscallNotification};
use super::plan::SandboxPlan;
use crate::{DenialLog, DeniedAccess};

mod calls;
mod new_repository;
mod own_sockets;
mod path_target;
mod sockets;
mod tripwire;

pub(super) use tripwire::Tripwire;

/// One filter with its notification descriptor.
#[derive(Debug)]
pub(super) struct WatchedFilter {
    listener: OwnedFd,
    plan: Arc<SandboxPlan>,
    denials: DenialLog,
    /// Lists the sockets of the sandbox.
    sockets: Option<Arc<OwnedFd>>,
    /// The root as seen inside, opened by the first notification that needs it.
    root: OnceLock<OwnedFd>,
}

struct SyscallWatcher {
    poll: OwnedFd,
    watched: Mutex<HashMap<u64, Arc<WatchedFilter>>>,
    wires: tripwire::Tripwires,
}

static WATCHER: OnceLock<Option<Arc<SyscallWatcher>>> = OnceLock::new();

/// Answers the notifications of `listener` until the last process using the filter ends.
pub(super) fn answer(
    listener: OwnedFd,
    plan: Arc<SandboxPlan>,
    denials: DenialLog,
    sockets: Option<Arc<OwnedFd>>,
) {
    let Some(watcher) = WATCHER.get_or_init(start_watcher) else {
        // Dropping the listener makes every notification fail.
        log::error!("cannot start the thread for sandbox notifications");
        return;
    };
    let watched = Arc::new(WatchedFilter {
        listener,
        plan,
        denials,
        sockets,
        root: OnceLock::new(),
    });
    let key = next_key();
    watcher
        .watched
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .insert(key, watched.clone());
    let data = epoll::EventData::new_u64(key);
    let added = epoll::add(
        &watcher.poll,
        &watched.listener,
        data,
        epoll::EventFlags::IN,
    );
    if let Err(error) = added {
        log::error!("cannot receive the notifications of a sandbox: {error}");
        watcher.forget(key);
    }
}

/// The epoll key of the tripwires.
const WIRES: u64 = 0;

/// Returns a key that is never reused, so that an event of a removed entry is not taken for one of
/// a new entry.
fn next_key() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(WIRES + 1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Creates the watcher and starts its thread; `None` if the system does not provide what it needs.
fn start_watcher() -> Option<Arc<SyscallWatcher>> {
    let poll = epoll::create(epoll::CreateFlags::CLOEXEC).ok()?;
    let wires = tripwire::Tripwires::new(&poll, WIRES)?;
    let watcher = Arc::new(SyscallWatcher {
        poll,
        watched: Mutex::default(),
        wires,
    });
    let same = watcher.clone();
    let thread = std::thread::Builder::new().name("sandbox-watch".to_owned());
    thread.spawn(move || same.run()).ok()?;
    Some(watcher)
}

impl SyscallWatcher {
    fn run(&self) {
        let mut events = Vec::with_capacity(16);
        loop {
            events.clear();
            let buffer = rustix::buffer::spare_capacity(&mut events);
            match epoll::wait(&self.poll, buffer, None) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => {
                    log::error!("sandboxes are no longer watched: {error}");
                    return;
                }
            }
            for event in &events {
                self.serve(event.data.u64(), event.flags);
            }
        }
    }

    fn serve(&self, key: u64, flags: epoll::EventFlags) {
        if key == WIRES {
            self.wires.handle_events();
            return;
        }
        if !flags.contains(epoll::EventFlags::IN) {
            self.forget(key);
            return;
        }
        let watched = self.watched.lock();
        let watched = watched
            .unwrap_or_else(PoisonError::into_inner)
            .get(&key)
            .cloned();
        let Some(watched) = watched else { return };
        // The calling process may have been killed; then there is no notification.
        if let Ok(question) = kernel::next_notification(watched.listener.as_raw_fd()) {
            decide(&watched, question);
        }
    }

    fn forget(&self, key: u64) {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        watched.remove(&key);
    }
}

impl WatchedFilter {
    fn reply(&self, question: &SyscallNotification, answer: NotificationReply) {
        let listener = self.listener.as_raw_fd();
        if let Err(errno) = kernel::reply(listener, question.id, answer) {
            // The caller was killed while it waited.
            log::trace!("a notification was not answered: {errno}");
        }
    }

    /// Returns whether the caller still waits for the answer. If so, memory read before is its own.
    fn is_pending(&self, question: &SyscallNotification) -> bool {
        kernel::is_pending(self.listener.as_raw_fd(), question.id)
    }
}

fn decide(watched: &Arc<WatchedFilter>, question: SyscallNotification) {
    if question.call == libc::SYS_connect {
        sockets::connect(watched, question);
        return;
    }
    let answer = match calls::uses(&question) {
        Some(uses) => path_target::decide_paths(watched, &question, &uses),
        None => deny(watched, question.call),
    };
    watched.reply(&question, answer);
}

/// Denies a call that is not about a path.
fn deny(watched: &WatchedFilter, call: libc::c_long) -> NotificationReply {
    let name = match call {
        libc::SYS_clone => "clone",
        libc::SYS_ioctl => "ioctl",
        _ => filter::DENIED
            .iter()
            .find(|(number, _)| *number == call)
            .map_or("unknown", |(_, name)| name),
    };
    watched.denials.add(DeniedAccess::Call { name });
    NotificationReply::Error(libc::EPERM)
}
