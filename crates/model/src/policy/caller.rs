//! Who asks, how urgently, and by which way a model is reached.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::ModelId;

/// How urgent a request is, the most urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// A completion under the person's fingers.
    Tab,
    /// A turn that the person watches.
    Turn,
    /// An agent that another agent started.
    Subagent,
    /// Titles, summaries, the index: nobody waits for it.
    Background,
}

/// One agent, as the harness numbers them; Tab and background work have a number of their own.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default,
)]
pub struct AgentId(pub u64);

/// One turn of one agent.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default,
)]
pub struct TurnId(pub u64);

/// On whose behalf a request is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Caller {
    /// How urgent it is.
    pub class: Class,
    /// For which agent.
    pub agent: AgentId,
    /// In which of its turns.
    pub turn: TurnId,
}

/// The name under which a key is configured, such as `ANTHROPIC_API_KEY`. Never the key itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct KeyName(pub String);

/// One way to a model. Limits, health and latency are counted per lane.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Lane {
    /// The model at its provider.
    pub model: ModelId,
    /// Under which key it is asked.
    pub key: KeyName,
}

impl Class {
    /// All of them, the most urgent first.
    pub const ALL: [Self; 4] = [Self::Tab, Self::Turn, Self::Subagent, Self::Background];
}

impl fmt::Display for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.key.0.as_str() {
            "" => self.model.fmt(f),
            key => write!(f, "{} with {key}", self.model),
        }
    }
}
