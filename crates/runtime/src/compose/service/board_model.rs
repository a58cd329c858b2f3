//! Builds the view state of a board: jobs, forecast, review and landing.
//!
//! Pure: the known facts go in, one `Board` comes out.

use std::collections::{BTreeMap, HashMap, HashSet};

use base::AbsPath;
use composer::board::{AwaitedInput, JobId, JobState, JobStatus};
use composer::compare::{CandidateScore, compare};
use composer::forecast::{ForecastParty, ForecastReport};
use composer::land::Check;
use composer::view::{
    Agent, AgentState, BestOfEntry, Board, BoardHunk, BoardNotice, ConflictWarning,
    LandingConflict, LandingStatus, agent_letter,
};

use crate::compose::review::is_reviewable;

/// The facts that the view state is built from.
#[derive(Default)]
pub(super) struct BoardModel {
    pub(super) project: Option<String>,
    pub(super) branch: String,
    /// Jobs, the oldest first.
    pub(super) lines: Vec<JobStatus>,
    /// Every hunk, in the order of review.
    pub(super) hunks: Vec<BoardHunk>,
    pub(super) report: ForecastReport,
    /// Changes that were refused, by job, as sentences.
    pub(super) refused: BTreeMap<String, Vec<String>>,
    /// Files of landings that do not fit the branch.
    pub(super) disputes: Vec<LandingConflict>,
    /// The results of each job's checks on its current changes.
    pub(super) checks: HashMap<JobId, Vec<Check>>,
    /// The jobs whose checks are running.
    pub(super) checking: HashSet<JobId>,
    pub(super) landing: Option<LandingStatus>,
    pub(super) notice: Option<BoardNotice>,
    pub(super) trouble: Option<String>,
}

impl BoardModel {
    /// Adds a job or replaces its status.
    pub(super) fn update_job(&mut self, line: JobStatus) {
        match self.lines.iter_mut().find(|it| it.job == line.job) {
            Some(known) => *known = line,
            None => self.lines.push(line),
        }
    }

    /// Builds the view state. Jobs that wait for the user come first.
    pub(super) fn board(&self) -> Board {
        let mut agents: Vec<Agent> = self
            .lines
            .iter()
            .enumerate()
            .map(|it| self.agent(it))
            .collect();
        agents.sort_by_key(|agent| match agent.state {
            AgentState::Waiting => 0,
            AgentState::Conflict | AgentState::Failed => 1,
            AgentState::Landed | AgentState::Stopped => 3,
            _ => 2,
        });
        Board {
            project: self.project.clone(),
            branch: self.branch.clone(),
            agents,
            hunks: self.hunks.clone(),
            conflicts: self.conflicts(),
            landing_conflicts: self.disputes.clone(),
            best_of: self.best_of_candidates(),
            notice: self.notice.clone(),
            landing: self.landing.clone(),
            error: self.trouble.clone(),
        }
    }

    fn agent(&self, (mark, line): (usize, &JobStatus)) -> Agent {
        let (files, added, removed) = self.size(&line.job);
        let place = line.place.as_ref();
        let checks = self.checks.get(&line.job).filter(|all| !all.is_empty());
        let passed = |all: &Vec<Check>| all.iter().filter(|check| check.is_passed).count();
        Agent {
            id: line.job.clone(),
            mark,
            title: line.task.title.clone(),
            worktree: place.map(|it| it.lease.clone()).unwrap_or_default(),
            root: place.and_then(|it| AbsPath::new(&it.root)),
            branch: place.map(|it| it.branch.clone()).unwrap_or_default(),
            state: state(&line.state),
            activity: self.doing(line),
            files,
            lines: (count(added), count(removed)),
            cost_nano: line.cost_nano.unwrap_or_default(),
            seconds: line.worked_ms / 1000,
            checks: checks.map(|all| (count(passed(all)), count(all.len()))),
            turns: line.turns,
        }
    }

    /// Returns the number of files a job changed, and of lines added and removed.
    fn size(&self, job: &str) -> (usize, usize, usize) {
        let (mut paths, mut added, mut removed) = (HashSet::new(), 0, 0);
        for hunk in self.hunks.iter().filter(|hunk| hunk.agent == job) {
            paths.insert(&hunk.path);
            added += hunk.after.len();
            removed += hunk.before.len();
        }
        (paths.len(), added, removed)
    }

