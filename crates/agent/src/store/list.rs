//! The list of sessions, each summarized in one entry.

use std::collections::BTreeMap;

use crate::error::Error;
use crate::record::{Parent, SessionMode, SessionRecord, TurnEnd};
use crate::stored_parts::texts;

use super::{SessionStore, decode};

/// Maximum length of a title made from the first prompt, in characters.
const TITLE: usize = 80;

/// A session's entry in the list.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionSummary {
    /// The id of the session.
    pub id: String,
    /// Start time, in milliseconds since 1970.
    pub started_ms: u64,
    /// Time of the last record, in milliseconds since 1970.
    pub last_ms: u64,
    /// The folder the session works in.
    pub root: String,
    /// The title, or the beginning of the first prompt.
    pub title: String,
    /// The model that answered last, or that will answer.
    pub model: String,
    /// The requested model: `provider/model`, `auto` or `demo`.
    pub wanted: String,
    /// The mode of the session.
    pub mode: SessionMode,
    /// The number of turns.
    pub turns: u64,
    /// Billionths of a US dollar, without the cost of the session it was forked from.
    pub cost_nano: u64,
    /// Whether any answer had an unknown price.
    pub has_unknown_cost: bool,
    /// The state of the session.
    pub state: SessionState,
    /// The parent session and call, for a subagent.
    pub parent: Option<Parent>,
}

/// The state of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionState {
    /// It has no prompt yet.
    New,
    /// A turn has begun and not ended: it is running, or its program died.
    Open,
    /// Its last turn ended.
    Ended(TurnEnd),
}

/// Kinds of records that an entry is computed from.
const KINDS: &[&str] = &[
    "began",
    "prompted",
    "answered",
    "switched",
    "mode_set",
    "titled",
    "turn_ended",
];

impl SessionStore {
    /// Lists the latest sessions, newest first, at most `limit`. Blocks on the disk.
    pub fn sessions(&self, limit: usize) -> Result<Vec<SessionSummary>, Error> {
        let sessions = self.reader().sessions()?;
        let lines = sessions.into_iter().take(limit).map(|session| {
            let reader = self.reader();
            let events = reader.events_of(&session.id, KINDS)?;
            let last = reader.last_event(&session.id)?;
            drop(reader);
            let mut line = SessionSummary::new(session.id, session.started_ms, session.root);
            line.last_ms = last.map_or(session.started_ms, |event| event.at_ms);
            let mut counted_from = 0;
            for stored in events.iter().filter_map(|event| decode(event).ok()) {
                line.take(stored.seq, &stored.record, &mut counted_from);
            }
            Ok(line)
        });
        lines.collect()
    }

    /// Lists the subagents among the latest `limit` sessions, by the parent's id, oldest first.
    /// Blocks on the disk.
    pub fn children(&self, limit: usize) -> Result<BTreeMap<String, Vec<SessionSummary>>, Error> {
        let mut children: BTreeMap<String, Vec<SessionSummary>> = BTreeMap::new();
        for line in self.sessions(limit)?.into_iter().rev() {
            if let Some(parent) = &line.parent {
                children
                    .entry(parent.session.clone())
                    .or_default()
                    .push(line);
            }
        }
        Ok(children)
    }
}

impl SessionSummary {
    fn new(id: String, started_ms: u64, root: String) -> Self {
        Self {
            id,
            started_ms,
            last_ms: started_ms,
            root,
            title: String::new(),
            model: String::new(),
            wanted: String::new(),
            mode: SessionMode::default(),
            turns: 0,
            cost_nano: 0,
            has_unknown_cost: false,
            state: SessionState::New,
            parent: None,
        }
    }

    fn take(&mut self, seq: u64, record: &SessionRecord, counted_from: &mut u64) {
        match record {
            SessionRecord::Began {
                parent,
                forked_from,
                mode,
                model,
                ..
            } => {
                self.parent.clone_from(parent);
                self.mode = *mode;
                self.model.clone_from(model);
                self.wanted.clone_from(model);
                *counted_from = forked_from.as_ref().map_or(0, |(_, after)| after + 1);
            }
            SessionRecord::Prompted {
                turn,
                parts,
                is_steering,
            } => {
                if self.title.is_empty() {
                    self.title = title(&texts(parts));
                }
                if !is_steering {
                    self.turns = *turn;
                    self.state = SessionState::Open;
                }
            }
            SessionRecord::Answered {
                model, cost_nano, ..
            } => {
                self.model.clone_from(model);
                if seq >= *counted_from {
                    self.cost_nano = self.cost_nano.saturating_add(cost_nano.unwrap_or(0));
                    self.has_unknown_cost |= cost_nano.is_none();
                }
            }
            SessionRecord::Switched { to, .. } => {
                self.model.clone_from(to);
                self.wanted.clone_from(to);
            }
            SessionRecord::ModeSet { mode } => self.mode = *mode,
            SessionRecord::Titled { title } => self.title.clone_from(title),
            SessionRecord::TurnEnded { end, .. } => self.state = SessionState::Ended(end.clone()),
            _ => {}
        }
    }
}

/// Returns the first line of a text that is not blank, cut to the length of a title with `…`; empty
/// for a blank text.
pub fn title(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    let line = line.unwrap_or_default();
    match line.char_indices().nth(TITLE) {
        Some((at, _)) => format!("{}…", line[..at].trim_end()),
        None => line.to_owned(),
    }
}
