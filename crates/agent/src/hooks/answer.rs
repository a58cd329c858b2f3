//! Parsing of a hook's exit code and output.

use serde_json::Value;

use super::HookEvent;
use super::run::HookOutput;
use crate::error::Error;
use crate::record::PromptOrigin;

/// The merged reply of the hooks of an event; empty if no hook ran or had anything to say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HookReply {
    /// The first hook that blocks, and its reason; `None` if none does.
    pub block: Option<(PromptOrigin, String)>,
    /// Texts to add to the prompt.
    pub context: Vec<(PromptOrigin, String)>,
    /// The strictest decision about a tool call; `None` if no hook decided.
    pub permission: Option<HookPermission>,
    /// Failures of the hooks, as sentences.
    pub problems: Vec<String>,
}

/// A hook's decision about a tool call, ordered from permissive to strict.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HookPermission {
    /// The call runs without asking.
    Allow,
    /// The user is asked, with this reason.
    Ask(String),
    /// The call is denied, with this reason.
    Deny(String),
}

impl HookReply {
    /// Merges the reply of another hook: the first one that blocks wins, and the strictest decision
    /// wins.
    pub(super) fn add(&mut self, other: Self) {
        self.block = self.block.take().or(other.block);
        self.context.extend(other.context);
        self.permission = self.permission.take().max(other.permission);
        self.problems.extend(other.problems);
    }
}

/// Describes the end of a hook in words, on one line.
pub(super) fn describe(ran: &Result<HookOutput, Error>) -> String {
    let last_line = |text: &str| text.trim().lines().last().unwrap_or_default().to_owned();
    match ran {
        Err(error) => error.to_string(),
        Ok(ran) => match ran.code {
            Some(0) => "succeeded".to_owned(),
            Some(2) => format!("blocked: {}", last_line(&reason(&ran.errors))),
            Some(code) => format!("failed with code {code}: {}", last_line(&ran.errors)),
            None => "did not end in time and was killed".to_owned(),
        },
    }
}

/// Reads the reply of one hook: after exit code 0 its output counts; exit code 2 blocks, with the
/// error output as the reason. Any other end, and a hook that could not run, is a problem.
pub(super) fn read(
    event: HookEvent,
    origin: &PromptOrigin,
    ran: Result<HookOutput, Error>,
) -> HookReply {
    let name = match origin {
        PromptOrigin::Hook { command } => command.as_str(),
        _ => "",
    };
    let problem = |what: String| HookReply {
        problems: vec![format!("the {} hook `{name}` {what}", event.name())],
        ..HookReply::default()
    };
    let ran = match ran {
        Ok(ran) => ran,
        Err(error) => return problem(error.to_string()),
    };
    match ran.code {
        Some(0) => parse_output(event, origin, ran.output.trim(), &problem),
        Some(2) => HookReply {
            block: Some((origin.clone(), reason(&ran.errors))),
            ..HookReply::default()
        },
        Some(code) => problem(format!("ended with code {code}: {}", ran.errors.trim())),
        None => problem("did not end in time and was killed".to_owned()),
    }
}

fn parse_output(
    event: HookEvent,
    origin: &PromptOrigin,
    output: &str,
    problem: &dyn Fn(String) -> HookReply,
) -> HookReply {
    if !output.starts_with('{') {
        let mut reply = HookReply::default();
        if event.takes_text() && !output.is_empty() {
            reply.context.push((origin.clone(), output.to_owned()));
        }
        return reply;
    }
    match serde_json::from_str(output) {
        Ok(answer) => from_json(event, origin, &answer),
        Err(error) => problem(format!("answered JSON that cannot be read: {error}")),
    }
}

fn from_json(event: HookEvent, origin: &PromptOrigin, answer: &Value) -> HookReply {
    let text = |pointer: &str| answer.pointer(pointer).and_then(Value::as_str);
    let because = |pointer: &str| reason(text(pointer).unwrap_or_default());
    let mut reply = HookReply::default();
    if text("/decision") == Some("block") {
        reply.block = Some((origin.clone(), because("/reason")));
    }
    if answer.get("continue") == Some(&Value::Bool(false)) {
        reply.block = Some((origin.clone(), because("/stopReason")));
    }
    if text("/decision") == Some("approve") && event == HookEvent::PreToolUse {
        reply.permission = Some(HookPermission::Allow);
    }
    let why = || because("/hookSpecificOutput/permissionDecisionReason");
    match text("/hookSpecificOutput/permissionDecision") {
        Some("allow") => reply.permission = Some(HookPermission::Allow),
        Some("ask") => reply.permission = Some(HookPermission::Ask(why())),
        Some("deny") => reply.permission = Some(HookPermission::Deny(why())),
        _ => {}
    }
    match text("/hookSpecificOutput/decision/behavior") {
        Some("allow") => reply.permission = Some(HookPermission::Allow),
        Some("deny") => {
            let why = because("/hookSpecificOutput/decision/message");
            reply.permission = Some(HookPermission::Deny(why));
        }
        _ => {}
    }
    let context = text("/hookSpecificOutput/additionalContext").or(text("/additionalContext"));
    if let Some(context) = context.filter(|context| !context.trim().is_empty()) {
        reply.context.push((origin.clone(), context.to_owned()));
    }
    reply
}

fn reason(text: &str) -> String {
    match text.trim() {
        "" => "it gave no reason".to_owned(),
        reason => reason.to_owned(),
    }
}
