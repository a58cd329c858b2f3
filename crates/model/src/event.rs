//! What streams back, the same for every wire.

use std::time::Duration;

use crate::{Failure, Opaque, TokenCount, Usage};

/// A piece of an answer, in the order of arrival.
///
/// Neighbouring deltas of one kind make one part. A `Signature` ends the part it belongs to: the tool call of
/// its `index`, or else the last text or reasoning part; where the last part is neither, or has ended, it is
/// a reasoning part of its own without text.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields' names say it")]
pub enum Event {
    /// The provider took the request. `model` is what it says it serves.
    Start { id: String, model: String },
    /// The answer begins again, perhaps from another model: forget all of it that came before, text, thought
    /// and calls alike. Only a router sends it, and never after a `ToolEnd` of the same answer, since a call
    /// that is complete may be running already.
    Restart,
    /// Text for the person, a refusal's included.
    TextDelta(String),
    /// Thought, where the provider shows it.
    ReasoningDelta(String),
    /// What must be sent back with a part.
    Signature { index: Option<u32>, opaque: Opaque },
    /// A tool call begins. `index` counts the calls of this answer from 0; calls may overlap.
    ToolStart {
        index: u32,
        id: String,
        name: String,
    },
    /// More of a call's arguments: a fragment, never the whole again.
    ToolArgsDelta { index: u32, fragment: String },
    /// A call's arguments are complete.
    ToolEnd { index: u32 },
    /// What was used so far; a later one replaces it.
    Usage(Usage),
    /// What the response headers say of the limits.
    RateLimits(RateLimits),
    /// The answer is complete. `raw` is the wire's own word.
    Stop { reason: StopReason, raw: String },
    /// The answer will not be completed.
    Failed(Failure),
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The model is done.
    EndTurn,
    /// It waits for results of the tools it called.
    ToolUse,
    /// `max_output` was reached.
    MaxTokens,
    /// One of the request's stop texts came.
    StopText,
    /// The model or the provider's filter declined.
    Refusal,
    /// The provider paused a long turn; sending the conversation again goes on with it.
    Pause,
}

/// A provider's limits as of one response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RateLimits {
    /// Requests.
    pub requests: RateLimit,
    /// Tokens in all, or input tokens where the provider counts them apart.
    pub input_tokens: RateLimit,
    /// Output tokens, where the provider counts them apart.
    pub output_tokens: RateLimit,
    /// How long to wait, where the provider says so.
    pub retry_after: Option<Duration>,
}

/// One limited quantity; `None` where the provider is silent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateLimit {
    /// The most per window.
    pub limit: Option<TokenCount>,
    /// What is left of it.
    pub remaining: Option<TokenCount>,
    /// Until it is whole again.
    pub reset: Option<Duration>,
}

impl Event {
    /// Whether nothing follows.
    pub fn is_last(&self) -> bool {
        matches!(self, Event::Stop { .. } | Event::Failed(_))
    }
}
