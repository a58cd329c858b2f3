//! Persistence of a board: the border, an implementation on the ledger, and an in-memory one.

use std::sync::{Mutex, PoisonError};

use ledger::{EventRow, Ledger, LedgerEntry};

use crate::Error;

/// Stores a board's records. Calls block on the disk.
pub trait BoardStore: Send + Sync {
    /// Appends a record, given its kind and JSON. The record is on the disk when this returns.
    fn append(&self, kind: &str, body: &str, at_ms: u64) -> Result<(), Error>;

    /// All records, in the order in which they were appended.
    fn records(&self) -> Result<Vec<String>, Error>;
}

/// Records in the ledger, under a name of the board's own.
pub struct LedgerBoardStore {
    ledger: Mutex<Ledger>,
    name: String,
}

impl LedgerBoardStore {
    /// The store of a repository's board; `main_repo` is the canonical path of its checkout.
    pub fn new(ledger: Ledger, main_repo: &str) -> Self {
        Self {
            ledger: Mutex::new(ledger),
            // This cannot collide with a session: session ids begin with a time.
            name: format!("board {main_repo}"),
        }
    }
}

impl BoardStore for LedgerBoardStore {
    fn append(&self, kind: &str, body: &str, at_ms: u64) -> Result<(), Error> {
        let mut ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        let last = ledger.last_event(&self.name)?;
        let event = EventRow {
            session: self.name.clone(),
            seq: last.map_or(0, |event| event.seq + 1),
            at_ms,
            kind: kind.to_owned(),
            body: body.to_owned(),
        };
        Ok(ledger.append(&[LedgerEntry::Event(event)])?)
    }

    fn records(&self) -> Result<Vec<String>, Error> {
        let ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        let events = ledger.events(&self.name)?;
        Ok(events.into_iter().map(|event| event.body).collect())
    }
}

/// An in-memory store for tests.
#[derive(Default)]
pub struct MemoryBoardStore(Mutex<Vec<String>>);

impl BoardStore for MemoryBoardStore {
    fn append(&self, _kind: &str, body: &str, _at_ms: u64) -> Result<(), Error> {
        let mut bodies = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        bodies.push(body.to_owned());
        Ok(())
    }

    fn records(&self) -> Result<Vec<String>, Error> {
        Ok(self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone())
    }
}
