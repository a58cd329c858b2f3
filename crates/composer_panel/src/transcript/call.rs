//! The tool calls of a transcript.

use agent::tool::{ToolClass, ToolDisplay};
use agent::{CallOutcome, Detail};

/// A tool call that waits for permission.
#[derive(Debug)]
pub struct PendingApproval<'a> {
    /// The sessions on the way to the subagent that makes the call, outermost first; empty for a
    /// call of the session itself.
    pub subagents: Vec<&'a str>,
    /// The call that waits.
    pub call: &'a CallItem,
}

/// A tool call in the transcript.
#[derive(Clone, Debug, PartialEq)]
pub struct CallItem {
    /// Id of the call.
    pub id: String,
    /// Name of the tool.
    pub tool: String,
    /// A description of the call in one line.
    pub title: String,
    /// The whole effect of the call, if permission was requested; untrusted text.
    pub details: String,
    /// The kind of its effect; `None` until it is known.
    pub class: Option<ToolClass>,
    /// The state of the call.
    pub state: CallItemState,
    /// The last part of its output so far.
    pub output: String,
    /// The answer that the model got.
    pub answer: String,
    /// The results that the user is shown.
    pub shown: Vec<ToolDisplay>,
    /// Duration in milliseconds.
    pub millis: u64,
    /// The rules that a lasting approval would store.
    pub rules: Vec<String>,
    /// Number of the model's answer; adjacent calls of one answer ran in parallel.
    pub step: u64,
}

/// The state of a tool call.
#[derive(Clone, Debug, PartialEq)]
pub enum CallItemState {
    /// The model is still writing its arguments; the number of bytes so far.
    Writing(usize),
    /// It waits for its turn.
    Waiting,
    /// It waits for the user's permission, for this reason.
    NeedsApproval(String),
    /// The call is running.
    Running,
    /// The call has ended.
    Ended {
        /// The outcome of the call.
        outcome: CallOutcome,
        /// The cause of a failure.
        detail: Option<Detail>,
    },
}

impl CallItem {
    pub(super) fn new(id: &str, name: &str, state: CallItemState, step: u64) -> Self {
        Self {
            id: id.to_owned(),
            tool: name.to_owned(),
            title: name.to_owned(),
            details: String::new(),
            class: None,
            state,
            output: String::new(),
            answer: String::new(),
            shown: Vec::new(),
            millis: 0,
            rules: Vec::new(),
            step,
        }
    }

    /// Whether the call has ended with an error, or with a positive exit code, see `code`. False
    /// until it ends.
    pub fn has_failed(&self) -> bool {
        match &self.state {
            CallItemState::Ended { outcome, .. } => outcome.is_error() || self.code() > 0,
            _ => false,
        }
    }

    /// The last known exit code of its commands; 0 if there is none.
    pub fn code(&self) -> i32 {
        let codes = self.shown.iter().filter_map(|shown| match shown {
            ToolDisplay::Command { code, .. } => *code,
            _ => None,
        });
        codes.fold(0, |_, code| code)
    }
}
