//! A process started from a caller's own `Command`, with the whole tree that it starts.
//!
//! For callers that choose streams and attributes which `spawn` and `start` do not offer.

use std::fmt;
use std::io;
use std::process::{Child, Command};
use std::sync::{Mutex, PoisonError};

use rustix::process::Signal;

use super::handle::{ProcessHandle, fresh_mark};
use super::{ProcessExit, busy, interrupts};

/// A running process and its descendants. Dropping it kills them all and blocks until they are dead.
pub struct OwnedProcess {
    handle: ProcessHandle,
    child: Mutex<Child>,
}

impl fmt::Debug for OwnedProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnedProcess").field(&self.id()).finish()
    }
}

/// Starts `command`, which must make its process the leader of a session of its own. A variable is
/// added to its environment, by which its descendants are recognized.
///
/// # Errors
/// Those of `Command::spawn`.
pub fn spawn_owned(command: &mut Command) -> io::Result<OwnedProcess> {
    interrupts::restore_for_children();
    let mark = fresh_mark();
    command.env(&mark, "1");
    let mut child = busy::retry_while_busy(|| command.spawn())?;
    let Some(handle) = ProcessHandle::of(&child, &mark) else {
        child.kill()?;
        child.wait()?;
        return Err(io::Error::other("its process id cannot be read"));
    };
    let child = Mutex::new(child);
    Ok(OwnedProcess { handle, child })
}

impl OwnedProcess {
    /// Returns the process id.
    pub fn id(&self) -> u32 {
        self.handle.leader().as_raw_nonzero().get().cast_unsigned()
    }

    /// Blocks until the process has ended and all its descendants are dead, which are killed. Returns
    /// the same result when it is called again.
    pub fn wait(&self) -> ProcessExit {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        match self.handle.exit() {
            Some(exit) => exit,
            None => {
                self.handle.wait();
                self.handle.reap(&mut child).0
            }
        }
    }

    /// Kills the process and all its descendants; returns once they are dead or two seconds have
    /// passed.
    pub fn kill(&self) {
        self.handle.kill();
        self.handle.stop(std::time::Duration::ZERO);
    }

    /// Sends a signal to the group of the process; ignores an unknown number and a process that has
    /// ended.
    pub fn signal(&self, signal: i32) {
        if let Some(signal) = Signal::from_named_raw(signal) {
            self.handle.signal(signal);
        }
    }

    /// Returns the ids of the living processes of the tree.
    pub fn members(&self) -> Vec<u32> {
        self.handle.members()
    }
}

impl Drop for OwnedProcess {
    fn drop(&mut self) {
        if self.handle.exit().is_none() {
            self.kill();
            self.wait();
        }
    }
}
