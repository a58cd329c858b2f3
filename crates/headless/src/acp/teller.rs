//! What a session tells, in the words of the protocol: while it happens, and again from its records.
//!
//! Knows no editor and asks nothing.
//! Invariant: what is told again leaves every message, call and plan as it was left when it was told live.
//! Start at `Teller::hear`, or at `Teller::again` for records.

mod calls;

use std::sync::Arc;

use agent::Stored;
use agent::record::{Record, StoredContent, StoredPart, Todo, TodoState, TurnEnd};
use agent::session::Event;
use agent::store::title;
use base::AbsPath;
use connect::acp::words::{CallKind, Piece, PlanItem, PlanState, Update, Usage, Voice};

use serde_json::Value;

use calls::Calls;
pub(super) use calls::{child_call, fenced};

/// Tells of one session.
pub(super) struct Teller {
    calls: Calls,
    step: Step,
    is_titled: bool,
    /// How often the conversation was made shorter.
    compactions: u64,
}

/// What was told of the request that runs.
#[derive(Default)]
struct Step {
    turn: u64,
    number: u64,
    /// How often its answer began again.
    restarts: u32,
    text: String,
    thought: String,
    /// Calls that the answer has begun to write.
    calls: Vec<String>,
}

/// When a record is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    /// As it is written: its pieces were told before.
    Live,
    /// Later, to somebody who knows nothing.
    Again,
}

impl Teller {
    /// Tells of a session that works below this folder.
    pub(super) fn new(root: AbsPath) -> Self {
        Self {
            calls: Calls::new(root),
            step: Step::default(),
            is_titled: false,
            compactions: 0,
        }
    }

    /// What an event tells.
    pub(super) fn hear(&mut self, event: &Event) -> Vec<Update> {
        match event {
            Event::Recorded(stored) => self.record(stored, When::Live),
            Event::Text(text) => {
                self.step.text.push_str(text);
                vec![self.said(Voice::Agent, text)]
            }
            Event::Thought(text) => {
                self.step.thought.push_str(text);
                vec![self.said(Voice::Thought, text)]
            }
            Event::CallDelta { call, name, .. } => self.writes(call, name),
            Event::Restarted => self.restarted(),
            Event::Progress { call, text } => {
                self.calls.printed(call, text);
                Vec::new()
            }
            Event::Waiting { why, pause } => {
                let seconds = pause.as_secs_f64().ceil();
                vec![notice(format!("{why} Trying again in {seconds} s."))]
            }
            Event::Compacting { is_over } => vec![self.compaction(*is_over, None)],
            Event::Fill {
                used,
                limit,
                cost_nano,
            } => vec![Update::Usage(Usage {
                used: *used,
                size: *limit,
                cost: cost_nano.map(|nano| (nano as f64 / 1e9, "USD".to_owned())),
            })],
            Event::Child { session, event } => self.child(session, event),
            Event::Asking { .. }
            | Event::Decided(_)
            | Event::Forked { .. }
            | Event::GivenBack(_)
            | Event::Idle(_)
            | Event::Closed => Vec::new(),
        }
    }

    /// What a record tells to somebody who knows nothing.
    pub(super) fn again(&mut self, stored: &Stored) -> Vec<Update> {
        self.record(stored, When::Again)
    }

    /// What a subagent tells, some sessions further down.
    pub(super) fn child(&mut self, session: &Arc<str>, event: &Event) -> Vec<Update> {
        let (mut session, mut event) = (session, event);
        while let Event::Child {
            session: below,
            event: inner,
        } = event
        {
            (session, event) = (below, inner);
        }
        match event {
            Event::Recorded(stored) => self.calls.child(session, &stored.record),
            _ => Vec::new(),
        }
    }

    /// Whether there is output that was not told yet, so that it is not told letter by letter.
    pub(super) fn has_held(&self) -> bool {
        self.calls.has_held()
    }

    /// The output that was not told yet.
    pub(super) fn held(&mut self) -> Vec<Update> {
        self.calls.held()
    }

    /// The call of a tool that runs: the only one, for tools that run alone.
    pub(super) fn running(&self, tool: &str) -> Option<String> {
        self.calls.running(tool)
    }

    /// What a call was given, as long as it is not over.
    pub(super) fn input(&self, call: &str) -> Option<Value> {
        self.calls.input(call)
    }

    /// What kind of thing a call does.
    pub(super) fn kind(&self, call: &str) -> CallKind {
        self.calls.kind(call)
    }

