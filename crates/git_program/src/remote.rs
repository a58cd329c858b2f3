//! Fetch, pull, clone and submodules.

use std::path::PathBuf;

use base::AbsPath;

use crate::call::{GitCall, check_name};
use crate::cancellation::Cancellation;
use crate::error::Error;
use crate::operation::OperationOutcome;
use crate::program::GitProgram;
use crate::progress::{ProgressParser, RemoteReport};

/// A fetch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FetchRequest {
    /// The remote; every remote if `None`.
    pub remote: Option<String>,
    /// Removes remote branches that are gone.
    pub prune: bool,
    /// Fetches every tag.
    pub tags: bool,
    /// Completes the history of a shallow clone.
    pub unshallow: bool,
}

/// A pull into the current branch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PullOptions {
    /// The remote and its branch; the upstream if `None`.
    pub source: Option<(String, String)>,
    /// The way in which the branches are joined.
    pub join: PullJoin,
    /// Stashes local changes first and applies them afterwards.
    pub autostash: bool,
}

/// The way in which a pull joins the branches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PullJoin {
    /// Follows the user's configuration; without one, Git refuses branches that diverged.
    #[default]
    Configured,
    /// Moves the branch, or refuses.
    FastForward,
    /// With a commit.
    Merge,
    /// Replays the local commits.
    Rebase,
}

/// Receives reports of a remote operation, on another thread.
pub type ReportReceiver<'a> = &'a mut (dyn FnMut(RemoteReport) + Send);

impl GitProgram {
    /// Fetches from a remote.
    pub fn fetch(
        &self,
        request: &FetchRequest,
        cancellation: &Cancellation,
        on_report: ReportReceiver<'_>,
    ) -> Result<(), Error> {
        let call = GitCall::write_elsewhere("fetch")
            .arg("--progress")
            .arg_if(request.prune, "--prune")
            .arg_if(request.tags, "--tags")
            .arg_if(request.unshallow, "--unshallow");
        let call = match &request.remote {
            Some(remote) => call.name(remote)?,
            None => call.arg("--all"),
        };
        self.transfer(&call, cancellation, on_report)
    }

    /// Fetches and joins the branches.
    pub fn pull(
        &self,
        options: &PullOptions,
        cancellation: &Cancellation,
        on_report: ReportReceiver<'_>,
    ) -> Result<OperationOutcome, Error> {
        let call = GitCall::write("pull").args(["--progress", "--no-edit"]);
        let call = match options.join {
            PullJoin::Configured => call,
            PullJoin::FastForward => call.arg("--ff-only"),
            PullJoin::Merge => call.arg("--no-rebase"),
            PullJoin::Rebase => call.arg("--rebase"),
        };
        let mut call = call.arg_if(options.autostash, "--autostash");
        if let Some((remote, branch)) = &options.source {
            call = call.name(remote)?.name(branch)?;
        }
        let pulled = self.transfer(&call, cancellation, on_report);
        match pulled {
            Err(Error::Failed { .. }) | Ok(()) => self.outcome(pulled, cancellation),
            Err(error) => Err(error),
        }
    }

    /// Clones a repository into a new folder below the root, with its submodules.
    pub fn clone_repository(
        &self,
        address: &str,
        folder: &AbsPath,
        cancellation: &Cancellation,
        on_report: ReportReceiver<'_>,
    ) -> Result<(), Error> {
        check_name(address)?;
        let call = GitCall::write_elsewhere("clone")
            .args(["--progress", "--recurse-submodules", "--"])
            .arg(address)
            .arg(folder.as_path());
        self.transfer(&call, cancellation, on_report)
    }

    /// Checks out the recorded commits of submodules: of these paths, or of all.
    pub fn update_submodules(
        &self,
        paths: &[PathBuf],
        cancellation: &Cancellation,
        on_report: ReportReceiver<'_>,
    ) -> Result<(), Error> {
        let mut call = GitCall::write("submodule").args([
            "update",
            "--init",
            "--recursive",
            "--progress",
            "--",
        ]);
        call.arguments.extend(paths.iter().map(Into::into));
        self.transfer(&call, cancellation, on_report)
    }

    /// Runs a call with progress on standard error.
    fn transfer(
        &self,
        call: &GitCall,
        cancellation: &Cancellation,
        on_report: ReportReceiver<'_>,
    ) -> Result<(), Error> {
        let mut parser = ProgressParser::default();
        let mut finished = self.finish(call, cancellation, &mut |bytes| {
            parser.feed(bytes).into_iter().for_each(&mut *on_report);
        })?;
        parser.finish().into_iter().for_each(&mut *on_report);
        if finished.is_success {
            return Ok(());
        }
        // Merges print their conflicts to standard output.
        finished.log.push(&finished.output);
        Err(self.recognize(&call.command(), &finished.log))
    }
}
