//! `spawn_agent`: a subagent with its own session; its last answer is the result of the call.
//!
//! The child has its own records, works below the same root with the same locks and rules, and
//! requests models as a subagent. Stopping the call stops the child.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;
use model::{Cost, Profile, ToolInput, ToolSpec};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};

use crate::budget::SessionBudget;
use crate::engine::inbox::{Children, EventSender};
use crate::engine::session::LateResult;
use crate::engine::{self, Parentage, SessionChannels, SessionOptions};
use crate::locks::Locks;
use crate::outcome::{CallOutcome, Detail};
use crate::record::{Parent, PromptOrigin, SessionMode, SessionRecord, StoredContent, TurnEnd};
use crate::session::{AgentEvent, SessionCommand, UserPrompt};
use crate::tool::{CallInput, Tool, ToolAccess, ToolCall, ToolClass, ToolContext, ToolResult};

/// The name of the tool.
pub const SPAWN_AGENT: &str = "spawn_agent";

/// The tool that starts subagents for one session. Results of background subagents arrive later, at
/// the session's task.
pub struct SpawnAgentTool {
    start: SessionOptions,
    session: Arc<str>,
    events: EventSender,
    children: Children,
    locks: Locks,
    budget: Arc<SessionBudget>,
    late: mpsc::Sender<LateResult>,
    now: Mutex<InheritedSettings>,
}

/// Settings that new children inherit from the session.
#[derive(Clone, Debug)]
struct InheritedSettings {
    model: String,
    mode: SessionMode,
}

/// The parsed arguments of a call.
struct SubagentRequest {
    task: String,
    model: Option<String>,
    tools: Option<Vec<String>>,
    budget: Option<Cost>,
    is_background: bool,
}

/// The result of a child.
struct SubagentResult {
    text: String,
    end: TurnEnd,
}

impl SpawnAgentTool {
    /// Creates the tool of the session `session`. Subagents inherit `start`, except for the model
    /// and mode, which `set` updates; they share the locks and the budget. `late` receives the
    /// results of background subagents.
    pub(crate) fn new(
        start: SessionOptions,
        session: Arc<str>,
        events: EventSender,
        children: Children,
        (locks, budget): (Locks, Arc<SessionBudget>),
        late: mpsc::Sender<LateResult>,
    ) -> Self {
        let now = InheritedSettings {
            model: start.model.clone(),
            mode: start.mode,
        };
        Self {
            start,
            session,
            events,
            children,
            locks,
            budget,
            late,
            now: Mutex::new(now),
        }
    }

    /// Sets the model and mode for children started from now on.
    pub(crate) fn set(&self, model: &str, mode: SessionMode) {
        let mut now = self.now();
        model.clone_into(&mut now.model);
        now.mode = mode;
    }

    fn now(&self) -> MutexGuard<'_, InheritedSettings> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self, call: &ToolCall, request: &SubagentRequest) -> SessionChannels {
        let now = self.now().clone();
        let depth = self.start.parent.as_ref().map_or(0, |it| it.depth);
        engine::start(SessionOptions {
            model: request.model.clone().unwrap_or(now.model),
            // A session that may not change anything starts only agents that may not either.
            mode: match now.mode {
                SessionMode::Build => SessionMode::Build,
                SessionMode::Plan | SessionMode::Ask => SessionMode::Ask,
            },
            budget: request.budget.into(),
            parent: Some(Parentage {
                parent: Parent {
                    session: self.session.as_ref().to_owned(),
                    call: call.id.clone(),
                },
                locks: self.locks.clone(),
                budget: self.budget.clone(),
                depth: depth + 1,
                tools: request.tools.clone(),
            }),
            ..self.start.clone()
        })
    }
}

impl Tool for SpawnAgentTool {
    fn name(&self) -> &str {
        SPAWN_AGENT
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        Some(spec(profile))
    }

    fn class(&self) -> ToolClass {
        ToolClass::Delegate
    }

