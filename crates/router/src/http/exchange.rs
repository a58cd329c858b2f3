//! One request and its answer as a stream of events, with limits on silence.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt};
use model::{Event, Failure, FailureClass};
use tokio::time::{Instant, timeout_at};

use super::{Broken, Call, Limits, Reply, Transport, host};
use crate::keys::Secret;
use crate::wire::{Decoder, Site, rate_limits, refused};

/// The most of an error's body that is read.
pub(crate) const MOST_ERROR: usize = 64 << 10;

/// Sends `call` with the first poll. The stream ends with exactly one `Stop` or `Failed`; dropping it closes the
/// socket. `now` dates the limits in the headers.
pub fn exchange(
    transport: &Arc<dyn Transport>,
    call: Call,
    limits: Limits,
    decoder: Decoder,
    site: Site,
    now: SystemTime,
) -> BoxStream<'static, Event> {
    let secret = call.key.as_ref().map(|key| key.secret.clone());
    let sent = call.body.clone();
    let exchange = Exchange {
        phase: Phase::Waiting(transport.call(call, limits.connect)),
        deadline: None,
        limits,
        decoder,
        site,
        now,
        secret,
        sent,
        ready: VecDeque::new(),
    };
    stream::unfold(exchange, Exchange::next).boxed()
}

struct Exchange {
    phase: Phase,
    /// When the first byte must be there; set with the first poll.
    deadline: Option<Instant>,
    limits: Limits,
    decoder: Decoder,
    site: Site,
    now: SystemTime,
    secret: Option<Secret>,
    /// The request's body: a refusal may name a part of it.
    sent: Bytes,
    ready: VecDeque<Event>,
}

enum Phase {
    /// For the headers.
    Waiting(BoxFuture<'static, Result<Reply, Failure>>),
    /// For more of the body.
    Reading(Body),
    Over,
}

type Body = BoxStream<'static, Result<Bytes, Broken>>;

impl Exchange {
    async fn next(mut self) -> Option<(Event, Self)> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some((event, self));
            }
            // Taken out, so that it is dropped, and its socket closed, unless it is put back.
            match std::mem::replace(&mut self.phase, Phase::Over) {
                Phase::Over => return None,
                Phase::Waiting(reply) => self.wait(reply).await,
                Phase::Reading(body) => self.read(body).await,
            }
        }
    }

    async fn wait(&mut self, reply: BoxFuture<'static, Result<Reply, Failure>>) {
        let deadline = Instant::now() + self.limits.first_byte;
        self.deadline = Some(deadline);
        let reply = match timeout_at(deadline, reply).await {
            Err(_) => return self.stalled(self.limits.first_byte),
            Ok(Err(failure)) => return self.fail(failure),
            Ok(Ok(reply)) => reply,
        };
        if !(200..300).contains(&reply.status) {
            return self.refuse(reply, deadline).await;
        }
        let events = self.decoder.headers(&reply.headers, self.now);
        self.ready.extend(events);
        self.phase = Phase::Reading(reply.body);
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
            Ok(Some(Err(Broken(cause)))) => {
                // What came before the break may have been all of it.
                let events = self.decoder.finish();
                self.push(events.into_iter().map(|event| with_cause(event, &cause)));
            }
            Ok(Some(Ok(bytes))) => {
                self.deadline = None;
                let events = self.decoder.feed(&bytes);
                self.push(events);
                match self.decoder.has_ended() {
                    false => self.phase = Phase::Reading(body),
                    true => drain(body),
                }
            }
        }
    }

    /// A status that is no success: its body says why.
    async fn refuse(&mut self, mut reply: Reply, deadline: Instant) {
        if let Some(limits) = rate_limits(&reply.headers, self.now) {
            self.ready.push_back(Event::RateLimits(limits));
        }
        if (300..400).contains(&reply.status) {
            return self.redirected(&reply);
        }
        let mut body = Vec::new();
        while body.len() < MOST_ERROR {
            // A body that is cut or stalls still says what it said.
            match timeout_at(deadline, reply.body.next()).await {
                Ok(Some(Ok(bytes))) => body.extend_from_slice(&bytes),
                _ => break,
            }
        }
        body.truncate(MOST_ERROR);
        let failure = refused(
            &self.site,
            reply.status,
            &reply.headers,
            &body,
            &self.sent,
            self.now,
        );
        self.fail(failure);
    }

    fn redirected(&mut self, reply: &Reply) {
        let location = reply.headers.iter().find(|(name, _)| name == "location");
        let target = match location {
            Some((_, url)) if url.contains("://") => host(url).to_owned(),
            _ => "another address".to_owned(),
        };
        let message = format!(
            "{} points to {target} (HTTP {}), which a request with a key does not follow. \
             If that is right, make it the provider's base address.",
            self.site.name(),
            reply.status
        );
        self.fail(Failure {
            status: Some(reply.status),
            ..Failure::new(FailureClass::InvalidRequest, message)
        });
    }

    fn stalled(&mut self, limit: Duration) {
        let message = format!(
            "{} was silent for {} s, so the request was given up.",
            self.site.name(),
            limit.as_secs_f32()
        );
        self.fail(Failure::new(FailureClass::Stalled, message));
    }

    fn fail(&mut self, failure: Failure) {
        let events = self.decoder.fail(failure);
        self.push(events);
    }

    /// Nothing that a provider says of the key goes further.
    fn push(&mut self, events: impl IntoIterator<Item = Event>) {
        let secret = &self.secret;
        self.ready
            .extend(events.into_iter().map(|event| match event {
                Event::Failed(mut failure) => {
                    if let Some(secret) = secret {
                        failure.message = secret.mask(&failure.message);
                    }
                    Event::Failed(failure)
                }
                event => event,
            }));
    }
}

/// Reads what is there already of a body whose answer is complete: at its end the connection can be used again.
fn drain(mut body: Body) {
    while let Some(Some(Ok(_))) = body.next().now_or_never() {}
}

fn with_cause(event: Event, cause: &str) -> Event {
    match event {
        Event::Failed(mut failure) if failure.class == FailureClass::Torn => {
            failure.message.push_str(&format!(" The cause: {cause}."));
            Event::Failed(failure)
        }
        event => event,
    }
}

#[cfg(test)]
mod tests;
