//! The transcript of a session, folded from its records and streaming events.
//!
//! Plain data, tested without a window. Invariant: after each step, the records alone give the same
//! items as records and streaming events together, so a reopened session looks the same.
//! Start at `Transcript::apply`.

mod call;
mod compaction;
mod fork_point;
mod origin;
mod pins;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use agent::fill::ContextFill;
use agent::record::{
    PromptOrigin, SessionMode, StoredContent, StoredPart, TodoItem, TurnEnd, control_notice,
};
use agent::user_prompts::PermissionDecision;
use agent::{AgentEvent, SessionRecord, Stored};
use agent_service::local_time;
use model::Effort;

pub use call::{CallItem, CallItemState, PendingApproval};
pub use compaction::CompactionItem;
pub use fork_point::ForkPoint;
pub use origin::origin_name;

/// The complete transcript of a session.
#[derive(Debug, Default)]
pub struct Transcript {
    items: Vec<TranscriptEntry>,
    /// The record with which each item ends; `None` while it is streaming.
    fork_points: Vec<Option<ForkPoint>>,
    /// The latest record about each item; `None` while it is streaming.
    item_records: Vec<Option<u64>>,
    /// The pinned records.
    pins: BTreeSet<u64>,
    /// The record with which the last turn ended.
    last_end: Option<u64>,
    calls: HashMap<String, usize>,
    /// Index of the first item of the running step, for which there is no record yet.
    live: Option<usize>,
    step: u64,
    todos: Vec<TodoItem>,
    title: Option<String>,
    model: String,
    mode: Option<SessionMode>,
    effort: Option<Effort>,
    is_running: bool,
    /// Cost of the recorded answers, those of subagents included.
    cost_nano: u64,
    /// Cost as the engine reports it, which includes requests that no record shows.
    reported_nano: u64,
    has_unknown_cost: bool,
    fill: Option<ContextFill>,
    /// Subagents of this session, by session id.
    children: BTreeMap<String, ChildSession>,
    waiting: Option<String>,
}

/// A subagent of the session.
#[derive(Debug, Default)]
struct ChildSession {
    /// The tool call that started it.
    call: Option<String>,
    transcript: Transcript,
}

/// One item of a transcript.
#[derive(Clone, Debug, PartialEq)]
pub enum TranscriptEntry {
    /// A message of the user.
    User {
        /// The text of the message.
        text: String,
        /// Whether it was sent into a running turn.
        is_steering: bool,
    },
    /// Context that joined the prompt: origins, and sizes in bytes.
    Context(Vec<(String, usize)>),
    /// A text of the model, in Markdown.
    Text {
        /// The text so far.
        text: String,
        /// Whether it is still streaming.
        is_live: bool,
    },
    /// A thought of the model.
    Thought {
        /// The thought so far.
        text: String,
        /// Whether it is still streaming.
        is_live: bool,
    },
    /// A call of a tool.
    Call(Box<CallItem>),
    /// A compaction of the conversation.
    Compacted(Box<CompactionItem>),
    /// A notice for the user.
    Note {
        /// The notice as a sentence.
        text: String,
        /// Whether it reports an error.
        is_bad: bool,
    },
    /// The end of a turn that did not end normally.
    End(TurnEnd),
}

/// A change in the list of items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemChange {
    /// The range was replaced by this number of new items.
    Replaced(Range<usize>, usize),
    /// This item was changed in place.
    Changed(usize),
}

/// Maximum size of the kept output of a running call, in bytes.
const MAX_OUTPUT_BYTES: usize = 16 * 1024;

impl Transcript {
    /// All items, in order.
    pub fn items(&self) -> &[TranscriptEntry] {
        &self.items
    }

    /// The current plan of the agent.
    pub fn todos(&self) -> &[TodoItem] {
        &self.todos
    }

    /// Whether a model has answered.
    pub fn has_answer(&self) -> bool {
        self.step > 0
    }

