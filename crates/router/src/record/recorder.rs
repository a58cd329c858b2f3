//! A transport that writes down what another one carries.

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

use super::{Chunk, End, Recording};
use crate::http::{Broken, Call, Method, Reply, Transport};
use crate::keys::Secret;

/// Where recordings go when they are complete.
type Sink = Arc<dyn Fn(Recording) + Send + Sync>;

/// Records everything that goes through a transport. A recording is given away when its answer ends or is
/// dropped; until then it is held in memory.
pub struct Recorder {
    inner: Arc<dyn Transport>,
    sink: Sink,
}

impl Recorder {
    /// Records what `inner` carries into `sink`, which must not wait: it is called where the answer is read.
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
    fn call(&self, call: Call, connect: Duration) -> BoxFuture<'static, Result<Reply, Failure>> {
        let tape = Tape::new(&call, self.sink.clone());
        let reply = self.inner.call(call, connect);
        async move {
            let mut tape = tape;
            match reply.await {
                Ok(reply) => {
                    tape.recording.status = reply.status;
                    tape.recording.headers = reply.headers.clone();
                    Ok(Reply {
                        body: Taped {
                            inner: reply.body,
                            tape,
                        }
                        .boxed(),
                        ..reply
                    })
                }
                Err(failure) => {
                    tape.recording.end = End::Offline(failure.message.clone());
                    Err(failure)
                }
            }
        }
        .boxed()
    }
}

/// A recording in the making. It is given away when it is dropped, however that comes about.
struct Tape {
    recording: Recording,
    started: Instant,
    secret: Option<Secret>,
    sink: Sink,
}

impl Tape {
    fn new(call: &Call, sink: Sink) -> Self {
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
                end: End::Dropped,
            },
            started: Instant::now(),
            secret: call.key.as_ref().map(|key| key.secret.clone()),
            sink,
        }
    }

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
        if let End::Broken(cause) | End::Offline(cause) = &mut recording.end {
            *cause = secret.mask(cause);
        }
        secret.blot(&mut recording.request_body);
        // A key may lie across two chunks: it is looked for in the whole, and the chunks keep their lengths.
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

impl Drop for Tape {
    fn drop(&mut self) {
        self.clean();
        (self.sink)(self.recording.clone());
    }
}

/// An address without the name and the password that it may hold.
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
struct Taped {
    inner: BoxStream<'static, Result<Bytes, Broken>>,
    tape: Tape,
}

impl Stream for Taped {
    type Item = Result<Bytes, Broken>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let polled = self.inner.poll_next_unpin(cx);
        let tape = &mut self.tape;
        match &polled {
            Poll::Pending => {}
            // After a break there is nothing more, which does not make it complete.
            Poll::Ready(None) if tape.recording.end == End::Dropped => {
                tape.recording.end = End::Complete;
            }
            Poll::Ready(None) => {}
            Poll::Ready(Some(Err(Broken(cause)))) => {
                tape.recording.end = End::Broken(cause.clone());
            }
            Poll::Ready(Some(Ok(bytes))) => tape.recording.chunks.push(Chunk {
                at: tape.started.elapsed(),
                bytes: bytes.to_vec(),
            }),
        }
        polled
    }
}
