//! Edits of several files as one transaction: the renames, fixes and refactorings of language servers.
//!
//! Must not know: windows, how an edit was requested.
//! Invariant: an edit is applied to all of its files or to none; a text that changed since the edit was computed makes
//! the whole edit void.
//! Start at `prepare` and `commit`.

mod document;
mod file_moves;
mod outline;
pub(crate) mod plan;
mod transaction;

pub(crate) use document::{FormattingEdits, apply_formatting};
pub(crate) use file_moves::update_references;
pub(crate) use plan::{EditPlan, PlannedStep, counts_text, prepare};
pub(crate) use transaction::{AppliedEdit, CommitOptions, commit, prepare_undo};
