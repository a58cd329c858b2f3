//! Stream events, common to all wire formats.

use std::time::Duration;

use crate::{Failure, Opaque, TokenCount, Usage};

/// An event of an answer, in order of arrival.
///
/// Adjacent deltas of one kind form one part. A `Signature` ends the part it belongs to: the tool
/// call with its `index`, otherwise the last text or reasoning part; if the last part is of another
/// kind or has ended, the signature becomes a reasoning part without text.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the field names are self-explanatory")]
pub enum StreamEvent {
    /// The provider has accepted the request. `model` is the model that it reports to serve.
    Start { id: String, model: String },
    /// The answer starts over, perhaps from another model: discard its text, reasoning and calls so
    /// far. Only a router sends it, and never after a `ToolEnd` of the same answer, since a
    /// complete call may already be running.
    Restart,
    /// Text for the user, including refusals.
    TextDelta(String),
    /// Reasoning, if the provider exposes it.
    ReasoningDelta(String),
    /// Opaque data to send back with a part.
    Signature { index: Option<u32>, opaque: Opaque },
    /// Start of a tool call. `index` counts the calls of this answer from 0; calls may overlap.
    ToolStart {
        index: u32,
        id: String,
        name: String,
    },
    /// A fragment of a call's arguments.
    ToolArgsDelta { index: u32, fragment: String },
    /// The arguments of a call are complete.
    ToolEnd { index: u32 },
    /// Usage so far; replaces an earlier one.
    Usage(Usage),
    /// Rate limits from the response headers.
    RateLimits(RateLimits),
    /// The answer is complete. `raw` is the provider's own stop reason.
    Stop { reason: StopReason, raw: String },
    /// The answer failed and will not be completed.
    Failed(Failure),
}

/// Reason why an answer ended, mapped from the provider's own word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The model finished its turn.
    EndTurn,
    /// The model waits for tool results.
    ToolUse,
    /// The answer reached `max_output`.
    MaxTokens,
    /// A stop text of the request occurred.
    StopText,
    /// The model or the provider's filter declined.
    Refusal,
    /// The provider paused a long turn; resending the conversation continues it.
    Pause,
}

/// A provider's rate limits as of one response, read from its headers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RateLimits {
    /// Requests per time window.
    pub requests: RateLimit,
    /// All tokens, or input tokens if the provider counts them separately.
    pub input_tokens: RateLimit,
    /// Output tokens, if the provider counts them separately.
    pub output_tokens: RateLimit,
    /// Requested wait before the next request, if any.
    pub retry_after: Option<Duration>,
}

/// One rate limit; `None` where the provider reports nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateLimit {
    /// Maximum amount per window.
    pub limit: Option<TokenCount>,
    /// Amount left in the window.
    pub remaining: Option<TokenCount>,
    /// Time until the full amount is available again.
    pub reset: Option<Duration>,
}

impl StreamEvent {
    /// Returns whether this is the last event of the stream: `Stop` or `Failed`.
    pub fn is_last(&self) -> bool {
        matches!(self, StreamEvent::Stop { .. } | StreamEvent::Failed(_))
    }
}
