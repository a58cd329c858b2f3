//! User-defined programs that run on session events, with the names and the protocol of Claude
//! Code.
//!
//! A hook reads JSON on standard input. It blocks by exit code 2, with the reason on standard
//! error, or by a JSON answer; `additionalContext` adds text to the prompt. Any other behaviour is
//! reported as a problem and does not stop the session.
//! Invariant: a hook runs only if the user approved exactly this text of its file: see `consent`.
//! Start at `Hooks::run`.

mod answer;
pub mod consent;
mod find;
mod run;

use std::sync::Arc;
use std::time::Duration;

use base::AbsPath;
use regex::Regex;
use serde_json::{Map, Value, json};

use crate::error::Error;
use crate::record::{PromptOrigin, SessionMode};

pub use answer::{HookPermission, HookReply};
pub use find::{HookFile, find};
pub use run::{HookOutput, HookRunner, ProcessHookRunner};

/// Timeout of a hook that sets none.
const PATIENCE: Duration = Duration::from_secs(60);

/// An event on which hooks run, named as in Claude Code's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of Claude Code")]
pub enum HookEvent {
    PreToolUse,
    PostToolUse,
    UserPromptSubmit,
    SessionStart,
    SessionEnd,
    Stop,
    SubagentStop,
    PreCompact,
    Notification,
    PermissionRequest,
}

/// The approved hooks of a session and the runner that executes them.
pub struct Hooks {
    hooks: Vec<Hook>,
    runner: Arc<dyn HookRunner>,
    observer: Option<HookObserver>,
}

/// A run of a hook that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookRun {
    /// The event on which it ran.
    pub event: HookEvent,
    /// The command line.
    pub command: String,
    /// The result in words, such as `succeeded`.
    pub result: String,
}

/// Receives every run of a hook; must not block.
pub type HookObserver = Arc<dyn Fn(&HookRun) + Send + Sync>;

/// One hook: a command line to run on an event, for how long at most, and for which tools.
#[derive(Clone, Debug)]
pub struct Hook {
    event: HookEvent,
    /// Tools the hook applies to; `None` applies to all.
    matcher: Option<Regex>,
    command: String,
    patience: Duration,
}

/// Input common to all hooks.
#[derive(Clone, Debug)]
pub struct HookInput {
    /// The id of the session.
    pub session: Arc<str>,
    /// The folder the session works in.
    pub root: AbsPath,
    /// The mode of the session.
    pub mode: SessionMode,
}

impl HookEvent {
    const ALL: [Self; 10] = [
        Self::PreToolUse,
        Self::PostToolUse,
        Self::UserPromptSubmit,
        Self::SessionStart,
        Self::SessionEnd,
        Self::Stop,
        Self::SubagentStop,
        Self::PreCompact,
        Self::Notification,
        Self::PermissionRequest,
    ];

    /// Returns the event's name in Claude Code's settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::PreToolUse => "PreToolUse",
            Self::PostToolUse => "PostToolUse",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::SessionStart => "SessionStart",
            Self::SessionEnd => "SessionEnd",
            Self::Stop => "Stop",
            Self::SubagentStop => "SubagentStop",
            Self::PreCompact => "PreCompact",
            Self::Notification => "Notification",
            Self::PermissionRequest => "PermissionRequest",
        }
    }

    /// Returns whether plain text output, not only JSON, is added to the prompt.
    fn takes_text(self) -> bool {
        matches!(self, Self::UserPromptSubmit | Self::SessionStart)
    }
}

/// Parses the `hooks` object in the text of a settings file. Returns the hooks in order and a
/// sentence for each entry that was skipped. A text that is not JSON yields one sentence; a text
/// without a `hooks` object yields neither hooks nor sentences.
pub fn parse(text: &str) -> (Vec<Hook>, Vec<String>) {
    let mut problems = Vec::new();
    let settings: Value = match serde_json::from_str(text) {
        Ok(settings) => settings,
        Err(error) => {
            return (
                Vec::new(),
                vec![format!("the hooks cannot be read: {error}")],
            );
        }
    };
    let mut hooks = Vec::new();
    let events = settings.get("hooks").and_then(Value::as_object);
    for (name, groups) in events.into_iter().flatten() {
        let Some(event) = HookEvent::ALL
            .into_iter()
            .find(|event| event.name() == name)
        else {
            problems.push(format!("there is no hook event {name}; it is left out"));
            continue;
        };
        for group in groups.as_array().into_iter().flatten() {
            match matcher(group) {
                Ok(matcher) => read_group(event, &matcher, group, &mut hooks, &mut problems),
                Err(problem) => problems.push(format!("{name}: {problem}")),
            }
        }
    }
    (hooks, problems)
}

