//! Occurrences of automations in the ledger.

use base::AbsPath;
use ledger::{Ledger, OccurrencePhase, OccurrenceRecord, OccurrenceRow, OccurrenceStep};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Error;
use crate::event::Firing;

/// The kinds of steps, as the ledger stores them.
const STARTED: &str = "started";
const SKIPPED: &str = "skipped";
const DONE: &str = "done";
const FAILED: &str = "failed";

/// One planned run of an automation.
#[derive(Clone, Debug, PartialEq)]
pub struct Occurrence {
    /// Its number.
    pub number: u64,
    /// The path of the automation's file.
    pub automation: String,
    /// The event, in a few words.
    pub trigger: String,
    /// The planned time, in milliseconds since 1970.
    pub planned_ms: u64,
    /// The time of the claim, in milliseconds since 1970.
    pub at_ms: u64,
    /// The event, for the prompt.
    pub(crate) facts: Value,
    /// Its state.
    pub state: OccurrenceState,
    /// The session that works on it, once it was started.
    pub link: RunLink,
    /// The time of its start.
    pub started_ms: Option<u64>,
    /// Its cost once it ended, or until then the most that it may cost, in billionths of a dollar.
    pub cost_nano: Option<u64>,
}

/// The state of an occurrence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OccurrenceState {
    /// It was claimed, but not started: just now, or before a crash.
    NotStarted,
    /// It was left out, for this reason.
    Skipped(String),
    /// Its session works, or waits for the user.
    Running,
    /// Its session ended well.
    Done,
    /// Its session failed, for this reason.
    Failed(String),
}

/// Identifies the session, or the job on the board, that runs an occurrence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunLink {
    /// Id of the session, for one in the folder itself.
    #[serde(default)]
    pub session: Option<String>,
    /// The name of the job's task, for one in a worktree.
    #[serde(default)]
    pub job: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct StartBody {
    #[serde(flatten)]
    link: RunLink,
    reserved_nano: u64,
}

#[derive(Serialize, Deserialize)]
struct EndBody {
    #[serde(default)]
    why: String,
    cost_nano: Option<u64>,
}

impl Occurrence {
    /// Returns the root of the automation's project.
    pub(crate) fn root(&self) -> Option<AbsPath> {
        let file = AbsPath::new(&self.automation)?;
        file.parent()?.parent()?.parent()
    }

    fn of(record: OccurrenceRecord) -> Self {
        let mut occurrence = Self {
            number: record.number,
            automation: record.row.automation,
            trigger: record.row.trigger,
            planned_ms: record.row.planned_ms,
            at_ms: record.row.at_ms,
            facts: serde_json::from_str(&record.row.body).unwrap_or_default(),
            state: OccurrenceState::NotStarted,
            link: RunLink::default(),
            started_ms: None,
            cost_nano: None,
        };
        for step in &record.steps {
            occurrence.apply(step);
        }
        occurrence
    }

    fn apply(&mut self, step: &OccurrenceStep) {
        if step.kind == STARTED {
            self.state = OccurrenceState::Running;
            self.started_ms = Some(step.at_ms);
            if let Ok(body) = serde_json::from_str::<StartBody>(&step.body) {
                self.link = body.link;
                self.cost_nano = Some(body.reserved_nano);
            }
            return;
        }
        let end = serde_json::from_str::<EndBody>(&step.body).ok();
        let why = end.as_ref().map(|end| end.why.clone()).unwrap_or_default();
        if let Some(cost) = end.and_then(|end| end.cost_nano) {
            self.cost_nano = Some(cost);
        }
        self.state = match step.kind.as_str() {
            SKIPPED => OccurrenceState::Skipped(why),
            DONE => OccurrenceState::Done,
            _ => OccurrenceState::Failed(why),
        };
    }
}

/// The occurrences in the ledger.
pub(crate) struct OccurrenceLog(Ledger);

impl OccurrenceLog {
    pub(crate) fn new(ledger: Ledger) -> Self {
        Self(ledger)
    }

    /// Returns the occurrences that were claimed since `since_ms`, oldest first.
    pub(crate) fn read(
        &self,
        automation: Option<&str>,
        since_ms: u64,
    ) -> Result<Vec<Occurrence>, Error> {
        let records = self.0.occurrences(automation, since_ms)?;
        Ok(records.into_iter().map(Occurrence::of).collect())
    }

    /// Claims an occurrence; `None` if another scheduler has it.
    pub(crate) fn claim(
        &mut self,
        automation: &str,
        firing: &Firing,
        now_ms: u64,
    ) -> Result<Option<u64>, Error> {
        Ok(self.0.claim_occurrence(&OccurrenceRow {
            automation: automation.to_owned(),
            trigger: firing.trigger.clone(),
            planned_ms: firing.planned_ms,
            at_ms: now_ms,
            body: firing.facts.to_string(),
        })?)
    }

    /// Records the start; false if another scheduler started or skipped the occurrence.
    pub(crate) fn start(
        &mut self,
        number: u64,
        link: &RunLink,
        reserved_nano: u64,
        now_ms: u64,
    ) -> Result<bool, Error> {
        let link = link.clone();
        let body = StartBody {
            link,
            reserved_nano,
        };
        let body = serde_json::to_string(&body).unwrap_or_default();
        self.step(number, OccurrencePhase::Decided, STARTED, body, now_ms)
    }

    /// Records that the occurrence is left out.
    pub(crate) fn skip(&mut self, number: u64, why: &str, now_ms: u64) -> Result<(), Error> {
        let body = EndBody {
            why: why.to_owned(),
            cost_nano: None,
        };
        let body = serde_json::to_string(&body).unwrap_or_default();
        self.step(number, OccurrencePhase::Decided, SKIPPED, body, now_ms)?;
        Ok(())
    }

    /// Records the end of a session, with the reason if it failed.
    pub(crate) fn end(
        &mut self,
        number: u64,
        failure: Option<String>,
        cost_nano: Option<u64>,
        now_ms: u64,
    ) -> Result<(), Error> {
        let kind = if failure.is_none() { DONE } else { FAILED };
        let why = failure.unwrap_or_default();
        let body = serde_json::to_string(&EndBody { why, cost_nano }).unwrap_or_default();
        self.step(number, OccurrencePhase::Ended, kind, body, now_ms)?;
        Ok(())
    }

    fn step(
        &mut self,
        occurrence: u64,
        phase: OccurrencePhase,
        kind: &str,
        body: String,
        at_ms: u64,
    ) -> Result<bool, Error> {
        Ok(self.0.record_occurrence_step(&OccurrenceStep {
            occurrence,
            phase,
            at_ms,
            kind: kind.to_owned(),
            body,
        })?)
    }
}
