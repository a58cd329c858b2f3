//! Permission policy of tool calls: the interface to the rules, and the session modes, which
//! override every rule.
//!
//! Start at `PermissionPolicy`; the rules themselves are in `rules`.

use std::borrow::Cow;

use base::{LineFeeds, printable};
use serde_json::Value;

use crate::error::Error;
use crate::record::SessionMode;
use crate::tool::{LockScope, Tool, ToolAccess, ToolCall, ToolClass};
use crate::user_prompts::PermissionDecision;

/// The folder of plans below the root: the only one in which plan mode may write.
pub const PLANS: &str = ".burin/plans";

/// The answer of a permission policy to one tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PermissionVerdict {
    /// The call runs without asking.
    Allow,
    /// The user is asked first.
    Ask {
        /// The reason, shown to the user.
        reason: String,
    },
    /// The call is denied.
    Deny {
        /// The reason, shown to the model.
        reason: String,
    },
}

/// Decides whether tool calls may run.
pub trait PermissionPolicy: Send + Sync {
    /// Decides about a call. Depends only on the call, the rules and the decisions remembered so
    /// far.
    fn evaluate(
        &self,
        tool: &dyn Tool,
        call: &ToolCall,
        access: &ToolAccess,
        mode: SessionMode,
    ) -> PermissionVerdict;

    /// Returns the rules that a lasting decision about the call would add; empty if the decision
    /// can only apply once.
    fn rules(&self, _tool: &dyn Tool, _access: &ToolAccess) -> Vec<String> {
        Vec::new()
    }

    /// Remembers the user's decision for similar calls, for this session or permanently. Fails with
    /// `Error::PermissionNotSaved`.
    fn remember(
        &self,
        tool: &dyn Tool,
        call: &ToolCall,
        access: &ToolAccess,
        decision: &PermissionDecision,
    ) -> Result<(), Error>;
}

/// Returns everything the user needs to decide about a call, over several lines: the whole command,
/// and every argument with its complete value. The text is untrusted: pass it through
/// `base::printable` to show it.
pub fn details(call: &ToolCall, access: &ToolAccess) -> String {
    match (&access.command, &call.input) {
        (Some(command), input) => {
            let mut input = input.value();
            if let Value::Object(arguments) = &mut input {
                arguments.shift_remove("command");
            }
            command.clone() + &arguments(&input)
        }
        (None, input) => {
            let title = printable(&access.title, LineFeeds::Escape);
            title.into_owned() + &arguments(&input.value())
        }
    }
}

/// Formats the arguments of a call, each on its own line as `name: value` after a line feed. JSON
/// `null` gives an empty text; another value that is not an object is named `input`.
pub fn arguments(input: &Value) -> String {
    let mut text = String::new();
    match input {
        Value::Object(arguments) => {
            for (name, value) in arguments {
                push_argument(&mut text, name, value);
            }
        }
        Value::Null => {}
        value => push_argument(&mut text, "input", value),
    }
    text
}

/// Appends `name: value`; a multi-line value is indented below its name.
fn push_argument(text: &mut String, name: &str, value: &Value) {
    let name = printable(name, LineFeeds::Escape);
    let value = match value {
        Value::String(value) => Cow::Borrowed(value.as_str()),
        value => Cow::Owned(format!("{value:#}")),
    };
    text.push_str(&format!("\n{name}:"));
    if value.contains('\n') {
        value
            .split('\n')
            .for_each(|line| text.push_str(&format!("\n  {line}")))
    } else {
        text.push_str(&format!(" {value}"))
    }
}

/// Returns why a mode forbids a call, for the model; `None` if it does not. Build forbids nothing;
/// Plan and Ask allow tools that read, talk to the user or start subagents, and Plan also edits of
/// Markdown files below `PLANS`. No rule overrides a mode.
pub fn forbidden_reason(mode: SessionMode, tool: &dyn Tool, access: &ToolAccess) -> Option<String> {
    let is_harmless = matches!(
        tool.class(),
        ToolClass::Read | ToolClass::Interact | ToolClass::Delegate
    );
    match mode {
        SessionMode::Build => None,
        _ if is_harmless => None,
        SessionMode::Ask => Some(format!(
            "nothing is changed in this mode: {} is not available. Answer with what you can read, and say what you \
             would do",
            tool.name()
        )),
        SessionMode::Plan if tool.class() == ToolClass::Edit && is_plan(access) => None,
        SessionMode::Plan => Some(format!(
            "this is plan mode: only reading is possible, and writing the plan to a file in {PLANS}/. {} is not \
             available; put what you would do into the plan",
            tool.name()
        )),
    }
}

/// Returns whether a call writes nothing but plans.
fn is_plan(access: &ToolAccess) -> bool {
    let mut writes = access.writes.iter();
    let is_in_plans = |path: &str| {
        let name = path
            .strip_prefix(PLANS)
            .and_then(|rest| rest.strip_prefix('/'));
        name.is_some_and(|name| name.ends_with(".md") && !name.split('/').any(|step| step == ".."))
    };
    !access.writes.is_empty()
        && writes.all(|scope| match scope {
            LockScope::Path(path) => is_in_plans(path),
            LockScope::Own(_) => true,
            LockScope::Tree(_) => false,
        })
}

/// Returns the note the model receives when `mode` begins. `before` is the previous mode, or `None`
/// at the start of a session, where Build needs no note (`None`).
pub fn mode_note(mode: SessionMode, before: Option<SessionMode>) -> Option<String> {
    match mode {
        SessionMode::Build if before.is_none() => None,
        SessionMode::Build => Some("From now on you may change files and run commands.".to_owned()),
        SessionMode::Ask => Some(
            "This is ask mode: answer questions about the project. Nothing may be changed and no command run."
                .to_owned(),
        ),
        SessionMode::Plan => Some(format!(
            "This is plan mode: look at the project, then write a plan to {PLANS}/<a-short-title>.md. Say what is to \
             be done in which files, in an order in which each step can be checked, and what is still open. Nothing \
             else may be changed and no command run. The user edits the plan, and another model may build from it, \
             so it must stand on its own."
        )),
    }
}

#[cfg(test)]
mod tests;
