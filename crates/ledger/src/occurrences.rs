//! Occurrences of automations: each claimed by one scheduler, decided once, ended once.

use rusqlite::params;

use crate::rows::{int, number};
use crate::{Error, Ledger};

/// A planned run of an automation. Times are milliseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OccurrenceRow {
    /// Id of the automation.
    pub automation: String,
    /// The event, which distinguishes occurrences of the same time.
    pub trigger: String,
    /// The planned time.
    pub planned_ms: u64,
    /// The time of the claim.
    pub at_ms: u64,
    /// The event as JSON.
    pub body: String,
}

/// A phase of an occurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OccurrencePhase {
    /// The decision whether it starts.
    Decided,
    /// Its end.
    Ended,
}

/// A step of an occurrence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OccurrenceStep {
    /// Number of the occurrence.
    pub occurrence: u64,
    /// The phase; each has one step.
    pub phase: OccurrencePhase,
    /// The time of the step.
    pub at_ms: u64,
    /// The kind of the step.
    pub kind: String,
    /// Its details as JSON.
    pub body: String,
}

/// An occurrence with its steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OccurrenceRecord {
    /// Its number, from 1 in the order of the claims.
    pub number: u64,
    /// The claim.
    pub row: OccurrenceRow,
    /// The steps so far, the decision first.
    pub steps: Vec<OccurrenceStep>,
}

impl OccurrencePhase {
    fn code(self) -> u8 {
        match self {
            Self::Decided => 1,
            Self::Ended => 2,
        }
    }
}

impl Ledger {
    /// Claims an occurrence and returns its number; `None` if it was claimed before, by this process
    /// or another. On the disk when it returns.
    pub fn claim_occurrence(&mut self, row: &OccurrenceRow) -> Result<Option<u64>, Error> {
        let sql = "INSERT INTO occurrences (automation, trigger, planned_ms, at_ms, body) VALUES (?1, ?2, ?3, ?4, ?5)
                   ON CONFLICT DO NOTHING";
        let values = params![
            row.automation,
            row.trigger,
            int(row.planned_ms),
            int(row.at_ms),
            row.body
        ];
        let added = self.connection.execute(sql, values);
        let added = added.map_err(|error| self.convert_error("write to", &error))?;
        let row = self.connection.last_insert_rowid().unsigned_abs();
        Ok((added > 0).then_some(row))
    }

    /// Records a step of an occurrence. Returns false if its phase has a step already, which stays.
    /// On the disk when it returns.
    pub fn record_occurrence_step(&mut self, step: &OccurrenceStep) -> Result<bool, Error> {
        let sql = "INSERT INTO occurrence_steps (occurrence, phase, at_ms, kind, body) VALUES (?1, ?2, ?3, ?4, ?5)
                   ON CONFLICT DO NOTHING";
        let values = params![
            int(step.occurrence),
            step.phase.code(),
            int(step.at_ms),
            step.kind,
            step.body
        ];
        let added = self.connection.execute(sql, values);
        let added = added.map_err(|error| self.convert_error("write to", &error))?;
        Ok(added > 0)
    }

    /// Returns the occurrences that were claimed since `since_ms`, oldest first: those of one
    /// automation, or of all.
    pub fn occurrences(
        &self,
        automation: Option<&str>,
        since_ms: u64,
    ) -> Result<Vec<OccurrenceRecord>, Error> {
        let sql = "SELECT row, automation, trigger, planned_ms, at_ms, body FROM occurrences
                   WHERE at_ms >= ?1 AND (?2 IS NULL OR automation = ?2) ORDER BY row";
        let mut records = self.read(sql, params![int(since_ms), automation], |row| {
            Ok(OccurrenceRecord {
                number: number(row, 0)?,
                row: OccurrenceRow {
                    automation: row.get(1)?,
                    trigger: row.get(2)?,
                    planned_ms: number(row, 3)?,
                    at_ms: number(row, 4)?,
                    body: row.get(5)?,
                },
                steps: Vec::new(),
            })
        })?;
        for record in &mut records {
            record.steps = self.occurrence_steps(record.number)?;
        }
        Ok(records)
    }

    fn occurrence_steps(&self, occurrence: u64) -> Result<Vec<OccurrenceStep>, Error> {
        let sql = "SELECT occurrence, phase, at_ms, kind, body FROM occurrence_steps
                   WHERE occurrence = ?1 ORDER BY phase";
        self.read(sql, params![int(occurrence)], |row| {
            let phase = match number(row, 1)? {
                1 => OccurrencePhase::Decided,
                _ => OccurrencePhase::Ended,
            };
            Ok(OccurrenceStep {
                occurrence: number(row, 0)?,
                phase,
                at_ms: number(row, 2)?,
                kind: row.get(3)?,
                body: row.get(4)?,
            })
        })
    }
}

#[cfg(test)]
mod tests;
