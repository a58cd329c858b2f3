//! Judges a turn by the user's next message, and stores the judgement.
//!
//! Limitations: only turns of this run of the program are judged.

use quality::satisfaction::{TurnFacts, judge};
use quality::{JudgementRecord, QualityRecord};

use super::session::SessionTask;
use crate::tool::{LockScope, ToolAccess, ToolClass};

/// Time in milliseconds after a turn before which a message of the queue was written during the turn.
const QUEUED_MS: u64 = 1_000;

/// A turn that the next message is about.
#[derive(Debug, Default)]
pub(super) struct JudgedTurn {
    turn: u64,
    prompt: String,
    /// Files that tools for edits changed, relative to the root.
    changed: Vec<String>,
    /// The time of the end; `None` while the turn runs.
    ended_ms: Option<u64>,
}

impl SessionTask {
    /// Judges the turn before by the message that begins this one.
    pub(super) fn judge_turn_before(&mut self, message: &str, is_queued: bool) {
        let next = JudgedTurn {
            turn: self.turn,
            prompt: message.to_owned(),
            ..JudgedTurn::default()
        };
        let before = std::mem::replace(&mut self.judged, next);
        // The messages to a subagent come from an agent.
        let is_persons = self.start.has_user && self.start.parent.is_none();
        let Some(ended_ms) = before.ended_ms.filter(|_| is_persons) else {
            return;
        };
        let at_ms = self.harness().parts.sources.clock.wall_ms();
        let after_ms = at_ms.saturating_sub(ended_ms);
        if is_queued && after_ms < QUEUED_MS {
            return;
        }
        let facts = TurnFacts {
            prompt: &before.prompt,
            changed: &before.changed,
        };
        let judged = judge(&facts, (after_ms, message));
        let row = JudgementRecord::by_rules(&self.id, before.turn, judged, at_ms);
        let rows = vec![(at_ms, QualityRecord::Judgement(row))];
        self.store().record_quality(rows);
    }

    /// Notes the files that a call may change.
    pub(super) fn note_changed(&mut self, class: ToolClass, access: &ToolAccess) {
        if class == ToolClass::Edit {
            let paths = access.writes.iter().filter_map(|scope| match scope {
                LockScope::Path(path) => Some(path.clone()),
                LockScope::Tree(_) | LockScope::Own(_) => None,
            });
            self.judged.changed.extend(paths);
        }
    }

    /// Notes the end of a turn.
    pub(super) fn note_turn_end(&mut self) {
        let now_ms = self.harness().parts.sources.clock.wall_ms();
        self.judged.ended_ms = Some(now_ms);
    }
}
