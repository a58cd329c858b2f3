//! How the router decides: pure state machines and functions that take the time as an argument.
//!
//! Knows: the contract with models. Must not know: clocks, channels, tasks, HTTP, where keys are kept.
//! Invariant: nothing here waits. What must wait is told until when.
//! Invariant: what was reserved is settled exactly once, however the request ended.
//! Start at `route::decide` for which model, `Queue` for who goes next, `RateLedger` and `Budgets` for whether
//! it may go now, `Retry` for what a failure means.

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

pub use breaker::{Breaker, Permission};
pub use budget::{BudgetRefusal, Budgets, Cap, Caps, Day, Hold, Notice, Scope, Spend};
pub use caller::{AgentId, Caller, Class, KeyName, Lane, TurnId};
pub use complexity::{Complexity, ComplexityFeatures, Purpose, Task, complexity};
pub use concurrency::Concurrency;
pub use estimate::TokenEstimator;
pub use latency::Latency;
pub use prefix::{PrefixHash, PrefixRegistry, PrefixTurn, PrefixUse};
pub use queue::{Queue, Queued, Ticket};
pub use rate::{Ask, LaneLimits, Limit, RateLedger, Reservation, Settlement, Wait};
pub use retry::{Attempts, NextStep, Progress, Retry};
