//! Folds the updates of an external agent's turn into records and events of our sessions.
//!
//! Plain data, without time and processes.
//! Invariant: as in our own sessions, each call is part of an answer that is recorded before the call
//! begins, and each call that was recorded ends.
//! Start at `TurnRecorder::apply`.

use std::collections::HashMap;
use std::path::Path;

use agent::fill::ContextFill;
use agent::record::{
    SessionRecord, StoredContent, StoredPart, StoredUsage, TodoItem, TodoState, TurnEnd,
};
use agent::stored_parts;
use agent::tool::{ToolClass, ToolDisplay};
use agent::{AgentEvent, CallOutcome, Detail};
use base::AbsPath;
use connect::acp::protocol::{
    CallContent, CallKind, CallStatus, CallUpdate, ContextUsage, PlanItem, PlanState, PromptStop,
    Update, Voice,
};

/// Result of a call whose end the agent did not report.
const NO_END: &str = "The agent did not report the end of this call.";

/// A step of the fold.
#[derive(Clone, Debug)]
pub(super) enum RecorderOutput {
    /// A record to be written, and then sent.
    Record(Box<SessionRecord>),
    /// An event for display only.
    Event(AgentEvent),
    /// A call ended: its changes are to be attributed before the records that follow.
    CallEnded {
        /// Id of the call in our records.
        call: String,
        /// Name of its tool.
        tool: String,
    },
}

/// The state of one turn.
pub(super) struct TurnRecorder {
    root: AbsPath,
    turn: u64,
    model: String,
    step: u64,
    /// Whether a request is recorded whose answer is not.
    is_step_open: bool,
    /// The pieces of the open answer: whether each is a thought, and its text.
    pieces: Vec<(bool, String)>,
    /// The id of the message that the last piece belongs to.
    message: Option<String>,
    calls: HashMap<String, OpenCall>,
    /// The ids of the calls that have not ended, oldest first.
    open: Vec<String>,
    cost: SessionCost,
}

/// The cost of a session as its agent reports it, and the part that records contain.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SessionCost {
    reported_nano: u64,
    recorded_nano: u64,
}

#[derive(Default)]
struct OpenCall {
    call: CallUpdate,
    began_ms: Option<u64>,
    has_ended: bool,
    /// Length of the output that was sent for display.
    shown_len: usize,
}

impl TurnRecorder {
    /// Begins the turn with the number `turn` in a session below `root`. `model` names the agent.
    pub(super) fn new(root: &AbsPath, turn: u64, model: String, cost: SessionCost) -> Self {
        Self {
            root: root.clone(),
            turn,
            model,
            step: 0,
            is_step_open: false,
            pieces: Vec::new(),
            message: None,
            calls: HashMap::new(),
            open: Vec::new(),
            cost,
        }
    }

    /// Returns the cost so far, for the next turn.
    pub(super) fn cost(&self) -> SessionCost {
        self.cost
    }

    /// Returns the id of a call in our records: unlike the agent's, it is unique in the session.
    pub(super) fn call_id(&self, call: &str) -> String {
        format!("t{}.{call}", self.turn)
    }

    /// Applies an update at the time `now_ms`.
    pub(super) fn apply(&mut self, update: Update, now_ms: u64) -> Vec<RecorderOutput> {
        match update {
            Update::Said {
                voice: Voice::User, ..
            } => Vec::new(),
            Update::Said { voice, id, piece } => {
                self.piece(voice == Voice::Thought, id, &piece.text())
            }
            Update::Call(call) => self.call(call, now_ms),
            Update::Plan(items) => vec![record(SessionRecord::Planned {
                todos: items.into_iter().map(todo).collect(),
            })],
            Update::Title(Some(title)) => vec![record(SessionRecord::Titled { title })],
            Update::Usage(usage) => vec![self.usage(&usage)],
            Update::Notice { text, .. } => vec![noted(text)],
            Update::Compaction { is_over: true, .. } => {
                vec![noted("The agent made its conversation shorter.".to_owned())]
            }
            Update::Compaction { .. }
            | Update::Title(None)
            | Update::Commands(_)
            | Update::Mode(_)
            | Update::Options(_) => Vec::new(),
        }
    }

