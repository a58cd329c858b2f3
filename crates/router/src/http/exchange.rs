//! One request and its response as a stream of events, with timeouts.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt};
use model::{Failure, FailureClass, StreamEvent};
use tokio::time::{Instant, timeout_at};

use super::{ConnectionBroken, HttpRequest, HttpResponse, HttpTimeouts, Transport, host};
use crate::keys::Secret;
use crate::wire::{Decoder, RequestTarget, rate_limits, refused};

/// Maximum number of bytes read from an error response.
pub(crate) const MAX_ERROR_BYTES: usize = 64 << 10;

/// Sends `call` on the first poll and decodes its response. The stream ends with exactly one `Stop`
/// or `Failed`. A refused request or a timeout yields `Failed`, too. Dropping the stream closes the
/// socket. Limits in the headers are relative to `now`.
pub fn exchange(
    transport: &Arc<dyn Transport>,
    call: HttpRequest,
    limits: HttpTimeouts,
    decoder: Decoder,
    target: RequestTarget,
    now: SystemTime,
) -> BoxStream<'static, StreamEvent> {
    let secret = call.key.as_ref().map(|key| key.secret.clone());
    let sent = call.body.clone();
    let exchange = HttpExchange {
        phase: ExchangePhase::Waiting(transport.call(call, limits.connect)),
        deadline: None,
        limits,
        decoder,
        target,
        now,
        secret,
        sent,
        ready: VecDeque::new(),
    };
    stream::unfold(exchange, HttpExchange::next).boxed()
}

struct HttpExchange {
    phase: ExchangePhase,
    /// Deadline for the first byte; set on the first poll.
    deadline: Option<Instant>,
    limits: HttpTimeouts,
    decoder: Decoder,
    target: RequestTarget,
    now: SystemTime,
    secret: Option<Secret>,
    /// Body of the request: a refusal may refer to a part of it.
    sent: Bytes,
    ready: VecDeque<StreamEvent>,
}

enum ExchangePhase {
    /// Waiting for the response headers.
    Waiting(BoxFuture<'static, Result<HttpResponse, Failure>>),
    /// Reading the response body.
    Reading(Body),
    Over,
}

type Body = BoxStream<'static, Result<Bytes, ConnectionBroken>>;

impl HttpExchange {
    /// Returns the next event with the state that follows it; `None` after the last event. Sends
    /// the request when first called. A step for `stream::unfold`.
    async fn next(mut self) -> Option<(StreamEvent, Self)> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some((event, self));
            }
            // Taken out, so that it is dropped and its socket closed unless it is put back.
            match std::mem::replace(&mut self.phase, ExchangePhase::Over) {
                ExchangePhase::Over => return None,
                ExchangePhase::Waiting(response) => self.wait(response).await,
                ExchangePhase::Reading(body) => self.read(body).await,
            }
        }
    }

    async fn wait(&mut self, response: BoxFuture<'static, Result<HttpResponse, Failure>>) {
        let deadline = Instant::now() + self.limits.first_byte;
        self.deadline = Some(deadline);
        let response = match timeout_at(deadline, response).await {
            Err(_) => return self.stalled(self.limits.first_byte),
            Ok(Err(failure)) => return self.fail(failure),
            Ok(Ok(response)) => response,
        };
        if !(200..300).contains(&response.status) {
            return self.refuse(response, deadline).await;
        }
        let events = self.decoder.headers(&response.headers, self.now);
        self.ready.extend(events);
        self.phase = ExchangePhase::Reading(response.body);
    }

    async fn read(&mut self, mut body: Body) {
        let (deadline, limit) = match self.deadline {
            Some(deadline) => (deadline, self.limits.first_byte),
            None => (Instant::now() + self.limits.idle, self.limits.idle),
        };
        match timeout_at(deadline, body.next()).await {
            Err(_) => self.stalled(limit),
            Ok(None) => {
                let events = self.decoder.finish();
                self.push(events);
            }
            Ok(Some(Err(ConnectionBroken(cause)))) => {
                // The data before the break may already contain the whole answer.
                let events = self.decoder.finish();
                self.push(events.into_iter().map(|event| with_cause(event, &cause)));
            }
            Ok(Some(Ok(bytes))) => {
                self.deadline = None;
                let events = self.decoder.feed(&bytes);
                self.push(events);
                if self.decoder.has_ended() {
                    drain(body)
                } else {
                    self.phase = ExchangePhase::Reading(body)
                }
            }
        }
    }

    /// Reads an error response, whose body gives the reason.
    async fn refuse(&mut self, mut response: HttpResponse, deadline: Instant) {
        if let Some(limits) = rate_limits(&response.headers, self.now) {
            self.ready.push_back(StreamEvent::RateLimits(limits));
        }
        if (300..400).contains(&response.status) {
            return self.redirected(&response);
        }
        let mut body = Vec::new();
        while body.len() < MAX_ERROR_BYTES {
            // A truncated or stalled body is still informative.
            match timeout_at(deadline, response.body.next()).await {
                Ok(Some(Ok(bytes))) => body.extend_from_slice(&bytes),
                _ => break,
            }
        }
        body.truncate(MAX_ERROR_BYTES);
        let failure = refused(
            &self.target,
            response.status,
            &response.headers,
            &body,
            &self.sent,
            self.now,
        );
        self.fail(failure);
    }

    fn redirected(&mut self, response: &HttpResponse) {
        let location = response.headers.iter().find(|(name, _)| name == "location");
        let target = match location {
            Some((_, url)) if url.contains("://") => host(url).to_owned(),
            _ => "another address".to_owned(),
        };
        let message = format!(
            "{} redirects to {target} (HTTP {}), but requests with a key don't follow redirects. \
             If the target is right, set it as the provider's base address.",
            self.target.name(),
            response.status
        );
        self.fail(Failure {
            status: Some(response.status),
            ..Failure::new(FailureClass::InvalidRequest, message)
        });
    }

    fn stalled(&mut self, limit: Duration) {
        let message = format!(
            "{} sent nothing for {} s, so the request timed out.",
            self.target.name(),
            limit.as_secs_f32()
        );
        self.fail(Failure::new(FailureClass::Stalled, message));
    }

    fn fail(&mut self, failure: Failure) {
        let events = self.decoder.fail(failure);
        self.push(events);
    }

    /// Queues events, with the key masked in case the provider quotes it.
    fn push(&mut self, events: impl IntoIterator<Item = StreamEvent>) {
        let secret = &self.secret;
        self.ready
            .extend(events.into_iter().map(|event| match event {
                StreamEvent::Failed(mut failure) => {
                    if let Some(secret) = secret {
                        failure.message = secret.mask(&failure.message);
                    }
                    StreamEvent::Failed(failure)
                }
                event => event,
            }));
    }
}

/// Reads the available rest of a complete answer's body: at its end the connection can be reused.
fn drain(mut body: Body) {
    while let Some(Some(Ok(_))) = body.next().now_or_never() {}
}

fn with_cause(event: StreamEvent, cause: &str) -> StreamEvent {
    match event {
        StreamEvent::Failed(mut failure) if failure.class == FailureClass::Torn => {
            failure.message.push_str(&format!(" Cause: {cause}."));
            StreamEvent::Failed(failure)
        }
        event => event,
    }
}

#[cfg(test)]
mod tests;
