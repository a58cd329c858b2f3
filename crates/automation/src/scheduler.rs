//! Fires the automations that the user turned on.
//!
//! All of it blocks on the disk. Sessions, repositories and commands are those of the `AutomationHost`.
//! Start at `AutomationScheduler::tick`, which is called again and again; time comes from the clock of
//! `SchedulerParts` alone.

mod watching;

use std::collections::HashMap;
use std::sync::Arc;

use base::AbsPath;
use host::{Clock, Files};
use ledger::Ledger;
use serde_json::Value;

use crate::Error;
use crate::consent::{Consent, ConsentStore};
use crate::cron::system_day_start;
use crate::definition::{Automation, AutomationTrigger, MissedPolicy, RunBudget};
use crate::event::{self, CommandResult, Firing, GitFacts};
use crate::file::AutomationFile;
use crate::occurrence::{Occurrence, OccurrenceLog, OccurrenceState, RunLink};
use watching::Watching;

/// Age from which an occurrence without a start counts as not started, since a crash prevented it.
const START_MS: u64 = 60_000;
/// Age up to which an occurrence that was not started may still start.
const RETRY_MS: u64 = 86_400_000;
/// Time for which occurrences are read.
const HISTORY_MS: u64 = 62 * 86_400_000;
/// Number of failures in a row that turn an automation off.
const MAX_FAILURES: usize = 3;
/// The trigger of a run that the user asked for.
const MANUAL: &str = "run now";

/// The parts of the program that a scheduler uses.
pub struct SchedulerParts {
    /// The files of projects.
    pub files: Arc<dyn Files>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The automations that are on.
    pub consents: ConsentStore,
    /// The ledger with the occurrences.
    pub ledger: Ledger,
    /// Sessions, repositories and commands.
    pub host: Arc<dyn AutomationHost>,
}

/// Sessions, repositories and commands, as the scheduler uses them. The methods may block.
pub trait AutomationHost: Send + Sync {
    /// Starts a run. Calls `claim` once, immediately before the work begins, and does not begin it if
    /// the claim is refused or fails.
    fn start(&self, run: &AutomationRun, claim: Claim<'_>) -> Result<(), Error>;

    /// Returns the state of a run that was started in a project, in this process or another.
    fn run_state(&self, root: &AbsPath, run: &RunSummary) -> RunState;

    /// Reads the checked-out branch of a project, and the remotes' branches of the name `branch`; `None`
    /// without a repository.
    fn git_facts(&self, root: &AbsPath, branch: Option<&str>) -> Option<GitFacts>;

    /// Begins to run a command in a project's sandbox, or the checks of the project if it is `None`.
    /// The result is kept under the id of the automation.
    fn begin_command(&self, id: &str, root: &AbsPath, command: Option<&str>);

    /// Takes the result of a command; `None` while it runs. An error is a command that could not run.
    fn take_result(&self, id: &str) -> Option<Result<CommandResult, Error>>;

    /// Returns the limits of costs, as the settings say them now.
    fn limits(&self) -> DailyLimits;

    /// Shows a sentence to the user.
    fn report(&self, sentence: String);
}

/// Records the start of a run under its session. Returns false if another scheduler started it.
pub type Claim<'a> = &'a mut dyn FnMut(&RunLink) -> Result<bool, Error>;

/// A run to be started.
#[derive(Clone, Debug, PartialEq)]
pub struct AutomationRun {
    /// The automation.
    pub automation: Automation,
    /// The root of its project.
    pub root: AbsPath,
    /// Number of the occurrence.
    pub occurrence: u64,
    /// The prompt, with the event as quoted data.
    pub prompt: String,
    /// The most that it may use: its own limits, and what the day's budget leaves.
    pub budget: RunBudget,
}

/// A run that was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSummary {
    /// The name of the automation.
    pub name: String,
    /// Its session or job.
    pub link: RunLink,
}

/// The state of a run that was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunState {
    /// It works, or waits for the user.
    Running,
    /// It has ended.
    Ended {
        /// The reason of its failure; `None` if it ended well.
        failure: Option<String>,
        /// Its cost in billionths of a US dollar; `None` if a price was unknown.
        cost_nano: Option<u64>,
    },
}

