//! Rows about quality in the ledger.

use ledger::{LedgerEntry, QualityRow};
use quality::outcomes::MeasuredCall;
use quality::report::{QualityReport, ReportInput};
use quality::{ExperimentSet, ExposureRecord, LatestRows, QualityRecord};

use super::{SessionStore, StoreWrite};
use crate::error::Error;
use crate::stats::{self, TOKENS, TOOL_CALL};

const DAY_MS: u64 = 86_400_000;

/// The rows about quality of a period.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QualityRecords {
    /// The rows, oldest first, without measurements that a later one of the same change contains.
    pub records: Vec<QualityRecord>,
    /// Number of rows that cannot be read.
    pub unreadable: usize,
}

impl SessionStore {
    /// Writes rows about quality soon, each with the time that it is about, in milliseconds since 1970. Rows whose keys
    /// are known are dropped, and so are all if the channel is full, since the figures also hold without them.
    pub fn record_quality(&self, records: Vec<(u64, QualityRecord)>) {
        let entries = records.into_iter().map(|(at_ms, record)| {
            LedgerEntry::Quality(QualityRow {
                at_ms,
                kind: record.kind().to_owned(),
                version: record.version(),
                key: record.key(),
                body: record.body(),
            })
        });
        let entries: Vec<LedgerEntry> = entries.collect();
        if entries.is_empty() {
            return;
        }
        let write = StoreWrite {
            entries,
            done: None,
        };
        if self.writes.try_send(write).is_err() {
            log::warn!("rows about quality found no room on the way to the ledger");
        }
    }

    /// Returns whether a session takes part in an experiment. Blocks on the disk.
    pub(crate) fn has_exposure(&self, experiment: &str, session: &str) -> Result<bool, Error> {
        let row = QualityRecord::Exposure(ExposureRecord {
            experiment: experiment.to_owned(),
            subject: session.to_owned(),
            ..ExposureRecord::default()
        });
        Ok(self.reader().has_quality(row.kind(), &row.key())?)
    }

    /// Computes the report on the quality of the last `days` days. `now_ms` is in milliseconds since 1970. Blocks on the
    /// disk.
    pub fn quality_report(
        &self,
        experiments: &ExperimentSet,
        now_ms: u64,
        days: u64,
    ) -> Result<QualityReport, Error> {
        let since_ms = now_ms.saturating_sub(days.saturating_mul(DAY_MS));
        let input = self.report_input(experiments, since_ms, now_ms, days)?;
        let mut report = QualityReport::of(&input, experiments);
        // A decision depends on the whole experiment, not on the period.
        let begun_ms = self.experiments_begun(experiments)?;
        if let Some(begun_ms) = begun_ms.filter(|it| *it < since_ms) {
            let whole = self.report_input(experiments, begun_ms, now_ms, days)?;
            report.experiments = QualityReport::experiments(&whole, experiments);
        }
        Ok(report)
    }

    /// Returns the time of the first row about an experiment, in milliseconds since 1970.
    fn experiments_begun(&self, experiments: &ExperimentSet) -> Result<Option<u64>, Error> {
        let mut begun_ms = None;
        for experiment in experiments.all() {
            for kind in ["exposure", "trial"] {
                let first = self.reader().first_quality(kind, &experiment.id)?;
                begun_ms = [begun_ms, first].into_iter().flatten().min();
            }
        }
        Ok(begun_ms)
    }

    fn report_input(
        &self,
        experiments: &ExperimentSet,
        since_ms: u64,
        now_ms: u64,
        days: u64,
    ) -> Result<ReportInput, Error> {
        let calls = self.metrics(TOOL_CALL, since_ms)?;
        let calls: Vec<MeasuredCall> = calls.iter().filter_map(stats::measured_call).collect();
        let answers = self.metrics(TOKENS, since_ms)?;
        let QualityRecords {
            records,
            unreadable,
        } = self.quality(since_ms)?;
        // Only experiments of sessions ask for their folders.
        let sessions = match experiments.of_sessions() {
            Some(_) => self.reader().session_rows()?,
            None => Vec::new(),
        };
        let sessions = sessions.into_iter();
        Ok(ReportInput {
            records,
            unreadable,
            work: stats::work(&calls, &answers),
            calls,
            sessions: sessions
                .map(|row| (row.id, (row.started_ms, row.root)))
                .collect(),
            now_ms,
            days,
        })
    }

    /// Reads the rows about quality since a time, in milliseconds since 1970. Blocks on the disk.
    pub fn quality(&self, since_ms: u64) -> Result<QualityRecords, Error> {
        let mut latest = LatestRows::default();
        let rows = self
            .reader()
            .quality(since_ms, |kind, key| latest.is_wanted(kind, key))?;
        let mut found = QualityRecords::default();
        for row in rows.iter().rev() {
            match QualityRecord::read(&row.kind, row.version, &row.body) {
                Ok(record) => found.records.push(record),
                Err(error) => {
                    log::debug!("{error}");
                    found.unreadable += 1;
                }
            }
        }
        Ok(found)
    }
}
