//! The stream that a caller holds: it asks the router's task for permission, sends the request, and
//! passes on the events.
//!
//! It runs where it is polled, so an event passes from a provider to the caller without a detour,
//! and dropping it closes the provider's socket immediately.
//!
//! If an answer breaks off, the recovery depends on what was passed on. Nothing yet: the request is
//! silently sent again. Text, reasoning or an incomplete call: the answer starts over after an
//! `Event::Restart`, which is emitted only when the new attempt yields something. A complete call:
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

pub(super) struct RoutedStream {
    question: RequestPayload,
    state: StreamState,
    /// Amount of the answer that the caller has seen.
    progress: ResponseProgress,
    /// Whether the caller saw events of an interrupted attempt, so that the next one starts with a
    /// `Restart`.
    is_stale: bool,
    /// Events that are not worth a `Restart` yet; held back until one is.
    held: Vec<StreamEvent>,
    ready: VecDeque<RouterEvent>,
    desk: RouterLink,
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
        self.report(StreamReport::Gone(self.id));
    }
}

impl RouterLink {
    fn report(&self, report: StreamReport) {
        // If the task has ended, there are no accounts left to settle.
        self.reports.send(report).ok();
    }
}

impl RoutedStream {
    pub(super) fn new(
        question: RequestPayload,
        submission: Submission,
        verdict: oneshot::Receiver<StreamAction>,
        commands: mpsc::Sender<RouterCommand>,
        reports: mpsc::UnboundedSender<StreamReport>,
    ) -> Self {
        let desk = RouterLink {
            commands,
            reports,
            id: submission.question,
        };
        Self {
            question,
            state: StreamState::Submitting(Box::new(submission), verdict),
            progress: ResponseProgress::Nothing,
            is_stale: false,
            held: Vec::new(),
            ready: VecDeque::new(),
            desk,
        }
    }

    pub(super) async fn next(mut self) -> Option<(RouterEvent, Self)> {
        loop {
            if let Some(told) = self.ready.pop_front() {
                return Some((told, self));
            }
            self.state = match std::mem::replace(&mut self.state, StreamState::Over) {
                StreamState::Submitting(submission, verdict) => {
                    self.submit(submission, verdict).await
                }
                StreamState::Waiting(verdict) => self.apply_action(verdict.await.ok()),
                StreamState::Streaming(attempt) => self.stream(attempt).await,
                StreamState::Over => return None,
            };
        }
    }

    async fn submit(
        &mut self,
        submission: Box<Submission>,
        verdict: oneshot::Receiver<StreamAction>,
    ) -> StreamState {
        match self
            .desk
            .commands
            .send(RouterCommand::Submit(submission))
            .await
        {
            Ok(()) => StreamState::Waiting(verdict),
            Err(_) => self.fail(router_stopped()),
        }
    }

