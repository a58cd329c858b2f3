//! The interface to language models: requests, stream events, failures.
//!
//! Knows: `base`. Must not know: HTTP, clocks, files, any provider's wire format.
//! Invariant: a stream ends with exactly one `StreamEvent::Stop` or `StreamEvent::Failed`, and nothing follows
//! it.
//! Invariant: opaque provider data are kept verbatim and sent back only to the model that created
//! them.
//! Start at `ModelClient`, then `ModelRequest` and `StreamEvent`; the router's decisions are in `policy`.

#![warn(missing_docs)]

mod arguments;
mod assemble;
mod client;
mod conversation;
mod cost;
mod event;
mod failure;
mod monotonic;
pub mod policy;
mod prices;
mod profile;
#[cfg(test)]
mod random;
mod request;
mod scripted;
#[cfg(test)]
mod shipped;
mod tokens;

pub use arguments::{
    ArgumentEvent, ArgumentProblem, ArgumentReader, ArgumentStep, Container, ParsedArguments,
    ProblemKind,
};
pub use assemble::{Assembler, ModelResponse, RemovedParts, strip_foreign_parts, switch_note};
pub use client::{Attempt, ModelClient};
pub use conversation::{Message, MessagePart, Opaque, PartContent, Role};
pub use cost::{CacheUse, Cost, Price, Rates, TieredRates, TokenRate};
pub use event::{RateLimit, RateLimits, StopReason, StreamEvent};
pub use failure::{Failure, FailureClass, RefusedPart};
pub use monotonic::MonotonicTime;
pub use prices::{FactsRow, ModelFacts, PriceRow, Prices, RowKind, TierRow};
pub use profile::{
    CacheStyle, EditTool, EffortSetting, FimFormat, LineNumbers, NextEditFormat, ParallelTools,
    Profile, Profiles, ReasoningReplay, SchemaQuirk, Tier, ToolNames,
};
pub use request::{
    CacheMark, Effort, Fim, FimFile, FimForm, ModelId, ModelRequest, Sampling, SystemBlock,
    ToolChoice, ToolInput, ToolSpec,
};
pub use scripted::{ResponseScript, ScriptStep, ScriptedClient};
pub use tokens::{TokenCount, Usage};