    fn record(&mut self, stored: &Stored, when: When) -> Vec<Update> {
        match &stored.record {
            Record::Prompted { turn, parts, .. } => self.prompted(*turn, parts, when),
            Record::Asked { turn, step, .. } => {
                self.step = Step {
                    turn: *turn,
                    number: *step,
                    ..Step::default()
                };
                Vec::new()
            }
            Record::Answered { parts, .. } => self.answered(parts, when),
            Record::Failed { .. } => self.calls.broken(&self.step.calls, BROKE_OFF),
            Record::LeaveAsked { call, title, .. } => self.calls.asked(call, title),
            Record::CallBegan { .. } => self.calls.began(&stored.record),
            Record::CallEnded { .. } => self.calls.ended(&stored.record),
            Record::Planned { todos } => vec![plan(todos)],
            Record::Compacted { summary, .. } => self.compacted(summary, when),
            Record::Titled { title } => vec![Update::Title(Some(title.clone()))],
            Record::Noted { text } => vec![notice(text.clone())],
            Record::TurnEnded { end, .. } => {
                let mut updates = self.calls.all_over();
                if let (TurnEnd::Failed { what, .. }, When::Again) = (end, when) {
                    updates.push(notice(what.clone()));
                }
                updates
            }
            Record::Began { .. }
            | Record::Joined { .. }
            | Record::LeaveGiven { .. }
            | Record::Omitted { .. }
            | Record::Switched { .. }
            | Record::ModeSet { .. } => Vec::new(),
        }
    }

    fn prompted(&mut self, turn: u64, parts: &[StoredPart], when: When) -> Vec<Update> {
        let mut updates = Vec::new();
        if when == When::Again {
            let id = format!("person {turn}");
            let pieces = parts.iter().filter_map(piece);
            updates.extend(pieces.map(|piece| Update::Said {
                voice: Voice::Person,
                id: Some(id.clone()),
                piece,
            }));
        }
        if !std::mem::replace(&mut self.is_titled, true) {
            let title = title(&agent::parts::texts(parts));
            updates.push(Update::Title(Some(title)));
        }
        updates
    }

    fn answered(&mut self, parts: &[StoredPart], when: When) -> Vec<Update> {
        let mut updates = Vec::new();
        if when == When::Live {
            updates.extend(self.missed(parts));
        }
        let mut called = Vec::new();
        for part in parts {
            match &part.content {
                StoredContent::Text { text } if when == When::Again => {
                    updates.push(self.said(Voice::Agent, text));
                }
                StoredContent::Reasoning { text } if when == When::Again && !text.is_empty() => {
                    updates.push(self.said(Voice::Thought, text));
                }
                StoredContent::Call {
                    id,
                    name,
                    arguments,
                } => {
                    called.push(id.as_str());
                    updates.extend(self.calls.called(id, name, arguments));
                }
                _ => {}
            }
        }
        let mut broken = std::mem::take(&mut self.step.calls);
        broken.retain(|call| !called.contains(&call.as_str()));
        updates.extend(self.calls.broken(&broken, BROKE_OFF));
        updates
    }

    /// What of an answer was for eyes only and got lost on the way.
    fn missed(&mut self, parts: &[StoredPart]) -> Vec<Update> {
        let (mut text, mut thought) = (String::new(), String::new());
        for part in parts {
            match &part.content {
                StoredContent::Text { text: more } => text.push_str(more),
                StoredContent::Reasoning { text: more } => thought.push_str(more),
                _ => {}
            }
        }
        let rest = |whole: &str, told: &str| {
            let rest = whole.strip_prefix(told)?;
            (!rest.is_empty()).then(|| rest.to_owned())
        };
        let thought = rest(&thought, &self.step.thought);
        let text = rest(&text, &self.step.text);
        let thought = thought.map(|rest| self.said(Voice::Thought, &rest));
        let text = text.map(|rest| self.said(Voice::Agent, &rest));
        thought.into_iter().chain(text).collect()
    }

    fn writes(&mut self, call: &str, name: &str) -> Vec<Update> {
        if name.is_empty() {
            return Vec::new();
        }
        self.step.calls.push(call.to_owned());
        self.calls.writes(call, name)
    }

    /// The answer begins again: the editor cannot be told to forget, so it gets another message.
    fn restarted(&mut self) -> Vec<Update> {
        let calls = std::mem::take(&mut self.step.calls);
        (self.step.text, self.step.thought) = (String::new(), String::new());
        self.step.restarts += 1;
        let mut updates = self.calls.broken(&calls, BROKE_OFF);
        updates.push(notice("The answer broke off and begins again.".to_owned()));
        updates
    }

    fn compacted(&mut self, summary: &str, when: When) -> Vec<Update> {
        let text = match summary.is_empty() {
            true => "Results of tools were cut.",
            false => summary,
        };
        let told = self.compaction(false, Some(text.to_owned()));
        match when {
            When::Live => vec![told],
            When::Again => vec![
                self.compaction(false, None),
                told,
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

    fn said(&self, voice: Voice, text: &str) -> Update {
        let Step {
            turn,
            number,
            restarts,
            ..
        } = &self.step;
        let name = match voice {
            Voice::Person => "person",
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
            piece: Piece::Text(text.to_owned()),
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

/// A kept piece as the protocol has it; `None` for what is no message.
fn piece(part: &StoredPart) -> Option<Piece> {
    Some(match &part.content {
        StoredContent::Text { text } => Piece::Text(text.clone()),
        StoredContent::Image { media_type, data } => Piece::Image {
            media_type: media_type.clone(),
            data: data.clone(),
        },
        StoredContent::Reasoning { .. } | StoredContent::Call { .. } => return None,
    })
}

/// The plan, without what was dropped from it.
fn plan(todos: &[Todo]) -> Update {
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
