//! Records on their way to the ledger and back.
//!
//! One thread writes for all sessions of the process, everything that waits in one transaction, so that sixteen
//! agents cost the disk little more than one.
//! Invariant: what `append` answered for survives kill -9; what was enqueued before it does, too.
//! Invariant: a session's records are written in the order of their numbers, without a gap.
//! Invariant: a record that cannot be read is left out and named; reading never panics.

mod list;
mod thread;

use std::sync::{Arc, Mutex, PoisonError};

use ledger::{Entry, Ledger, Metric, Session, SessionEvent};
use tokio::sync::{mpsc, oneshot};

use crate::record::{Record, Stored};

pub use list::{SessionLine, SessionState, title};

/// Groups of rows that may wait for the thread; who comes later waits for room, which lasts no longer than a
/// transaction.
const WAITING: usize = 1024;

/// Where records are kept. Clones reach the same thread, which ends with the last of them.
#[derive(Clone, Debug)]
pub struct Store {
    writes: mpsc::Sender<Write>,
    reader: Arc<Mutex<Ledger>>,
}

/// A session read back.
#[derive(Clone, Debug, PartialEq)]
pub struct Past {
    /// Its records in order.
    pub records: Vec<Stored>,
    /// The number of the next one.
    pub next_seq: u64,
    /// Records that cannot be read, each in a sentence.
    pub problems: Vec<String>,
}

#[derive(Debug)]
struct Write {
    entries: Vec<Entry>,
    /// Who waits for it to be on the disk.
    done: Option<oneshot::Sender<Result<(), String>>>,
}

impl Store {
    /// Starts the thread. Reading has a handle of its own.
    pub fn start(ledger: Ledger) -> Result<Self, String> {
        let reader = ledger.again().map_err(|error| error.to_string())?;
        let (writes, waiting) = mpsc::channel(WAITING);
        thread::start(ledger, waiting)?;
        Ok(Self {
            writes,
            reader: Arc::new(Mutex::new(reader)),
        })
    }

    /// Writes down that a session begins, with its first records. They are on the disk when it answers.
    pub async fn begin(&self, session: &str, root: &str, first: &[Stored]) -> Result<(), String> {
        let started_ms = first.first().map_or(0, |stored| stored.at_ms);
        let mut entries = vec![Entry::Session(Session {
            id: session.to_owned(),
            started_ms,
            root: root.to_owned(),
        })];
        entries.extend(events(session, first));
        self.write(entries).await
    }

    /// Writes records. They are on the disk when it answers, and so is all that was enqueued before.
    pub async fn append(&self, session: &str, records: &[Stored]) -> Result<(), String> {
        self.write(events(session, records).collect()).await
    }

    /// Has records written soon, in order, without waiting for the disk. Where the disk refuses, they are kept
    /// and tried again with whatever comes next.
    pub async fn enqueue(&self, session: &str, records: &[Stored]) {
        self.send(Write {
            entries: events(session, records).collect(),
            done: None,
        })
        .await;
    }

    /// Has a measurement written soon. One that finds no room is dropped: it is only a measurement.
    pub fn measure(&self, metric: Metric) {
        let write = Write {
            entries: vec![Entry::Metric(metric)],
            done: None,
        };
        if self.writes.try_send(write).is_err() {
            log::debug!("a measurement found no room on the way to the ledger");
        }
    }

    /// Waits until all that was enqueued is on the disk.
    pub async fn flush(&self) -> Result<(), String> {
        self.write(Vec::new()).await
    }

    /// Reads a session. Blocks on the disk.
    pub fn read(&self, session: &str) -> Result<Past, String> {
        self.find(session)?.ok_or_else(|| {
            format!(
                "there is no session \"{session}\": `burin-agent sessions list` names those there are"
            )
        })
    }

    /// Reads a session; none where nothing of it was ever written. Blocks on the disk.
    pub fn find(&self, session: &str) -> Result<Option<Past>, String> {
        let events = self.reader().events(session);
        let events = events.map_err(|error| error.to_string())?;
        if events.is_empty() {
            return Ok(None);
        }
        let next_seq = events.last().map_or(0, |event| event.seq + 1);
        let mut past = Past {
            records: Vec::with_capacity(events.len()),
            next_seq,
            problems: Vec::new(),
        };
        for event in &events {
            match decode(event) {
                Ok(stored) => past.records.push(stored),
                Err(problem) => past.problems.push(problem),
            }
        }
        Ok(Some(past))
    }

    /// The measurements of one name since then. Blocks on the disk.
    pub fn metrics(&self, name: &str, since_ms: u64) -> Result<Vec<Metric>, String> {
        let metrics = self.reader().metrics(name, since_ms);
        metrics.map_err(|error| error.to_string())
    }

    async fn write(&self, entries: Vec<Entry>) -> Result<(), String> {
        let (done, written) = oneshot::channel();
        self.send(Write {
            entries,
            done: Some(done),
        })
        .await;
        written
            .await
            .unwrap_or_else(|_| Err("the ledger's thread has ended; start Burin again".to_owned()))
    }

    async fn send(&self, write: Write) {
        // An error means that the thread has ended; who waits hears of it, the others will with their next write.
        self.writes.send(write).await.ok();
    }

    // Reading changes nothing that a panic could leave half done.
    fn reader(&self) -> std::sync::MutexGuard<'_, Ledger> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn events<'a>(session: &'a str, records: &'a [Stored]) -> impl Iterator<Item = Entry> + 'a {
    records.iter().map(move |stored| {
        let body = serde_json::to_string(&stored.record).unwrap_or_else(|error| {
            base::never!("a record is plain data: {error}");
            String::new()
        });
        Entry::Event(SessionEvent {
            session: session.to_owned(),
            seq: stored.seq,
            at_ms: stored.at_ms,
            kind: stored.record.kind().to_owned(),
            body,
        })
    })
}

fn decode(event: &SessionEvent) -> Result<Stored, String> {
    let record: Record = serde_json::from_str(&event.body).map_err(|error| {
        format!(
            "record {} of session {} ({}) cannot be read and is left out: {error}",
            event.seq, event.session, event.kind
        )
    })?;
    Ok(Stored {
        seq: event.seq,
        at_ms: event.at_ms,
        record,
    })
}

#[cfg(test)]
mod tests;