    fn access(&self, call: &ToolCall, _context: &ToolContext) -> Result<ToolAccess, ToolResult> {
        let request = SubagentRequest::read(call)?;
        Ok(ToolAccess {
            title: format!("agent: {}", crate::store::title(&request.task)),
            ..ToolAccess::default()
        })
    }

    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        _access: &'a ToolAccess,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult> {
        async move {
            let request = match SubagentRequest::read(call) {
                Ok(request) => request,
                Err(answer) => return answer,
            };
            let opened = self.open(call, &request);
            let id = opened.id.clone();
            self.children.add(&id, opened.commands.clone());
            let watch = SubagentHandle {
                session: id.clone(),
                commands: opened.commands,
                events: self.events.clone(),
                children: self.children.clone(),
                progress: (!request.is_background).then(|| context.progress.clone()),
            };
            let stop = context.stop.clone();
            if request.is_background {
                tokio::spawn(report(watch, opened.events, request.task, stop, self.late.clone()));
                return ToolResult::ok(format!(
                    "Agent {id} works in the background. Its answer comes by itself when it is done."
                ));
            }
            answer(watch.follow(opened.events, request.task, stop).await)
        }
        .boxed()
    }
}

/// Follows a background child and sends its answer to the session when it ends.
async fn report(
    watch: SubagentHandle,
    events: mpsc::Receiver<AgentEvent>,
    task: String,
    stop: watch::Receiver<bool>,
    late: mpsc::Sender<LateResult>,
) {
    let (id, children) = (watch.session.clone(), watch.children.clone());
    let answer = answer(watch.follow(events, task, stop).await);
    let text = format!("Agent {id} in the background has ended:\n{}", answer.text());
    // A session that has ended needs no answer.
    late.send((PromptOrigin::Harness, text)).await.ok();
    children.remove(&id);
}

/// Supervises a child. Dropping it drops the child's command channel, so that the child stops and
/// ends.
struct SubagentHandle {
    session: Arc<str>,
    commands: mpsc::Sender<SessionCommand>,
    events: EventSender,
    children: Children,
    progress: Option<mpsc::Sender<String>>,
}

impl Drop for SubagentHandle {
    fn drop(&mut self) {
        // A background child is counted until its answer was delivered.
        if self.progress.is_some() {
            self.children.remove(&self.session);
        }
    }
}

impl SubagentHandle {
    async fn follow(
        self,
        mut events: mpsc::Receiver<AgentEvent>,
        task: String,
        mut stop: watch::Receiver<bool>,
    ) -> SubagentResult {
        let prompt = UserPrompt {
            text: task,
            images: Vec::new(),
        };
        let mut result = SubagentResult {
            text: String::new(),
            end: TurnEnd::Interrupted,
        };
        if self
            .commands
            .send(SessionCommand::Prompt(prompt))
            .await
            .is_err()
        {
            return result;
        }
        let mut is_stopped = false;
        loop {
            // An error means that the turn is gone, which stops the child as well.
            let stopped = async { drop(stop.wait_for(|stop| *stop).await) };
            let event = tokio::select! {
                event = events.recv() => event,
                () = stopped, if !is_stopped => {
                    is_stopped = true;
                    // A child that has ended meanwhile needs no stop.
                    self.commands.send(SessionCommand::Stop).await.ok();
                    continue;
                }
            };
            let Some(event) = event else {
                break;
            };
            if !(self.pass_on(event, &mut result).await) {
                break;
            }
        }
        self.commands.send(SessionCommand::Close).await.ok();
        // The child's last records are still in the channel.
        while let Some(event) = events.recv().await {
            if matches!(event, AgentEvent::Closed) {
                break;
            }
        }
        result
    }

    /// Forwards an event of the child. Returns whether the child continues.
    async fn pass_on(&self, event: AgentEvent, result: &mut SubagentResult) -> bool {
        if let AgentEvent::Recorded(stored) = &event {
            match &stored.record {
                SessionRecord::Answered { parts, .. } => {
                    let texts = parts.iter().filter_map(|part| match &part.content {
                        StoredContent::Text { text } => Some(text.as_str()),
                        _ => None,
                    });
                    result.text = texts.collect();
                }
                SessionRecord::CallBegan { title, .. } => {
                    if let Some(progress) = &self.progress {
                        progress.try_send(format!("{title}\n")).ok();
                    }
                }
                _ => {}
            }
        }
        let end = match &event {
            AgentEvent::Idle(end) => Some(end.clone()),
            AgentEvent::Closed => return false,
            _ => None,
        };
        let must_come = matches!(
            event,
            AgentEvent::Recorded(_)
                | AgentEvent::Asking { .. }
                | AgentEvent::Idle(_)
                | AgentEvent::Child { .. }
        );
        let event = AgentEvent::Child {
            session: self.session.clone(),
            event: Box::new(event),
        };
        if must_come {
            self.events.send(event).await
        } else {
            self.events.send_lossy(event)
        }
        match end {
            Some(end) => {
                result.end = end;
                false
            }
            None => true,
        }
    }
}

