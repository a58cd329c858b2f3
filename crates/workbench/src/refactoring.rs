//! Edits of several files as one transaction: the renames, fixes and refactorings of language servers.
//!
//! Must not know: windows, how an edit was requested.
//! Invariant: an edit is applied to all of its files or to none; a text that changed since the edit was computed makes
//! the whole edit void.
//! Start at `prepare` and `commit`.

mod document;
mod outline;
pub(crate) mod plan;
mod transaction;

pub(crate) use document::apply_formatting;
pub(crate) use plan::{EditPlan, PlannedStep, prepare};
pub(crate) use transaction::{AppliedEdit, CommitOptions, commit, prepare_undo};