    /// Returns the title of the session, or else the first line of the first prompt. Returns `None`
    /// if the session has neither.
    pub fn title(&self) -> Option<String> {
        let first = || {
            self.items.iter().find_map(|item| match item {
                TranscriptEntry::User { text, .. } => text.lines().next().map(str::to_owned),
                _ => None,
            })
        };
        self.title.clone().or_else(first)
    }

    /// The current model: `provider/model`, `auto` or `demo`.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The mode in which the session works. Returns `None` before its first prompt.
    pub fn mode(&self) -> Option<SessionMode> {
        self.mode
    }

    /// The reasoning effort that the user chose. Returns `None` if the settings or the provider
    /// decide.
    pub fn effort(&self) -> Option<Effort> {
        self.effort
    }

    /// Whether a turn is running.
    pub fn is_running(&self) -> bool {
        self.is_running
    }

    /// Cost so far in billionths of a US dollar, subagents included; `None` if a price was unknown.
    /// Too low in a reopened session, whose records lack the answers of earlier subagents.
    pub fn cost_nano(&self) -> Option<u64> {
        let cost = self.cost_nano.max(self.reported_nano);
        (!self.has_unknown_cost).then_some(cost)
    }

    /// Returns the fill of the model's context. Returns `None` before the first answer.
    pub fn fill(&self) -> Option<&ContextFill> {
        self.fill.as_ref()
    }

    /// Returns a sentence with the reason why the session waits, such as a pause before a retry.
    /// Returns `None` if the session does not wait, or waits for the user.
    pub fn waiting(&self) -> Option<&str> {
        self.waiting.as_deref()
    }

