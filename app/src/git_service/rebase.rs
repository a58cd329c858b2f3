//! The commits that a rebase replays, and its run.

use std::ops::ControlFlow;

use git_panel::{GitFailure, GitFailureKind, GitOutcome, RebasePlan};
use git_program::{
    Cancellation, Error as ProgramError, GitProgram, LogQuery, LogRow, RebaseRequest,
};

use super::commands::of_operation;
use super::door::RepositoryAccess;
use super::failures::{failure, of_program, other};
use super::folder_state::GitFolderState;
use super::runs::RunContext;

/// The upstream branch of the current one, in Git's notation.
const UPSTREAM: &str = "@{upstream}";
/// Digits of a commit id in sentences.
const SHORT_ID: usize = 8;
/// Number of commits to choose from.
const RECENT: usize = 500;

/// Returns the commits from `first` on, or those after the upstream branch.
pub(super) fn plan(
    access: &RepositoryAccess,
    folder: &GitFolderState,
    first: Option<String>,
) -> Result<RebasePlan, GitFailure> {
    let program = access.program(folder)?;
    let cancellation = Cancellation::default();
    let (upstream, base) = match first {
        Some(first) => before(&program, &first)?,
        None => {
            let known = program.resolve(UPSTREAM, &cancellation);
            known.map_err(|error| unless_failed(error, no_upstream))?;
            (UPSTREAM.to_owned(), "the upstream branch".to_owned())
        }
    };
    let steps = program.rebase_plan(&upstream, &cancellation);
    let steps = steps.map_err(of_program)?;
    let merges = merges_after(&program, &upstream).map_err(of_program)?;
    Ok(RebasePlan {
        upstream,
        base,
        steps,
        merges,
    })
}

/// Returns the commit before `first` with its name for people.
fn before(program: &GitProgram, first: &str) -> Result<(String, String), GitFailure> {
    let parent = program.resolve(&format!("{first}^"), &Cancellation::default());
    let parent = parent.map_err(|error| {
        unless_failed(error, || {
            other("a rebase cannot begin with the first commit of the history; choose a later one")
        })
    })?;
    let short = parent.get(..SHORT_ID).unwrap_or(&parent).to_owned();
    Ok((parent, short))
}

fn no_upstream() -> GitFailure {
    let sentence = "the current branch has no upstream branch".to_owned();
    failure(sentence, GitFailureKind::NoUpstream)
}

/// Converts a failure of the program; `failed` is that of a revision which does not exist.
fn unless_failed(error: ProgramError, failed: impl FnOnce() -> GitFailure) -> GitFailure {
    match error {
        ProgramError::Failed { .. } => failed(),
        error => of_program(error),
    }
}

/// Counts the merges after `upstream`, which a rebase does not replay.
fn merges_after(program: &GitProgram, upstream: &str) -> Result<usize, ProgramError> {
    let query = LogQuery {
        range: vec![format!("{upstream}..HEAD")],
        ..LogQuery::default()
    };
    let mut merges = 0;
    program.log(&query, &Cancellation::default(), &mut |row| {
        merges += usize::from(row.parents.len() > 1);
        ControlFlow::Continue(())
    })?;
    Ok(merges)
}

/// Returns the whole message of a commit.
pub(super) fn message(
    access: &RepositoryAccess,
    folder: &GitFolderState,
    id: &str,
) -> Result<String, GitFailure> {
    let program = access.program(folder)?;
    let details = program.commit_details(id, &Cancellation::default());
    Ok(details.map_err(of_program)?.message)
}

/// Returns the latest commits of the current branch.
pub(super) fn recent_commits(
    access: &RepositoryAccess,
    folder: &GitFolderState,
) -> Result<Vec<LogRow>, GitFailure> {
    let program = access.program(folder)?;
    let query = LogQuery {
        limit: Some(RECENT),
        ..LogQuery::default()
    };
    let mut rows = Vec::new();
    let read = program.log(&query, &Cancellation::default(), &mut |row| {
        rows.push(row);
        ControlFlow::Continue(())
    });
    read.map_err(of_program)?;
    Ok(rows)
}

/// Replays commits of the current branch.
pub(super) fn run(
    context: &RunContext<'_>,
    request: &RebaseRequest,
) -> Result<GitOutcome, GitFailure> {
    let mut print = |bytes: &[u8]| context.print(bytes);
    let rebased = context
        .program
        .rebase(request, context.cancellation, &mut print);
    let outcome = rebased.map_err(of_program)?;
    Ok(of_operation("Rebased", outcome))
}
