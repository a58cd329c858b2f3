//! Who may do what: the border to the rules, and the modes that stand above every rule.
//!
//! Start at `Judge`; the rules themselves are elsewhere.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use base::{LineFeeds, printable};
use serde_json::Value;

use crate::ask::Decision;
use crate::record::Mode;
use crate::tool::{Access, Call, Scope, Tool, ToolClass};

/// The folder of plans, below the root.
pub const PLANS: &str = ".burin/plans";

/// What is to become of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It runs.
    Allow,
    /// The person is asked.
    Ask {
        /// Why, for the person.
        reason: String,
    },
    /// It does not run.
    Deny {
        /// Why, for the model.
        reason: String,
    },
}

/// Judges calls.
pub trait Judge: Send + Sync {
    /// What is to become of a call. Pure in what it was told and taught so far.
    fn judge(&self, tool: &dyn Tool, call: &Call, access: &Access, mode: Mode) -> Verdict;

    /// The rules that a decision about a call would keep, if it is for more than once; empty where it can only be for
    /// once.
    fn rules(&self, _tool: &dyn Tool, _access: &Access) -> Vec<String> {
        Vec::new()
    }

    /// The person decided about a call: judge the like of it alike from now on, for this session or for good. Fails
    /// with a sentence where that cannot be kept.
    fn learn(
        &self,
        tool: &dyn Tool,
        call: &Call,
        access: &Access,
        decision: &Decision,
    ) -> Result<(), String>;
}

/// Asks about whatever changes something or leaves the machine, once for each command, host or set of files where
/// the person says so.
#[derive(Debug, Default)]
pub struct AskFirst {
    allowed: Mutex<HashSet<String>>,
}

impl Judge for AskFirst {
    fn judge(&self, tool: &dyn Tool, _call: &Call, access: &Access, _mode: Mode) -> Verdict {
        let reason = match tool.class() {
            ToolClass::Read | ToolClass::Interact | ToolClass::Delegate => return Verdict::Allow,
            ToolClass::Edit => "it changes files",
            ToolClass::Execute => "it runs a program, without a sandbox",
            ToolClass::Network => "it reaches out to other machines",
            ToolClass::Foreign => "it comes from outside",
        };
        let allowed = self.allowed.lock().unwrap_or_else(PoisonError::into_inner);
        match allowed.contains(&like(tool, access)) {
            true => Verdict::Allow,
            false => Verdict::Ask {
                reason: reason.to_owned(),
            },
        }
    }

    fn learn(
        &self,
        tool: &dyn Tool,
        _call: &Call,
        access: &Access,
        decision: &Decision,
    ) -> Result<(), String> {
        let mut allowed = self.allowed.lock().unwrap_or_else(PoisonError::into_inner);
        match decision {
            Decision::Session => {
                allowed.insert(like(tool, access));
                Ok(())
            }
            Decision::Always | Decision::Everywhere => {
                allowed.insert(like(tool, access));
                Err("there are no rules to keep it in: it holds for this session".to_owned())
            }
            Decision::Once | Decision::Refuse { .. } => Ok(()),
        }
    }
}

/// Returns everything that a person decides on with a call, over several lines: the whole command, and every
/// argument with its whole value. The text is foreign: pass it through `base::printable` to show it.
pub fn details(call: &Call, access: &Access) -> String {
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

/// The arguments of a call, each behind a line feed: `name: value`.
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

/// Appends `name: value`; a value of several lines stands indented below its name.
fn push_argument(text: &mut String, name: &str, value: &Value) {
    let name = printable(name, LineFeeds::Escape);
    let value = match value {
        Value::String(value) => Cow::Borrowed(value.as_str()),
        value => Cow::Owned(format!("{value:#}")),
    };
    text.push_str(&format!("\n{name}:"));
    match value.contains('\n') {
        true => value
            .split('\n')
            .for_each(|line| text.push_str(&format!("\n  {line}"))),
        false => text.push_str(&format!(" {value}")),
    }
}

/// What calls have in common that one decision is for.
fn like(tool: &dyn Tool, access: &Access) -> String {
    let what = access.command.as_deref().or(access.host.as_deref());
    format!("{}\n{}", tool.name(), what.unwrap_or_default())
}

/// Why a mode forbids a call, for the model; `None` where it does not. No rule can allow what a mode forbids.
pub fn forbids(mode: Mode, tool: &dyn Tool, access: &Access) -> Option<String> {
    let is_harmless = matches!(
        tool.class(),
        ToolClass::Read | ToolClass::Interact | ToolClass::Delegate
    );
    match mode {
        Mode::Build => None,
        _ if is_harmless => None,
        Mode::Ask => Some(format!(
            "nothing is changed in this mode: {} is not available. Answer with what you can read, and say what you \
             would do",
            tool.name()
        )),
        Mode::Plan if tool.class() == ToolClass::Edit && is_plan(access) => None,
        Mode::Plan => Some(format!(
            "this is plan mode: only reading is possible, and writing the plan to a file in {PLANS}/. {} is not \
             available; put what you would do into the plan",
            tool.name()
        )),
    }
}

/// Whether nothing is written but plans.
fn is_plan(access: &Access) -> bool {
    let mut writes = access.writes.iter();
    let is_in_plans = |path: &str| {
        let name = path
            .strip_prefix(PLANS)
            .and_then(|rest| rest.strip_prefix('/'));
        name.is_some_and(|name| name.ends_with(".md") && !name.split('/').any(|step| step == ".."))
    };
    !access.writes.is_empty()
        && writes.all(|scope| match scope {
            Scope::Path(path) => is_in_plans(path),
            Scope::Own(_) => true,
            Scope::Tree(_) => false,
        })
}

/// What a model is told where a mode begins; `None` where there is nothing to say.
pub fn mode_note(mode: Mode, before: Option<Mode>) -> Option<String> {
    match mode {
        Mode::Build if before.is_none() => None,
        Mode::Build => Some("From now on you may change files and run commands.".to_owned()),
        Mode::Ask => Some(
            "This is ask mode: answer questions about the project. Nothing may be changed and no command run."
                .to_owned(),
        ),
        Mode::Plan => Some(format!(
            "This is plan mode: look at the project, then write a plan to {PLANS}/<a-short-title>.md. Say what is to \
             be done in which files, in an order in which each step can be checked, and what is still open. Nothing \
             else may be changed and no command run. The person edits the plan, and another model may build from it, \
             so it must stand on its own."
        )),
    }
}

/// The prompt that has a plan built.
pub fn build_prompt(plan: &str) -> String {
    format!(
        "Build the plan in @{plan}. Read it first; go step by step, and check each step before the next. Where the \
         plan does not fit what you find, say so and do what it means."
    )
}

#[cfg(test)]
mod tests;
