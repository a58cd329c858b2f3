//! Answers what the filter asks: tells of denials, keeps protected names from coming into being, and
//! connects sockets in the name of whoever asked.
//!
//! Invariant: what keeps a command in does not hang on a path read from its memory, which may change
//! before the kernel reads it again. Mounts and Landlock decide about files; here a denial is only told.
//! Two things are decided here: a protected name that is not there is refused (`scan` finds what a race
//! let through), and a socket is connected with our own copy of the address, never by the kernel
//! reading it a second time.
//! Invariant: when the program ends, the questions have nobody to answer them and fail.

use std::collections::HashMap;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rustix::event::epoll;

use super::filter;
use super::kernel::{self, Answer, Question};
use super::plan::Plan;
use crate::{Denials, Denied};

mod calls;
mod fresh;
mod own_sockets;
mod place;
mod sockets;
mod tripwire;

pub(super) use tripwire::Tripwire;

/// One filter that asks.
#[derive(Debug)]
pub(super) struct Watched {
    listener: OwnedFd,
    plan: Arc<Plan>,
    denials: Denials,
    /// Tells about the sockets of the sandbox.
    sockets: Option<Arc<OwnedFd>>,
    /// The root as it is seen inside, once somebody has asked.
    root: OnceLock<OwnedFd>,
}

struct Watcher {
    poll: OwnedFd,
    watched: Mutex<HashMap<u64, Arc<Watched>>>,
    wires: tripwire::Wires,
}

static WATCHER: OnceLock<Option<Arc<Watcher>>> = OnceLock::new();

/// Answers what `listener` asks until nobody is left to ask.
pub(super) fn answer(
    listener: OwnedFd,
    plan: Arc<Plan>,
    denials: Denials,
    sockets: Option<Arc<OwnedFd>>,
) {
    let Some(watcher) = WATCHER.get_or_init(begin) else {
        // Dropping the listener makes every question fail.
        log::error!("there is no thread for the questions of sandboxes");
        return;
    };
    let watched = Arc::new(Watched {
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
        log::error!("a sandbox's questions cannot be heard: {error}");
        watcher.forget(key);
    }
}

/// The key of the tripwires.
const WIRES: u64 = 0;

/// Never given twice: what was said about something that is gone must not be taken for something new.
fn next_key() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(WIRES + 1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn begin() -> Option<Arc<Watcher>> {
    let poll = epoll::create(epoll::CreateFlags::CLOEXEC).ok()?;
    let wires = tripwire::Wires::new(&poll, WIRES)?;
    let watcher = Arc::new(Watcher {
        poll,
        watched: Mutex::default(),
        wires,
    });
    let same = watcher.clone();
    let thread = std::thread::Builder::new().name("sandbox-watch".to_owned());
    thread.spawn(move || same.run()).ok()?;
    Some(watcher)
}

impl Watcher {
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
            self.wires.pull();
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
        // Whoever asked may have been killed since; then there is no question.
        if let Ok(question) = kernel::question(watched.listener.as_raw_fd()) {
            decide(&watched, question);
        }
    }

    fn forget(&self, key: u64) {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        watched.remove(&key);
    }
}

impl Watched {
    fn reply(&self, question: &Question, answer: Answer) {
        let listener = self.listener.as_raw_fd();
        if let Err(errno) = kernel::answer(listener, question.id, answer) {
            // Killed while it waited.
            log::trace!("a question was not answered: {errno}");
        }
    }

    fn is_asked(&self, question: &Question) -> bool {
        kernel::is_asked(self.listener.as_raw_fd(), question.id)
    }
}

fn decide(watched: &Arc<Watched>, question: Question) {
    if question.call == libc::SYS_connect {
        sockets::connect(watched, question);
        return;
    }
    let answer = match calls::uses(&question) {
        Some(uses) => place::judge(watched, &question, &uses),
        None => deny(watched, question.call),
    };
    watched.reply(&question, answer);
}

/// Whatever is asked and is not about a path is not given.
fn deny(watched: &Watched, call: libc::c_long) -> Answer {
    let name = match call {
        libc::SYS_clone => "clone",
        libc::SYS_ioctl => "ioctl",
        _ => filter::DENIED
            .iter()
            .find(|(number, _)| *number == call)
            .map_or("unknown", |(_, name)| name),
    };
    watched.denials.add(Denied::Call { name });
    Answer::Error(libc::EPERM)
}
