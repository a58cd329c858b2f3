//! WAL checkpoints: moves committed rows from the log into the database file.
//!
//! By default SQLite checkpoints inside the append that fills the log, so that append waits for
//! several disk syncs instead of one. A writer with waiting callers disables this and leaves
//! checkpoints to a handle on another thread.

use crate::{Error, Ledger};

/// Log size in pages at which an append checkpoints regardless, because the other thread cannot
/// keep up: 40 MB.
const MAX_LOG_PAGES: i64 = 10_000;

impl Ledger {
    /// Disables the copying of SQLite's write-ahead log into the file by this handle's appends;
    /// another handle must call `checkpoint`, or the log grows.
    pub fn disable_auto_checkpoint(&self) -> Result<(), Error> {
        let set = self
            .connection
            .pragma_update(None, "wal_autocheckpoint", MAX_LOG_PAGES);
        set.map_err(|error| self.convert_error("set up", &error))
    }

    /// Copies as much of SQLite's write-ahead log into the file as is possible without waiting for
    /// readers or writers, and without blocking them.
    pub fn checkpoint(&self) -> Result<(), Error> {
        let done = self
            .connection
            .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
        done.map_err(|error| self.convert_error("tidy", &error))
    }
}

#[cfg(test)]
mod tests;
