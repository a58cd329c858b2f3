//! The stream that a caller holds: it asks the router's task for leave, sends, and passes on what comes.
//!
//! It runs where it is polled, so an event passes from a provider to the caller without a hop, and dropping it
//! closes the provider's socket there and then.
//!
//! When an answer breaks off, what was passed on decides. Nothing yet: the same is sent again and nobody
//! notices. Text, thought or half a call: the answer begins again, behind an `Event::Restart`, which comes only
//! when the new attempt brings something. A complete call: it may be running already, so nothing is sent
//! again; the answer ends with the failure, what was completed stands, and whoever runs the turn goes on from
//! its results.

use std::collections::VecDeque;

use futures::StreamExt;
use futures::stream::BoxStream;
use model::policy::Progress;
use model::{Event, Failure, FailureClass, Usage};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until, timeout_at};

use super::ask::{Question, Told};
use super::post::{Command, End, Ending, Grant, QuestionId, Report, Seen, Submission, Verdict};

pub(super) struct Drive {
    question: Question,
    state: State,
    /// What the caller has seen of this answer.
    progress: Progress,
    /// Whether it saw any event of an attempt that broke off, so that the next begins with a `Restart`.
    is_stale: bool,
    /// Events that come before anything worth a `Restart`; kept until something is.
    held: Vec<Event>,
    ready: VecDeque<Told>,
    desk: Desk,
}

enum State {
    Submitting(Box<Submission>, oneshot::Receiver<Verdict>),
    Waiting(oneshot::Receiver<Verdict>),
    Streaming(Box<Attempt>),
    Over,
}

/// The way to the router's task.
struct Desk {
    commands: mpsc::Sender<Command>,
    reports: mpsc::UnboundedSender<Report>,
    id: QuestionId,
}

impl Drop for Desk {
    fn drop(&mut self) {
        self.report(Report::Gone(self.id));
    }
}

impl Desk {
    fn report(&self, report: Report) {
        // A task that has ended keeps no accounts that would have to be right.
        self.reports.send(report).ok();
    }
}

impl Drive {
    pub(super) fn new(
        question: Question,
        submission: Submission,
        verdict: oneshot::Receiver<Verdict>,
        commands: mpsc::Sender<Command>,
        reports: mpsc::UnboundedSender<Report>,
    ) -> Self {
        let desk = Desk {
            commands,
            reports,
            id: submission.question,
        };
        Self {
            question,
            state: State::Submitting(Box::new(submission), verdict),
            progress: Progress::Nothing,
            is_stale: false,
            held: Vec::new(),
            ready: VecDeque::new(),
            desk,
        }
    }

    pub(super) async fn next(mut self) -> Option<(Told, Self)> {
        loop {
            if let Some(told) = self.ready.pop_front() {
                return Some((told, self));
            }
            self.state = match std::mem::replace(&mut self.state, State::Over) {
                State::Submitting(submission, verdict) => self.submit(submission, verdict).await,
                State::Waiting(verdict) => self.obey(verdict.await.ok()),
                State::Streaming(attempt) => self.stream(attempt).await,
                State::Over => return None,
            };
        }
    }

    async fn submit(
        &mut self,
        submission: Box<Submission>,
        verdict: oneshot::Receiver<Verdict>,
    ) -> State {
        match self.desk.commands.send(Command::Submit(submission)).await {
            Ok(()) => State::Waiting(verdict),
            Err(_) => self.fail(gone()),
        }
    }

    fn obey(&mut self, verdict: Option<Verdict>) -> State {
        match verdict {
            Some(Verdict::Send(grant)) => {
                self.ready.extend(grant.decision.clone().map(Told::Decided));
                State::Streaming(Box::new(Attempt::send(&self.question, *grant)))
            }
            Some(Verdict::Wait {
                failure,
                pause,
                then,
            }) => {
                self.ready.push_back(Told::Waiting { failure, pause });
                State::Waiting(then)
            }
            Some(Verdict::Fail(failure)) => self.fail(failure),
            None => self.fail(gone()),
        }
    }

    fn fail(&mut self, failure: Failure) -> State {
        self.ready.push_back(Told::Event(Event::Failed(failure)));
        State::Over
    }

    async fn stream(&mut self, mut attempt: Box<Attempt>) -> State {
        match attempt.next(&self.question, &self.desk).await {
            Event::Failed(failure) => {
                attempt.end(End::Badly(failure.clone()));
                drop(attempt);
                self.held.clear();
                let (verdict, answer) = oneshot::channel();
                self.desk.report(Report::Next {
                    question: self.desk.id,
                    failure,
                    progress: self.progress,
                    verdict,
                });
                self.is_stale |= self.progress == Progress::Partial;
                State::Waiting(answer)
            }
            event => {
                let is_last = event.is_last();
                self.pass_on(event);
                match is_last {
                    true => {
                        attempt.end(End::Well);
                        State::Over
                    }
                    false => State::Streaming(attempt),
                }
            }
        }
    }

    fn pass_on(&mut self, event: Event) {
        match event {
            Event::Start { .. } | Event::Usage(_) if self.is_stale => {
                return self.held.push(event);
            }
            Event::ToolEnd { .. } => self.progress = Progress::ToolEnded,
            _ => self.progress = self.progress.max(Progress::Partial),
        }
        if std::mem::take(&mut self.is_stale) {
            self.ready.push_back(Told::Event(Event::Restart));
            let held = std::mem::take(&mut self.held);
            self.ready.extend(held.into_iter().map(Told::Event));
        }
        self.ready.push_back(Told::Event(event));
    }
}

