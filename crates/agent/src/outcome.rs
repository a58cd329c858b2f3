//! The outcome of a tool call: a closed set, so that statistics can distinguish every class.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The class of a result. `Unknown` always indicates a defect of the harness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    /// The tool did its work. A command with a non-zero exit code is `Ok` as well, since it ran.
    Ok,
    /// The model's arguments are invalid: they violate the schema, or an edit matches nowhere.
    InvalidArguments,
    /// The environment differs from the model's assumption: a missing file or program, a stale
    /// edit.
    UnexpectedEnvironment,
    /// A provider of the tool failed: a model, a web server, an MCP server.
    ProviderError,
    /// The user denied or stopped the call.
    UserAborted,
    /// The call exceeded its time limit.
    Timeout,
    /// No other class fits.
    Unknown,
}

/// Further details of an outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// The provider is overloaded.
    Overloaded,
    /// The provider limits the request rate.
    RateLimited {
        /// Time to wait before a retry.
        retry_after: Option<Duration>,
    },
    /// The quota is used up; never retried.
    QuotaExhausted,
    /// The conversation exceeds the model's context window.
    ContextOverflow,
    /// The response stream broke off.
    StreamTorn,
    /// A content filter withheld the response.
    ContentFiltered,
    /// The sandbox denied an access.
    SandboxDenied {
        /// The path or host.
        what: String,
    },
    /// The command left files that other programs execute, and those were quarantined.
    Planted {
        /// The first such file.
        what: String,
    },
    /// No sandbox is available to run the command.
    SandboxUnavailable,
    /// The file to edit changed since it was read.
    StaleEdit,
    /// An edit matches several places.
    AmbiguousEdit,
    /// Another program changed the file at the same time.
    ExternalChange,
    /// The output was truncated for the model.
    OutputTruncated,
    /// The program died between the effect and its record.
    ToolOutcomeUnknown,
    /// A rule or the user denied the call.
    Denied,
}

impl CallOutcome {
    /// Returns whether the model sees the outcome as an error: every outcome except `Ok`.
    pub fn is_error(self) -> bool {
        self != CallOutcome::Ok
    }

    /// Returns the name used in statistics.
    pub fn name(self) -> &'static str {
        match self {
            CallOutcome::Ok => "ok",
            CallOutcome::InvalidArguments => "invalid_arguments",
            CallOutcome::UnexpectedEnvironment => "unexpected_environment",
            CallOutcome::ProviderError => "provider_error",
            CallOutcome::UserAborted => "user_aborted",
            CallOutcome::Timeout => "timeout",
            CallOutcome::Unknown => "unknown",
        }
    }
}
