//! What a session's transcript shows, folded from its records and from the pieces that stream.
//!
//! Plain data, tested bare. Invariant: records alone give what records and pieces give once a step is over, so a
//! session that is opened again looks as it did.
//! Start at `Transcript::apply`.

use std::collections::HashMap;
use std::ops::Range;

use agent::ask::Decision;
use agent::record::{Origin, StoredContent, StoredPart, Todo, TurnEnd};
use agent::tool::{Shown, ToolClass};
use agent::{Detail, Event, Outcome, Record, Stored};

/// All that a session shows.
#[derive(Debug, Default)]
pub struct Transcript {
    items: Vec<Item>,
    calls: HashMap<String, usize>,
    /// Where the items of the running step begin that no record stands for yet.
    live: Option<usize>,
    step: u64,
    todos: Vec<Todo>,
    title: Option<String>,
    model: String,
    is_running: bool,
    cost_nano: u64,
    has_unknown_cost: bool,
    fill: Option<(u64, u64)>,
    /// Agents that this one started, by their sessions.
    children: HashMap<String, Child>,
    waiting: Option<String>,
}

/// An agent that this one started.
#[derive(Debug, Default)]
struct Child {
    /// The call that started it.
    call: Option<String>,
    transcript: Transcript,
}

/// A call that waits for leave, and whose it is.
#[derive(Debug)]
pub struct Asking<'a> {
    /// The session of the agent that this one started, where it is that one's.
    pub child: Option<&'a str>,
    /// The call.
    pub call: &'a CallItem,
}

/// One thing in a transcript.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// The person said something.
    Person {
        /// Their words.
        text: String,
        /// Whether it was said into a running turn.
        is_steering: bool,
    },
    /// Texts joined the prompt: where from, and how many bytes.
    Context(Vec<(String, usize)>),
    /// The model said something, in Markdown.
    Text {
        /// Its words so far.
        text: String,
        /// Whether more may come.
        is_live: bool,
    },
    /// The model thought something.
    Thought {
        /// Its thought so far.
        text: String,
        /// Whether more may come.
        is_live: bool,
    },
    /// A tool was called.
    Call(Box<CallItem>),
    /// Something the person should know.
    Note {
        /// A sentence.
        text: String,
        /// Whether it is bad news.
        is_bad: bool,
    },
    /// A turn ended in another way than well.
    End(TurnEnd),
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct CallItem {
    /// Its id.
    pub id: String,
    /// The tool's name.
    pub tool: String,
    /// One line of what it does.
    pub title: String,
    /// The whole of what is to happen, where leave was asked for; foreign text.
    pub details: String,
    /// What kind of effect it has; `None` until that is known.
    pub class: Option<ToolClass>,
    /// How far it is.
    pub state: CallState,
    /// The end of what it printed so far.
    pub output: String,
    /// What the model was told.
    pub answer: String,
    /// What a person is shown.
    pub shown: Vec<Shown>,
    /// How long it took, in milliseconds.
    pub millis: u64,
    /// The rules that allowing it for more than once would keep.
    pub rules: Vec<String>,
    /// The answer it belongs to; calls of one answer that stand together ran side by side.
    pub step: u64,
}

/// How far a call is.
#[derive(Clone, Debug, PartialEq)]
pub enum CallState {
    /// The model still writes its arguments: so many bytes came.
    Writing(usize),
    /// It waits for its turn.
    Waiting,
    /// It waits for the person's leave, for this reason.
    Asking(String),
    /// It runs.
    Running,
    /// It ended.
    Ended {
        /// How.
        outcome: Outcome,
        /// What lies beneath.
        detail: Option<Detail>,
    },
}

/// What changed in the list of items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Touched {
    /// These gave way to so many others.
    Replaced(Range<usize>, usize),
    /// This one is another.
    Changed(usize),
}

/// The most bytes of a running call's output that are kept.
const MOST_OUTPUT: usize = 16 * 1024;

impl Transcript {
    /// The items, in order.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// The plan as it is now.
    pub fn todos(&self) -> &[Todo] {
        &self.todos
    }

    /// The session's name: given, or else the first words that were said.
    pub fn title(&self) -> Option<String> {
        let first = || {
            self.items.iter().find_map(|item| match item {
                Item::Person { text, .. } => text.lines().next().map(str::to_owned),
                _ => None,
            })
        };
        self.title.clone().or_else(first)
    }

    /// The model that goes on, as `provider/model`, `auto` or `demo`.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Whether a turn runs.
    pub fn is_running(&self) -> bool {
        self.is_running
    }

