//! A transport that answers from recordings.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt};
use model::{Failure, FailureClass};
use tokio::time::{Instant, sleep_until};

use super::{End, Recording};
use crate::http::{Broken, Call, Reply, Transport};

/// How fast a recording is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Without waiting.
    Instant,
    /// As it came.
    Recorded,
}

/// Answers requests from recordings: each is played once, to the first request with its very path and body.
pub struct Replay {
    recordings: Mutex<Vec<Recording>>,
    pace: Pace,
}

impl Replay {
    /// Answers from these.
    pub fn new(recordings: Vec<Recording>, pace: Pace) -> Self {
        Self {
            recordings: Mutex::new(recordings),
            pace,
        }
    }

    /// How many have not been played.
    pub fn left(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Recording>> {
        // A panic elsewhere leaves the list whole.
        self.recordings
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, call: &Call) -> Option<Recording> {
        let mut recordings = self.lock();
        let at = recordings.iter().position(|recording| {
            path(&recording.line) == path(&call.url) && recording.request_body == call.body
        })?;
        Some(recordings.remove(at))
    }
}

impl Transport for Replay {
    fn call(&self, call: Call, _connect: Duration) -> BoxFuture<'static, Result<Reply, Failure>> {
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
            if let End::Offline(message) = recording.end {
                return Err(Failure::new(FailureClass::Offline, message));
            }
            Ok(Reply {
                status: recording.status,
                headers: recording.headers.clone(),
                body: body(recording, pace),
            })
        }
        .boxed()
    }
}

fn body(recording: Recording, pace: Pace) -> BoxStream<'static, Result<Bytes, Broken>> {
    let started = Instant::now();
    let end = match recording.end {
        End::Broken(cause) => Some(Err(Broken(cause))),
        _ => None,
    };
    let chunks = stream::iter(recording.chunks).then(move |chunk| async move {
        if pace == Pace::Recorded {
            sleep_until(started + chunk.at).await;
        }
        Ok(Bytes::from(chunk.bytes))
    });
    chunks.chain(stream::iter(end)).boxed()
}

/// What follows the host.
fn path(url: &str) -> &str {
    let after = url.split_once("://").map_or(url, |(_, rest)| rest);
    after.find('/').map_or("", |at| &after[at..])
}
