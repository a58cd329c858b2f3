//! Maps a session's events and records to ACP updates, live and when a session is loaded.
//!
//! Does no I/O and sends no requests.
//! Invariant: replaying the records leaves every message, call and plan as the live updates left
//! them.
//! The entry points are `UpdateMapper::on_event` for events and `UpdateMapper::again` for records.

mod calls;

use std::sync::Arc;

use agent::Stored;
use agent::record::{SessionRecord, StoredContent, StoredPart, TodoItem, TodoState, TurnEnd};
use agent::session::AgentEvent;
use agent::store::title;
use base::AbsPath;
use connect::acp::protocol::{
    CallKind, ContextUsage, MessageContent, PlanItem, PlanState, Update, Voice,
};

use serde_json::Value;

use calls::CallTracker;
pub(crate) use calls::{child_call, code_block};

/// Maps the events of one session.
pub(crate) struct UpdateMapper {
    calls: CallTracker,
    step: StepProgress,
    is_titled: bool,
    /// The number of compactions so far.
    compactions: u64,
    /// Whether the latest record is an answer.
    has_answered: bool,
}

/// The part of the running model request that was already sent to the editor.
#[derive(Default)]
struct StepProgress {
    turn: u64,
    number: u64,
    /// The number of times the answer was restarted.
    restarts: u32,
    text: String,
    thought: String,
    /// Calls that the answer has begun to write.
    calls: Vec<String>,
}

/// Whether a record is sent live or replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UpdateSource {
    /// The record is new: its streamed parts were sent before.
    Live,
    /// The record is replayed to an editor that has no state yet.
    Again,
}

impl UpdateMapper {
    /// Creates the mapper of a session that works below this folder.
    pub(crate) fn new(root: AbsPath) -> Self {
        Self {
            calls: CallTracker::new(root),
            step: StepProgress::default(),
            is_titled: false,
            compactions: 0,
            has_answered: false,
        }
    }

    /// Returns the updates for a live event, in order. The list is empty if the editor does not
    /// need to know of the event.
    pub(crate) fn on_event(&mut self, event: &AgentEvent) -> Vec<Update> {
        match event {
            AgentEvent::Recorded(stored) => {
                self.has_answered = matches!(stored.record, SessionRecord::Answered { .. });
                self.record(stored, UpdateSource::Live)
            }
            AgentEvent::Text(text) => {
                self.step.text.push_str(text);
                vec![self.message_update(Voice::Agent, text)]
            }
            AgentEvent::Thought(text) => {
                self.step.thought.push_str(text);
                vec![self.message_update(Voice::Thought, text)]
            }
            AgentEvent::CallDelta { call, name, .. } => self.writes(call, name),
            AgentEvent::Restarted => self.on_restart(),
            AgentEvent::Progress { call, text } => {
                self.calls.printed(call, text);
                Vec::new()
            }
            AgentEvent::Waiting { why, pause } => {
                let seconds = pause.as_secs_f64().ceil();
                vec![notice(format!("{why} Trying again in {seconds} s."))]
            }
            AgentEvent::Compacting { is_over } => vec![self.compaction(*is_over, None)],
            // The protocol cannot say that a number is an estimate, so that only the end of an answer
            // brings one.
            AgentEvent::Fill { fill, .. } if fill.is_estimate && !self.has_answered => Vec::new(),
            AgentEvent::Fill { fill, cost_nano } => vec![Update::Usage(ContextUsage {
                used: fill.tokens,
                size: fill.window,
                cost: cost_nano.map(|nano| (nano as f64 / 1e9, "USD".to_owned())),
            })],
            AgentEvent::Child { session, event } => self.child(session, event),
            AgentEvent::Asking { .. }
            | AgentEvent::Decided(_)
            | AgentEvent::Forked { .. }
            | AgentEvent::GivenBack(_)
            | AgentEvent::Idle(_)
            | AgentEvent::Closed => Vec::new(),
        }
    }

    /// Returns the updates for a replayed record, including the texts that were streamed when the
    /// record was live.
    pub(crate) fn again(&mut self, stored: &Stored) -> Vec<Update> {
        self.record(stored, UpdateSource::Again)
    }

    /// Returns the updates for a subagent's event; subagents may be nested.
    pub(crate) fn child(&mut self, session: &Arc<str>, event: &AgentEvent) -> Vec<Update> {
        let (mut session, mut event) = (session, event);
        while let AgentEvent::Child {
            session: below,
            event: inner,
        } = event
        {
            (session, event) = (below, inner);
        }
        match event {
            AgentEvent::Recorded(stored) => self.calls.child(session, &stored.record),
            _ => Vec::new(),
        }
    }