/// The limits of costs, in billionths of a US dollar; `None` sets no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DailyLimits {
    /// The most that all automations may cost in a day.
    pub day_nano: Option<u64>,
    /// The most that a run may cost whose automation sets no limit.
    pub run_nano: Option<u64>,
}

/// The result of a look at all automations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tick {
    /// The time of the next planned occurrence, in milliseconds since 1970.
    pub next_ms: Option<u64>,
    /// Whether a run or a command has not ended.
    pub is_busy: bool,
    /// Whether an automation is on.
    pub is_on: bool,
}

/// Fires automations. Any number of schedulers, in any number of processes, may run.
pub struct AutomationScheduler {
    files: Arc<dyn Files>,
    clock: Arc<dyn Clock>,
    consents: ConsentStore,
    log: OccurrenceLog,
    host: Arc<dyn AutomationHost>,
    /// The observations of each automation, by the path of its file.
    watched: HashMap<String, Watching>,
    /// The problems that were reported, by automation.
    reported: HashMap<String, String>,
}

/// An automation that is on.
struct Active {
    id: String,
    root: AbsPath,
    consent: Consent,
    automation: Automation,
    history: Vec<Occurrence>,
}

impl AutomationScheduler {
    /// Creates a scheduler that has observed nothing yet.
    pub fn new(parts: SchedulerParts) -> Self {
        Self {
            files: parts.files,
            clock: parts.clock,
            consents: parts.consents,
            log: OccurrenceLog::new(parts.ledger),
            host: parts.host,
            watched: HashMap::new(),
            reported: HashMap::new(),
        }
    }

    /// Looks at all automations: records the ends of runs, and starts what is due.
    pub fn tick(&mut self) -> Tick {
        let now_ms = self.clock.wall_ms();
        let mut tick = Tick::default();
        match self.settle(now_ms) {
            Ok(has_runs) => tick.is_busy = has_runs,
            Err(error) => self.report("", error.to_string()),
        }
        let mut catch_ups = 1;
        let consents = self.consents.read(self.files.as_ref());
        self.forget_others(&consents);
        for consent in consents {
            let (root, name) = (consent.root.clone(), consent.name.clone());
            match self.consider(consent, now_ms, &mut catch_ups) {
                Ok(Some(next_ms)) => {
                    tick.is_on = true;
                    tick.next_ms = [tick.next_ms, next_ms].into_iter().flatten().min();
                }
                Ok(None) => {}
                Err(error) => self.report(
                    &format!("{root}/{name}"),
                    format!("the automation \"{name}\" of {root} did not run: {error}"),
                ),
            }
        }
        tick.is_busy |= self.watched.values().any(Watching::is_busy);
        tick
    }

    /// Starts an automation because the user asked for it. Fails if it is off.
    pub fn run_now(&mut self, root: &AbsPath, name: &str) -> Result<(), Error> {
        let now_ms = self.clock.wall_ms();
        let file = AutomationFile::read(self.files.as_ref(), root, name)?;
        if let Err(problems) = &file.automation {
            let problem = problems.first().map(ToString::to_string);
            return Err(Error::Invalid {
                name: name.to_owned(),
                problem: problem.unwrap_or_default(),
            });
        }
        let consent = self.consents.of(self.files.as_ref(), root, name);
        let consent = consent.ok_or_else(|| Error::Off(name.to_owned()))?;
        let active = self.active(consent, now_ms)?;
        let active = active.ok_or_else(|| Error::Off(name.to_owned()))?;
        let firing = Firing {
            trigger: MANUAL.to_owned(),
            planned_ms: now_ms,
            is_missed: false,
            facts: Value::Null,
        };
        if let Some(why) = self.obstacle(&active, now_ms)? {
            return Err(Error::NotStarted(why));
        }
        match self.log.claim(&active.id, &firing, now_ms)? {
            Some(number) => self.start(&active, number, &firing.facts, now_ms),
            None => Ok(()),
        }
    }

