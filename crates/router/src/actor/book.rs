//! What the router writes down, for whoever keeps it.

use model::policy::route::RouteDecision;
use model::policy::{Caller, Notice, Spend};
use model::{Cost, FailureClass, ModelId, Usage};

/// Keeps what is spent and decided. The router calls it from its own task, so nothing here may take long: a
/// book on a disk queues.
pub trait Book: Send + Sync {
    /// A call is about to be sent that may cost so much.
    fn reserved(&self, call: &Reserved);

    /// A call has ended, well or not.
    fn ended(&self, call: &CallRecord);

    /// A question was given to a model, or to none; again where another model takes over.
    fn decided(&self, at_ms: u64, question: u64, caller: Caller, decision: &RouteDecision);

    /// A budget is nearly or wholly used up.
    fn noticed(&self, at_ms: u64, caller: Caller, notice: Notice);

    /// What other runs of the program have spent since `since_ms`, calls under way included. It may read a
    /// disk: the router asks from a thread of its own. A sentence where it cannot be read.
    fn spent_by_others(&self, since_ms: u64) -> Result<Spend, String>;
}

/// A call about to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reserved {
    /// Its number in this run of the program.
    pub call: u64,
    /// Milliseconds since 1970.
    pub at_ms: u64,
    /// The most it may cost; `None` where the price is not known.
    pub cost: Option<Cost>,
}

/// One request on the wire and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRecord {
    /// Its number in this run of the program.
    pub call: u64,
    /// The number of the question that it served; several calls may serve one.
    pub question: u64,
    /// When it was sent, in milliseconds since 1970.
    pub at_ms: u64,
    /// Whom it was sent to.
    pub model: ModelId,
    /// On whose behalf.
    pub caller: Caller,
    /// Which try for its question it was, from 1.
    pub attempt: u32,
    /// `None` where it ended well.
    pub failure: Option<FailureClass>,
    /// From sending to the first event, in milliseconds.
    pub first_event_ms: Option<u64>,
    /// From sending to the end, in milliseconds.
    pub total_ms: u64,
    /// What it used.
    pub usage: Usage,
    /// Whether the provider did not say what was used, so that `usage` is our estimate.
    pub is_estimate: bool,
    /// What it cost; `None` where the price is not known.
    pub cost: Option<Cost>,
}

/// A book that keeps nothing: for runs without a ledger.
#[derive(Clone, Copy, Debug)]
pub struct NoBook;

impl Book for NoBook {
    fn reserved(&self, _: &Reserved) {}

    fn ended(&self, _: &CallRecord) {}

    fn decided(&self, _: u64, _: u64, _: Caller, _: &RouteDecision) {}

    fn noticed(&self, _: u64, _: Caller, _: Notice) {}

    fn spent_by_others(&self, _: u64) -> Result<Spend, String> {
        Ok(Spend::default())
    }
}