    /// Returns the first call that waits for permission: a call of this session, or else of a
    /// subagent.
    pub fn pending_approval(&self) -> Option<PendingApproval<'_>> {
        if let Some(call) = self.own_pending_call() {
            let subagents = Vec::new();
            return Some(PendingApproval { subagents, call });
        }
        self.children.iter().find_map(|(session, child)| {
            let mut pending = child.transcript.pending_approval()?;
            pending.subagents.insert(0, session);
            Some(pending)
        })
    }

    /// Returns the first call of this session that waits for permission, without those of
    /// subagents.
    fn own_pending_call(&self) -> Option<&CallItem> {
        self.items.iter().find_map(|item| match item {
            TranscriptEntry::Call(call)
                if matches!(call.state, CallItemState::NeedsApproval(_)) =>
            {
                Some(&**call)
            }
            _ => None,
        })
    }

    /// Applies a session event and returns the changes to the items, in order, for a view that
    /// shows the items. The list is empty if the event changes no item.
    pub fn apply(&mut self, event: &AgentEvent) -> Vec<ItemChange> {
        let changes = self.apply_event(event);
        for change in &changes {
            self.update_fork_points(change, event);
        }
        if let AgentEvent::Recorded(stored) = event
            && matches!(stored.record, SessionRecord::TurnEnded { .. })
        {
            self.last_end = Some(stored.seq);
        }
        changes
    }

    fn apply_event(&mut self, event: &AgentEvent) -> Vec<ItemChange> {
        if !matches!(event, AgentEvent::Waiting { .. } | AgentEvent::Fill { .. }) {
            self.waiting = None;
        }
        match event {
            AgentEvent::Recorded(stored) => self.apply_record(stored),
            AgentEvent::Text(text) => self.stream(text, false),
            AgentEvent::Thought(text) => self.stream(text, true),
            AgentEvent::CallDelta {
                call,
                name,
                fragment,
            } => self.call_delta(call, name, fragment),
            AgentEvent::Restarted => self.drop_live(),
            AgentEvent::Progress { call, text } => self.progress(call, text),
            AgentEvent::Waiting { why, .. } => {
                self.waiting = Some(why.clone());
                Vec::new()
            }
            AgentEvent::Compacting { is_over: false } => {
                self.waiting = Some("Compacting the conversation\u{2026}".to_owned());
                Vec::new()
            }
            AgentEvent::Fill { fill, cost_nano } => {
                self.fill = Some(fill.clone());
                match cost_nano {
                    Some(cost) => self.reported_nano = *cost,
                    None => self.has_unknown_cost = true,
                }
                Vec::new()
            }
            AgentEvent::Idle(_) | AgentEvent::Closed => {
                self.is_running = false;
                // A subagent that was stopped with this session may not have reported the end of
                // its requests.
                self.children.clear();
                Vec::new()
            }
            AgentEvent::Child { session, event } => self.apply_child(session, event),
            AgentEvent::Asking { .. }
            | AgentEvent::Decided(_)
            | AgentEvent::Compacting { .. }
            | AgentEvent::GivenBack(_)
            | AgentEvent::Forked { .. } => Vec::new(),
        }
    }

    fn apply_record(&mut self, stored: &Stored) -> Vec<ItemChange> {
        match &stored.record {
            SessionRecord::Began { model, mode, .. } => {
                self.model.clone_from(model);
                self.mode = Some(*mode);
                Vec::new()
            }
            SessionRecord::ModeSet { mode } => {
                self.mode = Some(*mode);
                Vec::new()
            }
            SessionRecord::EffortSet { effort } => {
                self.effort = Some(*effort);
                Vec::new()
            }
            SessionRecord::TerminalControl { .. } => self.add_control_note(stored),
            SessionRecord::Routed { model, reason, .. } => {
                let text = format!("Auto chose {model}: {reason}.");
                self.add_before_live(TranscriptEntry::Note {
                    text,
                    is_bad: false,
                })
            }
            SessionRecord::Prompted {
                parts, is_steering, ..
            } => {
                self.is_running = true;
                self.add(TranscriptEntry::User {
                    text: text_of(parts),
                    is_steering: *is_steering,
                })
            }
            SessionRecord::Joined { origin, text, .. } => self.add_context(origin, text.len()),
            SessionRecord::Asked { .. } => {
                self.step += 1;
                self.live = Some(self.items.len());
                self.is_running = true;
                Vec::new()
            }
            SessionRecord::Answered {
                parts,
                cost_nano,
                model,
                ..
            } => {
                self.spend(*cost_nano);
                if self.model != "auto" && self.model != "demo" {
                    self.model.clone_from(model);
                }
                self.replace_live(parts)
            }
            SessionRecord::LeaveAsked { .. }
            | SessionRecord::LeaveGiven { .. }
            | SessionRecord::CallBegan { .. }
            | SessionRecord::CallEnded { .. } => self.call_record(&stored.record),
            SessionRecord::Pinned { record, .. } => self.set_pinned(*record, true),
            SessionRecord::Unpinned { record } => self.set_pinned(*record, false),
            SessionRecord::Compacted { .. } | SessionRecord::SummaryEdited { .. } => {
                self.compaction_record(stored)
            }
            SessionRecord::Planned { todos } => {
                self.todos.clone_from(todos);
                Vec::new()
            }
            SessionRecord::Titled { title } => {
                self.title = Some(title.clone());
                Vec::new()
            }
            SessionRecord::Switched { to, .. } => {
                self.model.clone_from(to);
                self.add_note(&stored.record)
            }
            SessionRecord::TurnEnded { end, .. } => {
                self.is_running = false;
                let mut touched = self.drop_live();
                if *end != TurnEnd::Done {
                    touched.extend(self.add(TranscriptEntry::End(end.clone())));
                }
                touched
            }
            SessionRecord::Failed { .. } => {
                let mut touched = self.drop_live();
                touched.extend(self.add_note(&stored.record));
                touched
            }
            other => self.add_note(other),
        }
    }

    /// Adds the notice that the user took a command over or gave it back, with the time.
    fn add_control_note(&mut self, stored: &Stored) -> Vec<ItemChange> {
        let SessionRecord::TerminalControl {
            command,
            is_taken,
            typed,
            ..
        } = &stored.record
        else {
            return Vec::new();
        };
        let what = control_notice(command, *is_taken, *typed);
        self.add_before_live(TranscriptEntry::Note {
            text: format!("{what}, at {}.", local_time(stored.at_ms)),
            is_bad: false,
        })
    }

    /// Applies a record about one call.
    fn call_record(&mut self, record: &SessionRecord) -> Vec<ItemChange> {
        match record {
            SessionRecord::LeaveAsked {
                call,
                title,
                details,
                reason,
                rules,
            } => self.with_call(call, |it| {
                it.title.clone_from(title);
                it.rules.clone_from(rules);
                it.details
                    .clone_from(if details.is_empty() { title } else { details });
                it.state = CallItemState::NeedsApproval(reason.clone());
            }),
            SessionRecord::LeaveGiven { call, decision } => self.with_call(call, |it| {
                if !matches!(decision, PermissionDecision::Refuse { .. }) {
                    it.state = CallItemState::Waiting;
                }
            }),
            SessionRecord::CallBegan {
                call,
                tool,
                class,
                title,
                ..
            } => self.with_call(call, |it| {
                it.tool.clone_from(tool);
                it.class = Some(*class);
                it.title.clone_from(title);
                it.state = CallItemState::Running;
            }),
            SessionRecord::CallEnded {
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
                it.state = CallItemState::Ended {
                    outcome: *outcome,
                    detail: detail.clone(),
                };
                it.answer = text_of(content);
                it.shown.clone_from(shown);
                it.millis = *millis;
                it.output.clear();
            }),
            _ => Vec::new(),
        }
    }

    /// Adds the notice of a record that is not part of the conversation, if it has one.
    fn add_note(&mut self, record: &SessionRecord) -> Vec<ItemChange> {
        let (text, is_bad) = match record {
            SessionRecord::Failed { message, .. } => (message.clone(), true),
            SessionRecord::Switched { from, to, .. } => {
                (format!("Model switched from {from} to {to}."), false)
            }
            SessionRecord::Noted { text } => (text.clone(), false),
            _ => return Vec::new(),
        };
        self.add(TranscriptEntry::Note { text, is_bad })
    }

    /// Applies an event of a subagent. Each of its steps adds a line to the output of the call that
    /// started it.
    fn apply_child(&mut self, session: &str, event: &AgentEvent) -> Vec<ItemChange> {
        let child = self.children.entry(session.to_owned()).or_default();
        let before = child.transcript.cost_nano;
        child.transcript.apply(event);
        self.cost_nano += child.transcript.cost_nano - before;
        self.has_unknown_cost |= child.transcript.has_unknown_cost;
        let AgentEvent::Recorded(stored) = event else {
            return Vec::new();
        };
        let line = match &stored.record {
            SessionRecord::Began {
                parent: Some(parent),
                ..
            } => {
                child.call = Some(parent.call.clone());
                return Vec::new();
            }
            SessionRecord::CallBegan { title, .. } => format!("{title}\n"),
            SessionRecord::Failed { message, .. } => format!("{message}\n"),
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

    fn add(&mut self, item: TranscriptEntry) -> Vec<ItemChange> {
        let at = self.items.len();
        self.items.push(item);
        vec![ItemChange::Replaced(at..at, 1)]
    }

    /// Adds an item before those of the running step, which its answer replaces.
    fn add_before_live(&mut self, item: TranscriptEntry) -> Vec<ItemChange> {
        let Some(from) = self.live else {
            return self.add(item);
        };
        self.items.insert(from, item);
        for at in self.calls.values_mut().filter(|at| **at >= from) {
            *at += 1;
        }
        self.live = Some(from + 1);
        vec![ItemChange::Replaced(from..from, 1)]
    }

    /// Adds a context entry; consecutive ones share one item.
    fn add_context(&mut self, origin: &PromptOrigin, bytes: usize) -> Vec<ItemChange> {
        let entry = (origin_name(origin), bytes);
        if let Some(TranscriptEntry::Context(entries)) = self.items.last_mut() {
            entries.push(entry);
            return vec![ItemChange::Changed(self.items.len() - 1)];
        }
        self.add(TranscriptEntry::Context(vec![entry]))
    }

    fn stream(&mut self, piece: &str, is_thought: bool) -> Vec<ItemChange> {
        let from = *self.live.get_or_insert(self.items.len());
        let last = self.items.len().saturating_sub(1);
        if last >= from {
            match self.items.last_mut() {
                Some(TranscriptEntry::Text {
                    text,
                    is_live: true,
                }) if !is_thought => {
                    text.push_str(piece);
                    return vec![ItemChange::Changed(last)];
                }
                Some(TranscriptEntry::Thought {
                    text,
                    is_live: true,
                }) if is_thought => {
                    text.push_str(piece);
                    return vec![ItemChange::Changed(last)];
                }
                _ => {}
            }
        }
        let text = piece.to_owned();
        self.add(if is_thought {
            TranscriptEntry::Thought {
                text,
                is_live: true,
            }
        } else {
            TranscriptEntry::Text {
                text,
                is_live: true,
            }
        })
    }

    fn call_delta(&mut self, call: &str, name: &str, fragment: &str) -> Vec<ItemChange> {
        self.live.get_or_insert(self.items.len());
        if self.calls.contains_key(call) {
            return self.with_call(call, |it| {
                if let CallItemState::Writing(bytes) = &mut it.state {
                    *bytes += fragment.len();
                }
            });
        }
        self.calls.insert(call.to_owned(), self.items.len());
        let item = CallItem::new(
            call,
            name,
            CallItemState::Writing(fragment.len()),
            self.step,
        );
        self.add(TranscriptEntry::Call(Box::new(item)))
    }

    /// Replaces the streamed items by those of the recorded answer.
    fn replace_live(&mut self, parts: &[StoredPart]) -> Vec<ItemChange> {
        let from = self.live.take().unwrap_or(self.items.len());
        let old = from..self.items.len();
        for item in self.items.drain(old.clone()) {
            if let TranscriptEntry::Call(call) = item {
                self.calls.remove(&call.id);
            }
        }
        for part in parts {
            let item = match &part.content {
                StoredContent::Text { text } if !text.trim().is_empty() => TranscriptEntry::Text {
                    text: text.clone(),
                    is_live: false,
                },
                StoredContent::Reasoning { text } if !text.trim().is_empty() => {
                    TranscriptEntry::Thought {
                        text: text.clone(),
                        is_live: false,
                    }
                }
                StoredContent::Call { id, name, .. } => {
                    self.calls.insert(id.clone(), self.items.len());
                    let item = CallItem::new(id, name, CallItemState::Waiting, self.step);
                    TranscriptEntry::Call(Box::new(item))
                }
                _ => continue,
            };
            self.items.push(item);
        }
        vec![ItemChange::Replaced(
            old.clone(),
            self.items.len() - old.start,
        )]
    }

    fn drop_live(&mut self) -> Vec<ItemChange> {
        let Some(from) = self.live.take() else {
            return Vec::new();
        };
        let old = from..self.items.len();
        for item in self.items.drain(old.clone()) {
            if let TranscriptEntry::Call(call) = item {
                self.calls.remove(&call.id);
            }
        }
        self.live = Some(from);
        if old.is_empty() {
            Vec::new()
        } else {
            vec![ItemChange::Replaced(old, 0)]
        }
    }

    fn progress(&mut self, call: &str, text: &str) -> Vec<ItemChange> {
        self.with_call(call, |it| {
            it.output.push_str(text);
            if it.output.len() > MAX_OUTPUT_BYTES {
                let from = it.output.len() - MAX_OUTPUT_BYTES / 2;
                let from = (from..it.output.len())
                    .find(|at| it.output.is_char_boundary(*at))
                    .unwrap_or(0);
                it.output.drain(..from);
            }
        })
    }

    fn with_call(&mut self, id: &str, change: impl FnOnce(&mut CallItem)) -> Vec<ItemChange> {
        let Some(&at) = self.calls.get(id) else {
            return Vec::new();
        };
        match self.items.get_mut(at) {
            Some(TranscriptEntry::Call(call)) => {
                change(call);
                vec![ItemChange::Changed(at)]
            }
            _ => Vec::new(),
        }
    }
}

fn text_of(parts: &[StoredPart]) -> String {
    let words = parts.iter().filter_map(|part| match &part.content {
        StoredContent::Text { text } => Some(text.as_str()),
        StoredContent::Image { .. } => Some("[picture]"),
        _ => None,
    });
    words.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
