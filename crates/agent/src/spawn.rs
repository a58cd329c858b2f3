//! `spawn_agent`: a session of its own for a part of the work; its last answer is the call's result.
//!
//! The child has its own records, works below the same root under the same locks and rules, and asks for models as
//! a subagent. Stopping the call stops the child.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;
use model::{Cost, Profile, ToolInput, ToolSpec};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};

use crate::engine::inbox::{Children, Events};
use crate::engine::session::Late;
use crate::engine::{self, Opened, Parentage, Start};
use crate::locks::Locks;
use crate::outcome::{Detail, Outcome};
use crate::purse::Purse;
use crate::record::{Mode, Origin, Parent, Record, StoredContent, TurnEnd};
use crate::session::{Command, Event, Prompt};
use crate::tool::{Access, Answer, Call, Input, Tool, ToolClass, ToolContext};

/// The tool's name.
pub const SPAWN_AGENT: &str = "spawn_agent";

/// Starts subagents for one session.
pub struct SpawnAgent {
    start: Start,
    session: Arc<str>,
    events: Events,
    children: Children,
    locks: Locks,
    purse: Arc<Purse>,
    late: mpsc::Sender<Late>,
    now: Mutex<Now>,
}

/// What a session hands down to its children at the moment.
#[derive(Clone, Debug)]
struct Now {
    model: String,
    mode: Mode,
}

/// What a call wants.
struct Wanted {
    task: String,
    model: Option<String>,
    tools: Option<Vec<String>>,
    budget: Option<Cost>,
    is_background: bool,
}

/// What became of a child.
struct Came {
    text: String,
    end: TurnEnd,
}

impl SpawnAgent {
    pub(crate) fn new(
        start: Start,
        session: Arc<str>,
        events: Events,
        children: Children,
        (locks, purse): (Locks, Arc<Purse>),
        late: mpsc::Sender<Late>,
    ) -> Self {
        let now = Now {
            model: start.model.clone(),
            mode: start.mode,
        };
        Self {
            start,
            session,
            events,
            children,
            locks,
            purse,
            late,
            now: Mutex::new(now),
        }
    }

    /// Tells what children start with from now on.
    pub(crate) fn set(&self, model: &str, mode: Mode) {
        let mut now = self.now();
        model.clone_into(&mut now.model);
        now.mode = mode;
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self, call: &Call, wanted: &Wanted) -> Opened {
        let now = self.now().clone();
        let depth = self.start.parent.as_ref().map_or(0, |it| it.depth);
        engine::start(Start {
            model: wanted.model.clone().unwrap_or(now.model),
            // Who only looks sends out only who looks.
            mode: match now.mode {
                Mode::Build => Mode::Build,
                Mode::Plan | Mode::Ask => Mode::Ask,
            },
            budget: wanted.budget,
            parent: Some(Parentage {
                parent: Parent {
                    session: self.session.as_ref().to_owned(),
                    call: call.id.clone(),
                },
                locks: self.locks.clone(),
                purse: self.purse.clone(),
                depth: depth + 1,
                tools: wanted.tools.clone(),
            }),
            ..self.start.clone()
        })
    }
}

impl Tool for SpawnAgent {
    fn name(&self) -> &str {
        SPAWN_AGENT
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        Some(spec(profile))
    }

    fn class(&self) -> ToolClass {
        ToolClass::Delegate
    }

    fn access(&self, call: &Call, _context: &ToolContext) -> Result<Access, Answer> {
        let wanted = Wanted::read(call)?;
        Ok(Access {
            title: format!("agent: {}", crate::store::title(&wanted.task)),
            ..Access::default()
        })
    }

    fn run<'a>(&'a self, call: &'a Call, context: &'a ToolContext) -> BoxFuture<'a, Answer> {
        async move {
            let wanted = match Wanted::read(call) {
                Ok(wanted) => wanted,
                Err(answer) => return answer,
            };
            let opened = self.open(call, &wanted);
            let id = opened.id.clone();
            self.children.add(&id, opened.commands.clone());
            let watch = Watch {
                session: id.clone(),
                commands: opened.commands,
                events: self.events.clone(),
                children: self.children.clone(),
                progress: (!wanted.is_background).then(|| context.progress.clone()),
            };
            let stop = context.stop.clone();
            if wanted.is_background {
                tokio::spawn(report(watch, opened.events, wanted.task, stop, self.late.clone()));
                return Answer::ok(format!(
                    "Agent {id} works in the background. Its answer comes by itself when it is done."
                ));
            }
            answer(watch.follow(opened.events, wanted.task, stop).await)
        }
        .boxed()
    }
}

/// Follows a child of which nobody waits for the end, and has its answer told when it comes.
async fn report(
    watch: Watch,
    events: mpsc::Receiver<Event>,
    task: String,
    stop: watch::Receiver<bool>,
    late: mpsc::Sender<Late>,
) {
    let (id, children) = (watch.session.clone(), watch.children.clone());
    let answer = answer(watch.follow(events, task, stop).await);
    let text = format!("Agent {id} in the background has ended:\n{}", answer.text());
    // A session that has ended needs no answer any more.
    late.send((Origin::Harness, text)).await.ok();
    children.remove(&id);
}

/// Somebody who looks after a child. Dropping it lets go of the child, which then stops and ends.
struct Watch {
    session: Arc<str>,
    commands: mpsc::Sender<Command>,
    events: Events,
    children: Children,
    progress: Option<mpsc::Sender<String>>,
}

