//! How a call of a tool ended: a closed set, since what cannot be told apart cannot be improved.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The class of a result. `Unknown` is a defect of the harness, always.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It did what was asked. A command that ended with another code than 0 is `Ok` too: it ran.
    Ok,
    /// The model asked for something that makes no sense: a schema not met, an edit that fits nowhere.
    InvalidArguments,
    /// The world was not as the model had reason to think: a file gone, a program missing, a stale edit.
    UnexpectedEnvironment,
    /// A provider of the tool failed: a model, a web server, an MCP server.
    ProviderError,
    /// The person refused it or stopped it.
    UserAborted,
    /// It took longer than it may.
    Timeout,
    /// Nobody thought of this.
    Unknown,
}

/// What lies beneath an outcome, where more is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// The provider is overloaded.
    Overloaded,
    /// The provider wants it slower.
    RateLimited {
        /// Until then.
        retry_after: Option<Duration>,
    },
    /// Nothing is left to spend; never retried.
    QuotaExhausted,
    /// The conversation is too long for the model.
    ContextOverflow,
    /// An answer broke off.
    StreamTorn,
    /// A filter withheld it.
    ContentFiltered,
    /// The sandbox forbade it.
    SandboxDenied {
        /// The path or host.
        what: String,
    },
    /// It left something that other programs run by themselves, and that was put aside.
    Planted {
        /// The first of it.
        what: String,
    },
    /// There is no sandbox to run it in.
    SandboxUnavailable,
    /// What is to be edited changed since it was read.
    StaleEdit,
    /// An edit fits in several places.
    AmbiguousEdit,
    /// Somebody else changed the file at the same time.
    ExternalChange,
    /// The output is longer than what is shown.
    OutputTruncated,
    /// The program died between doing it and writing down what came of it.
    ToolOutcomeUnknown,
    /// A rule or the person forbade it.
    Denied,
}

impl Outcome {
    /// Whether the model is told of a failure.
    pub fn is_error(self) -> bool {
        self != Outcome::Ok
    }

    /// Its name, as in statistics.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Ok => "ok",
            Outcome::InvalidArguments => "invalid_arguments",
            Outcome::UnexpectedEnvironment => "unexpected_environment",
            Outcome::ProviderError => "provider_error",
            Outcome::UserAborted => "user_aborted",
            Outcome::Timeout => "timeout",
            Outcome::Unknown => "unknown",
        }
    }
}
