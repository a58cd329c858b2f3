//! The log of requests that tests inspect.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde_json::Value;
use tokio::{sync::watch, time::Instant};

/// A request that the server received and the state of its response, for tests.
#[derive(Clone, Debug)]
pub struct LoggedRequest {
    /// The time of arrival since the server started.
    pub at: Duration,
    /// The HTTP method of the request.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The headers in order of arrival, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The request body, decompressed.
    pub body: Vec<u8>,
    /// The name or number of the rule that answered, if one did.
    pub rule: Option<String>,
    /// The status of the response; 0 until it is sent.
    pub status: u16,
    /// The end of the response and its time since the server started; `None` while it is running.
    pub end: Option<(ResponseEnd, Duration)>,
}

/// The way in which a response ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseEnd {
    /// The response was sent completely.
    Finished,
    /// A fault broke it off.
    Broken,
    /// The client closed the connection first.
    ClientDisconnected,
}

impl LoggedRequest {
    /// Returns the value of the first header with this name, in lower case. Returns `None` if the
    /// request has no such header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(header, _)| header == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Returns the body as JSON; null if it is invalid.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// The log of a server. Unbounded: it keeps every body until it is cleared.
#[derive(Clone, Debug)]
pub(crate) struct RequestLog {
    entries: Arc<Mutex<Vec<Arc<Mutex<LoggedRequest>>>>>,
    started: Instant,
    changed: Arc<watch::Sender<u64>>,
}

/// Watches one response. Dropping it before the end records that the client disconnected.
#[derive(Debug)]
pub(crate) struct ResponseWatch {
    entry: Arc<Mutex<LoggedRequest>>,
    log: RequestLog,
}

impl RequestLog {
    /// Creates an empty log. The times of its entries count from now.
    pub(crate) fn new() -> Self {
        Self {
            entries: Arc::default(),
            started: Instant::now(),
            changed: Arc::new(watch::Sender::new(0)),
        }
    }

    /// Returns the time from which the times of the entries count.
    pub(crate) fn started(&self) -> Instant {
        self.started
    }

    /// Adds a request to the log. The returned watch records the response to this request.
    pub(crate) fn open(&self, entry: LoggedRequest) -> ResponseWatch {
        let entry = Arc::new(Mutex::new(entry));
        lock(&self.entries).push(entry.clone());
        self.notify();
        ResponseWatch {
            entry,
            log: self.clone(),
        }
    }

    /// Returns all entries since the log was last cleared, in order.
    pub(crate) fn entries(&self) -> Vec<LoggedRequest> {
        let entries = lock(&self.entries);
        entries.iter().map(|entry| lock(entry).clone()).collect()
    }

    /// Removes all entries. Responses in progress no longer appear in the log.
    pub(crate) fn clear(&self) {
        lock(&self.entries).clear();
        self.notify();
    }

    /// Returns a channel that changes with every change of the log.
    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    fn notify(&self) {
        self.changed.send_modify(|count| *count += 1);
    }
}

impl ResponseWatch {
    /// Records the status of the response, and the rule that answered.
    pub(crate) fn answered(&self, status: u16, rule: Option<String>) {
        let mut entry = lock(&self.entry);
        entry.status = status;
        entry.rule = rule;
        drop(entry);
        self.log.notify();
    }

    /// Records the end of the response; only the first call counts.
    pub(crate) fn record_end(&self, end: ResponseEnd) {
        let after = self.log.started.elapsed();
        let mut entry = lock(&self.entry);
        if entry.end.is_none() {
            entry.end = Some((end, after));
            drop(entry);
            self.log.notify();
        }
    }
}

impl Drop for ResponseWatch {
    fn drop(&mut self) {
        self.record_end(ResponseEnd::ClientDisconnected);
    }
}

/// Locks a mutex. A panic cannot leave a partial value: only whole values are written.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
