//! The list of sessions, each summarized in one entry.

use std::collections::{BTreeMap, HashMap};
use std::sync::{MutexGuard, PoisonError};

use ledger::{EventRow, LedgerEntry, SessionHead};
use serde::Deserialize;

use super::marks::FoldedMarks;
use super::{SessionStore, decode};
use crate::error::Error;
use crate::record::{Parent, SessionMode, SessionRecord, TurnEnd};
use crate::stored_parts::texts;

/// Maximum length of a title made from the first prompt, in characters.
const TITLE: usize = 80;
const DAY_MS: u64 = 86_400_000;

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
    /// The name that the user gave, or else the automatic title, or else the beginning of the first
    /// prompt.
    pub title: String,
    /// Whether the session has a name or an automatic title.
    pub has_title: bool,
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
    /// The session it was forked from.
    pub forked_from: Option<String>,
    /// Whether the user archived it.
    pub is_archived: bool,
    /// Whether something happened that the user has not seen.
    pub is_unread: bool,
    /// The cost of its answers by day, in days since 1970 by UTC.
    pub spent_by_day: BTreeMap<u64, DaySpend>,
}

/// The cost of a session's answers on one day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DaySpend {
    /// Billionths of a US dollar, without answers of unknown price.
    pub cost_nano: u64,
    /// Whether an answer had an unknown price.
    pub has_unknown_cost: bool,
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

/// The list of sessions as far as it was read from the ledger. Each record is read once.
#[derive(Debug, Default)]
pub(super) struct SessionIndex {
    sessions: HashMap<String, IndexedSession>,
    marks: HashMap<String, FoldedMarks>,
    /// The row of the last mark that was read.
    last_mark: u64,
}

#[derive(Clone, Debug)]
struct IndexedSession {
    summary: SessionSummary,
    /// Number of the first record that was not read yet.
    next_seq: u64,
    /// Number of the first record whose cost counts.
    counted_from: u64,
}

/// Whether an entry is a record that changes the list of sessions.
pub(super) fn is_listed_record(entry: &LedgerEntry) -> bool {
    match entry {
        LedgerEntry::Session(_) => true,
        LedgerEntry::Event(event) => KINDS.contains(&event.kind.as_str()),
        _ => false,
    }
}

impl SessionStore {
    /// Lists the sessions with the latest records, latest first, at most `limit`, without deleted
    /// ones. Blocks on the disk: the first call reads all sessions, later ones what is new.
    pub fn sessions(&self, limit: usize) -> Result<Vec<SessionSummary>, Error> {
        let mut index = self.index();
        let heads = self.reader().session_heads()?;
        let marks = self.reader().marks(index.last_mark)?;
        for (row, mark) in marks {
            index
                .marks
                .entry(mark.session.clone())
                .or_default()
                .apply(&mark);
            index.last_mark = row;
        }
        let mut lines = Vec::with_capacity(heads.len());
        for head in heads {
            let marks = index.marks.get(&head.session.id).cloned();
            let marks = marks.unwrap_or_default();
            if !marks.is_deleted {
                lines.push(index.read(self, head)?.marked(&marks));
            }
        }
        lines.sort_by(|one, two| (two.last_ms, &two.id).cmp(&(one.last_ms, &one.id)));
        lines.truncate(limit);
        Ok(lines)
    }

    /// Returns a session's entry in the list; `None` if there is no such session or it was deleted.
    /// Blocks on the disk.
    pub fn summary(&self, session: &str) -> Result<Option<SessionSummary>, Error> {
        let mut lines = self.sessions(usize::MAX)?.into_iter();
        Ok(lines.find(|line| line.id == session))
    }

    /// Lists the subagents among the latest `limit` sessions, by the parent's id, oldest first.
    /// Blocks on the disk.
    pub fn children(&self, limit: usize) -> Result<BTreeMap<String, Vec<SessionSummary>>, Error> {
        let mut lines = self.sessions(limit)?;
        lines.sort_by_key(|line| line.started_ms);
        let mut children: BTreeMap<String, Vec<SessionSummary>> = BTreeMap::new();
        for line in lines {
            if let Some(parent) = &line.parent {
                children
                    .entry(parent.session.clone())
                    .or_default()
                    .push(line);
            }
        }
        Ok(children)
    }