/// One request on the wire.
struct Attempt {
    running: Running,
    /// A second one beside it, until one of them brings something.
    twin: Option<Running>,
    /// When a twin may be asked for.
    hedge_at: Option<Instant>,
}

struct Running {
    // First, so that the socket closes before the end is told.
    stream: BoxStream<'static, Event>,
    stall: super::StallLimits,
    deadline: Instant,
    ending: Ending,
}

impl Attempt {
    fn send(question: &Question, grant: Grant) -> Self {
        let now = Instant::now();
        Self {
            hedge_at: grant.hedge_after.map(|after| now + after),
            running: Running::send(question, grant),
            twin: None,
        }
    }

    fn end(&mut self, end: End) {
        self.running.ending.end = end;
    }

    async fn next(&mut self, question: &Question, desk: &Desk) -> Event {
        if let Some(at) = self.hedge_at.take()
            && let Some(event) = self.wait_and_hedge(at, question, desk).await
        {
            return event;
        }
        match self.twin.take() {
            Some(twin) => self.race(twin).await,
            None => self.running.next().await,
        }
    }

    /// Waits until the first event, or until a twin runs beside it.
    async fn wait_and_hedge(
        &mut self,
        at: Instant,
        question: &Question,
        desk: &Desk,
    ) -> Option<Event> {
        tokio::select! {
            biased;
            event = self.running.next() => return Some(event),
            () = sleep_until(at) => {}
        }
        let (verdict, answer) = oneshot::channel();
        desk.report(Report::Hedge {
            question: desk.id,
            verdict,
        });
        tokio::select! {
            biased;
            event = self.running.next() => Some(event),
            verdict = answer => {
                if let Ok(Verdict::Send(grant)) = verdict {
                    self.twin = Some(Running::send(question, *grant));
                }
                None
            }
        }
    }

    /// The first to bring something goes on; the other is dropped, and its socket with it. One that fails before
    /// leaves it to the other.
    async fn race(&mut self, mut twin: Running) -> Event {
        let (event, is_twins) = tokio::select! {
            biased;
            event = self.running.next() => (event, false),
            event = twin.next() => (event, true),
        };
        let failure = match event {
            Event::Failed(failure) => failure,
            event => {
                if is_twins {
                    self.running = twin;
                }
                return event;
            }
        };
        match is_twins {
            true => {
                twin.ending.end = End::Badly(failure);
                drop(twin);
            }
            false => {
                self.running.ending.end = End::Badly(failure);
                self.running = twin;
            }
        }
        self.running.next().await
    }
}

impl Running {
    fn send(question: &Question, grant: Grant) -> Self {
        let mut ending = grant.ending;
        // From here on nobody knows what the provider does with it.
        ending.end = End::Cancelled;
        let stream = match question {
            Question::Chat(request) => {
                let mut request = (**request).clone();
                request.model = grant.model;
                grant.client.send_attempt(request, grant.attempt)
            }
            Question::Fim(fim) => {
                let mut fim = (**fim).clone();
                fim.model = grant.model;
                grant.client.complete_attempt(fim, grant.attempt)
            }
        };
        Self {
            stream,
            stall: grant.stall,
            deadline: Instant::now() + grant.stall.first_event,
            ending,
        }
    }

    /// The next event; silence, and an end without a last event, are failures. What headers say of the limits is
    /// for the router's task alone.
    async fn next(&mut self) -> Event {
        let event = loop {
            match timeout_at(self.deadline, self.stream.next()).await {
                Ok(Some(Event::RateLimits(limits))) => {
                    let ending = &self.ending;
                    let report = Report::Limits(ending.attempt, limits);
                    ending.reports.send(report).ok();
                }
                Ok(Some(event)) => break event,
                Ok(None) => break Event::Failed(torn()),
                Err(_) => break Event::Failed(self.stalled()),
            }
        };
        self.deadline = Instant::now() + self.stall.idle;
        self.note(&event);
        event
    }

    fn stalled(&self) -> Failure {
        let (limit, where_) = match self.ending.seen.began {
            false => (self.stall.first_event, "before its answer began"),
            true => (self.stall.idle, "in the middle of its answer"),
        };
        let message = format!(
            "the provider was silent for {} seconds {where_}; try again, or raise the limit for it",
            limit.as_secs()
        );
        Failure::new(FailureClass::Stalled, message)
    }

    fn note(&mut self, event: &Event) {
        let ending = &mut self.ending;
        if !ending.seen.began && !matches!(event, Event::Failed(_)) {
            ending.seen.began = true;
            ending.reports.send(Report::Began(ending.attempt)).ok();
        }
        match event {
            Event::TextDelta(text) | Event::ReasoningDelta(text) => ending.seen.wrote(text),
            Event::ToolArgsDelta { fragment, .. } => ending.seen.wrote(fragment),
            Event::Usage(usage) => ending.seen.usage = Some(*usage),
            Event::Stop { .. } => ending.seen.is_whole = true,
            _ => {}
        }
    }
}

impl Seen {
    fn wrote(&mut self, text: &str) {
        self.written += text.len() as u64;
    }

    /// What the attempt used, as far as one can tell, and whether that is an estimate. A provider that broke off
    /// has said nothing of what it wrote since its last word about it.
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

fn torn() -> Failure {
    Failure::new(
        FailureClass::Torn,
        "the answer broke off before its end; try again",
    )
}

/// The router's task has ended, with the program or by a defect.
fn gone() -> Failure {
    Failure::new(
        FailureClass::Cancelled,
        "the model router has been shut down; ask again when Burin has started anew",
    )
}
