//! Bisections: their steps, with sentences about the rest.

use base::count_of;
use git_panel::{GitFailure, GitOutcome};
use git_program::{BisectState, BisectVerdict, Cancellation, GitProgram};

use super::door::RepositoryAccess;
use super::failures::of_program;
use super::folder_state::GitFolderState;
use super::runs::RunContext;

/// Digits of a commit id in sentences.
const SHORT_ID: usize = 8;

/// Returns the state of the bisection in progress.
pub(super) fn state(
    access: &RepositoryAccess,
    folder: &GitFolderState,
) -> Result<BisectState, GitFailure> {
    let program = access.program(folder)?;
    let state = program.bisect_state(&Cancellation::default());
    state.map_err(of_program)
}

/// Begins a bisection between a commit with the error and one without it.
pub(super) fn start(
    context: &RunContext<'_>,
    bad: &str,
    good: String,
) -> Result<GitOutcome, GitFailure> {
    let mut print = |bytes: &[u8]| context.print(bytes);
    let started =
        context
            .program
            .bisect_start(Some(bad), &[good], context.cancellation, &mut print);
    let state = started.map_err(of_program)?;
    Ok(outcome(context.program, &state))
}

/// Judges the commit that is checked out.
pub(super) fn mark(
    context: &RunContext<'_>,
    verdict: BisectVerdict,
) -> Result<GitOutcome, GitFailure> {
    let mut print = |bytes: &[u8]| context.print(bytes);
    let marked = context
        .program
        .bisect_mark(verdict, None, context.cancellation, &mut print);
    let state = marked.map_err(of_program)?;
    Ok(outcome(context.program, &state))
}

/// Ends the bisection.
pub(super) fn reset(context: &RunContext<'_>) -> Result<GitOutcome, GitFailure> {
    let ended = context.program.bisect_reset(context.cancellation);
    ended.map_err(of_program)?;
    Ok(GitOutcome {
        sentence: "The bisection ended; the branch before it is checked out".to_owned(),
        ..GitOutcome::default()
    })
}

fn outcome(program: &GitProgram, state: &BisectState) -> GitOutcome {
    let sentence = match state {
        BisectState::Waiting => "Mark one commit as good and one as bad".to_owned(),
        BisectState::Testing { revisions, steps } => {
            let commits = count_of(*revisions as usize, "commit");
            let steps = count_of(*steps as usize, "step");
            format!("Test this commit; {commits} in about {steps} are left after it")
        }
        BisectState::Found(id) => {
            let short = id.get(..SHORT_ID).unwrap_or(id);
            let details = program.commit_details(id, &Cancellation::default());
            let subject = details.ok().and_then(|it| first_line(&it.message));
            let subject = subject.map(|subject| format!(": {subject}"));
            let subject = subject.unwrap_or_default();
            format!("{short} is the first commit with the error{subject}")
        }
        BisectState::OnlySkipped => {
            "Only skipped commits are left, so the first one with the error is not known".to_owned()
        }
    };
    GitOutcome {
        sentence,
        ..GitOutcome::default()
    }
}

fn first_line(message: &str) -> Option<String> {
    message.lines().next().map(str::to_owned)
}