    fn piece(&mut self, is_thought: bool, id: Option<String>, text: &str) -> Vec<RecorderOutput> {
        let mut outputs = self.open_step();
        let is_other_message = id.is_some() && self.message.is_some() && id != self.message;
        self.message = id.or(self.message.take());
        let text = match self.pieces.last_mut() {
            Some((kind, said)) if *kind == is_thought => {
                let text = if is_other_message {
                    format!("\n\n{text}")
                } else {
                    text.to_owned()
                };
                said.push_str(&text);
                text
            }
            _ => {
                self.pieces.push((is_thought, text.to_owned()));
                text.to_owned()
            }
        };
        outputs.push(RecorderOutput::Event(if is_thought {
            AgentEvent::Thought(text)
        } else {
            AgentEvent::Text(text)
        }));
        outputs
    }

    /// Records a request, unless one is open.
    fn open_step(&mut self) -> Vec<RecorderOutput> {
        if std::mem::replace(&mut self.is_step_open, true) {
            return Vec::new();
        }
        self.step += 1;
        vec![record(SessionRecord::Asked {
            turn: self.turn,
            step: self.step,
            model: self.model.clone(),
            prompt: String::new(),
            bytes: 0,
            same_bytes: 0,
        })]
    }

    /// Records the open answer, with a call at its end.
    fn close_step(&mut self, call: Option<StoredPart>) -> RecorderOutput {
        self.is_step_open = false;
        self.message = None;
        let pieces = std::mem::take(&mut self.pieces).into_iter();
        let parts = pieces.map(|(is_thought, text)| {
            let content = if is_thought {
                StoredContent::Reasoning { text }
            } else {
                StoredContent::Text { text }
            };
            StoredPart {
                content,
                opaque: None,
            }
        });
        let stop = if call.is_some() {
            "tool_use"
        } else {
            "end_turn"
        };
        let cost = self
            .cost
            .reported_nano
            .saturating_sub(self.cost.recorded_nano);
        self.cost.recorded_nano += cost;
        record(SessionRecord::Answered {
            turn: self.turn,
            step: self.step,
            model: self.model.clone(),
            parts: parts.chain(call).collect(),
            usage: StoredUsage::default(),
            cost_nano: Some(cost),
            stop: stop.to_owned(),
        })
    }

    /// Applies the update of a call. The first one of a call ends the open answer.
    pub(super) fn call(&mut self, update: CallUpdate, now_ms: u64) -> Vec<RecorderOutput> {
        let id = update.id.clone();
        let mut outputs = Vec::new();
        if !self.calls.contains_key(&id) {
            outputs.extend(self.open_step());
            let call = StoredContent::Call {
                id: self.call_id(&id),
                name: tool_name(update.kind).to_owned(),
                arguments: update
                    .input
                    .as_ref()
                    .map_or_else(|| "{}".to_owned(), ToString::to_string),
            };
            outputs.push(self.close_step(Some(StoredPart {
                content: call,
                opaque: None,
            })));
            self.open.push(id.clone());
        }
        let our_id = self.call_id(&id);
        let open = self.calls.entry(id.clone()).or_default();
        open.call.merge(update);
        if open.has_ended {
            return outputs;
        }
        let is_active = matches!(
            open.call.state,
            Some(CallStatus::Running | CallStatus::Done | CallStatus::Failed)
        );
        if is_active && open.began_ms.is_none() {
            open.began_ms = Some(now_ms);
            outputs.push(record(began(self.turn, &our_id, &open.call)));
        }
        match open.call.state {
            Some(CallStatus::Done) => outputs.extend(self.end_call(&id, CallOutcome::Ok, now_ms)),
            Some(CallStatus::Failed) => {
                outputs.extend(self.end_call(&id, CallOutcome::ProviderError, now_ms));
            }
            _ => outputs.extend(open.progress(our_id)),
        }
        outputs
    }

