//! How everything on a board stands, put together for a window: jobs, forecast, review, landing.
//!
//! Pure: what is known goes in, one `Board` comes out.

use std::collections::{BTreeMap, HashMap, HashSet};

use base::AbsPath;
use composer::best::{Measured, compare};
use composer::board::{JobId, Line, State, WaitsFor};
use composer::desk::{
    Agent, AgentState, Board, Candidate, Conflict, Dispute, Hunk, Landing, Told, letter,
};
use composer::forecast::{Report, Who};
use composer::land::Check;

use crate::compose::review::is_reviewable;

/// What is known.
#[derive(Default)]
pub(super) struct Table {
    pub(super) project: Option<String>,
    pub(super) branch: String,
    /// Jobs, the oldest first.
    pub(super) lines: Vec<Line>,
    /// Every hunk, in the order of review.
    pub(super) hunks: Vec<Hunk>,
    pub(super) report: Report,
    /// What was not taken of a job's work, by job.
    pub(super) refused: BTreeMap<String, Vec<String>>,
    /// Files of landings that do not fit the branch.
    pub(super) disputes: Vec<Dispute>,
    /// How the checks of jobs went, as their work is now.
    pub(super) checks: HashMap<JobId, Vec<Check>>,
    /// Whose checks run right now.
    pub(super) checking: HashSet<JobId>,
    pub(super) landing: Option<Landing>,
    pub(super) told: Option<Told>,
    pub(super) trouble: Option<String>,
}

impl Table {
    /// A job stands so now.
    pub(super) fn put(&mut self, line: Line) {
        match self.lines.iter_mut().find(|it| it.job == line.job) {
            Some(known) => *known = line,
            None => self.lines.push(line),
        }
    }

    /// How it all stands. Those that wait for the person come first.
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
            disputes: self.disputes.clone(),
            contest: self.contest(),
            told: self.told.clone(),
            landing: self.landing.clone(),
            trouble: self.trouble.clone(),
        }
    }

    fn agent(&self, (mark, line): (usize, &Line)) -> Agent {
        let (files, added, removed) = self.size(&line.job);
        let place = line.place.as_ref();
        let checks = self.checks.get(&line.job).filter(|all| !all.is_empty());
        let passed = |all: &Vec<Check>| all.iter().filter(|check| check.is_passed).count();
        Agent {
            id: line.job.clone(),
            mark,
            title: line.task.title.clone(),
            place: place.map(|it| it.lease.clone()).unwrap_or_default(),
            root: place.and_then(|it| AbsPath::new(&it.root)),
            branch: place.map(|it| it.branch.clone()).unwrap_or_default(),
            state: state(&line.state),
            doing: self.doing(line),
            files,
            lines: (count(added), count(removed)),
            cost_nano: line.cost_nano.unwrap_or_default(),
            seconds: line.worked_ms / 1000,
            checks: checks.map(|all| (count(passed(all)), count(all.len()))),
            turns: line.turns,
        }
    }

    /// How many files a job changed, and how many lines came and went.
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
    pub(super) fn contestants(&self) -> Vec<&Line> {
        let group = self.lines.iter().rev().find_map(|line| line.group.as_ref());
        let is_in = |line: &&Line| group.is_some() && line.group.as_ref() == group;
        let all: Vec<&Line> = self.lines.iter().filter(is_in).collect();
        let is_choice = |line: &&Line| line.state.is_open() || is_reviewable(line);
        match all.iter().any(is_choice) {
            true => all,
            false => Vec::new(),
        }
    }

    /// Those who did the same task, the best first.
    fn contest(&self) -> Vec<Candidate> {
        let measured = self.contestants().into_iter().map(|line| {
            let (files, added, removed) = self.size(&line.job);
            Measured {
                job: line.job.clone(),
                state: line.state.word().to_owned(),
                checks: self.checks.get(&line.job).cloned().unwrap_or_default(),
                files,
                added,
                removed,
                cost_nano: line.cost_nano,
                worked_ms: line.worked_ms,
            }
        });
        let ranked = compare(measured.collect()).into_iter();
        let candidates = ranked.map(|one| Candidate {
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

    fn doing(&self, line: &Line) -> String {
        match &line.state {
            State::Failed { why } | State::Conflict { why } => why.clone(),
            State::Waiting {
                what: WaitsFor::Leave { title, .. },
            } => title.clone(),
            State::Waiting {
                what: WaitsFor::Answer { text, .. },
            } => text.clone(),
            State::Interrupted => "Burin ended meanwhile".to_owned(),
            State::Landed { commit } => {
                let short = commit.get(..8).unwrap_or(commit);
                format!("{short} on {}", self.branch)
            }
            _ => match self.refused.get(&line.job).and_then(|all| all.first()) {
                Some(first) => first.clone(),
                None => line.doing.clone(),
            },
        }
    }

    /// What would not fit, with the letters by which the board shows its agents.
    fn conflicts(&self) -> Vec<Conflict> {
        let conflicts = self.report.conflicts.iter().map(|foreseen| {
            let sides = [&foreseen.one, &foreseen.two];
            let agents = sides.iter().filter_map(|who| match who {
                Who::Session(job) => Some(job.clone()),
                Who::Branch | Who::Person => None,
            });
            let agents: Vec<String> = agents.collect();
            let [one, two] = sides.map(|who| self.name(who));
            Conflict {
                agents,
                path: foreseen.path.to_string(),
                text: foreseen.said_of(&one, &two),
            }
        });
        conflicts.collect()
    }

    /// What a side is called on the board.
    fn name(&self, who: &Who) -> String {
        match who {
            Who::Session(job) => self.letter(job).unwrap_or_else(|| job.clone()),
            Who::Branch => format!("what {} has got since", self.branch),
            Who::Person => "what you have not committed".to_owned(),
        }
    }

    fn letter(&self, job: &str) -> Option<String> {
        let at = self.lines.iter().position(|line| line.job == job)?;
        Some(letter(at).to_string())
    }
}

fn count(of: usize) -> u32 {
    u32::try_from(of).unwrap_or(u32::MAX)
}

fn state(state: &State) -> AgentState {
    match state {
        State::Queued => AgentState::Queued,
        State::Starting => AgentState::Starting,
        State::Working => AgentState::Working,
        State::Waiting { .. } => AgentState::Waiting,
        State::Paused => AgentState::Paused,
        State::Done => AgentState::Done,
        State::Failed { .. } => AgentState::Failed,
        State::Stopped | State::Interrupted => AgentState::Stopped,
        State::Landed { .. } => AgentState::Landed,
        State::Conflict { .. } => AgentState::Conflict,
    }
}

#[cfg(test)]
pub(super) mod tests;