    fn apply_action(&mut self, verdict: Option<StreamAction>) -> StreamState {
        match verdict {
            Some(StreamAction::Send(grant)) => {
                self.ready
                    .extend(grant.decision.clone().map(RouterEvent::Decided));
                StreamState::Streaming(Box::new(HedgedAttempt::send(&self.question, *grant)))
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
        match attempt.next(&self.question, &self.desk).await {
            StreamEvent::Failed(failure) => {
                attempt.set_end(AttemptEnd::Badly(failure.clone()));
                drop(attempt);
                self.held.clear();
                let (verdict, answer) = oneshot::channel();
                self.desk.report(StreamReport::Next {
                    question: self.desk.id,
                    failure,
                    progress: self.progress,
                    verdict,
                });
                self.is_stale |= self.progress == ResponseProgress::Partial;
                StreamState::Waiting(answer)
            }
            event => {
                let is_last = event.is_last();
                self.pass_on(event);
                if is_last {
                    attempt.set_end(AttemptEnd::Well);
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
                return self.held.push(event);
            }
            StreamEvent::ToolEnd { .. } => self.progress = ResponseProgress::ToolEnded,
            _ => self.progress = self.progress.max(ResponseProgress::Partial),
        }
        if std::mem::take(&mut self.is_stale) {
            self.ready
                .push_back(RouterEvent::Event(StreamEvent::Restart));
            let held = std::mem::take(&mut self.held);
            self.ready.extend(held.into_iter().map(RouterEvent::Event));
        }
        self.ready.push_back(RouterEvent::Event(event));
    }
}

/// An attempt, with its hedge if there is one.
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
    fn send(question: &RequestPayload, grant: SendGrant) -> Self {
        let now = Instant::now();
        Self {
            hedge_at: grant.hedge_after.map(|after| now + after),
            running: AttemptStream::send(question, grant),
            hedge: None,
        }
    }

    fn set_end(&mut self, end: AttemptEnd) {
        self.running.guard.end = end;
    }

    async fn next(&mut self, question: &RequestPayload, desk: &RouterLink) -> StreamEvent {
        if let Some(at) = self.hedge_at.take()
            && let Some(event) = self.wait_and_hedge(at, question, desk).await
        {
            return event;
        }
        match self.hedge.take() {
            Some(twin) => self.race(twin).await,
            None => self.running.next().await,
        }
    }

    /// Waits for the first event, or until a hedge has been sent.
    async fn wait_and_hedge(
        &mut self,
        at: Instant,
        question: &RequestPayload,
        desk: &RouterLink,
    ) -> Option<StreamEvent> {
        tokio::select! {
            biased;
            event = self.running.next() => return Some(event),
            () = sleep_until(at) => {}
        }
        let (verdict, answer) = oneshot::channel();
        desk.report(StreamReport::Hedge {
            question: desk.id,
            verdict,
        });
        tokio::select! {
            biased;
            event = self.running.next() => Some(event),
            verdict = answer => {
                if let Ok(StreamAction::Send(grant)) = verdict {
                    self.hedge = Some(AttemptStream::send(question, *grant));
                }
                None
            }
        }
    }

    /// Continues with the request that yields an event first, and drops the other with its socket.
    /// A request that fails before that loses.
    async fn race(&mut self, mut twin: AttemptStream) -> StreamEvent {
        let (event, is_twins) = tokio::select! {
            biased;
            event = self.running.next() => (event, false),
            event = twin.next() => (event, true),
        };
        let failure = match event {
            StreamEvent::Failed(failure) => failure,
            event => {
                if is_twins {
                    self.running = twin;
                }
                return event;
            }
        };
        if is_twins {
            twin.guard.end = AttemptEnd::Badly(failure);
            drop(twin);
        } else {
            self.running.guard.end = AttemptEnd::Badly(failure);
            self.running = twin;
        }
        self.running.next().await
    }
}

impl AttemptStream {
    fn send(question: &RequestPayload, grant: SendGrant) -> Self {
        let mut ending = grant.ending;
        // From here on it is unknown what the provider does with the request.
        ending.end = AttemptEnd::Cancelled;
        let stream = match question {
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
            guard: ending,
        }
    }

    /// Returns the next event; silence, and an end without a last event, become failures. Rate
    /// limits from headers go only to the router's task.
    async fn next(&mut self) -> StreamEvent {
        let event = loop {
            match timeout_at(self.deadline, self.stream.next()).await {
                Ok(Some(StreamEvent::RateLimits(limits))) => {
                    let ending = &self.guard;
                    let report = StreamReport::Limits(ending.attempt, limits);
                    ending.reports.send(report).ok();
                }
                Ok(Some(event)) => break event,
                Ok(None) => break StreamEvent::Failed(stream_broken()),
                Err(_) => break StreamEvent::Failed(self.stalled()),
            }
        };
        self.deadline = Instant::now() + self.stall.idle;
        self.note(&event);
        event
    }

    fn stalled(&self) -> Failure {
        let (limit, where_) = if self.guard.seen.has_started {
            (self.stall.idle, "in the middle of its answer")
        } else {
            (self.stall.first_event, "before its answer began")
        };
        let message = format!(
            "the provider sent nothing for {} seconds {where_}; try again, or raise its timeout",
            limit.as_secs()
        );
        Failure::new(FailureClass::Stalled, message)
    }

    fn note(&mut self, event: &StreamEvent) {
        let ending = &mut self.guard;
        if !ending.seen.has_started && !matches!(event, StreamEvent::Failed(_)) {
            ending.seen.has_started = true;
            ending
                .reports
                .send(StreamReport::Started(ending.attempt))
                .ok();
        }
        match event {
            StreamEvent::TextDelta(text) | StreamEvent::ReasoningDelta(text) => {
                ending.seen.wrote(text)
            }
            StreamEvent::ToolArgsDelta { fragment, .. } => ending.seen.wrote(fragment),
            StreamEvent::Usage(usage) => ending.seen.usage = Some(*usage),
            StreamEvent::Stop { .. } => ending.seen.is_whole = true,
            _ => {}
        }
    }
}

impl AttemptStats {
    fn wrote(&mut self, text: &str) {
        self.written += text.len() as u64;
    }

    /// Returns the attempt's usage as far as it is known, and whether it is an estimate. If the
    /// provider broke off, it has not reported the output since its last usage event.
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

fn stream_broken() -> Failure {
    Failure::new(FailureClass::Torn, "the answer ended early; try again")
}

/// Returns the failure for a router task that has ended, with the program or due to a bug.
fn router_stopped() -> Failure {
    Failure::new(
        FailureClass::Cancelled,
        "the model router has shut down; restart Burin and try again",
    )
}
