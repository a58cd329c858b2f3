//! What is written down of a board, and what it was before it was killed.

use serde::{Deserialize, Serialize};

use super::{JobId, Line, Place, Side, State, Task};

/// Something that happened on a board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Record {
    /// A task was taken.
    Added {
        job: JobId,
        task: Task,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        group: Option<String>,
        at_ms: u64,
    },
    /// A tree is being got: there may be one from here on.
    Leasing { job: JobId },
    /// It got its tree.
    Leased { job: JobId, place: Place },
    /// Its session has a name.
    Began { job: JobId, session: String },
    /// It stands so from now on.
    Stands {
        job: JobId,
        state: State,
        #[serde(default)]
        cost_nano: Option<u64>,
        #[serde(default)]
        turns: u64,
        #[serde(default)]
        worked_ms: u64,
    },
    /// A subagent of its session began.
    Helped { job: JobId, session: String },
    /// Work is being handed over.
    HandedOver { job: JobId, to: Side },
    /// Its tree was given back.
    Released { job: JobId },
}

impl Record {
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Added { .. } => "added",
            Self::Leasing { .. } => "leasing",
            Self::Leased { .. } => "leased",
            Self::Began { .. } => "began",
            Self::Stands { .. } => "stands",
            Self::Helped { .. } => "helped",
            Self::HandedOver { .. } => "handed_over",
            Self::Released { .. } => "released",
        }
    }
}

/// A board as its book tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Past {
    /// Every job, the oldest first.
    pub lines: Vec<Line>,
    /// What could not be read, in sentences.
    pub problems: Vec<String>,
}

impl Past {
    /// Folds what was written down: bodies in their order. What was under way is `Interrupted`.
    pub(super) fn of(bodies: &[String]) -> Self {
        let mut past = Self::default();
        for body in bodies {
            match serde_json::from_str(body) {
                Ok(record) => past.take(record),
                Err(error) => past.problems.push(format!(
                    "a record of the board cannot be read and is left out: {error}"
                )),
            }
        }
        for line in &mut past.lines {
            if line.state.is_open() {
                line.state = State::Interrupted;
            }
        }
        past
    }

    fn take(&mut self, record: Record) {
        if let Record::Added {
            job,
            task,
            group,
            at_ms,
        } = record
        {
            self.lines.push(Line::new(job, task, group, at_ms));
            return;
        }
        let job = match &record {
            Record::Added { job, .. }
            | Record::Leasing { job }
            | Record::Leased { job, .. }
            | Record::Began { job, .. }
            | Record::Stands { job, .. }
            | Record::Helped { job, .. }
            | Record::HandedOver { job, .. }
            | Record::Released { job } => job.clone(),
        };
        let Some(line) = self.lines.iter_mut().find(|line| line.job == job) else {
            return;
        };
        match record {
            Record::Added { .. } | Record::HandedOver { .. } => {}
            Record::Leasing { .. } => line.state = State::Starting,
            Record::Leased { place, .. } => line.place = Some(place),
            Record::Began { session, .. } => line.session = Some(session),
            Record::Helped { session, .. } => line.helpers.push(session),
            Record::Released { .. } => line.place = None,
            Record::Stands {
                state,
                cost_nano,
                turns,
                worked_ms,
                ..
            } => {
                line.state = state;
                line.cost_nano = cost_nano;
                line.turns = turns;
                line.worked_ms = worked_ms;
            }
        }
    }
}
