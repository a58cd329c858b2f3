//! Writes records to the ledger and reads them back.
//!
//! One thread writes for all sessions of the process and combines all waiting writes in one
//! transaction, so that sixteen agents cost little more disk time than one.
//! Invariant: records whose `append` returned survive kill -9, and so do those enqueued before
//! them.
//! Invariant: a session's records are written in the order of their numbers, without a gap.
//! Invariant: a record that cannot be parsed is skipped and reported; reading never panics.

mod list;
mod marks;
mod quality_rows;
mod thread;

use std::sync::{Arc, Mutex, PoisonError};

use ledger::{CallRow, EventRow, Ledger, LedgerEntry, MetricRow, SessionRow};
use tokio::sync::{mpsc, oneshot, watch};

use crate::error::Error;
use crate::record::{SessionRecord, Stored};

pub use list::{DaySpend, SessionState, SessionSummary, fork_title, title};
pub use marks::SessionMark;
pub use quality_rows::QualityRecords;

/// Capacity of the channel to the thread, in groups of rows. When it is full, senders wait for at
/// most about one transaction.
const WAITING: usize = 1024;

/// The store of session records. Clones share one thread, which ends with the last clone.
#[derive(Clone, Debug)]
pub struct SessionStore {
    writes: mpsc::Sender<StoreWrite>,
    reader: Arc<Mutex<Ledger>>,
    /// The list of sessions as far as it was read.
    index: Arc<Mutex<list::SessionIndex>>,
    /// The changes of the list of sessions so far.
    changes: watch::Receiver<StoreChanges>,
    unwritten: watch::Receiver<UnwrittenRecords>,
}

/// The records of this process that the disk refused although no caller waits for them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnwrittenRecords {
    /// Number of records that are kept for the next attempt.
    pub waiting: usize,
    /// Number of records that were given up.
    pub lost: usize,
    /// The latest error.
    pub cause: String,
}

impl UnwrittenRecords {
    /// Returns a sentence for the user, or `None` if all records are written.
    pub fn sentence(&self) -> Option<String> {
        let Self {
            waiting,
            lost,
            cause,
        } = self;
        match (lost, waiting) {
            (0, 0) => None,
            (0, _) => Some(format!(
                "the latest records of agents' sessions are not on the disk ({cause}): free space \
                 or make the file writable before you quit, and they are written with the next one"
            )),
            (lost, _) => Some(format!(
                "{} of agents' sessions could not be written and are lost ({cause}): free space or \
                 make the file writable, and check the latest messages of the sessions",
                base::count_of(*lost, "record")
            )),
        }
    }
}

/// Numbers of transactions of this process that changed the list of sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreChanges {
    /// Transactions with records of sessions.
    pub records: u64,
    /// Transactions with marks.
    pub marks: u64,
}

/// A session read from the ledger.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredSession {
    /// The records of the session, in order.
    pub records: Vec<Stored>,
    /// The number of the next record.
    pub next_seq: u64,
    /// Records that cannot be parsed, each as a sentence.
    pub problems: Vec<String>,
}

/// A reserved place in the channel to the writing thread.
pub(crate) struct WritePlace<'a>(mpsc::Permit<'a, StoreWrite>);

impl WritePlace<'_> {
    /// Writes records soon, as `SessionStore::enqueue` does.
    pub(crate) fn enqueue(self, session: &str, records: &[Stored]) {
        self.0.send(StoreWrite {
            entries: events(session, records).collect(),
            done: None,
        });
    }
}

#[derive(Debug)]
struct StoreWrite {
    entries: Vec<LedgerEntry>,
    /// Receives the result once the rows are on the disk.
    done: Option<oneshot::Sender<Result<(), Error>>>,
}

impl SessionStore {
    /// Starts the writer thread, which owns `ledger`. Reads use a second handle of the same file.
    pub fn start(ledger: Ledger) -> Result<Self, Error> {
        let reader = ledger.reopen()?;
        let (writes, waiting) = mpsc::channel(WAITING);
        let (changed, changes) = watch::channel(StoreChanges::default());
        let (refused, unwritten) = watch::channel(UnwrittenRecords::default());
        thread::start(ledger, waiting, (changed, refused))?;
        Ok(Self {
            writes,
            reader: Arc::new(Mutex::new(reader)),
            index: Arc::default(),
            changes,
            unwritten,
        })
    }

    /// Writes a new session with its first records. They are on the disk when this returns.
    pub async fn create_session(
        &self,
        session: &str,
        root: &str,
        first: &[Stored],
    ) -> Result<(), Error> {
        let started_ms = first.first().map_or(0, |stored| stored.at_ms);
        let mut entries = vec![LedgerEntry::Session(SessionRow {
            id: session.to_owned(),
            started_ms,
            root: root.to_owned(),
        })];
        entries.extend(events(session, first));
        self.write(entries).await
    }

    /// Writes records. They, and everything enqueued before, are on the disk when this returns. An
    /// error means that they may not be stored; the caller must not continue as if they were.
    pub async fn append(&self, session: &str, records: &[Stored]) -> Result<(), Error> {
        self.write(events(session, records).collect()).await
    }

