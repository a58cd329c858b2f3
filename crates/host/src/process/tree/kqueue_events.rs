//! Waits until a watched process forks, executes or exits.

use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::time::Duration;

use base::LogErr as _;
use rustix::event::kqueue::{Event, EventFilter, EventFlags, ProcessEvents, kevent, kqueue};
use rustix::process::Pid;

/// Wakes the tracker.
#[derive(Debug)]
pub(super) struct ForkEvents {
    queue: OnceLock<Option<OwnedFd>>,
}

impl ForkEvents {
    /// The longest pause between two looks: events are the rule here.
    pub(super) const LONGEST_PAUSE: Duration = Duration::from_millis(250);

    pub(super) const fn new() -> Self {
        Self {
            queue: OnceLock::new(),
        }
    }

    /// Watches a process until it exits. One that has exited already wakes the tracker at once.
    #[expect(unsafe_code, reason = "kevent takes descriptors by number")]
    pub(super) fn add(&self, pid: i32) {
        let (Some(queue), Some(pid)) = (self.queue(), Pid::from_raw(pid)) else {
            return;
        };
        let filter = EventFilter::Proc {
            pid,
            flags: ProcessEvents::FORK | ProcessEvents::EXEC | ProcessEvents::EXIT,
        };
        let change = [Event::new(
            filter,
            EventFlags::ADD | EventFlags::CLEAR,
            null_mut(),
        )];
        let mut none: [MaybeUninit<Event>; 0] = [];
        // SAFETY: the change names a process, not a descriptor. An error means that the process is
        // gone.
        unsafe { kevent(queue, &change, &mut none[..], Some(Duration::ZERO)) }.ok();
    }

    /// Ends a wait early: the pauses are short enough, and a new tree's first process is watched.
    pub(super) fn wake(&self) {}

    /// Blocks for `pause`, or until a watched process forks, executes or exits; returns whether one
    /// did.
    #[expect(unsafe_code, reason = "kevent takes descriptors by number")]
    pub(super) fn wait(&self, pause: Duration) -> bool {
        let Some(queue) = self.queue() else {
            std::thread::sleep(pause);
            return false;
        };
        let mut events = [const { MaybeUninit::<Event>::uninit() }; 64];
        // SAFETY: no change is made.
        let events = unsafe { kevent(queue, &[], &mut events[..], Some(pause)) };
        match events {
            Ok((events, _)) => !events.is_empty(),
            Err(_) => {
                std::thread::sleep(pause);
                false
            }
        }
    }

    fn queue(&self) -> Option<&OwnedFd> {
        // Without a queue the tracker polls.
        self.queue.get_or_init(|| kqueue().log_err()).as_ref()
    }
}
