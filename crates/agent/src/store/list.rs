//! The sessions there are, each in a line.

use std::collections::BTreeMap;

use crate::parts::texts;
use crate::record::{Mode, Parent, Record, TurnEnd};

use super::{Store, decode};

/// Letters of a title that is made from the first prompt.
const TITLE: usize = 80;

/// A session in a line.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionLine {
    /// Its name.
    pub id: String,
    /// Milliseconds since 1970.
    pub started_ms: u64,
    /// When its last record was written.
    pub last_ms: u64,
    /// The folder it works in.
    pub root: String,
    /// Its title, or the beginning of its first prompt.
    pub title: String,
    /// Who answered last, or is to.
    pub model: String,
    /// Who is to answer: `provider/model`, `auto` or `demo`.
    pub wanted: String,
    /// How it works.
    pub mode: Mode,
    /// How many turns it had.
    pub turns: u64,
    /// Billionths of a US dollar. What it took over from the session that it goes on from is not counted again.
    pub cost_nano: u64,
    /// Whether there were answers whose price is not known.
    pub has_unknown_cost: bool,
    /// Where it stands.
    pub state: SessionState,
    /// Who started it, where it is a subagent's.
    pub parent: Option<Parent>,
}

/// Where a session stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionState {
    /// Nothing was asked of it yet.
    New,
    /// A turn has begun and not ended: it runs, or its program died.
    Open,
    /// Its last turn ended like this.
    Ended(TurnEnd),
}

/// The kinds of records that a line is made of.
const KINDS: &[&str] = &[
    "began",
    "prompted",
    "answered",
    "switched",
    "mode_set",
    "titled",
    "turn_ended",
];

impl Store {
    /// The latest sessions, at most `limit`, the latest first. Blocks on the disk.
    pub fn sessions(&self, limit: usize) -> Result<Vec<SessionLine>, String> {
        let sessions = self.reader().sessions();
        let sessions = sessions.map_err(|error| error.to_string())?;
        let lines = sessions.into_iter().take(limit).map(|session| {
            let reader = self.reader();
            let events = reader.events_of(&session.id, KINDS);
            let events = events.map_err(|error| error.to_string())?;
            let last = reader.last_event(&session.id);
            let last = last.map_err(|error| error.to_string())?;
            drop(reader);
            let mut line = SessionLine::new(session.id, session.started_ms, session.root);
            line.last_ms = last.map_or(session.started_ms, |event| event.at_ms);
            let mut counted_from = 0;
            for stored in events.iter().filter_map(|event| decode(event).ok()) {
                line.take(stored.seq, &stored.record, &mut counted_from);
            }
            Ok(line)
        });
        lines.collect()
    }

    /// The children of each session that has any, by its name: subagents, the oldest first. Blocks on the disk.
    pub fn children(&self, limit: usize) -> Result<BTreeMap<String, Vec<SessionLine>>, String> {
        let mut children: BTreeMap<String, Vec<SessionLine>> = BTreeMap::new();
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

impl SessionLine {
    fn new(id: String, started_ms: u64, root: String) -> Self {
        Self {
            id,
            started_ms,
            last_ms: started_ms,
            root,
            title: String::new(),
            model: String::new(),
            wanted: String::new(),
            mode: Mode::default(),
            turns: 0,
            cost_nano: 0,
            has_unknown_cost: false,
            state: SessionState::New,
            parent: None,
        }
    }

    fn take(&mut self, seq: u64, record: &Record, counted_from: &mut u64) {
        match record {
            Record::Began {
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
            Record::Prompted {
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
            Record::Answered {
                model, cost_nano, ..
            } => {
                self.model.clone_from(model);
                if seq >= *counted_from {
                    self.cost_nano = self.cost_nano.saturating_add(cost_nano.unwrap_or(0));
                    self.has_unknown_cost |= cost_nano.is_none();
                }
            }
            Record::Switched { to, .. } => {
                self.model.clone_from(to);
                self.wanted.clone_from(to);
            }
            Record::ModeSet { mode } => self.mode = *mode,
            Record::Titled { title } => self.title.clone_from(title),
            Record::TurnEnded { end, .. } => self.state = SessionState::Ended(end.clone()),
            _ => {}
        }
    }
}

/// The first line of a text, cut where it is long.
pub fn title(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    let line = line.unwrap_or_default();
    match line.char_indices().nth(TITLE) {
        Some((at, _)) => format!("{}…", line[..at].trim_end()),
        None => line.to_owned(),
    }
}
