//! Operations that move branches, may run hooks and may stop at conflicts.
//!
//! Invariant: an operation that stops leaves the repository as Git does; `continue_operation`, `skip_operation` and
//! `abort_operation` go on from there, also after a restart.

use std::path::PathBuf;

use base::AbsPath;
use host::{Files, RealFiles};

use crate::call::GitCall;
use crate::cancellation::Cancellation;
use crate::error::Error;
use crate::program::{GitProgram, SMALL_OUTPUT};
use crate::records::{path, text};

/// Bytes read of a small file with the state of an operation.
const STATE_BYTES: u64 = 64 << 10;

/// The kind of an operation in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationKind {
    /// A merge, also as the second half of a pull.
    Merge,
    /// A rebase.
    Rebase,
    /// Patches applied from mails.
    ApplyMailbox,
    /// A cherry-pick.
    CherryPick,
    /// A revert.
    Revert,
    /// A bisection, which has no conflicts.
    Bisect,
}

/// An operation in progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationState {
    /// The kind of the operation.
    pub kind: OperationKind,
    /// The current step and the number of steps, as far as Git counts them.
    pub progress: Option<(u32, u32)>,
    /// The name of the branch that is rebased.
    pub branch: Option<String>,
}

/// The result of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperationOutcome {
    /// It is finished.
    Done,
    /// It waits for the user.
    Stopped {
        /// The operation.
        state: OperationState,
        /// The files with conflicts; empty if the user asked for the stop.
        conflicts: Vec<PathBuf>,
    },
    /// Its changes are in the working tree with conflicts, and no operation is open, as after applying a stash.
    Conflicts(Vec<PathBuf>),
}

/// A merge of another branch into the current one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeRequest {
    /// The branch or revision.
    pub revision: String,
    /// The treatment of merges that need no commit.
    pub fast_forward: FastForward,
    /// Stashes local changes first and applies them afterwards.
    pub autostash: bool,
}

/// The treatment of a merge that could just move the branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FastForward {
    /// Follows the user's configuration.
    #[default]
    Configured,
    /// Always creates a commit.
    Never,
    /// Refuses a merge that needs a commit.
    Only,
    /// Takes the changes without a commit or a parent.
    Squash,
}

/// The depth of a reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetMode {
    /// Moves the branch alone.
    Soft,
    /// Resets the index, too.
    Mixed,
    /// Resets index and files, but refuses to lose local changes.
    Keep,
    /// Resets index and files; local changes are lost.
    Hard,
}

/// Receives the output of hooks and Git as it arrives.
pub type OutputReceiver<'a> = &'a mut dyn FnMut(&[u8]);

impl GitProgram {
    /// Merges a branch into the current one.
    pub fn merge(
        &self,
        request: &MergeRequest,
        cancellation: &Cancellation,
        on_output: OutputReceiver<'_>,
    ) -> Result<OperationOutcome, Error> {
        let call = GitCall::write("merge").arg("--no-edit");
        let call = match request.fast_forward {
            FastForward::Configured => call,
            FastForward::Never => call.arg("--no-ff"),
            FastForward::Only => call.arg("--ff-only"),
            FastForward::Squash => call.arg("--squash"),
        };
        let call = call.arg_if(request.autostash, "--autostash");
        self.operate(&call.name(&request.revision)?, cancellation, on_output)
    }

    /// Applies the changes of commits onto the current branch, the first one first.
    pub fn cherry_pick(
        &self,
        commits: &[String],
        cancellation: &Cancellation,
        on_output: OutputReceiver<'_>,
    ) -> Result<OperationOutcome, Error> {
        self.replay("cherry-pick", commits, cancellation, on_output)
    }

    /// Commits the reverse of commits, the first one first.
    pub fn revert(
        &self,
        commits: &[String],
        cancellation: &Cancellation,
        on_output: OutputReceiver<'_>,
    ) -> Result<OperationOutcome, Error> {
        self.replay("revert", commits, cancellation, on_output)
    }

    fn replay(
        &self,
        command: &str,
        commits: &[String],
        cancellation: &Cancellation,
        on_output: OutputReceiver<'_>,
    ) -> Result<OperationOutcome, Error> {
        let mut call = GitCall::write(command).arg_if(command == "revert", "--no-edit");
        for commit in commits {
            call = call.name(commit)?;
        }
        self.operate(&call, cancellation, on_output)
    }

    /// Moves the current branch to a revision.
    pub fn reset(
        &self,
        revision: &str,
        mode: ResetMode,
        cancellation: &Cancellation,
    ) -> Result<(), Error> {
        let call = GitCall::write("reset").arg(match mode {
            ResetMode::Soft => "--soft",
            ResetMode::Mixed => "--mixed",
            ResetMode::Keep => "--keep",
            ResetMode::Hard => "--hard",
        });
        let call = call.name(revision)?.arg("--");
        self.output(call, SMALL_OUTPUT, cancellation).map(drop)
    }

    /// Continues the operation after the user resolved and staged the conflicts.
    pub fn continue_operation(
        &self,
        kind: OperationKind,
        cancellation: &Cancellation,
        on_output: OutputReceiver<'_>,
    ) -> Result<OperationOutcome, Error> {
        let call = GitCall::write(command_of(kind)).arg("--continue");
        self.operate(&call, cancellation, on_output)
    }