    /// What was spent so far, in billionths of a US dollar; `None` where a price was not known.
    pub fn cost_nano(&self) -> Option<u64> {
        (!self.has_unknown_cost).then_some(self.cost_nano)
    }

    /// Tokens of the last prompt, and the model's limit.
    pub fn fill(&self) -> Option<(u64, u64)> {
        self.fill
    }

    /// What the session waits for that is not the person: a sentence.
    pub fn waiting(&self) -> Option<&str> {
        self.waiting.as_deref()
    }

    /// The first call that waits for leave, an agent's that this one started included.
    pub fn asking(&self) -> Option<Asking<'_>> {
        let own = self.own_asking().map(|call| Asking { child: None, call });
        let of_child = || {
            self.children.iter().find_map(|(session, child)| {
                let call = child.transcript.own_asking()?;
                let child = Some(session.as_str());
                Some(Asking { child, call })
            })
        };
        own.or_else(of_child)
    }

    fn own_asking(&self) -> Option<&CallItem> {
        self.items.iter().find_map(|item| match item {
            Item::Call(call) if matches!(call.state, CallState::Asking(_)) => Some(&**call),
            _ => None,
        })
    }

    /// Takes in what a session tells. Returns what changed among the items.
    pub fn apply(&mut self, event: &Event) -> Vec<Touched> {
        if !matches!(event, Event::Waiting { .. } | Event::Fill { .. }) {
            self.waiting = None;
        }
        match event {
            Event::Recorded(stored) => self.record(stored),
            Event::Text(text) => self.stream(text, false),
            Event::Thought(text) => self.stream(text, true),
            Event::CallDelta {
                call,
                name,
                fragment,
            } => self.call_delta(call, name, fragment),
            Event::Restarted => self.drop_live(),
            Event::Progress { call, text } => self.progress(call, text),
            Event::Waiting { why, .. } => {
                self.waiting = Some(why.clone());
                Vec::new()
            }
            Event::Fill { used, limit, .. } => {
                self.fill = Some((*used, *limit));
                Vec::new()
            }
            Event::Idle(_) | Event::Closed => {
                self.is_running = false;
                // An agent that was stopped with this one may not have told the end of what it asked.
                self.children.clear();
                Vec::new()
            }
            Event::Child { session, event } => self.child(session, event),
            Event::Asking { .. }
            | Event::Decided(_)
            | Event::Compacting { .. }
            | Event::GivenBack(_)
            | Event::Forked { .. } => Vec::new(),
        }
    }

    fn record(&mut self, stored: &Stored) -> Vec<Touched> {
        match &stored.record {
            Record::Began { model, .. } => {
                self.model.clone_from(model);
                Vec::new()
            }
            Record::Prompted {
                parts, is_steering, ..
            } => {
                self.is_running = true;
                self.add(Item::Person {
                    text: words(parts),
                    is_steering: *is_steering,
                })
            }
            Record::Joined { origin, text, .. } => self.joined(origin, text.len()),
            Record::Asked { .. } => {
                self.step += 1;
                self.live = Some(self.items.len());
                self.is_running = true;
                Vec::new()
            }
            Record::Answered {
                parts,
                cost_nano,
                model,
                ..
            } => {
                self.spend(*cost_nano);
                if self.model != "auto" && self.model != "demo" {
                    self.model.clone_from(model);
                }
                self.answered(parts)
            }
            Record::LeaveAsked { .. }
            | Record::LeaveGiven { .. }
            | Record::CallBegan { .. }
            | Record::CallEnded { .. } => self.call_record(&stored.record),
            Record::Planned { todos } => {
                self.todos.clone_from(todos);
                Vec::new()
            }
            Record::Titled { title } => {
                self.title = Some(title.clone());
                Vec::new()
            }
            Record::Switched { to, .. } => {
                self.model.clone_from(to);
                self.told(&stored.record)
            }
            Record::TurnEnded { end, .. } => {
                self.is_running = false;
                let mut touched = self.drop_live();
                if *end != TurnEnd::Done {
                    touched.extend(self.add(Item::End(end.clone())));
                }
                touched
            }
            Record::Failed { .. } => {
                let mut touched = self.drop_live();
                touched.extend(self.told(&stored.record));
                touched
            }
            other => self.told(other),
        }
    }

    /// What a record says about one call.
    fn call_record(&mut self, record: &Record) -> Vec<Touched> {
        match record {
            Record::LeaveAsked {
                call,
                title,
                details,
                reason,
                rules,
            } => self.with_call(call, |it| {
                it.title.clone_from(title);
                it.rules.clone_from(rules);
                it.details.clone_from(match details.is_empty() {
                    true => title,
                    false => details,
                });
                it.state = CallState::Asking(reason.clone());
            }),
            Record::LeaveGiven { call, decision } => self.with_call(call, |it| {
                if !matches!(decision, Decision::Refuse { .. }) {
                    it.state = CallState::Waiting;
                }
            }),
            Record::CallBegan {
                call,
                tool,
                class,
                title,
                ..
            } => self.with_call(call, |it| {
                it.tool.clone_from(tool);
                it.class = Some(*class);
                it.title.clone_from(title);
                it.state = CallState::Running;
            }),
            Record::CallEnded {
                call,
                tool,
                outcome,
                detail,
                content,
                shown,
                millis,
                ..
            } => self.with_call(call, |it| {
                it.tool.clone_from(tool);
                it.state = CallState::Ended {
                    outcome: *outcome,
                    detail: detail.clone(),
                };
                it.answer = words(content);
                it.shown.clone_from(shown);
                it.millis = *millis;
                it.output.clear();
            }),
            _ => Vec::new(),
        }
    }

    /// What a record tells the person beside the conversation, if anything.
    fn told(&mut self, record: &Record) -> Vec<Touched> {
        let (text, is_bad) = match record {
            Record::Failed { message, .. } => (message.clone(), true),
            Record::Compacted { bytes, summary, .. } => {
                let saved = bytes.0.saturating_sub(bytes.1) / 1024;
                let how = match summary.is_empty() {
                    true => "older results were shortened",
                    false => "older parts gave way to a summary",
                };
                let text = format!("The conversation is {saved} KB shorter: {how}.");
                (text, false)
            }
            Record::Switched { from, to, .. } => {
                (format!("{to} goes on from here instead of {from}."), false)
            }
            Record::Noted { text } => (text.clone(), false),
            _ => return Vec::new(),
        };
        self.add(Item::Note { text, is_bad })
    }

    /// What an agent that this one started tells: a line for each of its steps goes to the call that started it.
    fn child(&mut self, session: &str, event: &Event) -> Vec<Touched> {
        let child = self.children.entry(session.to_owned()).or_default();
        child.transcript.apply(event);
        let Event::Recorded(stored) = event else {
            return Vec::new();
        };
        let line = match &stored.record {
            Record::Began {
                parent: Some(parent),
                ..
            } => {
                child.call = Some(parent.call.clone());
                return Vec::new();
            }
            Record::CallBegan { title, .. } => format!("{title}\n"),
            Record::Failed { message, .. } => format!("{message}\n"),
            _ => return Vec::new(),
        };
        match child.call.clone() {
            Some(call) => self.progress(&call, &line),
            None => Vec::new(),
        }
    }

    fn spend(&mut self, cost_nano: Option<u64>) {
        match cost_nano {
            Some(cost) => self.cost_nano += cost,
            None => self.has_unknown_cost = true,
        }
    }

    fn add(&mut self, item: Item) -> Vec<Touched> {
        let at = self.items.len();
        self.items.push(item);
        vec![Touched::Replaced(at..at, 1)]
    }

    /// Texts that join together make one item.
    fn joined(&mut self, origin: &Origin, bytes: usize) -> Vec<Touched> {
        let entry = (origin_name(origin), bytes);
        if let Some(Item::Context(entries)) = self.items.last_mut() {
            entries.push(entry);
            return vec![Touched::Changed(self.items.len() - 1)];
        }
        self.add(Item::Context(vec![entry]))
    }

    fn stream(&mut self, piece: &str, is_thought: bool) -> Vec<Touched> {
        let from = *self.live.get_or_insert(self.items.len());
        let last = self.items.len().saturating_sub(1);
        if last >= from {
            match self.items.last_mut() {
                Some(Item::Text {
                    text,
                    is_live: true,
                }) if !is_thought => {
                    text.push_str(piece);
                    return vec![Touched::Changed(last)];
                }
                Some(Item::Thought {
                    text,
                    is_live: true,
                }) if is_thought => {
                    text.push_str(piece);
                    return vec![Touched::Changed(last)];
                }
                _ => {}
            }
        }
        let text = piece.to_owned();
        self.add(match is_thought {
            true => Item::Thought {
                text,
                is_live: true,
            },
            false => Item::Text {
                text,
                is_live: true,
            },
        })
    }

    fn call_delta(&mut self, call: &str, name: &str, fragment: &str) -> Vec<Touched> {
        self.live.get_or_insert(self.items.len());
        if self.calls.contains_key(call) {
            return self.with_call(call, |it| {
                if let CallState::Writing(bytes) = &mut it.state {
                    *bytes += fragment.len();
                }
            });
        }
        self.calls.insert(call.to_owned(), self.items.len());
        let item = CallItem::new(call, name, CallState::Writing(fragment.len()), self.step);
        self.add(Item::Call(Box::new(item)))
    }

    /// The answer as it is kept takes the place of the pieces that streamed.
    fn answered(&mut self, parts: &[StoredPart]) -> Vec<Touched> {
        let from = self.live.take().unwrap_or(self.items.len());
        let old = from..self.items.len();
        for item in self.items.drain(old.clone()) {
            if let Item::Call(call) = item {
                self.calls.remove(&call.id);
            }
        }
        for part in parts {
            let item = match &part.content {
                StoredContent::Text { text } if !text.trim().is_empty() => Item::Text {
                    text: text.clone(),
                    is_live: false,
                },
                StoredContent::Reasoning { text } if !text.trim().is_empty() => Item::Thought {
                    text: text.clone(),
                    is_live: false,
                },
                StoredContent::Call { id, name, .. } => {
                    self.calls.insert(id.clone(), self.items.len());
                    let item = CallItem::new(id, name, CallState::Waiting, self.step);
                    Item::Call(Box::new(item))
                }
                _ => continue,
            };
            self.items.push(item);
        }
        vec![Touched::Replaced(old.clone(), self.items.len() - old.start)]
    }

    fn drop_live(&mut self) -> Vec<Touched> {
        let Some(from) = self.live.take() else {
            return Vec::new();
        };
        let old = from..self.items.len();
        for item in self.items.drain(old.clone()) {
            if let Item::Call(call) = item {
                self.calls.remove(&call.id);
            }
        }
        self.live = Some(from);
        match old.is_empty() {
            true => Vec::new(),
            false => vec![Touched::Replaced(old, 0)],
        }
    }

    fn progress(&mut self, call: &str, text: &str) -> Vec<Touched> {
        self.with_call(call, |it| {
            it.output.push_str(text);
            if it.output.len() > MOST_OUTPUT {
                let from = it.output.len() - MOST_OUTPUT / 2;
                let from = (from..it.output.len())
                    .find(|at| it.output.is_char_boundary(*at))
                    .unwrap_or(0);
                it.output.drain(..from);
            }
        })
    }

    fn with_call(&mut self, id: &str, change: impl FnOnce(&mut CallItem)) -> Vec<Touched> {
        let Some(&at) = self.calls.get(id) else {
            return Vec::new();
        };
        match self.items.get_mut(at) {
            Some(Item::Call(call)) => {
                change(call);
                vec![Touched::Changed(at)]
            }
            _ => Vec::new(),
        }
    }
}