    /// Records the ends of runs. Returns whether one has not ended.
    fn settle(&mut self, now_ms: u64) -> Result<bool, Error> {
        let recent = self.log.read(None, now_ms.saturating_sub(HISTORY_MS))?;
        let mut has_runs = false;
        for occurrence in recent {
            if occurrence.state != OccurrenceState::Running {
                continue;
            }
            let Some(root) = occurrence.root() else {
                continue;
            };
            let name = AbsPath::new(&occurrence.automation).map(|it| it.name());
            let name = name.unwrap_or_default();
            let run = RunSummary {
                name: name.strip_suffix(".md").unwrap_or(&name).to_owned(),
                link: occurrence.link.clone(),
            };
            match self.host.run_state(&root, &run) {
                RunState::Running => has_runs = true,
                RunState::Ended { failure, cost_nano } => {
                    self.log
                        .end(occurrence.number, failure, cost_nano, now_ms)?;
                }
            }
        }
        Ok(has_runs)
    }

    /// Fires one automation if it is due. Returns the next planned time; `None` if it is off.
    fn consider(
        &mut self,
        consent: Consent,
        now_ms: u64,
        catch_ups: &mut u32,
    ) -> Result<Option<Option<u64>>, Error> {
        let Some(active) = self.active(consent, now_ms)? else {
            return Ok(None);
        };
        if has_failed_often(&active.history, active.consent.at_ms) {
            let name = &active.automation.name;
            let why = format!(
                "the automation \"{name}\" failed {MAX_FAILURES} times in a row and is off; trust it again to turn it on"
            );
            self.report(&active.id, why);
            return Ok(None);
        }
        self.take_up_unstarted(&active, now_ms)?;
        if let Some(firing) = self.firing(&active, now_ms) {
            self.fire(&active, &firing, now_ms, catch_ups)?;
        }
        Ok(Some(self.next_ms(&active, now_ms)))
    }

    /// Returns the automation of a consent; `None` if the file changed, is invalid or missing, or its
    /// time is over.
    fn active(&self, consent: Consent, now_ms: u64) -> Result<Option<Active>, Error> {
        let Some(root) = AbsPath::new(&consent.root) else {
            return Ok(None);
        };
        let file = match AutomationFile::read(self.files.as_ref(), &root, &consent.name) {
            Err(Error::Unknown(_)) => return Ok(None),
            file => file?,
        };
        let is_over = |it: &Automation| it.until_ms.is_some_and(|until| now_ms > until);
        let automation = match file.automation {
            Ok(automation) if file.mark == consent.mark && !is_over(&automation) => automation,
            _ => return Ok(None),
        };
        let id = file.path.to_string();
        let history = self
            .log
            .read(Some(&id), now_ms.saturating_sub(HISTORY_MS))?;
        Ok(Some(Active {
            id,
            root,
            consent,
            automation,
            history,
        }))
    }

    /// Starts or leaves out occurrences whose start a crash prevented.
    fn take_up_unstarted(&mut self, active: &Active, now_ms: u64) -> Result<(), Error> {
        for occurrence in &active.history {
            let age = now_ms.saturating_sub(occurrence.at_ms);
            if occurrence.state != OccurrenceState::NotStarted || age < START_MS {
                continue;
            }
            let is_retried = active.automation.missed == MissedPolicy::Once && age <= RETRY_MS;
            if is_retried {
                self.start(active, occurrence.number, &occurrence.facts, now_ms)?;
            } else {
                self.log
                    .skip(occurrence.number, "it was not started", now_ms)?;
            }
        }
        Ok(())
    }

    /// Claims an occurrence and starts it, or records why it is left out.
    fn fire(
        &mut self,
        active: &Active,
        firing: &Firing,
        now_ms: u64,
        catch_ups: &mut u32,
    ) -> Result<(), Error> {
        let is_left_out = firing.is_missed && active.automation.missed == MissedPolicy::Skip;
        if firing.is_missed && !is_left_out {
            // After a sleep, one automation at a time.
            if *catch_ups == 0 {
                return Ok(());
            }
            *catch_ups -= 1;
        }
        let obstacle = if is_left_out {
            Some("the program did not run at this time".to_owned())
        } else {
            self.obstacle(active, now_ms)?
        };
        let Some(number) = self.log.claim(&active.id, firing, now_ms)? else {
            return Ok(());
        };
        match obstacle {
            Some(why) => self.log.skip(number, &why, now_ms),
            None => self.start(active, number, &firing.facts, now_ms),
        }
    }

