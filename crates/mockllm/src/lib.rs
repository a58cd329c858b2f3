//! A server that speaks every model provider's wire from one script: a test double, a partner for load runs,
//! and the demo model.
//!
//! Knows: `model`. Must not know: how anybody uses it. Listens on loopback alone.
//! Invariant: equal requests in equal order to equal scripts get equal bytes; only rate-limit headers tell the
//! time of day.
//! Invariant: what usage says of prompts and caches follows from the requests that came, as at a provider;
//! tokens are counted as four bytes each.
//! Start at `Server` and `Script`; `scripts/tour.jsonc` shows all that a script can say. `DemoClient` is the
//! demo model within the process.
//!
//! ```
//! let script = mockllm::Script::parse("greeting", r#"{ "rules": [
//!     { "match": { "user": { "regex": "I am (?<name>\\w+)" } }, "reply": [{ "text": "Hello, {{name}}." }] },
//!     { "reply": [{ "text": "Hello." }], "faults": [{ "first": 1, "fault": { "overloaded": {} } }] }
//! ] }"#)?;
//! let server = mockllm::Server::start(script)?;
//! assert!(server.url().starts_with("http://127.0.0.1:"));
//! assert!(server.seen().is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(missing_docs)]

mod answer;
mod asked;
mod body;
mod cache;
pub mod demo;
mod engine;
mod frames;
mod limits;
mod rng;
mod schema;
mod script;
mod seen;
mod server;
mod socket;
mod tokens;
mod trouble;
mod wire;

pub use demo::DemoClient;
pub use script::{
    CacheFacts, Call, Condition, Dialect, Expression, Fault, FaultRule, Glob, LimitFacts,
    ModelFacts, Moment, Pace, Pattern, Repeat, ResultCondition, Rule, Schedule, Script,
    ScriptError, StatusFault, Step, Stop, Template, Thinking, UsageStep,
};
pub use seen::{End, Seen};
pub use server::Server;
pub use wire::Wire;
