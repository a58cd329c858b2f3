//! How everything on a board stands, put together for a window: jobs, forecast, review, landing.
//!
//! Pure: what is known goes in, one `Board` comes out.

use std::collections::{BTreeMap, HashMap};

use base::AbsPath;
use composer::board::{Line, State, WaitsFor};
use composer::desk::{Agent, AgentState, Board, Conflict, Hunk, Landing, letter};
use composer::forecast::{Report, Who};

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
    /// Checks of a job's work that passed, of how many.
    pub(super) checks: HashMap<String, (u32, u32)>,
    pub(super) landing: Option<Landing>,
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
            landing: self.landing.clone(),
            trouble: self.trouble.clone(),
        }
    }

    fn agent(&self, (mark, line): (usize, &Line)) -> Agent {
        let own = self.hunks.iter().filter(|hunk| hunk.agent == line.job);
        let (mut paths, mut added, mut removed) = (Vec::new(), 0, 0);
        for hunk in own {
            if !paths.contains(&&hunk.path) {
                paths.push(&hunk.path);
            }
            added += hunk.after.len();
            removed += hunk.before.len();
        }
        let place = line.place.as_ref();
        let count = |lines: usize| u32::try_from(lines).unwrap_or(u32::MAX);
        Agent {
            id: line.job.clone(),
            mark,
            title: line.task.title.clone(),
            place: place.map(|it| it.lease.clone()).unwrap_or_default(),
            root: place.and_then(|it| AbsPath::new(&it.root)),
            branch: place.map(|it| it.branch.clone()).unwrap_or_default(),
            state: state(&line.state),
            doing: self.doing(line),
            files: paths.len(),
            lines: (count(added), count(removed)),
            cost_nano: line.cost_nano.unwrap_or_default(),
            seconds: line.worked_ms / 1000,
            checks: self.checks.get(&line.job).copied(),
        }
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
            let letters: Vec<String> = agents.iter().filter_map(|job| self.letter(job)).collect();
            let text = match letters.as_slice() {
                [] => foreseen.for_person.clone(),
                letters => format!("{}: {}", letters.join(" and "), foreseen.for_person),
            };
            Conflict {
                agents,
                path: foreseen.path.to_string(),
                text,
            }
        });
        conflicts.collect()
    }

    fn letter(&self, job: &str) -> Option<String> {
        let at = self.lines.iter().position(|line| line.job == job)?;
        Some(letter(at).to_string())
    }
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
