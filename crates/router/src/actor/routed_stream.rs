//! The stream that a caller holds: it asks the router's task for permission, sends the request, and
//! passes on the events.
//!
//! It runs where it is polled, so an event passes from a provider to the caller without a detour,
//! and dropping it closes the provider's socket immediately.
//!
//! If an answer breaks off, the recovery depends on what was passed on. Nothing yet: the request is
//! silently sent again. Text, reasoning or an incomplete call: the answer starts over after an
//! `StreamEvent::Restart`, which is emitted only when the new attempt yields something. A complete call:
//! it may already be running, so nothing is sent again; the answer ends with the failure, completed
//! calls remain valid, and the turn continues from their results.

use std::collections::VecDeque;

use futures::StreamExt;
use futures::stream::BoxStream;
use model::policy::ResponseProgress;
use model::{Failure, FailureClass, StreamEvent, Usage};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until, timeout_at};

use super::messages::{
    AttemptEnd, AttemptGuard, AttemptStats, RouterCommand, SendGrant, StreamAction, StreamReport,
    Submission, SubmissionId,
};
use super::request::{RequestPayload, RouterEvent};

/// The state of a request's stream, advanced by polling.
pub(super) struct RoutedStream {
    payload: RequestPayload,
    state: StreamState,
    /// Amount of the answer that the caller has seen.
    progress: ResponseProgress,
    /// Whether the caller saw events of an interrupted attempt, so that the next one starts with a
    /// `Restart`.
    is_stale: bool,
    /// Events that are not worth a `Restart` yet; held back until one is.
    deferred: Vec<StreamEvent>,
    ready: VecDeque<RouterEvent>,
    link: RouterLink,
}

enum StreamState {
    Submitting(Box<Submission>, oneshot::Receiver<StreamAction>),
    Waiting(oneshot::Receiver<StreamAction>),
    Streaming(Box<HedgedAttempt>),
    Over,
}

/// Connection to the router's task.
struct RouterLink {
    commands: mpsc::Sender<RouterCommand>,
    reports: mpsc::UnboundedSender<StreamReport>,
    id: SubmissionId,
}

impl Drop for RouterLink {
    fn drop(&mut self) {
        self.report(StreamReport::Dropped(self.id));
    }
}

impl RouterLink {
    fn report(&self, report: StreamReport) {
        // If the task has ended, there are no accounts left to settle.
        self.reports.send(report).ok();
    }
}

impl RoutedStream {
    /// Creates the stream. The first poll submits the request to the task.
    pub(super) fn new(
        payload: RequestPayload,
        submission: Submission,
        reply: oneshot::Receiver<StreamAction>,
        commands: mpsc::Sender<RouterCommand>,
        reports: mpsc::UnboundedSender<StreamReport>,
    ) -> Self {
        let link = RouterLink {
            commands,
            reports,
            id: submission.question,
        };
        Self {
            payload,
            state: StreamState::Submitting(Box::new(submission), reply),
            progress: ResponseProgress::Nothing,
            is_stale: false,
            deferred: Vec::new(),
            ready: VecDeque::new(),
            link,
        }
    }