    // Sessions are added whole, so that a panic leaves the index consistent.
    fn index(&self) -> MutexGuard<'_, SessionIndex> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionIndex {
    /// Returns the entry of a session without its marks, after reading its new records.
    fn read(&mut self, store: &SessionStore, head: SessionHead) -> Result<SessionSummary, Error> {
        let SessionHead { session, last } = head;
        let known = self.sessions.get(&session.id);
        let end = last.map_or(0, |(seq, _)| seq + 1);
        if let Some(known) = known.filter(|known| known.next_seq == end) {
            return Ok(known.summary.clone());
        }
        let mut entry = known.cloned().unwrap_or_else(|| IndexedSession {
            summary: SessionSummary::new(session.id.clone(), session.started_ms, session.root),
            next_seq: 0,
            counted_from: 0,
        });
        // The lock is free between sessions, so that other readers do not wait for the whole list.
        let events = store
            .reader()
            .events_of(&session.id, KINDS, entry.next_seq)?;
        for event in &events {
            entry.apply(event);
        }
        entry.next_seq = end;
        entry.summary.last_ms = last.map_or(session.started_ms, |(_, at_ms)| at_ms);
        let summary = entry.summary.clone();
        self.sessions.insert(session.id, entry);
        Ok(summary)
    }
}

/// The part of an answer that the list shows; the texts are not parsed.
#[derive(Deserialize)]
struct AnswerHead {
    model: String,
    #[serde(default)]
    cost_nano: Option<u64>,
}

impl IndexedSession {
    /// Applies a record. One that cannot be parsed is skipped.
    fn apply(&mut self, event: &EventRow) {
        if event.kind == "answered" {
            let answer = serde_json::from_str::<AnswerHead>(&event.body);
            if let Ok(answer) = answer {
                self.answered(event, answer);
            }
        } else if let Ok(stored) = decode(event) {
            self.take(&stored.record);
        }
    }

    fn answered(&mut self, event: &EventRow, answer: AnswerHead) {
        let line = &mut self.summary;
        line.model = answer.model;
        if event.seq >= self.counted_from {
            let (cost_nano, is_unknown) =
                (answer.cost_nano.unwrap_or(0), answer.cost_nano.is_none());
            line.cost_nano = line.cost_nano.saturating_add(cost_nano);
            line.has_unknown_cost |= is_unknown;
            let day = line.spent_by_day.entry(event.at_ms / DAY_MS).or_default();
            day.cost_nano = day.cost_nano.saturating_add(cost_nano);
            day.has_unknown_cost |= is_unknown;
        }
    }

    fn take(&mut self, record: &SessionRecord) {
        let line = &mut self.summary;
        match record {
            SessionRecord::Began {
                parent,
                forked_from,
                mode,
                model,
                ..
            } => {
                line.parent.clone_from(parent);
                line.mode = *mode;
                line.model.clone_from(model);
                line.wanted.clone_from(model);
                line.forked_from = forked_from.as_ref().map(|(session, _)| session.clone());
                self.counted_from = forked_from.as_ref().map_or(0, |(_, after)| after + 1);
            }
            SessionRecord::Prompted {
                turn,
                parts,
                is_steering,
            } => {
                if line.title.is_empty() {
                    line.title = title(&texts(parts));
                }
                if !is_steering {
                    line.turns = *turn;
                    line.state = SessionState::Open;
                }
            }
            SessionRecord::Switched { to, .. } => {
                line.model.clone_from(to);
                line.wanted.clone_from(to);
            }
            SessionRecord::ModeSet { mode } => line.mode = *mode,
            SessionRecord::Titled { title } => {
                line.title.clone_from(title);
                line.has_title = true;
            }
            SessionRecord::TurnEnded { end, .. } => line.state = SessionState::Ended(end.clone()),
            _ => {}
        }
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
            has_title: false,
            model: String::new(),
            wanted: String::new(),
            mode: SessionMode::default(),
            turns: 0,
            cost_nano: 0,
            has_unknown_cost: false,
            state: SessionState::New,
            parent: None,
            forked_from: None,
            is_archived: false,
            is_unread: false,
            spent_by_day: BTreeMap::new(),
        }
    }

    /// Returns the entry with these marks.
    fn marked(mut self, marks: &FoldedMarks) -> Self {
        match marks.title() {
            Some(title) => self.title.clone_from(title),
            None if self.forked_from.is_some() && !self.has_title => {
                self.title = fork_title(&self.title);
            }
            None => {}
        }
        self.has_title |= marks.title().is_some();
        self.is_archived = marks.is_archived;
        self.is_unread = marks.is_unread;
        self.cost_nano = self.cost_nano.saturating_add(marks.cost_nano);
        self
    }
}

/// Returns the title of a fork of the session with this title.
pub fn fork_title(title: &str) -> String {
    format!("Fork of {title}")
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
