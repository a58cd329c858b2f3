//! The records that the router emits, for a store outside of it.

use model::policy::route::RouteDecision;
use model::policy::{BudgetNotice, Caller, Spend};
use model::{Cost, FailureClass, ModelId, Usage};

use crate::error::Error;

/// Stores spending and decisions. The router calls it from its own task, so no call may block: an
/// implementation on a disk must queue.
pub trait UsageStore: Send + Sync {
    /// Records the maximum cost of a call about to be sent.
    fn record_reservation(&self, call: &CallReservation);

    /// Records the end of a call, successful or not.
    fn record_call(&self, call: &CallRecord);

    /// Records the choice of a model for a request, or that none was eligible; again if another
    /// model takes over. `question` is the number of the request.
    fn record_decision(&self, at_ms: u64, question: u64, caller: Caller, decision: &RouteDecision);

    /// Records that a budget is nearly or fully used.
    fn record_notice(&self, at_ms: u64, caller: Caller, notice: BudgetNotice);

    /// Returns the spending of other runs of the program since `since_ms`, including calls in
    /// flight. May read a disk: the router calls it on a separate thread.
    fn spent_by_others(&self, since_ms: u64) -> Result<Spend, Error>;
}

/// A call that is about to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallReservation {
    /// Number of the call in this run of the program.
    pub call: u64,
    /// Time in milliseconds since 1970.
    pub at_ms: u64,
    /// Maximum cost; `None` if the price is unknown.
    pub cost: Option<Cost>,
}

/// An attempt on the wire and its outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRecord {
    /// Number of the call in this run of the program.
    pub call: u64,
    /// Number of its request; several calls may serve one request.
    pub question: u64,
    /// Time of sending, in milliseconds since 1970.
    pub at_ms: u64,
    /// The model that it was sent to.
    pub model: ModelId,
    /// Originator of the request.
    pub caller: Caller,
    /// Number of the attempt for its request, from 1.
    pub attempt: u32,
    /// Class of the failure; `None` on success.
    pub failure: Option<FailureClass>,
    /// From sending to the first event, in milliseconds.
    pub first_event_ms: Option<u64>,
    /// From sending to the end, in milliseconds.
    pub total_ms: u64,
    /// Tokens used by the call.
    pub usage: Usage,
    /// Whether `usage` is our estimate because the provider did not report it.
    pub is_estimate: bool,
    /// Cost of the call; `None` if the price is unknown.
    pub cost: Option<Cost>,
}

/// A store that stores nothing, for runs without a ledger.
#[derive(Clone, Copy, Debug)]
pub struct NoUsageStore;

impl UsageStore for NoUsageStore {
    fn record_reservation(&self, _: &CallReservation) {}

    fn record_call(&self, _: &CallRecord) {}

    fn record_decision(&self, _: u64, _: u64, _: Caller, _: &RouteDecision) {}

    fn record_notice(&self, _: u64, _: Caller, _: BudgetNotice) {}

    fn spent_by_others(&self, _: u64) -> Result<Spend, Error> {
        Ok(Spend::default())
    }
}