impl Drop for Watch {
    fn drop(&mut self) {
        // A child in the background is counted until its answer was handed over.
        if self.progress.is_some() {
            self.children.remove(&self.session);
        }
    }
}

impl Watch {
    async fn follow(
        self,
        mut events: mpsc::Receiver<Event>,
        task: String,
        mut stop: watch::Receiver<bool>,
    ) -> Came {
        let prompt = Prompt {
            text: task,
            images: Vec::new(),
        };
        let mut came = Came {
            text: String::new(),
            end: TurnEnd::Interrupted,
        };
        if self.commands.send(Command::Prompt(prompt)).await.is_err() {
            return came;
        }
        let mut is_stopped = false;
        loop {
            // An error means that the turn is gone, which stops the child as well.
            let stopped = async { drop(stop.wait_for(|stop| *stop).await) };
            let event = tokio::select! {
                event = events.recv() => event,
                () = stopped, if !is_stopped => {
                    is_stopped = true;
                    // A child that has ended meanwhile needs no telling.
                    self.commands.send(Command::Stop).await.ok();
                    continue;
                }
            };
            let Some(event) = event else {
                break;
            };
            match self.pass_on(event, &mut came).await {
                true => {}
                false => break,
            }
        }
        self.commands.send(Command::Close).await.ok();
        // Its last records are still on their way.
        while let Some(event) = events.recv().await {
            if matches!(event, Event::Closed) {
                break;
            }
        }
        came
    }

    /// Tells what the child tells; whether it goes on.
    async fn pass_on(&self, event: Event, came: &mut Came) -> bool {
        if let Event::Recorded(stored) = &event {
            match &stored.record {
                Record::Answered { parts, .. } => {
                    let texts = parts.iter().filter_map(|part| match &part.content {
                        StoredContent::Text { text } => Some(text.as_str()),
                        _ => None,
                    });
                    came.text = texts.collect();
                }
                Record::CallBegan { title, .. } => {
                    if let Some(progress) = &self.progress {
                        progress.try_send(format!("{title}\n")).ok();
                    }
                }
                _ => {}
            }
        }
        let end = match &event {
            Event::Idle(end) => Some(end.clone()),
            Event::Closed => return false,
            _ => None,
        };
        let must_come = matches!(
            event,
            Event::Recorded(_) | Event::Asking { .. } | Event::Idle(_) | Event::Child { .. }
        );
        let event = Event::Child {
            session: self.session.clone(),
            event: Box::new(event),
        };
        match must_come {
            true => self.events.tell(event).await,
            false => self.events.show(event),
        }
        match end {
            Some(end) => {
                came.end = end;
                false
            }
            None => true,
        }
    }
}

fn answer(came: Came) -> Answer {
    let said = match came.text.trim() {
        "" => "It said nothing.",
        said => said,
    };
    let so_far = format!("What it said last:\n{said}");
    match came.end {
        TurnEnd::Done => Answer::ok(said),
        TurnEnd::Stopped => Answer::new(
            Outcome::UserAborted,
            format!("The agent was stopped. {so_far}"),
        ),
        TurnEnd::Refused => Answer::new(
            Outcome::ProviderError,
            format!("The agent's model declined. Put the task in other words, or do it yourself. {so_far}"),
        )
        .with_detail(Detail::ContentFiltered),
        TurnEnd::Looped { what } => Answer::new(
            Outcome::UnexpectedEnvironment,
            format!("The agent went in circles: {what}. Give the next one a smaller task, or do it yourself. {so_far}"),
        ),
        TurnEnd::OutOfBudget { what } => Answer::new(
            Outcome::ProviderError,
            format!("The agent's budget is spent: {what}. Go on with what it found. {so_far}"),
        )
        .with_detail(Detail::QuotaExhausted),
        TurnEnd::Failed { what, .. } => Answer::new(
            Outcome::ProviderError,
            format!("The agent's model failed: {what}. Try again, name another `model`, or do it yourself. {so_far}"),
        ),
        TurnEnd::Interrupted => Answer::new(
            Outcome::UnexpectedEnvironment,
            format!("The agent ended before its turn did. Look at how things stand before you go on. {so_far}"),
        ),
    }
}

impl Wanted {
    fn read(call: &Call) -> Result<Self, Answer> {
        let wrong = |what: &str| Answer::new(Outcome::InvalidArguments, what);
        let Input::Json(input) = &call.input else {
            return Err(wrong("Give spawn_agent an object with a `task`."));
        };
        let text = |name: &str| input.get(name).and_then(Value::as_str).map(str::to_owned);
        let task = text("task").filter(|task| !task.trim().is_empty());
        let task = task.ok_or_else(|| wrong("`task` is empty: write what the agent is to do."))?;
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

/// How a model of this profile is offered it.
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
            "task": { "type": "string", "description": "All that the agent has to know, and what it is to answer." },
            "model": { "type": "string", "description": "provider/model, or auto; yours without it." },
            "tools": {
                "type": "array",
                "items": { "type": "string" },
                "description": "The only tools that it gets; all without it.",
            },
            "budget": { "type": "number", "description": "The most that it may cost, in US dollars." },
            "background": {
                "type": "boolean",
                "description": "Go on at once; its answer comes by itself.",
            },
        },
        "required": ["task"],
        "additionalProperties": false,
    })
}

#[cfg(test)]
pub(crate) mod walks;