    /// Leaves out the commit at which the operation stopped. A merge has none.
    pub fn skip_operation(
        &self,
        kind: OperationKind,
        cancellation: &Cancellation,
        on_output: OutputReceiver<'_>,
    ) -> Result<OperationOutcome, Error> {
        let call = GitCall::write(command_of(kind)).arg("--skip");
        self.operate(&call, cancellation, on_output)
    }

    /// Returns to the state before the operation.
    pub fn abort_operation(
        &self,
        kind: OperationKind,
        cancellation: &Cancellation,
    ) -> Result<(), Error> {
        let argument = match kind {
            OperationKind::Bisect => "reset",
            _ => "--abort",
        };
        let call = GitCall::write(command_of(kind)).arg(argument);
        self.output(call, SMALL_OUTPUT, cancellation).map(drop)
    }

    /// Returns the operation in progress.
    pub fn operation(&self, cancellation: &Cancellation) -> Result<Option<OperationState>, Error> {
        Ok(read_state(&self.git_dir(cancellation)?))
    }

    /// Returns the files with conflicts, relative to the root.
    pub fn conflicts(&self, cancellation: &Cancellation) -> Result<Vec<PathBuf>, Error> {
        let call =
            GitCall::read("diff").args(["--name-only", "--diff-filter=U", "-z", "--no-relative"]);
        let output = self.output(call, SMALL_OUTPUT, cancellation)?;
        let names = output
            .split(|byte| *byte == 0)
            .filter(|name| !name.is_empty());
        Ok(names.map(path).collect())
    }

    /// Runs a call that may stop at conflicts.
    pub(crate) fn operate(
        &self,
        call: &GitCall,
        cancellation: &Cancellation,
        on_output: OutputReceiver<'_>,
    ) -> Result<OperationOutcome, Error> {
        let ended = self.run_with_hooks(call, None, cancellation, on_output);
        if let Err(Error::Cancelled | Error::HookFailed(_) | Error::IndexLocked { .. }) = &ended {
            return ended.map(|_| OperationOutcome::Done);
        }
        self.outcome(ended.map(drop), cancellation)
    }

    /// Judges the end of an operation by the state that it left.
    pub(crate) fn outcome(
        &self,
        ended: Result<(), Error>,
        cancellation: &Cancellation,
    ) -> Result<OperationOutcome, Error> {
        let conflicts = match &ended {
            Ok(()) => Vec::new(),
            Err(_) => self.conflicts(cancellation)?,
        };
        let state = self.operation(cancellation)?;
        let state = state.filter(|state| state.kind != OperationKind::Bisect);
        match (state, ended) {
            (Some(state), Ok(())) => Ok(OperationOutcome::Stopped { state, conflicts }),
            // A commit that became empty is skipped or committed by the user.
            (Some(state), Err(Error::NothingStaged { .. })) => {
                Ok(OperationOutcome::Stopped { state, conflicts })
            }
            (Some(state), Err(_)) if !conflicts.is_empty() => {
                Ok(OperationOutcome::Stopped { state, conflicts })
            }
            (None, Err(_)) if !conflicts.is_empty() => Ok(OperationOutcome::Conflicts(conflicts)),
            (_, Err(error)) => Err(error),
            (None, Ok(())) => Ok(OperationOutcome::Done),
        }
    }
}

fn command_of(kind: OperationKind) -> &'static str {
    match kind {
        OperationKind::Merge => "merge",
        OperationKind::Rebase => "rebase",
        OperationKind::ApplyMailbox => "am",
        OperationKind::CherryPick => "cherry-pick",
        OperationKind::Revert => "revert",
        OperationKind::Bisect => "bisect",
    }
}

/// Reads the operation in progress from the files that Git keeps about it.
fn read_state(git_dir: &AbsPath) -> Option<OperationState> {
    let exists = |name: &str| RealFiles.exists(&git_dir.join(name));
    let content = |name: &str| {
        let bytes = RealFiles.read(&git_dir.join(name), STATE_BYTES).ok()?;
        Some(text(bytes.trim_ascii()))
    };
    let count = |name: &str| content(name)?.parse::<u32>().ok();
    let state = |kind, progress, branch| {
        Some(OperationState {
            kind,
            progress,
            branch,
        })
    };
    if exists("rebase-merge") {
        let progress = count("rebase-merge/msgnum").zip(count("rebase-merge/end"));
        let branch = content("rebase-merge/head-name");
        return state(OperationKind::Rebase, progress, branch.map(short_branch));
    }
    if exists("rebase-apply") {
        let is_mailbox = exists("rebase-apply/applying");
        let kind = if is_mailbox {
            OperationKind::ApplyMailbox
        } else {
            OperationKind::Rebase
        };
        let progress = count("rebase-apply/next").zip(count("rebase-apply/last"));
        let branch = content("rebase-apply/head-name");
        return state(kind, progress, branch.map(short_branch));
    }
    let kinds = [
        ("CHERRY_PICK_HEAD", OperationKind::CherryPick),
        ("REVERT_HEAD", OperationKind::Revert),
        ("MERGE_HEAD", OperationKind::Merge),
        ("BISECT_LOG", OperationKind::Bisect),
    ];
    let found = kinds.iter().find(|(name, _)| exists(name));
    found.and_then(|(_, kind)| state(*kind, None, None))
}

fn short_branch(name: String) -> String {
    match name.strip_prefix("refs/heads/") {
        Some(short) => short.to_owned(),
        None => name,
    }
}

#[cfg(test)]
mod tests;