    /// Returns why an automation must not run now.
    fn obstacle(&self, active: &Active, now_ms: u64) -> Result<Option<String>, Error> {
        let is_running = |it: &Occurrence| it.state == OccurrenceState::Running;
        if active.history.iter().any(is_running) {
            return Ok(Some("its earlier run has not ended".to_owned()));
        }
        if let Some(most) = active.automation.max_per_day {
            let day = match &active.automation.trigger {
                AutomationTrigger::Schedule(schedule) => schedule.day_start(now_ms),
                _ => system_day_start(now_ms),
            };
            let today = active.history.iter();
            let today = today.filter(|it| it.started_ms.is_some_and(|at| at >= day));
            if today.count() >= most as usize {
                return Ok(Some(format!("it ran {most} times today (max-per-day)")));
            }
        }
        let is_spent = self.rest_of_day(now_ms)? == Some(0);
        Ok(is_spent.then(|| "the automations' budget of the day is spent".to_owned()))
    }

    /// Returns what automations may still cost today, in billionths of a US dollar; `None` without a limit. Runs that have not
    /// ended count with the most that they may cost.
    fn rest_of_day(&self, now_ms: u64) -> Result<Option<u64>, Error> {
        let Some(most) = self.host.limits().day_nano else {
            return Ok(None);
        };
        let day = system_day_start(now_ms);
        let recent = self.log.read(None, day.saturating_sub(RETRY_MS))?;
        let today = recent.iter();
        let today = today.filter(|it| it.started_ms.is_some_and(|at| at >= day));
        let spent: u64 = today.filter_map(|it| it.cost_nano).sum();
        Ok(Some(most.saturating_sub(spent)))
    }

    /// Starts an occurrence, unless the automation was turned off or another scheduler started it.
    fn start(
        &mut self,
        active: &Active,
        number: u64,
        facts: &Value,
        now_ms: u64,
    ) -> Result<(), Error> {
        let name = &active.automation.name;
        let consent = self.consents.of(self.files.as_ref(), &active.root, name);
        if consent.as_ref() != Some(&active.consent) {
            return self.log.skip(number, "it was turned off", now_ms);
        }
        let own = active.automation.budget;
        let most = own.cost_nano.or(self.host.limits().run_nano);
        let limits = [most, self.rest_of_day(now_ms)?];
        let cost_nano = limits.into_iter().flatten().min();
        let run = AutomationRun {
            automation: active.automation.clone(),
            root: active.root.clone(),
            occurrence: number,
            prompt: event::prompt(&active.automation, facts),
            budget: RunBudget { cost_nano, ..own },
        };
        let (log, mut is_claimed) = (&mut self.log, false);
        let mut claim = |link: &RunLink| {
            is_claimed = log.start(number, link, cost_nano.unwrap_or(0), now_ms)?;
            Ok(is_claimed)
        };
        let started = self.host.start(&run, &mut claim);
        if let (Err(error), true) = (&started, is_claimed) {
            let failed = Some(error.to_string());
            return self.log.end(number, failed, Some(0), now_ms);
        }
        started
    }

    /// Reports a problem of an automation once.
    fn report(&mut self, id: &str, sentence: String) {
        let before = self.reported.insert(id.to_owned(), sentence.clone());
        if before.as_ref() != Some(&sentence) {
            self.host.report(sentence);
        }
    }
}

/// Returns whether the latest runs since a consent failed.
pub(crate) fn has_failed_often(history: &[Occurrence], since_ms: u64) -> bool {
    let ended = history.iter().rev().filter(|it| {
        let is_ended = matches!(it.state, OccurrenceState::Done | OccurrenceState::Failed(_));
        is_ended && it.started_ms.is_some_and(|at| at >= since_ms)
    });
    let latest: Vec<_> = ended.take(MAX_FAILURES).collect();
    let is_failed = |it: &&Occurrence| matches!(it.state, OccurrenceState::Failed(_));
    latest.len() == MAX_FAILURES && latest.iter().all(is_failed)
}

#[cfg(test)]
mod tests;
