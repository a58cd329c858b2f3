//! One SQLite file that records sessions and their events, routing decisions with their reasons,
//! the usage and cost of every model call, occurrences of automations, metrics, and rows about quality.
//!
//! Knows: `base`, `model`. Must not know: how a model is reached, what an agent does.
//! Invariant: rows are appended and never changed or removed; the tables themselves refuse both.
//! Invariant: rows survive kill -9 and a power cut once `Ledger::append` has returned.
//! Invariant: a damaged file is moved aside, reported to the user, and never written to.
//! Start at `Ledger::open`; `LedgerWriter` appends without making its caller wait for the disk.

#![warn(missing_docs)]
#![expect(
    clippy::disallowed_methods,
    reason = "this crate owns its file: creates it with private permissions, locks it while \
              opening, and moves it aside"
)]

mod checkpoint;
mod error;
mod occurrences;
mod open;
mod quality;
mod rows;
mod writer;

use rusqlite::Connection;

use base::AbsPath;

pub use error::Error;
pub use occurrences::{OccurrencePhase, OccurrenceRecord, OccurrenceRow, OccurrenceStep};
pub use open::QuarantinedLedger;
pub use rows::{
    CallRow, DecisionRow, EventRow, LedgerEntry, MarkRow, MetricRow, QualityRow, ReservationRow,
    SessionHead, SessionRow, SpendTotal,
};
pub use writer::LedgerWriter;

/// A handle on the ledger, an append-only SQLite file of sessions, calls, costs and metrics, for
/// one thread. Any number of handles, in any number of processes, may be open.
#[derive(Debug)]
pub struct Ledger {
    connection: Connection,
    path: AbsPath,
}

/// An open ledger, with the damaged file it replaces, if any.
#[derive(Debug)]
pub struct OpenedLedger {
    /// The ledger, ready for use.
    pub ledger: Ledger,
    /// The damaged file that was moved aside.
    pub quarantined: Option<QuarantinedLedger>,
}
