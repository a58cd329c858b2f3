//! The router's policies: pure state machines and functions that take the time as an argument.
//!
//! Knows: the interface to models. Must not know: clocks, channels, tasks, HTTP, where keys are
//! stored.
//! Invariant: nothing here blocks; a request that must wait gets the time until which it waits.
//! Invariant: every reservation is settled exactly once, however the request ends.
//! Start at `route::decide` for the choice of model, `RequestQueue` for the order of requests,
//! `RateLedger` and `Budgets` for whether a request may be sent now, `Retry` for the handling of
//! failures.

mod breaker;
mod budget;
mod caller;
mod complexity;
mod concurrency;
mod estimate;
mod latency;
mod prefix;
mod queue;
mod rate;
mod retry;
pub mod route;
#[cfg(test)]
mod tests;

pub use breaker::{Breaker, BreakerDecision};
pub use budget::{
    BudgetHold, BudgetNotice, BudgetRefusal, Budgets, Cap, CapScope, Caps, Day, Spend,
};
pub use caller::{AgentId, Caller, KeyName, RequestClass, Route, TurnId};
pub use complexity::{Complexity, ComplexityFeatures, StepDescription, StepPurpose, complexity};
pub use concurrency::Concurrency;
pub use estimate::TokenEstimator;
pub use latency::Latency;
pub use prefix::{PrefixHash, PrefixRegistry, PrefixTurn};
pub use queue::{QueueTicket, QueuedRequest, RequestQueue};
pub use rate::{
    RateLedger, RateLimitKind, RateReservation, RateSettlement, RateWait, RouteLimits, TokenDemand,
};
pub use retry::{Attempts, NextStep, ResponseProgress, Retry};
