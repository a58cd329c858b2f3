//! One SQLite file that remembers: sessions and their events, what was routed where and why, what every call
//! to a model used and cost, and metrics.
//!
//! Knows: `base`, `model`. Must not know: how a model is reached, what an agent does.
//! Invariant: rows are appended and never changed or removed; the tables themselves refuse both.
//! Invariant: what `Ledger::append` answered for survives kill -9 and a power cut.
//! Invariant: a file that is damaged is moved aside, in a sentence to the person, and never written to.
//! Start at `Ledger::open`; `Writer` appends without making its caller wait for the disk.

#![warn(missing_docs)]
#![expect(
    clippy::disallowed_methods,
    reason = "this crate owns its file: it creates it private, locks it while opening, and moves it aside"
)]

mod checkpoint;
mod error;
mod open;
mod rows;
mod writer;

use rusqlite::Connection;

use base::AbsPath;

pub use error::Error;
pub use open::SetAside;
pub use rows::{Call, Decision, Entry, Metric, Reservation, Session, SessionEvent, Spent};
pub use writer::Writer;

/// The file, opened by one thread of one process. Any number of them may have it open.
#[derive(Debug)]
pub struct Ledger {
    connection: Connection,
    path: AbsPath,
}

/// A ledger, and what had to be done to open it.
#[derive(Debug)]
pub struct Opened {
    /// The ledger.
    pub ledger: Ledger,
    /// A damaged file that stood in its place.
    pub set_aside: Option<SetAside>,
}
