//! Events of a tracker: units and their measurements, as they are stored.

use crate::writer::{Fate, UnitId, Writer};

/// An event of a tracker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RetentionEvent {
    /// A change began a unit.
    Began(UnitStart),
    /// A unit was measured.
    Measured(Measurement),
}

/// A new unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitStart {
    /// The unit.
    pub unit: UnitId,
    /// Name of the document.
    pub document: String,
    /// The writer of the change.
    pub writer: Writer,
    /// Time of the change, in milliseconds.
    pub at_ms: u64,
    /// Number of inserted tokens.
    pub inserted: u32,
    /// Number of removed tokens.
    pub removed: u32,
    /// Number of rows that contain inserted tokens.
    pub rows: u32,
}

/// The state of a unit at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measurement {
    /// The unit.
    pub unit: UnitId,
    /// The moment.
    pub milestone: Milestone,
    /// Time since the change, in milliseconds.
    pub after_ms: u64,
    /// The tokens that the change inserted.
    pub inserted: Remainder,
    /// The tokens that the change removed; a kept one has not come back.
    pub removed: Remainder,
}

/// The moments at which units are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Milestone {
    /// Half a minute after the change.
    HalfMinute,
    /// Two minutes after the change.
    TwoMinutes,
    /// Ten minutes after the change.
    TenMinutes,
    /// An hour after the change.
    Hour,
    /// A day after the change.
    Day,
    /// The first commit with the document.
    Commit,
    /// The landing on the user's branch.
    Landing,
    /// The end of an observation before a day had passed. Nothing is known about the tokens from then on.
    Closed,
}

impl Milestone {
    /// The fixed times after the change, ascending.
    pub const HORIZONS: [(Self, u64); 5] = [
        (Self::HalfMinute, 30_000),
        (Self::TwoMinutes, 120_000),
        (Self::TenMinutes, 600_000),
        (Self::Hour, 3_600_000),
        (Self::Day, 86_400_000),
    ];
}

/// The tokens of a unit, by their state. `kept` and the losses add up to `tokens`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remainder {
    /// Number of all tokens.
    pub tokens: u32,
    /// Number of tokens that are kept, moved ones included.
    pub kept: u32,
    /// Number of kept tokens that were moved to another place.
    pub moved: u32,
    /// The tokens that are not kept, by time and reason.
    pub losses: Vec<TokenLoss>,
}

/// Tokens that were lost at the same time for the same reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenLoss {
    /// Time since the change of the unit, in milliseconds.
    pub after_ms: u64,
    /// The reason.
    pub fate: Fate,
    /// Number of tokens.
    pub tokens: u32,
}
