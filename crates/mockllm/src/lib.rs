//! A mock server for every model provider's wire format, driven by one script: a test double, a
//! target for load tests, and the demo model.
//!
//! Knows: `model`. Must not know: its users. Listens on the loopback interface only.
//! Invariant: equal requests in equal order to equal scripts get equal bytes; only rate-limit
//! headers contain the time of day.
//! Invariant: the usage of prompts and caches follows from the requests so far, as at a provider; a
//! token is four bytes.
//! Start at `MockServer` and `Script`; `scripts/tour.jsonc` shows every feature of a script.
//! `DemoClient` is the demo model in-process.
//!
//! ```
//! let script = mockllm::Script::parse("greeting", r#"{ "rules": [
//!     { "match": { "user": { "regex": "I am (?<name>\\w+)" } }, "reply": [{ "text": "Hello, {{name}}." }] },
//!     { "reply": [{ "text": "Hello." }], "faults": [{ "first": 1, "fault": { "overloaded": {} } }] }
//! ] }"#)?;
//! let server = mockllm::MockServer::start(script)?;
//! assert!(server.url().starts_with("http://127.0.0.1:"));
//! assert!(server.requests().is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(missing_docs)]

mod answer;
mod api_error;
mod body;
mod cache;
pub mod demo;
mod engine;
mod frames;
mod limits;
mod prediction;
mod request;
mod request_log;
mod rng;
mod schema;
mod script;
mod server;
mod socket;
mod tokens;
mod wire;
mod wire_format;

pub use demo::DemoClient;
pub use request_log::{LoggedRequest, ResponseEnd};
pub use script::{
    CacheFacts, Condition, Expression, ExpressionError, FaultMoment, FaultRule, LimitFacts,
    MockModel, ModelDialect, NamePattern, RepeatedText, ReplyPace, ReplyStep, ResultCondition,
    Schedule, Script, ScriptError, ScriptRule, ScriptThinking, ScriptedCall, ScriptedFault,
    StatusFault, Stop, Template, TextPattern, UsageStep,
};
pub use server::MockServer;
pub use wire_format::WireFormat;