    /// Writes records soon, in order, without waiting for the disk; waits only while the queue is
    /// full. If the disk refuses them, they are kept and retried with the next write.
    pub async fn enqueue(&self, session: &str, records: &[Stored]) {
        self.send(StoreWrite {
            entries: events(session, records).collect(),
            done: None,
        })
        .await;
    }

    /// Waits for a place in the channel to the writing thread, so that records can be written
    /// without waiting. Returns `None` if the thread has ended.
    pub(crate) async fn reserve(&self) -> Option<WritePlace<'_>> {
        self.writes.reserve().await.ok().map(WritePlace)
    }

    /// Writes a measurement soon. Drops it if the channel is full, since measurements are
    /// dispensable.
    pub fn measure(&self, metric: MetricRow) {
        let write = StoreWrite {
            entries: vec![LedgerEntry::Metric(metric)],
            done: None,
        };
        if self.writes.try_send(write).is_err() {
            log::debug!("a measurement found no room on the way to the ledger");
        }
    }

    /// Returns a receiver that changes whenever this process has changed the list of sessions.
    /// Changes by other processes appear in the list, but are not reported.
    pub fn changes(&self) -> watch::Receiver<StoreChanges> {
        self.changes.clone()
    }

    /// Returns a receiver of the records that could not be written.
    pub fn unwritten(&self) -> watch::Receiver<UnwrittenRecords> {
        self.unwritten.clone()
    }

    /// Waits until everything enqueued is on the disk.
    pub async fn flush(&self) -> Result<(), Error> {
        self.write(Vec::new()).await
    }

    /// Reads all records of a session. Blocks on the disk. Fails with `Error::NoSession` if there
    /// are none; a record that cannot be parsed is reported in `problems`.
    pub fn read(&self, session: &str) -> Result<StoredSession, Error> {
        let found = self.find(session)?;
        found.ok_or_else(|| Error::NoSession(session.to_owned()))
    }

    /// Reads a session; `None` if it has no records. Blocks on the disk.
    pub fn find(&self, session: &str) -> Result<Option<StoredSession>, Error> {
        let events = self.reader().events(session)?;
        if events.is_empty() {
            return Ok(None);
        }
        let next_seq = events.last().map_or(0, |event| event.seq + 1);
        let mut past = StoredSession {
            records: Vec::with_capacity(events.len()),
            next_seq,
            problems: Vec::new(),
        };
        for event in &events {
            match decode(event) {
                Ok(stored) => past.records.push(stored),
                Err(error) => past.problems.push(error.to_string()),
            }
        }
        Ok(Some(past))
    }

    /// Reads the measurements of a name since a time, in milliseconds since 1970. Blocks on the
    /// disk.
    pub fn metrics(&self, name: &str, since_ms: u64) -> Result<Vec<MetricRow>, Error> {
        Ok(self.reader().metrics(name, since_ms)?)
    }

    /// Reads the calls of models since a time, in milliseconds since 1970. Blocks on the disk.
    pub(crate) fn calls(&self, since_ms: u64) -> Result<Vec<CallRow>, Error> {
        Ok(self.reader().calls(since_ms)?)
    }

    /// Hands entries to the writing thread and waits until they, and all sent before, are on the
    /// disk. Fails if the ledger cannot be written, and with `Error::StoreClosed` if the thread has
    /// ended.
    async fn write(&self, entries: Vec<LedgerEntry>) -> Result<(), Error> {
        let (done, written) = oneshot::channel();
        self.send(StoreWrite {
            entries,
            done: Some(done),
        })
        .await;
        written.await.unwrap_or(Err(Error::StoreClosed))
    }

    async fn send(&self, write: StoreWrite) {
        // An error means that the thread has ended. A waiting caller sees it through the closed
        // channel, the others with their next write.
        self.writes.send(write).await.ok();
    }

    // Reading has no state that a panic could leave inconsistent.
    fn reader(&self) -> std::sync::MutexGuard<'_, Ledger> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn events<'a>(session: &'a str, records: &'a [Stored]) -> impl Iterator<Item = LedgerEntry> + 'a {
    records.iter().map(move |stored| {
        let body = serde_json::to_string(&stored.record).unwrap_or_else(|error| {
            base::never!("a record is plain data: {error}");
            String::new()
        });
        LedgerEntry::Event(EventRow {
            session: session.to_owned(),
            seq: stored.seq,
            at_ms: stored.at_ms,
            kind: stored.record.kind().to_owned(),
            body,
        })
    })
}

/// Parses a row of the ledger. Fails with `Error::UnreadableRecord`.
fn decode(event: &EventRow) -> Result<Stored, Error> {
    let record: SessionRecord =
        serde_json::from_str(&event.body).map_err(|source| Error::UnreadableRecord {
            seq: event.seq,
            session: event.session.clone(),
            kind: event.kind.clone(),
            source,
        })?;
    Ok(Stored {
        seq: event.seq,
        at_ms: event.at_ms,
        record,
    })
}

#[cfg(test)]
mod tests;