fn answer(result: SubagentResult) -> ToolResult {
    let said = match result.text.trim() {
        "" => "It returned no text.",
        said => said,
    };
    let so_far = format!("Its last answer:\n{said}");
    match result.end {
        TurnEnd::Done => ToolResult::ok(said),
        TurnEnd::Stopped => ToolResult::new(
            CallOutcome::UserAborted,
            format!("The agent was stopped. {so_far}"),
        ),
        TurnEnd::Refused => ToolResult::new(
            CallOutcome::ProviderError,
            format!("The agent's model refused. Put the task in other words, or do it yourself. {so_far}"),
        )
        .with_detail(Detail::ContentFiltered),
        TurnEnd::Looped { what } => ToolResult::new(
            CallOutcome::UnexpectedEnvironment,
            format!("The agent repeated itself: {what}. Give the next one a smaller task, or do it yourself. {so_far}"),
        ),
        TurnEnd::OutOfBudget { what } => ToolResult::new(
            CallOutcome::ProviderError,
            format!("The agent's budget is spent: {what}. Go on with what it found. {so_far}"),
        )
        .with_detail(Detail::QuotaExhausted),
        TurnEnd::Failed { what, .. } => ToolResult::new(
            CallOutcome::ProviderError,
            format!("The agent's model failed: {what}. Try again, name another `model`, or do it yourself. {so_far}"),
        ),
        TurnEnd::Interrupted => ToolResult::new(
            CallOutcome::UnexpectedEnvironment,
            format!("The agent ended before its turn did. Check the state before you continue. {so_far}"),
        ),
    }
}

impl SubagentRequest {
    /// Parses the arguments of a call. Fails with the result of the call if the input is not JSON,
    /// `task` is missing or blank, or `budget`, in US dollars, is not positive. Optional arguments
    /// of other types count as absent.
    fn read(call: &ToolCall) -> Result<Self, ToolResult> {
        let wrong = |what: &str| ToolResult::new(CallOutcome::InvalidArguments, what);
        let CallInput::Json(input) = &call.input else {
            return Err(wrong("Give spawn_agent an object with a `task`."));
        };
        let text = |name: &str| input.get(name).and_then(Value::as_str).map(str::to_owned);
        let task = text("task").filter(|task| !task.trim().is_empty());
        let task = task.ok_or_else(|| wrong("`task` is empty: write the task of the agent."))?;
        let tools = input.get("tools").and_then(Value::as_array);
        let names = |tools: &Vec<Value>| {
            let names = tools.iter().filter_map(Value::as_str);
            names.map(str::to_owned).collect()
        };
        let budget = input.get("budget").and_then(Value::as_f64);
        if budget.is_some_and(|dollars| dollars <= 0.0) {
            return Err(wrong("`budget` is US dollars and must be more than 0."));
        }
        Ok(Self {
            task,
            model: text("model").filter(|model| !model.is_empty()),
            tools: tools.map(names),
            budget: budget.map(|dollars| Cost((dollars * 1e9) as u64)),
            is_background: input.get("background") == Some(&Value::Bool(true)),
        })
    }
}

/// Returns the tool's specification for a model of this profile, under the name `spawn_agent` or
/// `Agent`.
pub(crate) fn spec(profile: &Profile) -> ToolSpec {
    let name = match profile.tool_names {
        model::ToolNames::Snake => SPAWN_AGENT,
        model::ToolNames::Pascal => "Agent",
    };
    ToolSpec {
        name: name.to_owned(),
        description: "Hands a part of the work to another agent, which starts with nothing but the task you write and \
                      answers once. Use it for searches whose details you do not need, and for parts that do not \
                      depend on each other: several calls in one message work side by side. Write down all it has to \
                      know, and what it is to answer."
            .to_owned(),
        input: ToolInput::Json(schema()),
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "task": { "type": "string", "description": "Everything that the agent needs to know, and the answer that you expect." },
            "model": { "type": "string", "description": "provider/model, or auto; yours without it." },
            "tools": {
                "type": "array",
                "items": { "type": "string" },
                "description": "The only tools it may use; all if omitted.",
            },
            "budget": { "type": "number", "description": "The maximum cost, in US dollars." },
            "background": {
                "type": "boolean",
                "description": "Return at once; its answer arrives later.",
            },
        },
        "required": ["task"],
        "additionalProperties": false,
    })
}

#[cfg(test)]
pub(crate) mod error_cases;
