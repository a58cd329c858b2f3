//! `plan`, `ask_user`, `memory`: the session's plan, questions to the user, and project notes.

use std::sync::Arc;

use futures::future::BoxFuture;
use model::{Profile, ToolSpec};
use patch::edit::{FileEdit, PatchOperation};
use patch::set::{FileLookup, TextSource};
use serde_json::{Value, json};

use crate::error::sentence;
use crate::outcome::CallOutcome;
use crate::record::{TodoItem, TodoState};
use crate::tool::{
    LockScope, Tool, ToolAccess, ToolCall, ToolClass, ToolContext, ToolDisplay, ToolResult,
};
use crate::tool_names::ASK_USER;
use crate::user_prompts::UserQuestion;

use super::arguments::CallArguments;
use super::edit::{BeneathFiles, access, apply, stopped};
use super::state::ToolState;
use super::{ToolOptions, blocking, invalid, of, spec, unexpected};

/// Maximum number of steps in a plan.
const POINTS: usize = 100;
/// The file with the project's rules for agents.
const MEMORY: &str = "AGENTS.md";
/// The heading of the section with saved rules.
const HEADING: &str = "## Notes";
/// Maximum length of a rule, in bytes.
const RULE: usize = 2000;

/// The tool that maintains the plan.
pub(super) struct PlanTool;

/// The tool that asks the user a question.
pub(super) struct AskUserTool;

/// The tool that saves a rule for later sessions.
pub(super) struct MemoryTool {
    pub(super) options: Arc<ToolOptions>,
}

impl Tool for PlanTool {
    fn name(&self) -> &str {
        "plan"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let description = "Records the steps of a longer task and their progress; pass all steps each time. At most one step is `doing`. The user sees the plan. Not for tasks of one or two steps.";
        let todos = json!({
            "type": "array",
            "description": "All steps in order",
            "items": {
                "type": "object",
                "properties": {
                    "text": of("string", "What is to be done"),
                    "state": { "type": "string", "enum": ["open", "doing", "done", "dropped"] },
                },
                "required": ["text", "state"],
                "additionalProperties": false,
            },
        });
        Some(spec("plan", profile, description, 1, &[("todos", todos)]))
    }

    fn class(&self) -> ToolClass {
        ToolClass::Interact
    }

    fn access(&self, call: &ToolCall, _: &ToolContext) -> Result<ToolAccess, ToolResult> {
        todos(call)?;
        Ok(ToolAccess {
            writes: vec![LockScope::Own("plan".to_owned())],
            title: "write the plan".to_owned(),
            ..ToolAccess::default()
        })
    }

    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        _access: &'a ToolAccess,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult> {
        let answer = match todos(call) {
            Ok(todos) => plan_summary(todos),
            Err(answer) => answer,
        };
        Box::pin(std::future::ready(answer))
    }
}

/// Parses the steps of a plan, each a string or an object. Fails with the result of the call if
/// they are not a list, are more than `POINTS`, or one has no text or an unknown state.
fn todos(call: &ToolCall) -> Result<Vec<TodoItem>, ToolResult> {
    let arguments = CallArguments::of(call)?;
    let Some(value) = arguments.value("todos") else {
        return Err(arguments.missing("todos"));
    };
    let Value::Array(items) = value else {
        return Err(arguments.wrong("todos", "a list of steps", value));
    };
    if items.len() > POINTS {
        return Err(invalid(format!(
            "plan: {} steps are too many; give at most {POINTS}",
            items.len()
        )));
    }
    let todos = items.iter().zip(1..).map(|(item, number)| {
        let word = |names: &[&str]| names.iter().find_map(|name| item.get(*name)?.as_str());
        let text = item.as_str().or_else(|| word(&["text", "content", "step", "description", "title"]));
        let text = text.map(str::trim).filter(|text| !text.is_empty());
        let Some(text) = text else {
            return Err(invalid(format!("plan: step {number} has no `text`; give each step one")));
        };
        let state = match word(&["state", "status"]).unwrap_or("open") {
            "open" | "pending" | "todo" | "not_started" => TodoState::Open,
            "doing" | "in_progress" | "active" => TodoState::Doing,
            "done" | "completed" | "complete" => TodoState::Done,
            "dropped" | "cancelled" | "canceled" => TodoState::Dropped,
            other => {
                let text = format!("plan: the state of step {number} must be open, doing, done or dropped, not {other:?}");
                return Err(invalid(text));
            }
        };
        Ok(TodoItem {
            text: text.to_owned(),
            state,
        })
    });
    todos.collect()
}

