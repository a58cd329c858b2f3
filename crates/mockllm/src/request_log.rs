//! The log of requests that tests inspect.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde_json::Value;
use tokio::{sync::watch, time::Instant};

/// A logged request and its response.
#[derive(Clone, Debug)]
pub struct LoggedRequest {
    /// Since the server started.
    pub at: Duration,
    /// The HTTP method of the request.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The headers in order of arrival, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The request body, decompressed.
    pub body: Vec<u8>,
    /// The name of the rule that answered, or its number; none if none did.
    pub rule: Option<String>,
    /// The status that was answered; 0 until then.
    pub status: u16,
    /// The end of the response, and its time since the server started; none while it is running.
    pub end: Option<(ResponseEnd, Duration)>,
}

/// The end of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseEnd {
    /// All of it was handed over.
    Finished,
    /// A fault broke it off.
    Broken,
    /// The client closed the connection first.
    ClientLeft,
}

impl LoggedRequest {
    /// Returns a header's value.
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
pub(crate) struct RequestLog {
    entries: Arc<Mutex<Vec<Arc<Mutex<LoggedRequest>>>>>,
    started: Instant,
    changed: Arc<watch::Sender<u64>>,
}

/// One response being watched: dropped before its end, the client has left.
#[derive(Debug)]
pub(crate) struct ResponseWatch {
    seen: Arc<Mutex<LoggedRequest>>,
    log: RequestLog,
}

impl RequestLog {
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

    /// Adds a request to the log.
    pub(crate) fn open(&self, seen: LoggedRequest) -> ResponseWatch {
        let seen = Arc::new(Mutex::new(seen));
        lock(&self.entries).push(seen.clone());
        self.notify();
        ResponseWatch {
            seen,
            log: self.clone(),
        }
    }

    /// Everything filed since the last clearing, in order.
    pub(crate) fn entries(&self) -> Vec<LoggedRequest> {
        let entries = lock(&self.entries);
        entries.iter().map(|seen| lock(seen).clone()).collect()
    }

    pub(crate) fn clear(&self) {
        lock(&self.entries).clear();
    }

    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    fn notify(&self) {
        self.changed.send_modify(|count| *count += 1);
    }
}

impl ResponseWatch {
    pub(crate) fn answered(&self, status: u16, rule: Option<String>) {
        let mut seen = lock(&self.seen);
        seen.status = status;
        seen.rule = rule;
        drop(seen);
        self.log.notify();
    }

    /// Files the end; later ends of the same response are not one.
    pub(crate) fn record_end(&self, end: ResponseEnd) {
        let after = self.log.started.elapsed();
        let mut seen = lock(&self.seen);
        if seen.end.is_none() {
            seen.end = Some((end, after));
            drop(seen);
            self.log.notify();
        }
    }
}

impl Drop for ResponseWatch {
    fn drop(&mut self) {
        self.record_end(ResponseEnd::ClientLeft);
    }
}

/// Locks a mutex. A panic cannot leave a partial value: only whole values are written.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