    /// Waits for the next event. Returns `None` after the last event. Dropping the future cancels
    /// the request.
    pub(super) async fn next(mut self) -> Option<(RouterEvent, Self)> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some((event, self));
            }
            self.state = match std::mem::replace(&mut self.state, StreamState::Over) {
                StreamState::Submitting(submission, reply) => self.submit(submission, reply).await,
                StreamState::Waiting(reply) => self.apply_action(reply.await.ok()),
                StreamState::Streaming(attempt) => self.stream(attempt).await,
                StreamState::Over => return None,
            };
        }
    }

    async fn submit(
        &mut self,
        submission: Box<Submission>,
        reply: oneshot::Receiver<StreamAction>,
    ) -> StreamState {
        match self
            .link
            .commands
            .send(RouterCommand::Submit(submission))
            .await
        {
            Ok(()) => StreamState::Waiting(reply),
            Err(_) => self.fail(router_stopped()),
        }
    }

    fn apply_action(&mut self, reply: Option<StreamAction>) -> StreamState {
        match reply {
            Some(StreamAction::Send(grant)) => {
                self.ready
                    .extend(grant.decision.clone().map(RouterEvent::Decided));
                StreamState::Streaming(Box::new(HedgedAttempt::send(&self.payload, *grant)))
            }
            Some(StreamAction::Wait {
                failure,
                pause,
                then,
            }) => {
                self.ready
                    .push_back(RouterEvent::Waiting { failure, pause });
                StreamState::Waiting(then)
            }
            Some(StreamAction::Fail(failure)) => self.fail(failure),
            None => self.fail(router_stopped()),
        }
    }

    fn fail(&mut self, failure: Failure) -> StreamState {
        self.ready
            .push_back(RouterEvent::Event(StreamEvent::Failed(failure)));
        StreamState::Over
    }

    async fn stream(&mut self, mut attempt: Box<HedgedAttempt>) -> StreamState {
        match attempt.next(&self.payload, &self.link).await {
            StreamEvent::Failed(failure) => {
                attempt.set_end(AttemptEnd::Failed(failure.clone()));
                drop(attempt);
                self.deferred.clear();
                let (reply, answer) = oneshot::channel();
                self.link.report(StreamReport::Next {
                    question: self.link.id,
                    failure,
                    progress: self.progress,
                    reply,
                });
                self.is_stale |= self.progress == ResponseProgress::Partial;
                StreamState::Waiting(answer)
            }
            event => {
                let is_last = event.is_last();
                self.pass_on(event);
                if is_last {
                    attempt.set_end(AttemptEnd::Succeeded);
                    StreamState::Over
                } else {
                    StreamState::Streaming(attempt)
                }
            }
        }
    }

    fn pass_on(&mut self, event: StreamEvent) {
        match event {
            StreamEvent::Start { .. } | StreamEvent::Usage(_) if self.is_stale => {
                return self.deferred.push(event);
            }
            StreamEvent::ToolEnd { .. } => self.progress = ResponseProgress::ToolEnded,
            _ => self.progress = self.progress.max(ResponseProgress::Partial),
        }
        if std::mem::take(&mut self.is_stale) {
            self.ready
                .push_back(RouterEvent::Event(StreamEvent::Restart));
            let deferred = std::mem::take(&mut self.deferred);
            self.ready
                .extend(deferred.into_iter().map(RouterEvent::Event));
        }
        self.ready.push_back(RouterEvent::Event(event));
    }
}

/// An attempt: the main request, and at most one hedge, a second request that races it if its first
/// event is late.
struct HedgedAttempt {
    running: AttemptStream,
    /// A second request next to it, until either yields an event.
    hedge: Option<AttemptStream>,
    /// Earliest time to ask for a hedge.
    hedge_at: Option<Instant>,
}

struct AttemptStream {
    // Declared first, so that the socket closes before the end is reported.
    stream: BoxStream<'static, StreamEvent>,
    stall: super::StallLimits,
    deadline: Instant,
    guard: AttemptGuard,
}

impl HedgedAttempt {
    /// Sends the main request, when it is first polled. The hedge is not sent here: `next` asks the
    /// router for one if no event has come after `grant.hedge_after`.
    fn send(payload: &RequestPayload, grant: SendGrant) -> Self {
        let now = Instant::now();
        Self {
            hedge_at: grant.hedge_after.map(|after| now + after),
            running: AttemptStream::send(payload, grant),
            hedge: None,
        }
    }

    fn set_end(&mut self, end: AttemptEnd) {
        self.running.guard.end = end;
    }

    async fn next(&mut self, payload: &RequestPayload, link: &RouterLink) -> StreamEvent {
        if let Some(at) = self.hedge_at.take()
            && let Some(event) = self.wait_and_hedge(at, payload, link).await
        {
            return event;
        }
        match self.hedge.take() {
            Some(hedge) => self.race(hedge).await,
            None => self.running.next().await,
        }
    }

    /// Waits for the main request's event until `at`, then asks the router for a hedge. Returns
    /// that event; `None` once the hedge has been sent or denied.
    async fn wait_and_hedge(
        &mut self,
        at: Instant,
        payload: &RequestPayload,
        link: &RouterLink,
    ) -> Option<StreamEvent> {
        tokio::select! {
            biased;
            event = self.running.next() => return Some(event),
            () = sleep_until(at) => {}
        }
        let (reply, answer) = oneshot::channel();
        link.report(StreamReport::Hedge {
            question: link.id,
            reply,
        });
        tokio::select! {
            biased;
            event = self.running.next() => Some(event),
            reply = answer => {
                if let Ok(StreamAction::Send(grant)) = reply {
                    self.hedge = Some(AttemptStream::send(payload, *grant));
                }
                None
            }
        }
    }

