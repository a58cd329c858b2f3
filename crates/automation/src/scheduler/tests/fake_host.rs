//! A host whose runs are scripted by a test.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::*;

/// A command that the host was asked to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Begun {
    Command(String),
    Checks,
}

/// A host without sessions.
#[derive(Default)]
pub(super) struct FakeHost {
    state: Mutex<FakeState>,
}

#[derive(Default)]
struct FakeState {
    runs: Vec<AutomationRun>,
    /// The results of the runs, by the number of the occurrence.
    ends: HashMap<u64, Option<String>>,
    ends_at_once: Option<Option<String>>,
    crashes: bool,
    git: Option<GitFacts>,
    result: CommandResult,
    begun: Vec<Begun>,
    is_command_running: bool,
    limits: Option<DailyLimits>,
    reports: Vec<String>,
}

impl FakeHost {
    fn state(&self) -> MutexGuard<'_, FakeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The runs that began.
    pub(super) fn runs(&self) -> Vec<AutomationRun> {
        self.state().runs.clone()
    }

    pub(super) fn begun(&self) -> Vec<Begun> {
        self.state().begun.clone()
    }

    pub(super) fn reports(&self) -> Vec<String> {
        self.state().reports.clone()
    }

    /// Ends all runs that began so far.
    pub(super) fn end_all(&self, failure: Option<&str>) {
        let mut state = self.state();
        for number in state
            .runs
            .iter()
            .map(|run| run.occurrence)
            .collect::<Vec<_>>()
        {
            state
                .ends
                .entry(number)
                .or_insert_with(|| failure.map(str::to_owned));
        }
    }

    /// Ends the runs that begin from now on before the next look.
    pub(super) fn end_at_once(&self, failure: Option<&str>) {
        self.state().ends_at_once = Some(failure.map(str::to_owned));
    }

    /// Lets starts fail before their claim, as if the process had died.
    pub(super) fn crash_before_claim(&self, crashes: bool) {
        self.state().crashes = crashes;
    }

    pub(super) fn set_git(&self, git: GitFacts) {
        self.state().git = Some(git);
    }

    pub(super) fn set_result(&self, result: CommandResult) {
        self.state().result = result;
    }

    pub(super) fn set_limits(&self, limits: DailyLimits) {
        self.state().limits = Some(limits);
    }
}

impl AutomationHost for FakeHost {
    fn start(&self, run: &AutomationRun, claim: Claim<'_>) -> Result<(), Error> {
        if self.state().crashes {
            return Err(Error::NotStarted("killed".to_owned()));
        }
        let link = RunLink {
            session: None,
            job: Some(run.occurrence.to_string()),
        };
        if claim(&link)? {
            let mut state = self.state();
            state.runs.push(run.clone());
            if let Some(failure) = state.ends_at_once.clone() {
                state.ends.insert(run.occurrence, failure);
            }
        }
        Ok(())
    }

    fn run_state(&self, _root: &AbsPath, run: &RunSummary) -> RunState {
        assert_eq!(run.name, "check");
        let job = run.link.job.as_ref().expect("its job");
        let number: u64 = job.parse().expect("a number");
        let state = self.state();
        let cost = state.runs.iter().find(|it| it.occurrence == number);
        let cost_nano = cost.and_then(|it| it.budget.cost_nano).map(|it| it / 2);
        match state.ends.get(&number) {
            Some(failure) => RunState::Ended {
                failure: failure.clone(),
                cost_nano,
            },
            None => RunState::Running,
        }
    }

    fn git_facts(&self, _root: &AbsPath, _branch: Option<&str>) -> Option<GitFacts> {
        self.state().git.clone()
    }

    fn begin_command(&self, _id: &str, _root: &AbsPath, command: Option<&str>) {
        let mut state = self.state();
        assert!(!state.is_command_running, "one command at a time");
        state.is_command_running = true;
        state.begun.push(match command {
            Some(command) => Begun::Command(command.to_owned()),
            None => Begun::Checks,
        });
    }

    fn take_result(&self, _id: &str) -> Option<Result<CommandResult, Error>> {
        let mut state = self.state();
        let was_running = std::mem::take(&mut state.is_command_running);
        was_running.then(|| Ok(state.result.clone()))
    }

    fn limits(&self) -> DailyLimits {
        let usual = DailyLimits {
            day_nano: Some(100_000_000_000),
            run_nano: Some(1_000_000_000),
        };
        self.state().limits.unwrap_or(usual)
    }

    fn report(&self, sentence: String) {
        self.state().reports.push(sentence);
    }
}
