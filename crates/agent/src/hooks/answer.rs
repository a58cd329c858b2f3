//! What a hook's answer means.

use serde_json::Value;

use super::HookEvent;
use super::run::Ran;
use crate::record::Origin;

/// What hooks said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HookTold {
    /// Who blocks, and why.
    pub block: Option<(Origin, String)>,
    /// What is to join the prompt.
    pub context: Vec<(Origin, String)>,
    /// What is to become of a call.
    pub leave: Option<LeaveWord>,
    /// What was wrong with them, in sentences.
    pub problems: Vec<String>,
}

/// A hook's word about a call, the strictest last.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeaveWord {
    /// It runs without asking.
    Allow,
    /// The person is asked.
    Ask(String),
    /// It does not run.
    Deny(String),
}

impl HookTold {
    /// Adds what another hook said: the first to block blocks, the strictest word holds.
    pub(super) fn add(&mut self, other: Self) {
        self.block = self.block.take().or(other.block);
        self.context.extend(other.context);
        self.leave = self.leave.take().max(other.leave);
        self.problems.extend(other.problems);
    }
}

pub(super) fn read(event: HookEvent, origin: &Origin, ran: Result<Ran, String>) -> HookTold {
    let name = match origin {
        Origin::Hook { command } => command.as_str(),
        _ => "",
    };
    let problem = |what: String| HookTold {
        problems: vec![format!("the {} hook `{name}` {what}", event.name())],
        ..HookTold::default()
    };
    let ran = match ran {
        Ok(ran) => ran,
        Err(what) => return problem(what),
    };
    match ran.code {
        Some(0) => said(event, origin, ran.output.trim(), &problem),
        Some(2) => HookTold {
            block: Some((origin.clone(), reason(&ran.errors))),
            ..HookTold::default()
        },
        Some(code) => problem(format!("ended with code {code}: {}", ran.errors.trim())),
        None => problem("did not end in time and was ended".to_owned()),
    }
}

fn said(
    event: HookEvent,
    origin: &Origin,
    output: &str,
    problem: &dyn Fn(String) -> HookTold,
) -> HookTold {
    if !output.starts_with('{') {
        let mut told = HookTold::default();
        if event.takes_text() && !output.is_empty() {
            told.context.push((origin.clone(), output.to_owned()));
        }
        return told;
    }
    match serde_json::from_str(output) {
        Ok(answer) => understood(event, origin, &answer),
        Err(error) => problem(format!("answered JSON that cannot be read: {error}")),
    }
}

fn understood(event: HookEvent, origin: &Origin, answer: &Value) -> HookTold {
    let text = |pointer: &str| answer.pointer(pointer).and_then(Value::as_str);
    let because = |pointer: &str| reason(text(pointer).unwrap_or_default());
    let mut told = HookTold::default();
    if text("/decision") == Some("block") {
        told.block = Some((origin.clone(), because("/reason")));
    }
    if answer.get("continue") == Some(&Value::Bool(false)) {
        told.block = Some((origin.clone(), because("/stopReason")));
    }
    if text("/decision") == Some("approve") && event == HookEvent::PreToolUse {
        told.leave = Some(LeaveWord::Allow);
    }
    let why = || because("/hookSpecificOutput/permissionDecisionReason");
    match text("/hookSpecificOutput/permissionDecision") {
        Some("allow") => told.leave = Some(LeaveWord::Allow),
        Some("ask") => told.leave = Some(LeaveWord::Ask(why())),
        Some("deny") => told.leave = Some(LeaveWord::Deny(why())),
        _ => {}
    }
    match text("/hookSpecificOutput/decision/behavior") {
        Some("allow") => told.leave = Some(LeaveWord::Allow),
        Some("deny") => {
            let why = because("/hookSpecificOutput/decision/message");
            told.leave = Some(LeaveWord::Deny(why));
        }
        _ => {}
    }
    let context = text("/hookSpecificOutput/additionalContext").or(text("/additionalContext"));
    if let Some(context) = context.filter(|context| !context.trim().is_empty()) {
        told.context.push((origin.clone(), context.to_owned()));
    }
    told
}

fn reason(text: &str) -> String {
    match text.trim() {
        "" => "it gave no reason".to_owned(),
        reason => reason.to_owned(),
    }
}
