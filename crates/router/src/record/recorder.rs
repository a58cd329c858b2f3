//! A transport that records the traffic of another one.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{FutureExt, Stream, StreamExt};
use model::Failure;
use tokio::time::Instant;

use super::{BodyChunk, Recording, RecordingEnd};
use crate::http::{ConnectionBroken, HttpRequest, HttpResponse, Method, Transport};
use crate::keys::Secret;

/// Receives each recording when it is complete.
type RecordingSink = Arc<dyn Fn(Recording) + Send + Sync>;

/// Records all traffic of a transport. A recording is emitted when its response ends or is dropped;
/// until then it is kept in memory.
pub struct Recorder {
    inner: Arc<dyn Transport>,
    sink: RecordingSink,
}

impl Recorder {
    /// Records the traffic of `inner` into `sink`, which must not block: it is called where the
    /// response is read.
    pub fn new(
        inner: Arc<dyn Transport>,
        sink: impl Fn(Recording) + Send + Sync + 'static,
    ) -> Self {
        Self {
            inner,
            sink: Arc::new(sink),
        }
    }
}

impl Transport for Recorder {
    fn call(
        &self,
        call: HttpRequest,
        connect: Duration,
    ) -> BoxFuture<'static, Result<HttpResponse, Failure>> {
        let guard = RecordingGuard::new(&call, self.sink.clone());
        let response = self.inner.call(call, connect);
        async move {
            let mut guard = guard;
            match response.await {
                Ok(response) => {
                    guard.recording.status = response.status;
                    guard.recording.headers = response.headers.clone();
                    Ok(HttpResponse {
                        body: RecordedBody {
                            inner: response.body,
                            guard,
                        }
                        .boxed(),
                        ..response
                    })
                }
                Err(failure) => {
                    guard.recording.end = RecordingEnd::Offline(failure.message.clone());
                    Err(failure)
                }
            }
        }
        .boxed()
    }
}

/// A recording in progress, emitted on drop.
struct RecordingGuard {
    recording: Recording,
    started: Instant,
    secret: Option<Secret>,
    sink: RecordingSink,
}

impl RecordingGuard {
    fn new(call: &HttpRequest, sink: RecordingSink) -> Self {
        let method = match call.method {
            Method::Get => "GET",
            Method::Post => "POST",
        };
        let mut request_headers = call.headers.clone();
        if let Some(key) = &call.key {
            request_headers.push((key.name.clone(), format!("{}{}", key.before, key.secret)));
        }
        Self {
            recording: Recording {
                line: format!("{method} {}", without_login(&call.url)),
                request_headers,
                request_body: call.body.to_vec(),
                status: 0,
                headers: Vec::new(),
                chunks: Vec::new(),
                end: RecordingEnd::Dropped,
            },
            started: Instant::now(),
            secret: call.key.as_ref().map(|key| key.secret.clone()),
            sink,
        }
    }

    /// Removes cookies and masks the key.
    fn clean(&mut self) {
        let recording = &mut self.recording;
        for headers in [&mut recording.request_headers, &mut recording.headers] {
            headers.retain(|(name, _)| name != "set-cookie");
        }
        let Some(secret) = &self.secret else { return };
        recording.line = secret.mask(&recording.line);
        for headers in [&mut recording.request_headers, &mut recording.headers] {
            for (_, value) in headers.iter_mut() {
                *value = secret.mask(value);
            }
        }
        if let RecordingEnd::Broken(cause) | RecordingEnd::Offline(cause) = &mut recording.end {
            *cause = secret.mask(cause);
        }
        secret.blot(&mut recording.request_body);
        // A key may span two chunks, so the search covers the whole body; the chunks keep their
        // lengths.
        let mut body = recording.body();
        secret.blot(&mut body);
        let mut rest = body.as_slice();
        for chunk in &mut recording.chunks {
            let (bytes, after) = rest.split_at(chunk.bytes.len());
            chunk.bytes = bytes.to_vec();
            rest = after;
        }
    }
}

impl Drop for RecordingGuard {
    fn drop(&mut self) {
        self.clean();
        (self.sink)(self.recording.clone());
    }
}

/// Returns an address without user name and password.
fn without_login(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

/// A body that is recorded while it is read.
struct RecordedBody {
    inner: BoxStream<'static, Result<Bytes, ConnectionBroken>>,
    guard: RecordingGuard,
}

impl Stream for RecordedBody {
    type Item = Result<Bytes, ConnectionBroken>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let polled = self.inner.poll_next_unpin(cx);
        let guard = &mut self.guard;
        match &polled {
            Poll::Pending => {}
            // A broken body also ends, which does not make it complete.
            Poll::Ready(None) if guard.recording.end == RecordingEnd::Dropped => {
                guard.recording.end = RecordingEnd::Complete;
            }
            Poll::Ready(None) => {}
            Poll::Ready(Some(Err(ConnectionBroken(cause)))) => {
                guard.recording.end = RecordingEnd::Broken(cause.clone());
            }
            Poll::Ready(Some(Ok(bytes))) => guard.recording.chunks.push(BodyChunk {
                at: guard.started.elapsed(),
                bytes: bytes.to_vec(),
            }),
        }
        polled
    }
}
