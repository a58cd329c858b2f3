//! Carrying rows over from the log, where they are safe, into the file itself.
//!
//! SQLite does this within the append that makes the log long, so now and then somebody waits for several trips to
//! the disk instead of one. Who appends while others wait leaves it to a handle on another thread.

use crate::{Error, Ledger};

/// Pages of the log at which an append carries them over after all, as the other thread cannot keep up: 40 MB.
const MOST: i64 = 10_000;

impl Ledger {
    /// From now on appends of this handle leave the log to grow; somebody has to call `checkpoint` on another.
    pub fn leave_checkpoints(&self) -> Result<(), Error> {
        let set = self
            .connection
            .pragma_update(None, "wal_autocheckpoint", MOST);
        set.map_err(|error| self.fault("set up", &error))
    }

    /// Carries over what can be without waiting for readers or writers. Nobody waits for it, either.
    pub fn checkpoint(&self) -> Result<(), Error> {
        let done = self
            .connection
            .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
        done.map_err(|error| self.fault("tidy", &error))
    }
}

#[cfg(test)]
mod tests;