    fn end_call(&mut self, id: &str, outcome: CallOutcome, now_ms: u64) -> Vec<RecorderOutput> {
        let call = self.call_id(id);
        self.open.retain(|it| it != id);
        let Some(open) = self.calls.get_mut(id) else {
            return Vec::new();
        };
        open.has_ended = true;
        let tool = tool_name(open.call.kind).to_owned();
        let has_end = matches!(open.call.state, Some(CallStatus::Done | CallStatus::Failed));
        let mut text = texts(&open.call);
        if !has_end && text.is_empty() {
            NO_END.clone_into(&mut text);
        }
        let ended = SessionRecord::CallEnded {
            turn: self.turn,
            call: call.clone(),
            tool: tool.clone(),
            outcome,
            detail: (!has_end && outcome != CallOutcome::UserAborted)
                .then_some(Detail::ToolOutcomeUnknown),
            content: vec![stored_parts::text(text)],
            shown: shown(&open.call, &self.root),
            millis: now_ms.saturating_sub(open.began_ms.unwrap_or(now_ms)),
        };
        vec![RecorderOutput::CallEnded { call, tool }, record(ended)]
    }

    fn usage(&mut self, usage: &ContextUsage) -> RecorderOutput {
        if let Some((amount, currency)) = &usage.cost
            && currency.eq_ignore_ascii_case("usd")
            && *amount >= 0.0
        {
            self.cost.reported_nano = (amount * 1e9) as u64;
        }
        RecorderOutput::Event(AgentEvent::Fill {
            fill: ContextFill {
                tokens: usage.used,
                window: usage.size,
                // The agent does not say when it compacts, nor what fills its context.
                compact_at: usage.size,
                ..ContextFill::default()
            },
            cost_nano: Some(self.cost.reported_nano),
        })
    }

    /// Ends the turn: the open answer, the calls without an end, and the turn itself.
    pub(super) fn end(&mut self, end: &TurnEnd, now_ms: u64) -> Vec<RecorderOutput> {
        let mut outputs = Vec::new();
        let outcome = match end {
            TurnEnd::Stopped => CallOutcome::UserAborted,
            _ => CallOutcome::UnexpectedEnvironment,
        };
        for id in self.open.clone() {
            outputs.extend(self.end_call(&id, outcome, now_ms));
        }
        let has_cost = self.cost.reported_nano > self.cost.recorded_nano;
        if self.is_step_open || has_cost {
            outputs.extend(self.open_step());
            outputs.push(self.close_step(None));
        }
        outputs.push(record(SessionRecord::TurnEnded {
            turn: self.turn,
            end: end.clone(),
        }));
        outputs
    }

    /// Returns the call with everything that is known of it.
    pub(super) fn merged_call(&self, call: &CallUpdate) -> CallUpdate {
        let known = self.calls.get(&call.id);
        let mut whole = known.map_or_else(CallUpdate::default, |known| known.call.clone());
        whole.merge(call.clone());
        whole.id.clone_from(&call.id);
        whole
    }
}

impl OpenCall {
    /// Returns the output that was added since the last update.
    fn progress(&mut self, call: String) -> Option<RecorderOutput> {
        let text = texts(&self.call);
        let added = text.get(self.shown_len..).filter(|it| !it.is_empty())?;
        let added = added.to_owned();
        self.shown_len = text.len();
        Some(RecorderOutput::Event(AgentEvent::Progress {
            call,
            text: added,
        }))
    }
}