    /// Whether output is pending; output is held back so that it is not sent letter by letter.
    pub(crate) fn has_pending_output(&self) -> bool {
        self.calls.has_pending_output()
    }

    /// Returns the updates for the pending output of all calls and clears that output.
    pub(crate) fn flush_output(&mut self) -> Vec<Update> {
        self.calls.flush_output()
    }

    /// Returns the id of a running call of a tool. If several calls of the tool are running,
    /// returns the first one by id. Used for tools that run one call at a time.
    pub(crate) fn running(&self, tool: &str) -> Option<String> {
        self.calls.running(tool)
    }

    /// Returns the input of a call that has not ended, or `None` for any other call.
    pub(crate) fn input(&self, call: &str) -> Option<Value> {
        self.calls.input(call)
    }

    /// Returns the protocol's kind of a call, or `Other` for an unknown call.
    pub(crate) fn kind(&self, call: &str) -> CallKind {
        self.calls.kind(call)
    }

    fn record(&mut self, stored: &Stored, when: UpdateSource) -> Vec<Update> {
        match &stored.record {
            SessionRecord::Prompted { turn, parts, .. } => self.prompted(*turn, parts, when),
            SessionRecord::Asked { turn, step, .. } => {
                self.step = StepProgress {
                    turn: *turn,
                    number: *step,
                    ..StepProgress::default()
                };
                Vec::new()
            }
            SessionRecord::Answered { parts, .. } => self.answered(parts, when),
            SessionRecord::Failed { .. } => self.calls.broken(&self.step.calls, BROKE_OFF),
            SessionRecord::LeaveAsked { call, title, .. } => {
                self.calls.on_permission_request(call, title)
            }
            SessionRecord::CallBegan { .. } => self.calls.on_call_start(&stored.record),
            SessionRecord::CallEnded { .. } => self.calls.on_call_end(&stored.record),
            SessionRecord::Planned { todos } => vec![plan(todos)],
            SessionRecord::Compacted { summary, .. } => self.compacted(summary, when),
            SessionRecord::Titled { title } => vec![Update::Title(Some(title.clone()))],
            SessionRecord::Noted { text } => vec![notice(text.clone())],
            SessionRecord::TurnEnded { end, .. } => {
                let mut updates = self.calls.end_all();
                if let (TurnEnd::Failed { what, .. }, UpdateSource::Again) = (end, when) {
                    updates.push(notice(what.clone()));
                }
                updates
            }
            SessionRecord::Began { .. }
            | SessionRecord::Joined { .. }
            | SessionRecord::LeaveGiven { .. }
            | SessionRecord::Omitted { .. }
            | SessionRecord::Queued { .. }
            | SessionRecord::Hosted { .. }
            | SessionRecord::TerminalControl { .. }
            | SessionRecord::Offered { .. }
            | SessionRecord::Switched { .. }
            | SessionRecord::SummaryEdited { .. }
            | SessionRecord::Pinned { .. }
            | SessionRecord::Unpinned { .. }
            | SessionRecord::EffortSet { .. }
            | SessionRecord::Routed { .. }
            | SessionRecord::ModeSet { .. } => Vec::new(),
        }
    }

    fn prompted(&mut self, turn: u64, parts: &[StoredPart], when: UpdateSource) -> Vec<Update> {
        let mut updates = Vec::new();
        if when == UpdateSource::Again {
            let id = format!("person {turn}");
            let pieces = parts.iter().filter_map(message_content);
            updates.extend(pieces.map(|piece| Update::Said {
                voice: Voice::User,
                id: Some(id.clone()),
                piece,
            }));
        }
        if !std::mem::replace(&mut self.is_titled, true) {
            let title = title(&agent::stored_parts::texts(parts));
            updates.push(Update::Title(Some(title)));
        }
        updates
    }

    fn answered(&mut self, parts: &[StoredPart], when: UpdateSource) -> Vec<Update> {
        let mut updates = Vec::new();
        if when == UpdateSource::Live {
            updates.extend(self.unsent_parts(parts));
        }
        let mut called = Vec::new();
        for part in parts {
            match &part.content {
                StoredContent::Text { text } if when == UpdateSource::Again => {
                    updates.push(self.message_update(Voice::Agent, text));
                }
                StoredContent::Reasoning { text }
                    if when == UpdateSource::Again && !text.is_empty() =>
                {
                    updates.push(self.message_update(Voice::Thought, text));
                }
                StoredContent::Call {
                    id,
                    name,
                    arguments,
                } => {
                    called.push(id.as_str());
                    updates.extend(self.calls.on_call_requested(id, name, arguments));
                }
                _ => {}
            }
        }
        let mut broken = std::mem::take(&mut self.step.calls);
        broken.retain(|call| !called.contains(&call.as_str()));
        updates.extend(self.calls.broken(&broken, BROKE_OFF));
        updates
    }

