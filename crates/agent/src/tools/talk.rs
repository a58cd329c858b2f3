//! `plan`, `ask_user`, `memory`: the session's own notes, and the way to the person.

use std::sync::Arc;

use futures::future::BoxFuture;
use model::{Profile, ToolSpec};
use patch::edit::{Change, FileEdit};
use patch::set::{Found, Texts};
use serde_json::{Value, json};

use crate::ask::Question;
use crate::ground::Ground;
use crate::outcome::Outcome;
use crate::record::{Todo, TodoState};
use crate::tool::{Access, Answer, Call, Scope, Shown, Tool, ToolClass, ToolContext};

use super::arguments::Arguments;
use super::edit::{access, carry_out, stopped};
use super::place::place_below;
use super::read::sentence;
use super::rooms::Room;
use super::{Options, blocking, invalid, of, spec, unexpected};

/// Points that a plan may have.
const POINTS: usize = 100;
/// Where rules for agents are kept in a project.
const MEMORY: &str = "AGENTS.md";
/// Under which heading.
const HEADING: &str = "## Notes";
/// Bytes of one rule.
const RULE: usize = 2000;

/// Keeps the plan.
pub(super) struct Plan;

/// Asks the person.
pub(super) struct AskUser;

/// Keeps a rule for later sessions.
pub(super) struct Memory {
    options: Arc<Options>,
}

impl Memory {
    pub(super) fn new(options: &Arc<Options>) -> Self {
        Self {
            options: Arc::clone(options),
        }
    }
}

impl Tool for Plan {
    fn name(&self) -> &str {
        "plan"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let description = "Writes down the steps of a longer task, all of them each time, with how far each is. One at a time is `doing`. The person sees it. Not for tasks of one or two steps.";
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

    fn access(&self, call: &Call, _: &ToolContext) -> Result<Access, Answer> {
        todos(call)?;
        Ok(Access {
            writes: vec![Scope::Own("plan".to_owned())],
            title: "write the plan".to_owned(),
            ..Access::default()
        })
    }

    fn run<'a>(&'a self, call: &'a Call, _: &'a ToolContext) -> BoxFuture<'a, Answer> {
        let answer = match todos(call) {
            Ok(todos) => told(todos),
            Err(answer) => answer,
        };
        Box::pin(std::future::ready(answer))
    }
}

fn todos(call: &Call) -> Result<Vec<Todo>, Answer> {
    let arguments = Arguments::of(call)?;
    let Some(value) = arguments.value("todos") else {
        return Err(arguments.missing("todos"));
    };
    let Value::Array(items) = value else {
        return Err(arguments.wrong("todos", "a list of steps", value));
    };
    if items.len() > POINTS {
        return Err(invalid(format!(
            "plan: {} steps are too many; give {POINTS} at most",
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
        Ok(Todo {
            text: text.to_owned(),
            state,
        })
    });
    todos.collect()
}

fn told(todos: Vec<Todo>) -> Answer {
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
    Answer::ok(text).showing(Shown::Plan(todos))
}

impl Tool for AskUser {
    fn name(&self) -> &str {
        "ask_user"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let description = "Asks the person one question and waits for the answer. Only for what you can neither find out nor decide yourself.";
        Some(spec(
            "ask_user",
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

    fn access(&self, call: &Call, _: &ToolContext) -> Result<Access, Answer> {
        let question = question(call)?;
        Ok(Access {
            writes: vec![Scope::Own("person".to_owned())],
            title: format!("ask: {}", question.text),
            ..Access::default()
        })
    }

    fn run<'a>(&'a self, call: &'a Call, context: &'a ToolContext) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let question = match question(call) {
                Ok(question) => question,
                Err(answer) => return answer,
            };
            let mut stop = context.stop.clone();
            let stopped = async {
                if stop.wait_for(|stop| *stop).await.is_err() {
                    // Nobody is left who could stop it this way.
                    std::future::pending::<()>().await;
                }
            };
            tokio::select! {
                biased;
                () = stopped => Answer::new(Outcome::UserAborted, "Stopped by the person before they answered."),
                answer = context.desk.ask(question) => match answer {
                    Some(answer) => Answer::ok(format!("The person answers: {answer}")),
                    None => {
                        let text = "Nobody answers. Decide by yourself, say what you decided, and go on.";
                        Answer::new(Outcome::UserAborted, text)
                    }
                },
            }
        })
    }
}

fn question(call: &Call) -> Result<Question, Answer> {
    let arguments = Arguments::of(call)?;
    // Some models ask several at once; the first is asked.
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
    Ok(Question { text, options })
}

fn label(option: &Value) -> Option<String> {
    let label = option.as_str().or_else(|| option.get("label")?.as_str())?;
    Some(label.to_owned())
}

impl Tool for Memory {
    fn name(&self) -> &str {
        "memory"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let description = "Keeps a rule for later sessions in the project's AGENTS.md, for example how its tests are run. Only what will still be true, and what the person wants kept.";
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

    fn access(&self, call: &Call, context: &ToolContext) -> Result<Access, Answer> {
        let rule = rule(call)?;
        let edit = FileEdit {
            path: MEMORY.to_owned(),
            change: Change::Overwrite {
                text: String::new(),
            },
        };
        let mut access = access(context, "remember in", &[edit])?;
        access.title = format!("remember: {rule}");
        Ok(access)
    }

    fn run<'a>(&'a self, call: &'a Call, context: &'a ToolContext) -> BoxFuture<'a, Answer> {
        let rule = match rule(call) {
            Ok(rule) => rule,
            Err(answer) => return Box::pin(std::future::ready(answer)),
        };
        if *context.stop.borrow() {
            return Box::pin(std::future::ready(stopped()));
        }
        let (context, room) = (context.clone(), self.options.rooms.of(context));
        blocking(move || match remembered(&context, &room, &rule) {
            Ok(None) => Answer::ok("That rule is kept already."),
            Ok(Some(edit)) => carry_out(&context, &room, vec![edit]),
            Err(answer) => answer,
        })
    }
}

fn rule(call: &Call) -> Result<String, Answer> {
    let arguments = Arguments::of(call)?;
    let rule = arguments.needed("rule")?;
    let words: Vec<&str> = rule.split_whitespace().collect();
    let rule = words.join(" ");
    match rule.len() {
        0 => Err(invalid("memory: `rule` is empty; write what is to be kept")),
        length if length > RULE => Err(invalid(format!(
            "memory: the rule has {length} bytes; {RULE} at most, so say it shorter"
        ))),
        _ => Ok(rule),
    }
}

/// The file with the rule added; `None` where it has it.
fn remembered(context: &ToolContext, room: &Room, rule: &str) -> Result<Option<FileEdit>, Answer> {
    let place = place_below(context, MEMORY)?;
    let files = context.sources.files.as_ref();
    let ground = Ground::new(files, &context.root).map_err(|error| unexpected(sentence(&error)))?;
    let old = match ground.find(&place.shown) {
        Found::Text(text) => text.into_owned(),
        Found::Missing => String::new(),
        Found::Refused(reason) => return Err(unexpected(sentence(&reason))),
    };
    // It was read this very moment, whatever the session knew of it before.
    room.wrote(&place.path, &old);
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
        path: place.shown,
        change: Change::Overwrite { text },
    }))
}
