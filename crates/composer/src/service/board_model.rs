//! Builds the view state of a board: jobs, forecast, review and landing.
//!
//! Pure: the known facts go in, one `Board` comes out.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::compare::{CandidateScore, compare};
use crate::conflict::Conflict;
use crate::forecast::{ForecastConflict, ForecastParty, ForecastReport};
use crate::job::{AwaitedInput, JobId, JobState, JobStatus};
use crate::land::Check;
use crate::view::{
    BestOfEntry, Board, BoardHunk, BoardJob, BoardNotice, LandingStatus, agent_letter,
};

/// The facts that the view state is built from.
#[derive(Default)]
pub(super) struct BoardModel {
    pub(super) project: Option<String>,
    pub(super) branch: String,
    /// All jobs, oldest first.
    pub(super) jobs: Vec<JobStatus>,
    /// All hunks, in review order.
    pub(super) hunks: Vec<BoardHunk>,
    pub(super) forecast: ForecastReport,
    /// Changes that were refused, by job, as sentences.
    pub(super) refused: BTreeMap<String, Vec<String>>,
    /// Conflicts of landings with the branch.
    pub(super) landing_conflicts: Vec<Conflict>,
    /// The results of each job's checks on its current changes.
    pub(super) checks: HashMap<JobId, Vec<Check>>,
    /// The jobs whose checks are running.
    pub(super) checking: HashSet<JobId>,
    pub(super) landing: Option<LandingStatus>,
    pub(super) notice: Option<BoardNotice>,
    /// The latest error, as a sentence.
    pub(super) error: Option<String>,
}

impl BoardModel {
    /// Adds a job or replaces its status.
    pub(super) fn update_job(&mut self, status: JobStatus) {
        match self.jobs.iter_mut().find(|it| it.job == status.job) {
            Some(known) => *known = status,
            None => self.jobs.push(status),
        }
    }

    /// Builds the view state. Jobs that wait for the user come first.
    pub(super) fn board(&self) -> Board {
        let jobs = self.jobs.iter().enumerate();
        let mut jobs: Vec<BoardJob> = jobs.map(|it| self.board_job(it)).collect();
        jobs.sort_by_key(|job| match job.state() {
            JobState::Waiting { .. } => 0,
            JobState::Conflict { .. } | JobState::Failed { .. } => 1,
            JobState::Landed { .. } | JobState::Stopped | JobState::Interrupted => 3,
            _ => 2,
        });
        Board {
            project: self.project.clone(),
            branch: self.branch.clone(),
            jobs,
            hunks: self.hunks.clone(),
            conflicts: self.predicted_conflicts(),
            landing_conflicts: self.landing_conflicts.clone(),
            best_of: self.best_of_candidates(),
            notice: self.notice.clone(),
            landing: self.landing.clone(),
            error: self.error.clone(),
        }
    }

    fn board_job(&self, (mark, status): (usize, &JobStatus)) -> BoardJob {
        let (files, added, removed) = self.size(&status.job);
        let checks = self.checks.get(&status.job).filter(|all| !all.is_empty());
        let passed = |all: &Vec<Check>| all.iter().filter(|check| check.is_passed).count();
        BoardJob {
            status: status.clone(),
            mark,
            activity: self.activity(status),
            files,
            lines: (count(added), count(removed)),
            checks: checks.map(|all| (count(passed(all)), count(all.len()))),
        }
    }

    /// Returns the number of files a job changed, and of lines added and removed.
    fn size(&self, job: &str) -> (usize, usize, usize) {
        let (mut paths, mut added, mut removed) = (HashSet::new(), 0, 0);
        for hunk in self.hunks.iter().filter(|hunk| hunk.job == job) {
            paths.insert(&hunk.path);
            added += hunk.after.len();
            removed += hunk.before.len();
        }
        (paths.len(), added, removed)
    }

