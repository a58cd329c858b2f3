//! Where a board is written down: a border, the ledger behind it, and a stand-in.

use std::sync::{Mutex, PoisonError};

use ledger::{Entry, Ledger, SessionEvent};

/// Keeps a board's records. Calls block on the disk.
pub trait Book: Send + Sync {
    /// Adds a record: kind and JSON. It is on the disk when this answers.
    fn add(&self, kind: &str, body: &str, at_ms: u64) -> Result<(), String>;

    /// All records, in their order.
    fn all(&self) -> Result<Vec<String>, String>;
}

/// Records in the ledger, under a name of the board's.
pub struct LedgerBook {
    ledger: Mutex<Ledger>,
    name: String,
}

impl LedgerBook {
    /// The board of a repository; `hub` names it, as its real path.
    pub fn new(ledger: Ledger, hub: &str) -> Self {
        Self {
            ledger: Mutex::new(ledger),
            // No session is called so: their names begin with a time.
            name: format!("board {hub}"),
        }
    }
}

impl Book for LedgerBook {
    fn add(&self, kind: &str, body: &str, at_ms: u64) -> Result<(), String> {
        let mut ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        let last = ledger.last_event(&self.name);
        let last = last.map_err(|error| error.to_string())?;
        let event = SessionEvent {
            session: self.name.clone(),
            seq: last.map_or(0, |event| event.seq + 1),
            at_ms,
            kind: kind.to_owned(),
            body: body.to_owned(),
        };
        let added = ledger.append(&[Entry::Event(event)]);
        added.map_err(|error| error.to_string())
    }

    fn all(&self) -> Result<Vec<String>, String> {
        let ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        let events = ledger.events(&self.name);
        let events = events.map_err(|error| error.to_string())?;
        Ok(events.into_iter().map(|event| event.body).collect())
    }
}

/// Records in memory, for tests.
#[derive(Default)]
pub struct MemoryBook(Mutex<Vec<String>>);

impl Book for MemoryBook {
    fn add(&self, _kind: &str, body: &str, _at_ms: u64) -> Result<(), String> {
        let mut bodies = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        bodies.push(body.to_owned());
        Ok(())
    }

    fn all(&self) -> Result<Vec<String>, String> {
        Ok(self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone())
    }
}
