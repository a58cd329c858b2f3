//! The contract with language models: what is asked, what streams back, what can go wrong.
//!
//! Knows: `base`. Must not know: HTTP, clocks, files, any provider's wire.
//! Invariant: a stream ends with exactly one `Event::Stop` or `Event::Failed`, and nothing follows it.
//! Invariant: what a provider marked opaque is kept verbatim and goes back only to the model it came from.
//! Start at `Client`, then `Request` and `Event`; how the router decides is in `policy`.

#![warn(missing_docs)]

mod arguments;
mod assemble;
mod client;
mod conversation;
mod cost;
mod event;
mod failure;
mod moment;
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
    ArgumentEvent, ArgumentProblem, ArgumentReader, ArgumentStep, Arguments, Container, ProblemKind,
};
pub use assemble::{Answer, Assembler, Forgotten, forget_others, switch_note};
pub use client::{Attempt, Client};
pub use conversation::{Content, Message, Opaque, Part, Role};
pub use cost::{CacheUse, Cost, Price, Rate, Rates, Tiered};
pub use event::{Event, RateLimit, RateLimits, StopReason};
pub use failure::{Failure, FailureClass, RefusedPart};
pub use moment::Moment;
pub use prices::{AboveRow, FactsRow, ModelFacts, PriceRow, Prices, RowKind};
pub use profile::{
    CacheStyle, EditTool, EffortSetting, FimFormat, LineNumbers, NextEditFormat, ParallelTools,
    Profile, Profiles, ReasoningReplay, SchemaQuirk, Tier, ToolNames,
};
pub use request::{
    CacheMark, Effort, Fim, FimFile, FimForm, ModelId, Request, Sampling, SystemBlock, ToolChoice,
    ToolInput, ToolSpec,
};
pub use scripted::{Script, ScriptStep, ScriptedClient};
pub use tokens::{TokenCount, Usage};
