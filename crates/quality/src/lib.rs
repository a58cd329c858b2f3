//! Figures about the quality of agents and suggestions: outcomes of calls with alarms, kept text, satisfaction, and
//! experiments.
//!
//! docs/quality.md explains every definition. Figures come from rows of the ledger (`record`), so that they can be
//! computed again at any time.
//!
//! Knows: `model`, `retention`, `statistics`. Must not know: files, clocks, sessions, how rows are stored.
//! Invariant: a figure that the rows do not determine is unknown, never zero.
//! Invariant: a share is never given without the figure that rises when the share is gamed (`keep::KeepFigures`).
//! Invariant: equal rows give equal figures, so that an alarm is found again with the same key.
//! Start at `QualityRecord`, the rows; `alarms::CallSeries` raises alarms; `report::QualityReport` has all figures.

#![warn(missing_docs)]

pub mod alarms;
pub mod experiment;
pub mod keep;
pub mod outcomes;
mod record;
pub mod report;
pub mod satisfaction;

pub use experiment::ExperimentSet;
pub use record::{
    AlarmExample, AlarmRecord, ExposureRecord, JudgementRecord, KeptRecord, LatestRows, LossRecord,
    QualityRecord, RecordError, SideRecord, TrialRecord, UnitRecord,
};
