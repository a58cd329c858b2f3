//! A transport that answers from recordings.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt};
use model::{Failure, FailureClass};
use tokio::time::{Instant, sleep_until};

use super::{Recording, RecordingEnd};
use crate::http::{ConnectionBroken, HttpRequest, HttpResponse, Transport};

/// Speed at which a recording is replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayPace {
    /// Without the recorded delays.
    Instant,
    /// With the recorded delays.
    Recorded,
}

/// Answers requests from recordings: each is replayed once, to the first request with the same path
/// and body.
pub struct ReplayTransport {
    recordings: Mutex<Vec<Recording>>,
    pace: ReplayPace,
}

impl ReplayTransport {
    /// Creates a transport that answers from these recordings.
    pub fn new(recordings: Vec<Recording>, pace: ReplayPace) -> Self {
        Self {
            recordings: Mutex::new(recordings),
            pace,
        }
    }

    /// Returns the number of recordings not replayed yet.
    pub fn remaining(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Recording>> {
        // A panic elsewhere leaves the list intact.
        self.recordings
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes and returns the first recording of a request with the path and the body of `call`;
    /// `None` if there is none.
    fn take(&self, call: &HttpRequest) -> Option<Recording> {
        let mut recordings = self.lock();
        let at = recordings.iter().position(|recording| {
            path(&recording.line) == path(&call.url) && recording.request_body == call.body
        })?;
        Some(recordings.remove(at))
    }
}

impl Transport for ReplayTransport {
    fn call(
        &self,
        call: HttpRequest,
        _connect: Duration,
    ) -> BoxFuture<'static, Result<HttpResponse, Failure>> {
        let found = self.take(&call);
        let pace = self.pace;
        async move {
            let Some(recording) = found else {
                let message = format!(
                    "No recording answers this request to {}; record it again.",
                    path(&call.url)
                );
                return Err(Failure::new(FailureClass::InvalidRequest, message));
            };
            if let RecordingEnd::Offline(message) = recording.end {
                return Err(Failure::new(FailureClass::Offline, message));
            }
            Ok(HttpResponse {
                status: recording.status,
                headers: recording.headers.clone(),
                body: body(recording, pace),
            })
        }
        .boxed()
    }
}

/// Returns the recorded chunks as a body. With `ReplayPace::Recorded`, each comes at its recorded
/// delay, counted from this call. The last item is an error if the recording ends with a broken
/// connection.
fn body(
    recording: Recording,
    pace: ReplayPace,
) -> BoxStream<'static, Result<Bytes, ConnectionBroken>> {
    let started = Instant::now();
    let end = match recording.end {
        RecordingEnd::Broken(cause) => Some(Err(ConnectionBroken(cause))),
        _ => None,
    };
    let chunks = stream::iter(recording.chunks).then(move |chunk| async move {
        if pace == ReplayPace::Recorded {
            sleep_until(started + chunk.at).await;
        }
        Ok(Bytes::from(chunk.bytes))
    });
    chunks.chain(stream::iter(end)).boxed()
}

/// Returns the part of an address after the host.
fn path(url: &str) -> &str {
    let after = url.split_once("://").map_or(url, |(_, rest)| rest);
    after.find('/').map_or("", |at| &after[at..])
}
