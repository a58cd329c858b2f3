//! Conflicts that a merge, rebase or another operation left in the working tree: their sides, their
//! places in a text, and their resolution.
//!
//! The sides come from the unmerged entries of the index (stages 1, 2 and 3), and the merge is that
//! of `merge`. Markers tell only the places of the conflicts in the text; where the index has no
//! stages, they give the sides as well.
//! Invariant: reading writes nothing. `Repository::mark_resolved`, `Repository::choose` and
//! `Repository::restore_conflict` write the index under git's lock, and only `choose` writes a file.
//! Start at `Repository::conflict_at` for the sides and at `ConflictSet` for a text.

mod marker_text;
mod proposal;
mod resolve;
mod set;
mod stages;

pub use proposal::{MergeProposal, ProposalReason};
pub use resolve::{ConflictChoice, ResolveError, ResolvedStages};
pub use set::{ConflictResolution, ConflictSet, TextConflict};
pub use stages::{ConflictNames, StagedConflict, TextStages};

#[cfg(test)]
mod tests;