    /// The jobs of the latest contest, as long as there is something to choose.
    pub(super) fn best_of_jobs(&self) -> Vec<&JobStatus> {
        let group = self.lines.iter().rev().find_map(|line| line.group.as_ref());
        let is_in = |line: &&JobStatus| group.is_some() && line.group.as_ref() == group;
        let all: Vec<&JobStatus> = self.lines.iter().filter(is_in).collect();
        let is_choice = |line: &&JobStatus| line.state.is_open() || is_reviewable(line);
        if all.iter().any(is_choice) {
            all
        } else {
            Vec::new()
        }
    }

    /// Returns the agents of a best-of group, best first.
    fn best_of_candidates(&self) -> Vec<BestOfEntry> {
        let measured = self.best_of_jobs().into_iter().map(|line| {
            let (files, added, removed) = self.size(&line.job);
            CandidateScore {
                job: line.job.clone(),
                state: line.state.label().to_owned(),
                checks: self.checks.get(&line.job).cloned().unwrap_or_default(),
                files,
                added,
                removed,
                cost_nano: line.cost_nano,
                worked_ms: line.worked_ms,
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
            agent: one.job,
            files: one.files,
            lines: (count(one.added), count(one.removed)),
            cost_nano: one.cost_nano.unwrap_or_default(),
            seconds: one.worked_ms / 1000,
        });
        candidates.collect()
    }

    fn doing(&self, line: &JobStatus) -> String {
        match &line.state {
            JobState::Failed { why } | JobState::Conflict { why } => why.clone(),
            JobState::Waiting {
                what: AwaitedInput::Leave { title, .. },
            } => title.clone(),
            JobState::Waiting {
                what: AwaitedInput::Answer { text, .. },
            } => text.clone(),
            JobState::Interrupted => "Burin ended meanwhile".to_owned(),
            JobState::Landed { commit } => {
                let short = commit.get(..8).unwrap_or(commit);
                format!("{short} on {}", self.branch)
            }
            _ => match self.refused.get(&line.job).and_then(|all| all.first()) {
                Some(first) => first.clone(),
                None => line.doing.clone(),
            },
        }
    }

    /// Returns the forecast conflicts, with the letters that the board gives its agents.
    fn conflicts(&self) -> Vec<ConflictWarning> {
        let conflicts = self.report.conflicts.iter().map(|foreseen| {
            let sides = [&foreseen.one, &foreseen.two];
            let agents = sides.iter().filter_map(|who| match who {
                ForecastParty::Session(job) => Some(job.clone()),
                ForecastParty::Branch | ForecastParty::Person => None,
            });
            let agents: Vec<String> = agents.collect();
            let [one, two] = sides.map(|who| self.name(who));
            ConflictWarning {
                agents,
                path: foreseen.path.to_string(),
                text: foreseen.sentence_for(&one, &two),
            }
        });
        conflicts.collect()
    }

    /// Returns the board's name for one side of a conflict.
    fn name(&self, who: &ForecastParty) -> String {
        match who {
            ForecastParty::Session(job) => {
                self.candidate_letter(job).unwrap_or_else(|| job.clone())
            }
            ForecastParty::Branch => format!("new commits on {}", self.branch),
            ForecastParty::Person => "your uncommitted changes".to_owned(),
        }
    }

    fn candidate_letter(&self, job: &str) -> Option<String> {
        let at = self.lines.iter().position(|line| line.job == job)?;
        Some(agent_letter(at).to_string())
    }
}

fn count(of: usize) -> u32 {
    u32::try_from(of).unwrap_or(u32::MAX)
}

fn state(state: &JobState) -> AgentState {
    match state {
        JobState::Queued => AgentState::Queued,
        JobState::Starting => AgentState::Starting,
        JobState::Working => AgentState::Working,
        JobState::Waiting { .. } => AgentState::Waiting,
        JobState::Paused => AgentState::Paused,
        JobState::Done => AgentState::Done,
        JobState::Failed { .. } => AgentState::Failed,
        JobState::Stopped | JobState::Interrupted => AgentState::Stopped,
        JobState::Landed { .. } => AgentState::Landed,
        JobState::Conflict { .. } => AgentState::Conflict,
    }
}

#[cfg(test)]
pub(super) mod tests;