fn plan_summary(todos: Vec<TodoItem>) -> ToolResult {
    let count = |state: TodoState| todos.iter().filter(|todo| todo.state == state).count();
    let counted = todos.len() - count(TodoState::Dropped);
    let mut text = format!(
        "Written down: {} of {counted} done.",
        count(TodoState::Done)
    );
    let next = todos.iter().find(|todo| todo.state == TodoState::Doing);
    let next = next.or_else(|| todos.iter().find(|todo| todo.state == TodoState::Open));
    if let Some(next) = next {
        text.push_str(&format!(" Next: {}", next.text));
    }
    ToolResult::ok(text).with_display(ToolDisplay::Plan(todos))
}

impl Tool for AskUserTool {
    fn name(&self) -> &str {
        ASK_USER
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let description = "Asks the user one question and waits for the answer. Only for questions that you can neither answer nor decide yourself.";
        Some(spec(
            ASK_USER,
            profile,
            description,
            1,
            &[
                ("question", of("string", "The question")),
                (
                    "options",
                    json!({ "type": "array", "items": { "type": "string" }, "description": "Answers to choose from; others are possible" }),
                ),
            ],
        ))
    }

    fn class(&self) -> ToolClass {
        ToolClass::Interact
    }

    fn access(&self, call: &ToolCall, _: &ToolContext) -> Result<ToolAccess, ToolResult> {
        let question = question(call)?;
        Ok(ToolAccess {
            writes: vec![LockScope::Own("user".to_owned())],
            title: format!("ask: {}", question.text),
            ..ToolAccess::default()
        })
    }

    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        _access: &'a ToolAccess,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            let question = match question(call) {
                Ok(question) => question,
                Err(answer) => return answer,
            };
            let mut stop = context.stop.clone();
            let stopped = async {
                if stop.wait_for(|stop| *stop).await.is_err() {
                    // The sender is gone, so no stop request can come.
                    std::future::pending::<()>().await;
                }
            };
            tokio::select! {
                biased;
                () = stopped => ToolResult::new(CallOutcome::UserAborted, "Stopped by the user before they answered."),
                answer = context.prompts.ask(question) => match answer {
                    Some(answer) => ToolResult::ok(format!("The user answers: {answer}")),
                    None => {
                        let text = "No answer. Decide yourself, say what you decided, and continue.";
                        ToolResult::new(CallOutcome::UserAborted, text)
                    }
                },
            }
        })
    }
}

/// Parses a question, the first one if there are several, with its options. Fails with the result
/// of the call if its text is missing or blank, or the options are not a list.
fn question(call: &ToolCall) -> Result<UserQuestion, ToolResult> {
    let arguments = CallArguments::of(call)?;
    // Some models ask several questions at once; the first one is used.
    let first = arguments
        .value("questions")
        .and_then(|questions| questions.get(0));
    let text = match first.and_then(|first| first.get("question")) {
        Some(Value::String(text)) => text.clone(),
        _ => arguments.needed("question")?.to_owned(),
    };
    if text.trim().is_empty() {
        return Err(invalid(
            "ask_user: `question` is empty; write what you want to know",
        ));
    }
    let options = first
        .and_then(|first| first.get("options"))
        .or_else(|| arguments.value("options"));
    let options = match options {
        None => Vec::new(),
        Some(Value::Array(options)) => options.iter().filter_map(label).collect(),
        Some(other) => return Err(arguments.wrong("options", "a list of strings", other)),
    };
    Ok(UserQuestion { text, options })
}