    /// The jobs of the latest best-of-N group, while there is something to choose.
    pub(super) fn best_of_jobs(&self) -> Vec<&JobStatus> {
        let group = self.jobs.iter().rev().find_map(|job| job.group.as_ref());
        let is_in = |job: &&JobStatus| group.is_some() && job.group.as_ref() == group;
        let all: Vec<&JobStatus> = self.jobs.iter().filter(is_in).collect();
        let is_choice = |job: &&JobStatus| job.state.is_open() || job.is_reviewable();
        if all.iter().any(is_choice) {
            all
        } else {
            Vec::new()
        }
    }

    /// The candidates of that group, best first.
    fn best_of_candidates(&self) -> Vec<BestOfEntry> {
        let measured = self.best_of_jobs().into_iter().map(|job| {
            let (files, added, removed) = self.size(&job.job);
            CandidateScore {
                job: job.job.clone(),
                state: job.state.label().to_owned(),
                checks: self.checks.get(&job.job).cloned().unwrap_or_default(),
                files,
                added,
                removed,
                cost_nano: job.cost_nano,
                worked_ms: job.worked_ms,
            }
        });
        let ranked = compare(measured.collect()).into_iter();
        let candidates = ranked.map(|one| BestOfEntry {
            is_checking: self.checking.contains(&one.job),
            checks: one
                .checks
                .into_iter()
                .map(|check| (check.name, check.is_passed))
                .collect(),
            job: one.job,
            files: one.files,
            lines: (count(one.added), count(one.removed)),
            cost_nano: one.cost_nano.unwrap_or_default(),
            seconds: one.worked_ms / 1000,
        });
        candidates.collect()
    }

    fn activity(&self, status: &JobStatus) -> String {
        match &status.state {
            JobState::Failed { why } | JobState::Conflict { why } => why.clone(),
            JobState::Waiting {
                input: AwaitedInput::Permission { title, .. },
            } => title.clone(),
            JobState::Waiting {
                input: AwaitedInput::Answer { text, .. },
            } => text.clone(),
            JobState::Interrupted => "Burin ended meanwhile".to_owned(),
            JobState::Landed { commit } => {
                let short = commit.get(..8).unwrap_or(commit);
                format!("{short} on {}", self.branch)
            }
            _ => match self.refused.get(&status.job).and_then(|all| all.first()) {
                Some(first) => first.clone(),
                None => status.activity.clone(),
            },
        }
    }

    /// The predicted conflicts, with the letters that the board gives its jobs.
    fn predicted_conflicts(&self) -> Vec<Conflict> {
        let conflicts = self.forecast.conflicts.iter();
        conflicts.filter_map(|it| self.predicted(it)).collect()
    }

    /// A predicted conflict; `None` if no job is on its sides.
    fn predicted(&self, predicted: &ForecastConflict) -> Option<Conflict> {
        let sides = [&predicted.one, &predicted.two];
        let mut jobs = sides.iter().filter_map(|party| match party {
            ForecastParty::Session(job) => Some(job.clone()),
            ForecastParty::Branch | ForecastParty::Person => None,
        });
        let [one, two] = sides.map(|party| self.name(party));
        Some(Conflict {
            job: jobs.next()?,
            other: jobs.next(),
            path: predicted.path.to_string(),
            text: predicted.sentence_for(&one, &two),
            hunks: Vec::new(),
            draft: None,
        })
    }

    /// The board's name for one side of a conflict.
    fn name(&self, party: &ForecastParty) -> String {
        match party {
            ForecastParty::Session(job) => self.letter(job).unwrap_or_else(|| job.clone()),
            ForecastParty::Branch => format!("new commits on {}", self.branch),
            ForecastParty::Person => "your uncommitted changes".to_owned(),
        }
    }

    /// Returns the letter that the board gives a job; `None` if the job is not on the board.
    fn letter(&self, job: &str) -> Option<String> {
        let mark = self.jobs.iter().position(|it| it.job == job)?;
        Some(agent_letter(mark).to_string())
    }
}

/// Converts a count; one that is too large becomes `u32::MAX`.
fn count(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
pub(super) mod tests;
