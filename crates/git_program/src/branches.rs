//! Branches and tags: switching, creating, renaming, deleting.

use std::ops::ControlFlow;

use crate::call::GitCall;
use crate::cancellation::Cancellation;
use crate::error::Error;
use crate::log::{LogQuery, LogRow};
use crate::operation::{OperationOutcome, OutputReceiver};
use crate::program::{GitProgram, SMALL_OUTPUT};
use crate::stash::{StashParts, StashRequest};

/// A switch to another branch or commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchRequest {
    /// The branch, or the commit at which a new branch begins or HEAD is detached.
    pub target: String,
    /// The form of the switch.
    pub kind: SwitchKind,
    /// The treatment of local changes that the switch would overwrite.
    pub local_changes: LocalChanges,
}

/// The form of a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SwitchKind {
    /// To an existing branch; a branch of a remote gets a local one.
    Branch,
    /// To a new branch of this name.
    NewBranch(String),
    /// To a commit without a branch.
    Detached,
}

/// The treatment of local changes that a switch would overwrite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalChanges {
    /// The switch is refused.
    Refuse,
    /// They are stashed, and applied after the switch.
    Stash,
}

/// The result of a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SwitchOutcome {
    /// Local changes, if there are any, were carried along.
    Switched,
    /// Local changes were stashed and applied again.
    Restored(OperationOutcome),
}

impl GitProgram {
    /// Switches to another branch or commit.
    ///
    /// # Errors
    /// `LocalChanges` if they would be overwritten and are not to be stashed.
    pub fn switch(
        &self,
        request: &SwitchRequest,
        cancellation: &Cancellation,
        on_output: OutputReceiver<'_>,
    ) -> Result<SwitchOutcome, Error> {
        let call = switch_call(request)?;
        let switched = self.run_with_hooks(&call, None, cancellation, on_output);
        let is_stash = request.local_changes == LocalChanges::Stash;
        match switched {
            Err(Error::LocalChanges { .. }) if is_stash => {}
            other => return other.map(|_| SwitchOutcome::Switched),
        }
        let stash = StashRequest {
            message: Some(format!("before switching to {}", request.target)),
            parts: StashParts::Tracked,
            with_untracked: false,
        };
        let entry = self.stash_push(&stash, cancellation)?;
        let switched = self.run_with_hooks(&call, None, cancellation, on_output);
        // The changes come back also if the second attempt fails.
        let restored = self.stash_pop(&entry, &Cancellation::default(), on_output);
        switched?;
        restored.map(SwitchOutcome::Restored)
    }

    /// Creates a branch at a revision without switching to it.
    pub fn create_branch(
        &self,
        name: &str,
        revision: &str,
        cancellation: &Cancellation,
    ) -> Result<(), Error> {
        let call = GitCall::write("branch").arg("--no-track");
        let call = call.name(name)?.name(revision)?;
        self.output(call, SMALL_OUTPUT, cancellation).map(drop)
    }

    /// Renames a branch. An existing branch of the new name is never replaced.
    pub fn rename_branch(
        &self,
        old: &str,
        new: &str,
        cancellation: &Cancellation,
    ) -> Result<(), Error> {
        let call = GitCall::write("branch")
            .arg("--move")
            .name(old)?
            .name(new)?;
        self.output(call, SMALL_OUTPUT, cancellation).map(drop)
    }

    /// Returns up to `limit` commits that only this branch has: deleting it would lose them.
    pub fn commits_only_on(
        &self,
        branch: &str,
        limit: usize,
        cancellation: &Cancellation,
    ) -> Result<Vec<LogRow>, Error> {
        let reference = format!("refs/heads/{branch}");
        let others = [
            "--not".to_owned(),
            format!("--exclude={branch}"),
            "--branches".to_owned(),
            "--tags".to_owned(),
            "--remotes".to_owned(),
        ];
        let query = LogQuery {
            range: vec![reference],
            limit: Some(limit),
            ..LogQuery::default()
        };
        let mut rows = Vec::new();
        self.log_excluding(&query, &others, cancellation, &mut |row| {
            rows.push(row);
            ControlFlow::Continue(())
        })?;
        Ok(rows)
    }

    /// Deletes a branch, merged or not. Ask first if `commits_only_on` returns any.
    pub fn delete_branch(&self, name: &str, cancellation: &Cancellation) -> Result<(), Error> {
        let call = GitCall::write("branch")
            .args(["--delete", "--force"])
            .name(name)?;
        self.output(call, SMALL_OUTPUT, cancellation).map(drop)
    }

    /// Creates a tag: with a message as an object that may be signed, else as a mere name.
    pub fn create_tag(
        &self,
        name: &str,
        revision: &str,
        message: Option<&str>,
        cancellation: &Cancellation,
    ) -> Result<(), Error> {
        let mut call = GitCall::write("tag");
        if let Some(message) = message {
            call = call
                .args(["--annotate", "--file=-"])
                .input(message.as_bytes().to_vec());
        }
        let call = call.name(name)?.name(revision)?;
        self.output(call, SMALL_OUTPUT, cancellation).map(drop)
    }

    /// Deletes a tag.
    pub fn delete_tag(&self, name: &str, cancellation: &Cancellation) -> Result<(), Error> {
        let call = GitCall::write("tag").arg("--delete").name(name)?;
        self.output(call, SMALL_OUTPUT, cancellation).map(drop)
    }
}

fn switch_call(request: &SwitchRequest) -> Result<GitCall, Error> {
    let call = GitCall::write("switch").arg("--no-progress");
    match &request.kind {
        SwitchKind::Branch => call.name(&request.target),
        SwitchKind::NewBranch(name) => call.arg("--create").name(name)?.name(&request.target),
        SwitchKind::Detached => call.arg("--detach").name(&request.target),
    }
}