    /// Continues with the request that yields an event first, and drops the other with its socket.
    /// A request that fails before that loses.
    async fn race(&mut self, mut hedge: AttemptStream) -> StreamEvent {
        let (event, is_from_hedge) = tokio::select! {
            biased;
            event = self.running.next() => (event, false),
            event = hedge.next() => (event, true),
        };
        let failure = match event {
            StreamEvent::Failed(failure) => failure,
            event => {
                if is_from_hedge {
                    self.running = hedge;
                }
                return event;
            }
        };
        if is_from_hedge {
            hedge.guard.end = AttemptEnd::Failed(failure);
            drop(hedge);
        } else {
            self.running.guard.end = AttemptEnd::Failed(failure);
            self.running = hedge;
        }
        self.running.next().await
    }
}

impl AttemptStream {
    fn send(payload: &RequestPayload, grant: SendGrant) -> Self {
        let mut guard = grant.guard;
        // From here on it is unknown what the provider does with the request.
        guard.end = AttemptEnd::Cancelled;
        let stream = match payload {
            RequestPayload::Chat(request) => {
                let mut request = (**request).clone();
                request.model = grant.model;
                grant.client.send_attempt(request, grant.attempt)
            }
            RequestPayload::Fim(fim) => {
                let mut fim = (**fim).clone();
                fim.model = grant.model;
                grant.client.complete_attempt(fim, grant.attempt)
            }
        };
        Self {
            stream,
            stall: grant.stall,
            deadline: Instant::now() + grant.stall.first_event,
            guard,
        }
    }

    /// Returns the next event; silence, and an end without a last event, become failures. Rate
    /// limits from headers go only to the router's task.
    async fn next(&mut self) -> StreamEvent {
        let event = loop {
            match timeout_at(self.deadline, self.stream.next()).await {
                Ok(Some(StreamEvent::RateLimits(limits))) => {
                    let guard = &self.guard;
                    let report = StreamReport::Limits(guard.attempt, limits);
                    guard.reports.send(report).ok();
                }
                Ok(Some(event)) => break event,
                Ok(None) => break StreamEvent::Failed(stream_torn()),
                Err(_) => break StreamEvent::Failed(self.stalled()),
            }
        };
        self.deadline = Instant::now() + self.stall.idle;
        self.note(&event);
        event
    }

    fn stalled(&self) -> Failure {
        let (limit, phase) = if self.guard.stats.has_started {
            (self.stall.idle, "in the middle of its answer")
        } else {
            (self.stall.first_event, "before its answer began")
        };
        let message = format!(
            "the provider sent nothing for {} seconds {phase}; try again, or raise its timeout",
            limit.as_secs()
        );
        Failure::new(FailureClass::Stalled, message)
    }

    fn note(&mut self, event: &StreamEvent) {
        let guard = &mut self.guard;
        if !guard.stats.has_started && !matches!(event, StreamEvent::Failed(_)) {
            guard.stats.has_started = true;
            guard
                .reports
                .send(StreamReport::Started(guard.attempt))
                .ok();
        }
        match event {
            StreamEvent::TextDelta(text) | StreamEvent::ReasoningDelta(text) => {
                guard.stats.wrote(text)
            }
            StreamEvent::ToolArgsDelta { fragment, .. } => guard.stats.wrote(fragment),
            StreamEvent::Usage(usage) => guard.stats.usage = Some(*usage),
            StreamEvent::Stop { .. } => guard.stats.is_whole = true,
            _ => {}
        }
    }
}

impl AttemptStats {
    fn wrote(&mut self, text: &str) {
        self.written += text.len() as u64;
    }

    /// Returns the attempt's usage as far as it is known, and whether it is an estimate. `prompt`
    /// is the estimated size of the prompt. After an interrupted answer, the output is an estimate,
    /// because the provider has not reported the output after its last usage event.
    pub(super) fn used(&self, prompt: model::TokenCount) -> (Usage, bool) {
        let written = super::estimate::tokens(self.written);
        match self.usage {
            Some(usage) if self.is_whole => (usage, false),
            Some(usage) => {
                let output = usage.output.max(written);
                (Usage { output, ..usage }, true)
            }
            None => {
                let usage = Usage {
                    input: prompt,
                    output: written,
                    ..Usage::default()
                };
                (usage, true)
            }
        }
    }
}

fn stream_torn() -> Failure {
    Failure::new(FailureClass::Torn, "the answer ended early; try again")
}

/// Returns the failure for a router task that has ended, with the program or due to a bug.
fn router_stopped() -> Failure {
    Failure::new(
        FailureClass::Cancelled,
        "the model router has shut down; restart Burin and try again",
    )
}
