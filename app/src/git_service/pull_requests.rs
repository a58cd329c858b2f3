//! Pull requests of the host of a repository, through the user's gh or glab.

use git_panel::{GitFailure, GitOutcome};
use git_program::{Cancellation, Error as ProgramError, ForgeProgram, PullRequest, find_program};

use super::door::RepositoryAccess;
use super::failures::{of_program, other};
use super::folder_state::GitFolderState;
use super::runs::RunContext;

/// Returns the open pull requests.
pub(super) fn list(
    access: &RepositoryAccess,
    folder: &GitFolderState,
) -> Result<Vec<PullRequest>, GitFailure> {
    let program = access.program(folder)?;
    let forge = forge(access, folder)?;
    let requests = program.pull_requests(&forge, &Cancellation::default());
    requests.map_err(of_forge)
}

/// Checks out the branch of a pull request.
pub(super) fn check_out(
    context: &RunContext<'_>,
    folder: &GitFolderState,
    number: u64,
) -> Result<GitOutcome, GitFailure> {
    let access = folder.access(context.program.root());
    let forge = forge(&access, folder)?;
    context.print(b"Fetching the branch of the pull request\n");
    let checked_out = context
        .program
        .check_out_pull_request(&forge, number, context.cancellation);
    checked_out.map_err(of_forge)?;
    Ok(GitOutcome {
        sentence: format!("Checked out pull request #{number}"),
        ..GitOutcome::default()
    })
}

/// Returns the program that knows the pull requests of the repository's host.
///
/// # Errors
/// The program is not installed.
fn forge(access: &RepositoryAccess, folder: &GitFolderState) -> Result<ForgeProgram, GitFailure> {
    let repository = access.in_process();
    // A repository that libgit2 cannot open counts as one of GitHub.
    let remotes = repository.map_or(Vec::new(), |repository| repository.remote_urls());
    let is_gitlab = remotes.first().is_some_and(|url| url.contains("gitlab"));
    let environment = folder.environment();
    let found = if is_gitlab {
        find_program("glab", &environment).map(ForgeProgram::Glab)
    } else {
        find_program("gh", &environment).map(ForgeProgram::Gh)
    };
    let (name, host) = if is_gitlab {
        ("glab", "GitLab")
    } else {
        ("gh", "GitHub")
    };
    found.ok_or_else(|| {
        other(format!(
            "pull requests need the program {name} of {host}, which is not in the PATH of your shell; install it, and sign in with \u{201c}{name} auth login\u{201d}"
        ))
    })
}

/// Converts a failure of such a program, whose own words say the reason.
fn of_forge(error: ProgramError) -> GitFailure {
    match error {
        ProgramError::Failed { command, message } => other(format!("{command} failed: {message}")),
        error => of_program(error),
    }
}
