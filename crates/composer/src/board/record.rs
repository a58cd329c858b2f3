//! The persistent records of a board, and the state that they describe.

use serde::{Deserialize, Serialize};

use crate::job::{HandOverTarget, JobId, JobSpec, JobState, JobStatus, JobWorktree};

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
    Leased {
        job: JobId,
        #[serde(rename = "place")]
        worktree: JobWorktree,
    },
    /// The job's session has an id.
    #[serde(rename = "began")]
    SessionStarted { job: JobId, session: String },
    /// The job's state changed.
    #[serde(rename = "stands")]
    StateChanged {
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
    #[serde(rename = "helped")]
    SubagentStarted { job: JobId, session: String },
    /// A hand-over was started.
    HandedOver { job: JobId, to: HandOverTarget },
    /// The job's worktree was released.
    Released { job: JobId },
}

impl BoardRecord {
    /// Returns the record's kind: the name under which the store keeps the record.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Added { .. } => "added",
            Self::Leasing { .. } => "leasing",
            Self::Leased { .. } => "leased",
            Self::SessionStarted { .. } => "began",
            Self::StateChanged { .. } => "stands",
            Self::SubagentStarted { .. } => "helped",
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

/// The session of a job, as recorded on a board. Jobs keep their sessions after their worktrees
/// were released.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobSession {
    /// Id of the job.
    pub job: JobId,
    /// Id of the session.
    pub session: String,
    /// The branch to which the agent commits, or committed.
    pub branch: String,
    /// Whether the job has a worktree.
    pub has_worktree: bool,
}

impl JobSession {
    /// Folds a board's records into the sessions of its jobs, oldest job first. Skips records that
    /// cannot be read, and jobs without a session.
    pub fn from_records(bodies: &[String]) -> Vec<Self> {
        let mut jobs: Vec<Self> = Vec::new();
        let records = bodies.iter().filter_map(|it| serde_json::from_str(it).ok());
        for record in records {
            match record {
                BoardRecord::Added { job, .. } => jobs.push(Self {
                    job,
                    ..Self::default()
                }),
                BoardRecord::Leased { job, worktree } => {
                    if let Some(it) = Self::find(&mut jobs, job) {
                        (it.branch, it.has_worktree) = (worktree.branch, true);
                    }
                }
                BoardRecord::SessionStarted { job, session } => {
                    if let Some(it) = Self::find(&mut jobs, job) {
                        it.session = session;
                    }
                }
                BoardRecord::Released { job } => {
                    if let Some(it) = Self::find(&mut jobs, job) {
                        it.has_worktree = false;
                    }
                }
                _ => {}
            }
        }
        jobs.retain(|it| !it.session.is_empty());
        jobs
    }

    fn find(jobs: &mut [Self], job: JobId) -> Option<&mut Self> {
        jobs.iter_mut().find(|it| it.job == job)
    }
}

impl SavedBoard {
    /// Folds the records in their order. Jobs that were in progress become `Interrupted`.
    pub(super) fn from_records(bodies: &[String]) -> Self {
        let mut saved = Self::default();
        for body in bodies {
            match serde_json::from_str(body) {
                Ok(record) => saved.apply(record),
                Err(error) => saved.problems.push(format!(
                    "cannot read a record of the board, skipped: {error}"
                )),
            }
        }
        for status in &mut saved.jobs {
            if status.state.is_open() {
                status.state = JobState::Interrupted;
            }
        }
        saved
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
            | BoardRecord::SessionStarted { job, .. }
            | BoardRecord::StateChanged { job, .. }
            | BoardRecord::SubagentStarted { job, .. }
            | BoardRecord::HandedOver { job, .. }
            | BoardRecord::Released { job } => job.clone(),
        };
        let Some(status) = self.jobs.iter_mut().find(|status| status.job == job) else {
            return;
        };
        match record {
            BoardRecord::Added { .. } | BoardRecord::HandedOver { .. } => {}
            BoardRecord::Leasing { .. } => status.state = JobState::Starting,
            BoardRecord::Leased { worktree, .. } => status.worktree = Some(worktree),
            BoardRecord::SessionStarted { session, .. } => status.session = Some(session),
            BoardRecord::SubagentStarted { session, .. } => status.subagents.push(session),
            BoardRecord::Released { .. } => status.worktree = None,
            BoardRecord::StateChanged {
                state,
                cost_nano,
                turns,
                worked_ms,
                ..
            } => {
                status.state = state;
                status.cost_nano = cost_nano;
                status.turns = turns;
                status.worked_ms = worked_ms;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records as earlier builds wrote them.
    const RECORDS: [&str; 8] = [
        r#"{"kind":"added","job":"a1","task":{"name":"","title":"t","prompt":"p","role":"builder","model":"demo","needs":[]},"at_ms":5}"#,
        r#"{"kind":"leasing","job":"a1"}"#,
        r#"{"kind":"leased","job":"a1","place":{"lease":"wt-1","root":"/t","git_dir":"/g","base":"0","branch":"b"}}"#,
        r#"{"kind":"began","job":"a1","session":"s1"}"#,
        r#"{"kind":"helped","job":"a1","session":"s2"}"#,
        r#"{"kind":"handed_over","job":"a1","to":"person"}"#,
        r#"{"kind":"stands","job":"a1","state":{"is":"waiting","what":{"for":"leave","call":"c","title":"t","reason":"r"}},"cost_nano":7,"turns":2,"worked_ms":3}"#,
        r#"{"kind":"released","job":"a1"}"#,
    ];

    #[test]
    fn records_of_earlier_builds_are_read_and_written_alike() {
        for text in RECORDS {
            let record: BoardRecord = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&record).unwrap(), text);
            assert!(text.starts_with(&format!(r#"{{"kind":"{}""#, record.kind())));
        }
        let bodies: Vec<String> = RECORDS[..7].iter().map(ToString::to_string).collect();
        let saved = SavedBoard::from_records(&bodies);
        assert_eq!(saved.problems, Vec::<String>::new());
        let status = r#"{"job":"a1","task":{"name":"","title":"t","prompt":"p","role":"builder","model":"demo","needs":[]},"state":{"is":"interrupted"},"doing":"","place":{"lease":"wt-1","root":"/t","git_dir":"/g","base":"0","branch":"b"},"session":"s1","helpers":["s2"],"cost_nano":7,"turns":2,"added_ms":5,"worked_ms":3}"#;
        assert_eq!(serde_json::to_string(&saved.jobs[0]).unwrap(), status);
    }

    #[test]
    fn a_session_keeps_its_branch_after_the_worktree_was_released() {
        let bodies = |count: usize| -> Vec<String> {
            RECORDS[..count].iter().map(ToString::to_string).collect()
        };
        assert_eq!(JobSession::from_records(&bodies(3)), []);
        let session = |has_worktree| JobSession {
            job: "a1".to_owned(),
            session: "s1".to_owned(),
            branch: "b".to_owned(),
            has_worktree,
        };
        assert_eq!(JobSession::from_records(&bodies(7)), [session(true)]);
        assert_eq!(JobSession::from_records(&bodies(8)), [session(false)]);
    }
}
