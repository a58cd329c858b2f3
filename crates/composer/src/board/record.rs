//! The persistent records of a board, and the state that they describe.

use serde::{Deserialize, Serialize};

use super::{HandOverTarget, JobId, JobSpec, JobState, JobStatus, JobWorktree};

/// A record of something that happened on the board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum BoardRecord {
    /// A job was added.
    Added {
        job: JobId,
        task: JobSpec,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        group: Option<String>,
        at_ms: u64,
    },
    /// A worktree was requested; it may exist from here on.
    Leasing { job: JobId },
    /// The job got its worktree.
    Leased { job: JobId, place: JobWorktree },
    /// The job's session has an id.
    Began { job: JobId, session: String },
    /// The job's state changed.
    Stands {
        job: JobId,
        state: JobState,
        #[serde(default)]
        cost_nano: Option<u64>,
        #[serde(default)]
        turns: u64,
        #[serde(default)]
        worked_ms: u64,
    },
    /// A subagent of the job's session began.
    Helped { job: JobId, session: String },
    /// A hand-over was started.
    HandedOver { job: JobId, to: HandOverTarget },
    /// The job's worktree was released.
    Released { job: JobId },
}

impl BoardRecord {
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

/// The jobs of a board as recorded in its store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SavedBoard {
    /// Every job, oldest first.
    pub jobs: Vec<JobStatus>,
    /// Records that could not be read, as sentences.
    pub problems: Vec<String>,
}

impl SavedBoard {
    /// Folds the records in their order. Jobs that were in progress become `Interrupted`.
    pub(super) fn from_records(bodies: &[String]) -> Self {
        let mut past = Self::default();
        for body in bodies {
            match serde_json::from_str(body) {
                Ok(record) => past.apply(record),
                Err(error) => past.problems.push(format!(
                    "cannot read a record of the board, skipped: {error}"
                )),
            }
        }
        for line in &mut past.jobs {
            if line.state.is_open() {
                line.state = JobState::Interrupted;
            }
        }
        past
    }

    fn apply(&mut self, record: BoardRecord) {
        if let BoardRecord::Added {
            job,
            task,
            group,
            at_ms,
        } = record
        {
            self.jobs.push(JobStatus::new(job, task, group, at_ms));
            return;
        }
        let job = match &record {
            BoardRecord::Added { job, .. }
            | BoardRecord::Leasing { job }
            | BoardRecord::Leased { job, .. }
            | BoardRecord::Began { job, .. }
            | BoardRecord::Stands { job, .. }
            | BoardRecord::Helped { job, .. }
            | BoardRecord::HandedOver { job, .. }
            | BoardRecord::Released { job } => job.clone(),
        };
        let Some(line) = self.jobs.iter_mut().find(|line| line.job == job) else {
            return;
        };
        match record {
            BoardRecord::Added { .. } | BoardRecord::HandedOver { .. } => {}
            BoardRecord::Leasing { .. } => line.state = JobState::Starting,
            BoardRecord::Leased { place, .. } => line.place = Some(place),
            BoardRecord::Began { session, .. } => line.session = Some(session),
            BoardRecord::Helped { session, .. } => line.helpers.push(session),
            BoardRecord::Released { .. } => line.place = None,
            BoardRecord::Stands {
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