/// Returns the text of an option: a string, or the `label` of an object; `None` for anything else.
fn label(option: &Value) -> Option<String> {
    let label = option.as_str().or_else(|| option.get("label")?.as_str())?;
    Some(label.to_owned())
}

impl Tool for MemoryTool {
    fn name(&self) -> &str {
        "memory"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let description = "Saves a rule for later sessions in the project's AGENTS.md, for example how to run its tests. Only lasting facts, and rules the user wants saved.";
        Some(spec(
            "memory",
            profile,
            description,
            1,
            &[("rule", of("string", "The rule, in a sentence or two"))],
        ))
    }

    fn class(&self) -> ToolClass {
        ToolClass::Edit
    }

    fn access(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolAccess, ToolResult> {
        let rule = rule(call)?;
        let edit = FileEdit {
            path: MEMORY.to_owned(),
            change: PatchOperation::Overwrite {
                text: String::new(),
            },
        };
        let mut access = access(context, "remember in", vec![edit])?;
        access.title = format!("remember: {rule}");
        // The new text depends on the file as it is when the call runs.
        access.edits = Arc::default();
        Ok(access)
    }

    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        access: &'a ToolAccess,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult> {
        let rule = match rule(call) {
            Ok(rule) => rule,
            Err(answer) => return Box::pin(std::future::ready(answer)),
        };
        if *context.stop.borrow() {
            return Box::pin(std::future::ready(stopped()));
        }
        let (context, state) = (context.clone(), self.options.states.of(context));
        let path = match access.writes.first() {
            Some(LockScope::Path(path)) => path.clone(),
            _ => MEMORY.to_owned(),
        };
        blocking(
            move || match completed_edit(&context, &state, &path, &rule) {
                Ok(None) => ToolResult::ok("That rule is already saved."),
                Ok(Some(edit)) => apply(&context, &state, &[edit]),
                Err(answer) => answer,
            },
        )
    }
}

/// Returns the rule with each run of white space as one space. Fails with the result of the call if
/// it is missing, blank or longer than `RULE` bytes.
fn rule(call: &ToolCall) -> Result<String, ToolResult> {
    let arguments = CallArguments::of(call)?;
    let rule = arguments.needed("rule")?;
    let words: Vec<&str> = rule.split_whitespace().collect();
    let rule = words.join(" ");
    match rule.len() {
        0 => Err(invalid("memory: `rule` is empty; write what is to be kept")),
        length if length > RULE => Err(invalid(format!(
            "memory: the rule has {length} bytes; {RULE} at most, so make it shorter"
        ))),
        _ => Ok(rule),
    }
}

/// Builds the edit that adds the rule to the file at `path`; `None` if the file contains it.
fn completed_edit(
    context: &ToolContext,
    state: &ToolState,
    path: &str,
    rule: &str,
) -> Result<Option<FileEdit>, ToolResult> {
    let files = BeneathFiles::of(context);
    let root = files.edit_root(context)?;
    let old = match root.find(path) {
        FileLookup::Text(text) => text.into_owned(),
        FileLookup::Missing => String::new(),
        FileLookup::Refused(reason) => return Err(unexpected(sentence(&reason))),
    };
    // The file was just read here, whatever the session's read mark says.
    state.wrote(&context.root.join(path), &old);
    let line = format!("- {rule}");
    if old.lines().any(|old| old.trim_end() == line) {
        return Ok(None);
    }
    let text = match old.find(HEADING) {
        // At the end of the section, before the next heading.
        Some(at) => {
            let body = at + HEADING.len();
            let end = old[body..]
                .find("\n## ")
                .map_or(old.len(), |next| body + next);
            let (before, behind) = old.split_at(end);
            let behind = behind.trim_start_matches('\n');
            let gap = if behind.is_empty() { "" } else { "\n" };
            format!("{}\n{line}\n{gap}{behind}", before.trim_end())
        }
        None if old.trim().is_empty() => format!("{HEADING}\n\n{line}\n"),
        None => format!("{}\n\n{HEADING}\n\n{line}\n", old.trim_end()),
    };
    Ok(Some(FileEdit {
        path: path.to_owned(),
        change: PatchOperation::Overwrite { text },
    }))
}
