//! The failures of both doors as failures of the panel.

use git::staging::StagingError;
use git_panel::{GitFailure, GitFailureKind, HookReport};
use git_program::Error as ProgramError;

/// Creates a failure without a kind of its own.
pub(super) fn other(sentence: impl Into<String>) -> GitFailure {
    failure(sentence.into(), GitFailureKind::Other)
}

pub(super) fn failure(sentence: String, kind: GitFailureKind) -> GitFailure {
    GitFailure { sentence, kind }
}

pub(super) fn cancelled() -> GitFailure {
    of_program(ProgramError::Cancelled)
}

/// Converts a failure of the git program.
pub(super) fn of_program(error: ProgramError) -> GitFailure {
    let sentence = error.to_string();
    let kind = match error {
        ProgramError::Untrusted { .. } | ProgramError::AgentTree { .. } => {
            GitFailureKind::Untrusted
        }
        ProgramError::Cancelled => GitFailureKind::Cancelled,
        ProgramError::NoRepository { .. } | ProgramError::DubiousOwnership { .. } => {
            GitFailureKind::NoRepository
        }
        ProgramError::IndexLocked { .. } => GitFailureKind::Locked,
        ProgramError::HookFailed(hook) => GitFailureKind::HookFailed(HookReport {
            hook: hook.hook,
            last_lines: hook.last_lines,
            log: hook.log.text(),
        }),
        ProgramError::SigningFailed { .. } => GitFailureKind::SigningFailed,
        ProgramError::IdentityMissing => GitFailureKind::IdentityMissing,
        ProgramError::NothingStaged { .. } => GitFailureKind::NothingStaged,
        ProgramError::LocalChanges { paths } => GitFailureKind::LocalChanges(paths),
        ProgramError::Authentication { .. } => GitFailureKind::Authentication,
        ProgramError::Unreachable { .. } => GitFailureKind::Unreachable,
        ProgramError::Host(_)
        | ProgramError::BadName { .. }
        | ProgramError::TooLarge { .. }
        | ProgramError::Failed { .. } => GitFailureKind::Other,
    };
    failure(sentence, kind)
}

/// Converts a failure of libgit2.
pub(super) fn of_git(error: git::Error) -> GitFailure {
    let kind = match &error {
        git::Error::NoRepository(_) | git::Error::Bare(_) => GitFailureKind::NoRepository,
        git::Error::IndexLocked(_) | git::Error::Landing(_) => GitFailureKind::Locked,
        git::Error::Unreadable { .. } | git::Error::File(_) => GitFailureKind::Other,
    };
    failure(error.to_string(), kind)
}

/// Converts a failure of staging in process.
pub(super) fn of_staging(error: StagingError) -> GitFailure {
    let kind = match error {
        StagingError::Git(error) => return of_git(error),
        StagingError::Conflicted(_) => GitFailureKind::Conflicted,
        StagingError::Outdated(_) => GitFailureKind::Outdated,
        StagingError::NeedsProgram { .. }
        | StagingError::WholeFileOnly { .. }
        | StagingError::Undecodable { .. }
        | StagingError::Absent(_)
        | StagingError::Repository(_)
        | StagingError::Special(_) => GitFailureKind::Other,
    };
    failure(error.to_string(), kind)
}

pub(super) fn of_host(error: host::Error) -> GitFailure {
    other(error.to_string())
}

/// Returns the failure of a request whose thread ended early.
pub(super) fn ended_early() -> GitFailure {
    other("the request to git ended early; repeat it")
}
