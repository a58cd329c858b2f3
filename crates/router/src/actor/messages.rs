//! Messages between the router's task and the callers' streams.

use std::sync::Arc;
use std::time::Duration;

use model::policy::route::{Abilities, RouteDecision};
use model::policy::{AgentId, Caller, Caps, PrefixHash, ResponseProgress, Spend, TurnId};
use model::{Attempt, Failure, ModelClient, ModelId, RateLimits, Usage};
use tokio::sync::{mpsc, oneshot};

use super::estimate::RequestSize;
use super::request::RoutingOptions;
use super::route::RouteHealth;
use crate::error::Error;

/// Commands from callers to the task. Bounded: when the channel is full, callers wait before their
/// requests are queued.
pub(super) enum RouterCommand {
    Submit(Box<Submission>),
    EndTurn(AgentId, TurnId),
    EndAgent(AgentId),
    SetCaps(Caps),
    Decisions(oneshot::Sender<Vec<Arc<RouteDecision>>>),
    Health(oneshot::Sender<Vec<RouteHealth>>),
    /// Answered when no request is queued or in flight.
    Idle(oneshot::Sender<()>),
}

/// A new request with its reply channels.
pub(super) struct Submission {
    pub(super) question: SubmissionId,
    pub(super) options: RoutingOptions,
    pub(super) caller: Caller,
    pub(super) model: ModelId,
    pub(super) abilities: Abilities,
    pub(super) size: RequestSize,
    /// `None` if it has no prefix worth waiting for.
    pub(super) prefix: Option<PrefixHash>,
    pub(super) conversation: Option<String>,
    pub(super) reply: oneshot::Sender<StreamAction>,
    /// Channel for the stream's reports; an unused grant also reports itself there.
    pub(super) reports: mpsc::UnboundedSender<StreamReport>,
}

/// Reports from streams. The channel is unbounded, but the number of reports is bounded by the
/// requests in flight: four per attempt, two per request. A stream reports when it is dropped,
/// where it cannot wait for capacity.
pub(super) enum StreamReport {
    /// The first event of an attempt arrived.
    Started(AttemptId),
    Limits(AttemptId, RateLimits),
    /// An attempt ended; reported exactly once.
    Ended(AttemptId, AttemptEnd, AttemptStats),
    /// Asks how to handle a failure.
    Next {
        question: SubmissionId,
        failure: Failure,
        progress: ResponseProgress,
        reply: oneshot::Sender<StreamAction>,
    },
    /// Asks for a second request: the first event takes longer than nearly every one before.
    Hedge {
        question: SubmissionId,
        reply: oneshot::Sender<StreamAction>,
    },
    /// The spending of other runs, as read from the usage store.
    Others {
        since_ms: u64,
        spent: Result<Spend, Error>,
    },
    /// The request is answered, or its caller is gone.
    Dropped(SubmissionId),
}

/// Outcome of an attempt.
pub(super) enum AttemptEnd {
    Succeeded,
    Failed(Failure),
    /// The caller or a faster hedge made it superfluous.
    Cancelled,
    /// It was never sent: the caller was gone when permission arrived.
    Unsent,
}

/// A stream's observations of an attempt.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AttemptStats {
    /// The last usage reported by the provider.
    pub(super) usage: Option<Usage>,
    /// Bytes of text, reasoning and arguments received.
    pub(super) written: u64,
    /// Whether any event was received.
    pub(super) has_started: bool,
    /// Whether the usage came with the end of the answer, so that it is complete.
    pub(super) is_whole: bool,
}

/// Instruction of the task to a stream.
pub(super) enum StreamAction {
    Send(Box<SendGrant>),
    /// Wait for the next instruction.
    Wait {
        failure: Failure,
        pause: Duration,
        then: oneshot::Receiver<StreamAction>,
    },
    Fail(Failure),
}

/// Permission to send. If dropped unused, on the way or by its stream, it reports that nothing was
/// sent.
pub(super) struct SendGrant {
    pub(super) guard: AttemptGuard,
    pub(super) client: Arc<dyn ModelClient>,
    pub(super) model: ModelId,
    /// Number of the attempt, for the provider.
    pub(super) attempt: Attempt,
    /// The decision, if the caller has not received it yet.
    pub(super) decision: Option<Arc<RouteDecision>>,
    /// Time after which a hedge is worth asking for.
    pub(super) hedge_after: Option<Duration>,
    pub(super) stall: super::StallLimits,
}

/// Reports the end of an attempt exactly once, on drop.
pub(super) struct AttemptGuard {
    pub(super) attempt: AttemptId,
    pub(super) reports: mpsc::UnboundedSender<StreamReport>,
    pub(super) end: AttemptEnd,
    pub(super) stats: AttemptStats,
}

impl AttemptGuard {
    /// Creates a guard for an attempt that is not sent yet.
    pub(super) fn new(attempt: AttemptId, reports: mpsc::UnboundedSender<StreamReport>) -> Self {
        Self {
            attempt,
            reports,
            end: AttemptEnd::Unsent,
            stats: AttemptStats::default(),
        }
    }
}

impl Drop for AttemptGuard {
    fn drop(&mut self) {
        let end = std::mem::replace(&mut self.end, AttemptEnd::Unsent);
        let report = StreamReport::Ended(self.attempt, end, self.stats);
        // If the task has ended, there are no accounts left to settle.
        self.reports.send(report).ok();
    }
}

/// The number of a request, from 1, unique in this router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct SubmissionId(pub(super) u64);

/// The number of an attempt, unique in this router. A request may have several attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct AttemptId(pub(super) u64);
