//! The files that differ from what was committed or staged.

use crate::call::GitCall;
use crate::cancellation::Cancellation;
use crate::details::{CommittedChange, LIST_BYTES, parse_raw_changes};
use crate::error::Error;
use crate::program::GitProgram;

/// The newer side of a comparison that no commit has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UncommittedSide {
    /// The index.
    Index,
    /// The tracked files of the working tree.
    WorkingTree,
}

impl GitProgram {
    /// Returns the tracked files that differ from a revision to the index or to the working tree; without a revision, those
    /// that differ from the index to the working tree.
    pub fn files_since(
        &self,
        revision: Option<&str>,
        side: UncommittedSide,
        cancellation: &Cancellation,
    ) -> Result<Vec<CommittedChange>, Error> {
        let is_index = side == UncommittedSide::Index;
        let mut call = GitCall::read("diff")
            .args(["-z", "--raw", "-M", "--no-ext-diff"])
            .arg_if(is_index, "--cached");
        if let Some(revision) = revision {
            call = call.name(revision)?;
        }
        let output = self.output(call.arg("--"), LIST_BYTES, cancellation)?;
        Ok(parse_raw_changes(&output))
    }
}
