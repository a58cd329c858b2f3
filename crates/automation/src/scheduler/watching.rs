//! Observes what fires automations: the clock, branches, and commands that fail.

use std::time::Duration;

use base::AbsPath;
use serde_json::json;

use super::{Active, AutomationScheduler};
use crate::consent::Consent;
use crate::definition::{AutomationTrigger, MissedPolicy};
use crate::event::{CommitFact, Firing, GitFacts};
use crate::occurrence::OccurrenceState;

/// Lateness up to which an occurrence counts as on time.
const GRACE_MS: u64 = 120_000;
/// The trigger of planned times.
const SCHEDULE: &str = "schedule";

/// The observations of one automation.
#[derive(Default)]
pub(super) struct Watching {
    /// The branches at the latest look.
    git: Option<GitFacts>,
    /// The interval in which the command was run last.
    slot: Option<u64>,
    is_command_running: bool,
    was_failing: bool,
}

impl Watching {
    /// Returns whether a command has not ended.
    pub(super) fn is_busy(&self) -> bool {
        self.is_command_running
    }
}

impl AutomationScheduler {
    /// Drops the observations of automations that are off.
    pub(super) fn forget_others(&mut self, consents: &[Consent]) {
        self.watched.retain(|id, _| {
            consents.iter().any(|consent| {
                let path = AbsPath::new(&consent.root).map(|root| root.join(crate::FOLDER));
                let file = path.map(|it| it.join(format!("{}.md", consent.name)));
                file.is_some_and(|file| file.to_string() == *id)
            })
        });
    }

    /// Returns the event that fires an automation now.
    pub(super) fn firing(&mut self, active: &Active, now_ms: u64) -> Option<Firing> {
        match &active.automation.trigger {
            AutomationTrigger::Schedule(schedule) => {
                let planned = active.history.iter().filter(|it| it.trigger == SCHEDULE);
                let last_ms = planned.map(|it| it.planned_ms).max().unwrap_or(0);
                let after_ms = last_ms.max(active.consent.at_ms);
                let planned_ms = schedule.latest_between(after_ms, now_ms)?;
                Some(Firing {
                    trigger: SCHEDULE.to_owned(),
                    planned_ms,
                    is_missed: now_ms - planned_ms > GRACE_MS,
                    facts: json!({}),
                })
            }
            AutomationTrigger::Commit => self.git_firing(active, None, |facts| {
                let branch = facts.branch.clone()?;
                Some((format!("commit on {branch}"), branch, facts.head.clone()?))
            }),
            AutomationTrigger::Push { branch } => self.git_firing(active, Some(branch), |facts| {
                let remotes = facts.remotes.iter().filter(|(name, _)| name == branch);
                let latest = remotes.max_by_key(|(_, commit)| commit.at_ms)?;
                Some((
                    format!("push to {branch}"),
                    branch.clone(),
                    latest.1.clone(),
                ))
            }),
            AutomationTrigger::FailingChecks { every } => {
                self.failing(active, None, every.as_millis() as u64, now_ms)
            }
            AutomationTrigger::Command { command, every } => {
                let command = Some(command.as_str());
                self.failing(active, command, every.as_millis() as u64, now_ms)
            }
        }
    }

    /// Returns the next time at which an automation is looked at for a reason of its own.
    pub(super) fn next_ms(&self, active: &Active, now_ms: u64) -> Option<u64> {
        let interval = |every: &Duration| {
            let every = every.as_millis() as u64;
            Some((now_ms / every + 1) * every)
        };
        match &active.automation.trigger {
            AutomationTrigger::Schedule(schedule) => schedule.next_after(now_ms),
            AutomationTrigger::FailingChecks { every }
            | AutomationTrigger::Command { every, .. } => interval(every),
            AutomationTrigger::Commit | AutomationTrigger::Push { .. } => None,
        }
    }

    /// Compares the commit that `of` finds in the branches with that of the latest look.
    fn git_firing(
        &mut self,
        active: &Active,
        branch: Option<&str>,
        of: impl Fn(&GitFacts) -> Option<(String, String, CommitFact)>,
    ) -> Option<Firing> {
        let facts = self.host.git_facts(&active.root, branch)?;
        let found = of(&facts);
        let watching = self.watched.entry(active.id.clone()).or_default();
        let before = watching.git.replace(facts);
        let (trigger, branch, commit) = found?;
        let is_new = match &before {
            // Another branch was checked out, or an older commit.
            Some(before) => of(before).is_none_or(|(same, _, earlier)| {
                same == trigger && earlier.id != commit.id && earlier.at_ms <= commit.at_ms
            }),
            // The events before the first look are missed ones.
            None => {
                active.automation.missed == MissedPolicy::Once
                    && commit.at_ms > active.consent.at_ms
            }
        };
        if !is_new || commit.is_by_agent() {
            return None;
        }
        let trigger = format!("{trigger} {}", commit.id);
        // A repeated claim of the same commit is refused by the ledger.
        let is_known = active.history.iter().any(|it| it.trigger == trigger);
        (!is_known).then(|| Firing {
            planned_ms: commit.at_ms,
            is_missed: before.is_none(),
            facts: commit.facts(&branch),
            trigger,
        })
    }

    /// Runs a command once in each interval, and returns an event when it begins to fail.
    fn failing(
        &mut self,
        active: &Active,
        command: Option<&str>,
        every_ms: u64,
        now_ms: u64,
    ) -> Option<Firing> {
        let watching = self.watched.entry(active.id.clone()).or_default();
        let slot = now_ms / every_ms;
        if !watching.is_command_running {
            // The agent's own work must not be taken for a failure of the user's.
            let is_at_work = active
                .history
                .iter()
                .any(|it| it.state == OccurrenceState::Running);
            if watching.slot != Some(slot) && !is_at_work {
                watching.slot = Some(slot);
                watching.is_command_running = true;
                self.host.begin_command(&active.id, &active.root, command);
            }
            return None;
        }
        let result = self.host.take_result(&active.id)?;
        watching.is_command_running = false;
        let planned_ms = watching.slot.unwrap_or(slot) * every_ms;
        let result = match result {
            Ok(result) => result,
            Err(error) => {
                let name = &active.automation.name;
                let sentence =
                    format!("the command of the automation \"{name}\" did not run: {error}");
                self.report(&active.id, sentence);
                return None;
            }
        };
        let was_failing = std::mem::replace(&mut watching.was_failing, !result.failed.is_empty());
        if result.failed.is_empty() || was_failing {
            return None;
        }
        let git = self.host.git_facts(&active.root, None);
        let is_agents = git
            .and_then(|it| it.head)
            .is_some_and(|it| it.is_by_agent());
        (!is_agents).then(|| Firing {
            trigger: "failing".to_owned(),
            planned_ms,
            is_missed: false,
            facts: result.facts(),
        })
    }
}
