//! The author of commits, in the configuration of Git.

use git_panel::GitFailure;
use git_program::{Cancellation, CommitIdentity, IdentityScope};

use super::door::RepositoryAccess;
use super::failures::of_program;
use super::folder_state::GitFolderState;

/// Returns the configured author.
pub(super) fn read(
    access: &RepositoryAccess,
    folder: &GitFolderState,
) -> Result<CommitIdentity, GitFailure> {
    let program = access.program(folder)?;
    program
        .identity(&Cancellation::default())
        .map_err(of_program)
}

/// Stores the author.
pub(super) fn store(
    access: &RepositoryAccess,
    folder: &GitFolderState,
    identity: &CommitIdentity,
    scope: IdentityScope,
) -> Result<(), GitFailure> {
    let program = access.program(folder)?;
    program
        .store_identity(identity, scope, &Cancellation::default())
        .map_err(of_program)
}