/// Converts the end of a turn to our records. If the user asked to stop, a failure counts as a stop.
pub(super) fn turn_end(stop: PromptStop, is_stopping: bool) -> TurnEnd {
    match stop {
        PromptStop::Done => TurnEnd::Done,
        PromptStop::Stopped => TurnEnd::Stopped,
        PromptStop::Failed(_) if is_stopping => TurnEnd::Stopped,
        PromptStop::Refused => TurnEnd::Refused,
        PromptStop::TooLong => failed(
            "too_long",
            "the answer was cut off, because it was too long",
        ),
        PromptStop::TooMany => failed("too_many", "the agent made too many model requests"),
        PromptStop::Failed(why) => failed("agent", &why),
    }
}

fn failed(class: &str, what: &str) -> TurnEnd {
    TurnEnd::Failed {
        class: class.to_owned(),
        what: what.to_owned(),
    }
}

fn record(record: SessionRecord) -> RecorderOutput {
    RecorderOutput::Record(Box::new(record))
}

pub(super) fn noted(text: String) -> RecorderOutput {
    record(SessionRecord::Noted { text })
}

fn began(turn: u64, id: &str, call: &CallUpdate) -> SessionRecord {
    SessionRecord::CallBegan {
        turn,
        call: id.to_owned(),
        tool: tool_name(call.kind).to_owned(),
        name: tool_name(call.kind).to_owned(),
        class: class(call.kind),
        title: title(call),
        input: call.input.clone().unwrap_or_default(),
    }
}

/// Returns the title of a call as one line.
pub(super) fn title(call: &CallUpdate) -> String {
    let title = call.title.as_deref().unwrap_or(tool_name(call.kind));
    title.lines().next().unwrap_or_default().to_owned()
}

fn tool_name(kind: Option<CallKind>) -> &'static str {
    match kind.unwrap_or(CallKind::Other) {
        CallKind::Read => "read",
        CallKind::Edit => "edit",
        CallKind::Delete => "delete",
        CallKind::Move => "move",
        CallKind::Search => "search",
        CallKind::Execute => "execute",
        CallKind::Think => "think",
        CallKind::Fetch => "fetch",
        CallKind::SwitchMode => "switch mode",
        CallKind::Other => "tool",
    }
}

fn class(kind: Option<CallKind>) -> ToolClass {
    match kind.unwrap_or(CallKind::Other) {
        CallKind::Read | CallKind::Search => ToolClass::Read,
        CallKind::Edit | CallKind::Delete | CallKind::Move => ToolClass::Edit,
        CallKind::Execute => ToolClass::Execute,
        CallKind::Fetch => ToolClass::Network,
        CallKind::Think | CallKind::SwitchMode => ToolClass::Interact,
        CallKind::Other => ToolClass::Foreign,
    }
}

/// Returns the texts of a call's content.
fn texts(call: &CallUpdate) -> String {
    let content = call.content.iter().flatten();
    let texts = content.filter_map(|it| match it {
        CallContent::Piece(piece) => Some(piece.text()),
        CallContent::Diff { .. } | CallContent::Terminal(_) => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// Returns the results that the user is shown: changes of files, and texts.
fn shown(call: &CallUpdate, root: &AbsPath) -> Vec<ToolDisplay> {
    let content = call.content.iter().flatten();
    let shown = content.filter_map(|it| match it {
        CallContent::Diff { path, old, new } => Some(ToolDisplay::Diff {
            path: relative(path, root),
            old: old.clone(),
            new: Some(new.clone()),
        }),
        CallContent::Piece(piece) => Some(ToolDisplay::Text(piece.text())),
        CallContent::Terminal(_) => None,
    });
    shown.collect()
}

fn relative(path: &Path, root: &AbsPath) -> String {
    let path = path.strip_prefix(root.as_path()).unwrap_or(path);
    path.display().to_string()
}

fn todo(item: PlanItem) -> TodoItem {
    TodoItem {
        text: item.text,
        state: match item.state {
            PlanState::Open => TodoState::Open,
            PlanState::Doing => TodoState::Doing,
            PlanState::Done => TodoState::Done,
        },
    }
}

#[cfg(test)]
mod tests;
