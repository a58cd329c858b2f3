//! Follows written text through later changes and measures how much of it is kept.
//!
//! The text that one change of one writer inserts or removes is a unit. A `RetentionTracker` carries the tokens of
//! each unit through all later changes of its document, wherever they come from: keys, saves, commands, formatters,
//! commits, landings, rebases. It measures the kept tokens at fixed times after the change, at the first commit and
//! at the landing, and tells who took the others away, and when.
//!
//! Definitions (docs/quality.md explains them with examples):
//! - A token is a run of letters, digits and underscores, or one other character that is not white space.
//! - A written token is kept while no change replaced it. A token that was taken away and comes back at its place is
//!   kept again, and so is one that was moved.
//! - A removed token is kept while it does not come back at its place.
//!
//! Knows: `base`, `text`. Must not know: files, clocks, sessions beyond their names, how measurements are stored.
//! Invariant: every token of a unit is kept, lost or out of sight; a measurement counts each one once.
//! Invariant: a unit whose observation ends early is measured as closed, and never counts as lost.
//! Invariant: a measurement at a time describes the text at that time, before any later change.
//! Limitations: texts beyond `MAX_TEXT_BYTES` are not followed. Moved text of fewer than ten tokens in a row counts as
//! removed. Two equal tokens beside each other cannot be told apart.
//! Start at `RetentionTracker`.

#![warn(missing_docs)]

mod alignment;
mod event;
mod moves;
mod run;
mod splice;
mod token;
mod tracker;
mod unit;
mod writer;

pub use event::{Measurement, Milestone, Remainder, RetentionEvent, TokenLoss, UnitStart};
pub use tracker::{MAX_TEXT_BYTES, RetentionTracker};
pub use writer::{Fate, UnitId, Writer, WriterCall, WriterKind};
