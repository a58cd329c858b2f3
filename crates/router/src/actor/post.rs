//! What goes between the router's task and the callers' streams.

use std::sync::Arc;
use std::time::Duration;

use model::policy::route::{Abilities, RouteDecision};
use model::policy::{AgentId, Caller, Caps, PrefixHash, Progress, Spend, TurnId};
use model::{Attempt, Client, Failure, ModelId, RateLimits, Usage};
use tokio::sync::{mpsc, oneshot};

use super::ask::Terms;
use super::estimate::Size;
use super::lane::LaneHealth;

/// What callers ask of the task. Bounded: when it is full, callers wait before their requests are queued.
pub(super) enum Command {
    Submit(Box<Submission>),
    EndTurn(AgentId, TurnId),
    EndAgent(AgentId),
    SetCaps(Caps),
    Decisions(oneshot::Sender<Vec<Arc<RouteDecision>>>),
    Health(oneshot::Sender<Vec<LaneHealth>>),
    /// Answered when nothing is queued and nothing under way.
    Idle(oneshot::Sender<()>),
}

/// A new question.
pub(super) struct Submission {
    pub(super) question: QuestionId,
    pub(super) terms: Terms,
    pub(super) caller: Caller,
    pub(super) model: ModelId,
    pub(super) abilities: Abilities,
    pub(super) size: Size,
    /// `None` for what has no prefix worth waiting for.
    pub(super) prefix: Option<PrefixHash>,
    pub(super) conversation: Option<String>,
    pub(super) verdict: oneshot::Sender<Verdict>,
    /// Where the stream reports; leave to send reports itself there when nobody takes it.
    pub(super) reports: mpsc::UnboundedSender<Report>,
}

/// What the streams report. Unbounded, but in truth bounded by what is under way: four for each attempt, two for
/// each question. A stream reports when it is dropped, and there it cannot wait for a place.
pub(super) enum Report {
    /// The first event of an attempt came.
    Began(AttemptId),
    Limits(AttemptId, RateLimits),
    /// An attempt is over; told exactly once.
    Ended(AttemptId, End, Seen),
    /// What is to be done about it?
    Next {
        question: QuestionId,
        failure: Failure,
        progress: Progress,
        verdict: oneshot::Sender<Verdict>,
    },
    /// Nothing came for as long as nearly every first event takes: may a second request be sent beside?
    Hedge {
        question: QuestionId,
        verdict: oneshot::Sender<Verdict>,
    },
    /// What other runs of the program have spent, as the book read it.
    Others {
        since_ms: u64,
        spent: Result<Spend, String>,
    },
    /// The question is answered, or nobody wants the answer any more.
    Gone(QuestionId),
}

/// How an attempt ended.
pub(super) enum End {
    Well,
    Badly(Failure),
    /// The caller, or a faster twin, made it superfluous.
    Cancelled,
    /// It was never sent: the caller had gone when the leave came.
    Unsent,
}

/// What a stream saw of an attempt.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    /// The last that the provider said of it.
    pub(super) usage: Option<Usage>,
    /// Bytes of text, thought and arguments that came.
    pub(super) written: u64,
    /// Whether anything came at all.
    pub(super) began: bool,
    /// Whether the usage was told with the end of the answer, so that nothing is missing from it.
    pub(super) is_whole: bool,
}

/// What a stream is to do.
pub(super) enum Verdict {
    Send(Box<Grant>),
    /// Nothing, until the next verdict.
    Wait {
        failure: Failure,
        pause: Duration,
        then: oneshot::Receiver<Verdict>,
    },
    Fail(Failure),
}

/// Leave to send. Dropped unused, on the way or by its stream, it reports that nothing was sent.
pub(super) struct Grant {
    pub(super) ending: Ending,
    pub(super) client: Arc<dyn Client>,
    pub(super) model: ModelId,
    /// Which try it is, for the provider.
    pub(super) attempt: Attempt,
    /// Where the caller has not been told it yet.
    pub(super) decision: Option<Arc<RouteDecision>>,
    /// When a second request beside this one is worth asking for.
    pub(super) hedge_after: Option<Duration>,
    pub(super) stall: super::StallLimits,
}

/// Tells the end of an attempt exactly once, when it is dropped.
pub(super) struct Ending {
    pub(super) attempt: AttemptId,
    pub(super) reports: mpsc::UnboundedSender<Report>,
    pub(super) end: End,
    pub(super) seen: Seen,
}

impl Ending {
    /// Of an attempt that is not sent yet.
    pub(super) fn new(attempt: AttemptId, reports: mpsc::UnboundedSender<Report>) -> Self {
        Self {
            attempt,
            reports,
            end: End::Unsent,
            seen: Seen::default(),
        }
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        let end = std::mem::replace(&mut self.end, End::Unsent);
        let report = Report::Ended(self.attempt, end, self.seen);
        // A task that has ended keeps no accounts that would have to be right.
        self.reports.send(report).ok();
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct QuestionId(pub(super) u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct AttemptId(pub(super) u64);
