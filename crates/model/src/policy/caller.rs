//! Callers, urgency classes, and routes to models.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::ModelId;

/// Urgency of a request, most urgent first. The request queue serves the classes in this order;
/// requests that have waited for long get a small share before their turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestClass {
    /// A completion that the user waits for while typing.
    Tab,
    /// A turn that the user watches.
    Turn,
    /// An agent started by another agent.
    Subagent,
    /// Titles, summaries, indexing: no user waits for it.
    Background,
}

/// Number of an agent, assigned by the harness; Tab and background work have numbers of their own.
///
/// Budgets and fair shares are accounted by this number.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default,
)]
pub struct AgentId(pub u64);

/// Number of a turn of one agent, for the budget per turn.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default,
)]
pub struct TurnId(pub u64);

/// The originator of a request, with the urgency of the request. It determines the request's
/// position in the queue and the budgets that pay for the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Caller {
    /// Urgency of the request.
    pub class: RequestClass,
    /// The agent that sends it.
    pub agent: AgentId,
    /// The agent's turn that it belongs to.
    pub turn: TurnId,
}

/// Name under which a key is configured, such as `ANTHROPIC_API_KEY`. Never the key itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct KeyName(pub String);

/// A model reached with a particular key. Limits, health and latency are tracked per route.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Route {
    /// The model at its provider.
    pub model: ModelId,
    /// Name of the key in use.
    pub key: KeyName,
}

impl RequestClass {
    /// All classes, most urgent first.
    pub const ALL: [Self; 4] = [Self::Tab, Self::Turn, Self::Subagent, Self::Background];
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.key.0.as_str() {
            "" => self.model.fmt(f),
            key => write!(f, "{} with {key}", self.model),
        }
    }
}
