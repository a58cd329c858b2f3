//! What came in: the log that tests look at.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde_json::Value;
use tokio::{sync::watch, time::Instant};

/// A request that came, and what became of it.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Since the server started.
    pub at: Duration,
    /// The HTTP method.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// Names in lower case, in the order in which they came.
    pub headers: Vec<(String, String)>,
    /// The body, decompressed.
    pub body: Vec<u8>,
    /// The name of the rule that answered, or its number; none if none did.
    pub rule: Option<String>,
    /// The status that was answered; 0 until then.
    pub status: u16,
    /// How the response ended, and when since the server started; none while it goes on.
    pub end: Option<(End, Duration)>,
}

/// How a response ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All of it was handed over.
    Finished,
    /// A fault broke it off.
    Broken,
    /// The client closed the connection first.
    ClientLeft,
}

impl Seen {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(header, _)| header == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The body as JSON; null if it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// The log of a server. Unbounded: it keeps every body until it is cleared.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    entries: Arc<Mutex<Vec<Arc<Mutex<Seen>>>>>,
    started: Instant,
    changed: Arc<watch::Sender<u64>>,
}

/// One response being watched: dropped before its end, the client has left.
#[derive(Debug)]
pub(crate) struct Entry {
    seen: Arc<Mutex<Seen>>,
    log: Log,
}

impl Log {
    pub(crate) fn new() -> Self {
        Self {
            entries: Arc::default(),
            started: Instant::now(),
            changed: Arc::new(watch::Sender::new(0)),
        }
    }

    pub(crate) fn started(&self) -> Instant {
        self.started
    }

    /// Files a request.
    pub(crate) fn open(&self, seen: Seen) -> Entry {
        let seen = Arc::new(Mutex::new(seen));
        lock(&self.entries).push(seen.clone());
        self.tell();
        Entry {
            seen,
            log: self.clone(),
        }
    }

    /// Everything filed since the last clearing, in order.
    pub(crate) fn entries(&self) -> Vec<Seen> {
        let entries = lock(&self.entries);
        entries.iter().map(|seen| lock(seen).clone()).collect()
    }

    pub(crate) fn clear(&self) {
        lock(&self.entries).clear();
    }

    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    fn tell(&self) {
        self.changed.send_modify(|count| *count += 1);
    }
}

impl Entry {
    pub(crate) fn answered(&self, status: u16, rule: Option<String>) {
        let mut seen = lock(&self.seen);
        seen.status = status;
        seen.rule = rule;
        drop(seen);
        self.log.tell();
    }

    /// Files the end; later ends of the same response are not one.
    pub(crate) fn ended(&self, end: End) {
        let after = self.log.started.elapsed();
        let mut seen = lock(&self.seen);
        if seen.end.is_none() {
            seen.end = Some((end, after));
            drop(seen);
            self.log.tell();
        }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.ended(End::ClientLeft);
    }
}

/// What a panicking test leaves behind a lock is as good as any: only whole values are written.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