    /// Returns the parts of a recorded answer that were not streamed.
    fn unsent_parts(&mut self, parts: &[StoredPart]) -> Vec<Update> {
        let (mut text, mut thought) = (String::new(), String::new());
        for part in parts {
            match &part.content {
                StoredContent::Text { text: more } => text.push_str(more),
                StoredContent::Reasoning { text: more } => thought.push_str(more),
                _ => {}
            }
        }
        let rest = |whole: &str, sent: &str| {
            let rest = whole.strip_prefix(sent)?;
            (!rest.is_empty()).then(|| rest.to_owned())
        };
        let thought = rest(&thought, &self.step.thought);
        let text = rest(&text, &self.step.text);
        let thought = thought.map(|rest| self.message_update(Voice::Thought, &rest));
        let text = text.map(|rest| self.message_update(Voice::Agent, &rest));
        thought.into_iter().chain(text).collect()
    }

    fn writes(&mut self, call: &str, name: &str) -> Vec<Update> {
        if name.is_empty() {
            return Vec::new();
        }
        self.step.calls.push(call.to_owned());
        self.calls.writes(call, name)
    }

    /// Starts a new message, because the editor cannot discard the one that broke off.
    fn on_restart(&mut self) -> Vec<Update> {
        let calls = std::mem::take(&mut self.step.calls);
        (self.step.text, self.step.thought) = (String::new(), String::new());
        self.step.restarts += 1;
        let mut updates = self.calls.broken(&calls, BROKE_OFF);
        updates.push(notice("The answer broke off and begins again.".to_owned()));
        updates
    }

    fn compacted(&mut self, summary: &str, when: UpdateSource) -> Vec<Update> {
        let text = if summary.is_empty() {
            "Results of tools were cut."
        } else {
            summary
        };
        let sent = self.compaction(false, Some(text.to_owned()));
        match when {
            UpdateSource::Live => vec![sent],
            UpdateSource::Again => vec![
                self.compaction(false, None),
                sent,
                self.compaction(true, None),
            ],
        }
    }

    fn compaction(&mut self, is_over: bool, summary: Option<String>) -> Update {
        let id = format!("compaction {}", self.compactions);
        if is_over {
            self.compactions += 1;
        }
        Update::Compaction {
            id,
            is_over,
            summary,
        }
    }

    fn message_update(&self, voice: Voice, text: &str) -> Update {
        let StepProgress {
            turn,
            number,
            restarts,
            ..
        } = &self.step;
        let name = match voice {
            Voice::User => "person",
            Voice::Agent => "answer",
            Voice::Thought => "thought",
        };
        let id = match restarts {
            0 => format!("{name} {turn}.{number}"),
            _ => format!("{name} {turn}.{number}.{restarts}"),
        };
        Update::Said {
            voice,
            id: Some(id),
            piece: MessageContent::Text(text.to_owned()),
        }
    }
}

const BROKE_OFF: &str = "The answer broke off before this was whole; it was not run.";

fn notice(text: String) -> Update {
    Update::Notice {
        is_warning: true,
        text,
    }
}

/// Returns a stored part as message content; `None` if it is not a message.
fn message_content(part: &StoredPart) -> Option<MessageContent> {
    Some(match &part.content {
        StoredContent::Text { text } => MessageContent::Text(text.clone()),
        StoredContent::Image { media_type, data } => MessageContent::Image {
            media_type: media_type.clone(),
            data: data.clone(),
        },
        StoredContent::Reasoning { .. } | StoredContent::Call { .. } => return None,
    })
}

/// Returns the plan without its dropped entries.
fn plan(todos: &[TodoItem]) -> Update {
    let items = todos.iter().filter_map(|todo| {
        let state = match todo.state {
            TodoState::Open => PlanState::Open,
            TodoState::Doing => PlanState::Doing,
            TodoState::Done => PlanState::Done,
            TodoState::Dropped => return None,
        };
        Some(PlanItem {
            text: todo.text.clone(),
            state,
            is_urgent: false,
        })
    });
    Update::Plan(items.collect())
}

#[cfg(test)]
mod tests;