impl CallItem {
    fn new(id: &str, name: &str, state: CallState, step: u64) -> Self {
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

    /// Whether it ended badly.
    pub fn has_failed(&self) -> bool {
        match &self.state {
            CallState::Ended { outcome, .. } => outcome.is_error() || self.code() > 0,
            _ => false,
        }
    }

    /// The code of the command that it ran; 0 where it ran none.
    pub fn code(&self) -> i32 {
        let codes = self.shown.iter().filter_map(|shown| match shown {
            Shown::Command { code, .. } => *code,
            _ => None,
        });
        codes.fold(0, |_, code| code)
    }
}

fn words(parts: &[StoredPart]) -> String {
    let words = parts.iter().filter_map(|part| match &part.content {
        StoredContent::Text { text } => Some(text.as_str()),
        StoredContent::Image { .. } => Some("[picture]"),
        _ => None,
    });
    words.collect::<Vec<_>>().join("\n")
}

/// Where a text comes from, in a few words.
pub fn origin_name(origin: &Origin) -> String {
    match origin {
        Origin::Pack { name } => format!("prompt {name}"),
        Origin::Rules { path } => path.clone(),
        Origin::Skill { name } => format!("skill {name}"),
        Origin::Header => "state of the project".to_owned(),
        Origin::Mention { what } => what.clone(),
        Origin::Person => "you".to_owned(),
        Origin::Model { model } => model.clone(),
        Origin::Tool { tool, .. } => format!("result of {tool}"),
        Origin::ToolSpec { tool } => format!("tool {tool}"),
        Origin::Hook { command } => format!("hook {command}"),
        Origin::Summary => "summary".to_owned(),
        Origin::Harness => "note".to_owned(),
    }
}

#[cfg(test)]
mod tests;