fn read_group(
    event: HookEvent,
    matcher: &Option<Regex>,
    group: &Value,
    hooks: &mut Vec<Hook>,
    problems: &mut Vec<String>,
) {
    let all = group.get("hooks").and_then(Value::as_array);
    for hook in all.into_iter().flatten() {
        let kind = hook
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or("command");
        let command = hook.get("command").and_then(Value::as_str);
        let (Some(command), "command") = (command, kind) else {
            problems.push(format!(
                "{}: a hook of type {kind} without a command is left out; there are only commands",
                event.name()
            ));
            continue;
        };
        let seconds = hook.get("timeout").and_then(Value::as_f64);
        hooks.push(Hook {
            event,
            matcher: matcher.clone(),
            command: command.to_owned(),
            patience: seconds
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
                .unwrap_or(PATIENCE),
        });
    }
}

/// Compiles the `matcher` of a hook group, a regular expression for the whole name. `None`, which
/// matches every name, if it is absent, empty, `*` or not a string. Fails with
/// `Error::InvalidMatcher` for an invalid expression.
fn matcher(group: &Value) -> Result<Option<Regex>, Error> {
    match group.get("matcher").and_then(Value::as_str) {
        None | Some("" | "*") => Ok(None),
        Some(pattern) => Regex::new(&format!("^(?:{pattern})$"))
            .map(Some)
            .map_err(|error| Error::InvalidMatcher {
                pattern: pattern.to_owned(),
                source: Box::new(error),
            }),
    }
}

impl Hooks {
    /// Creates the session's hooks. The caller has checked that the user approves them.
    pub fn new(hooks: Vec<Hook>, runner: Arc<dyn HookRunner>) -> Self {
        Self {
            hooks,
            runner,
            observer: None,
        }
    }

    /// Returns the same hooks, whose runs `observer` receives.
    pub fn observed_by(&self, observer: HookObserver) -> Self {
        Self {
            hooks: self.hooks.clone(),
            runner: self.runner.clone(),
            observer: Some(observer),
        }
    }

    /// Returns whether any hook is registered for an event, for whatever tool.
    pub fn has(&self, event: HookEvent) -> bool {
        self.hooks.iter().any(|hook| hook.event == event)
    }

    /// Runs the hooks of an event whose matcher accepts the tool, all at once, and merges their
    /// replies in the order of the settings. `facts` and the members `more` become the JSON input;
    /// the tool is `more["tool_name"]`. Returns an empty reply if no hook matches. Dropping the
    /// future kills them.
    pub async fn run(
        &self,
        event: HookEvent,
        facts: HookInput,
        more: Map<String, Value>,
    ) -> HookReply {
        let tool = more
            .get("tool_name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let names = [tool.to_owned(), alias(tool).to_owned()];
        let asked: Vec<&Hook> = self
            .hooks
            .iter()
            .filter(|hook| hook.event == event && hook.is_for(&names))
            .collect();
        if asked.is_empty() {
            return HookReply::default();
        }
        let mut input = json!({
            "session_id": facts.session.as_ref(),
            "cwd": facts.root.as_path().to_string_lossy(),
            "hook_event_name": event.name(),
            "permission_mode": match facts.mode {
                SessionMode::Plan | SessionMode::Ask => "plan",
                SessionMode::Build => "default",
            },
        });
        if let Value::Object(members) = &mut input {
            members.extend(more);
            if members.contains_key("tool_name") {
                members.insert("tool_name".to_owned(), names[1].as_str().into());
                members.insert("burin_tool".to_owned(), names[0].as_str().into());
            }
        }
        let input = input.to_string().into_bytes();
        let running = asked.iter().map(|hook| {
            self.runner
                .run(&hook.command, &facts.root, input.clone(), hook.patience)
        });
        let ran = futures::future::join_all(running).await;
        let mut reply = HookReply::default();
        for (hook, ran) in asked.iter().zip(ran) {
            if let Some(observer) = &self.observer {
                observer(&HookRun {
                    event,
                    command: hook.command.clone(),
                    result: answer::describe(&ran),
                });
            }
            let origin = PromptOrigin::Hook {
                command: hook.command.clone(),
            };
            reply.add(answer::read(event, &origin, ran));
        }
        reply
    }
}

impl Hook {
    /// Returns the event on which the hook runs.
    pub fn event(&self) -> HookEvent {
        self.event
    }

    /// Returns the command as written in the settings.
    pub fn command(&self) -> &str {
        &self.command
    }

    /// Returns whether the matcher fits one of `names`, the tool's own name and its alias; true
    /// without a matcher.
    fn is_for(&self, names: &[String]) -> bool {
        let matcher = self.matcher.as_ref();
        matcher.is_none_or(|matcher| names.iter().any(|name| matcher.is_match(name)))
    }
}

/// Maps a tool's name to the one that hooks written for Claude Code match.
fn alias(tool: &str) -> &str {
    match tool {
        "read" => "Read",
        "edit" | "apply_patch" | "rename" | "code_action" => "Edit",
        "write" => "Write",
        "exec_command" | "write_stdin" | "run_tests" => "Bash",
        "glob" | "list" => "Glob",
        "grep" => "Grep",
        "fetch" => "WebFetch",
        "web_search" => "WebSearch",
        "spawn_agent" => "Task",
        "todo" | "plan" | "update_plan" => "TodoWrite",
        other => other,
    }
}

#[cfg(test)]
mod tests;
