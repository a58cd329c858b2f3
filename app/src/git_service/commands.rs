//! Commits and the other commands that the git program runs, with sentences about their results.

use base::count_of;
use git::merge::TreePath;
use git_panel::{GitCommand, GitFailure, GitFailureKind, GitOutcome, HookReport, PushMode};
use git_program::{
    CommitRequest, Error as ProgramError, OperationKind, OperationOutcome, PushOutcome,
    PushRejection, SwitchKind, SwitchOutcome, SwitchRequest,
};
use runtime::compose::commit_checks::first_failed_check;

use super::bisect;
use super::failures::{failure, of_program, other};
use super::folder_state::GitFolderState;
use super::pull_requests;
use super::rebase;
use super::runs::{RunContext, RunOrder};

/// Digits of a commit id in sentences.
const SHORT_ID: usize = 8;
/// Lines of a failed check that its failure shows.
const CHECK_LINES: usize = 20;

/// Returns the order in which a command runs.
pub(super) fn order_of(command: &GitCommand) -> RunOrder {
    match command {
        GitCommand::Fetch(_) | GitCommand::Push(_) => RunOrder::AtOnce,
        GitCommand::Switch(_)
        | GitCommand::Pull(_)
        | GitCommand::Stash(_)
        | GitCommand::StashPop
        | GitCommand::Rebase(_)
        | GitCommand::BisectStart { .. }
        | GitCommand::BisectMark(_)
        | GitCommand::BisectReset
        | GitCommand::CheckOutPullRequest(_)
        | GitCommand::Continue
        | GitCommand::Skip
        | GitCommand::Abort => RunOrder::Queued,
    }
}

/// Commits the index, after the checks that the settings ask for.
pub(super) fn commit(
    context: &RunContext<'_>,
    folder: &GitFolderState,
    request: &CommitRequest,
) -> Result<GitOutcome, GitFailure> {
    if !request.no_verify && folder.checks_commits() {
        run_checks(context, folder)?;
    }
    let mut print = |bytes: &[u8]| context.print(bytes);
    let commit = context
        .program
        .commit(request, context.cancellation, &mut print);
    let commit = commit.map_err(of_program)?;
    if let Some(message) = &request.message {
        let root = context.program.root().clone();
        folder.drafts.forget(root, message.clone());
    }
    let short = commit.get(..SHORT_ID).unwrap_or(&commit);
    let subject = request.message.as_deref().and_then(|it| it.lines().next());
    let subject = subject.map(|subject| format!(": {subject}"));
    Ok(done(format!(
        "Committed {short}{}",
        subject.unwrap_or_default()
    )))
}

/// Runs the checks of landings on the staged files.
fn run_checks(context: &RunContext<'_>, folder: &GitFolderState) -> Result<(), GitFailure> {
    context.print(b"Running the checks of landings on the staged files\n");
    let root = context.program.root();
    let checked = first_failed_check(&folder.dirs, root);
    if context.cancellation.is_cancelled() {
        return Err(of_program(ProgramError::Cancelled));
    }
    let failed = checked.map_err(|error| other(format!("nothing was committed: {error}")))?;
    let Some(check) = failed else {
        return Ok(());
    };
    context.print(check.detail.as_bytes());
    let lines: Vec<&str> = check.detail.lines().collect();
    let last_lines = lines[lines.len().saturating_sub(CHECK_LINES)..].join("\n");
    Err(failure(
        format!("the check {} failed: {last_lines}", check.name),
        GitFailureKind::HookFailed(HookReport {
            hook: check.name,
            last_lines,
            log: check.detail,
        }),
    ))
}

/// Runs a command.
pub(super) fn run(
    context: &RunContext<'_>,
    folder: &GitFolderState,
    command: GitCommand,
) -> Result<GitOutcome, GitFailure> {
    let (program, cancellation) = (context.program, context.cancellation);
    let mut print = |bytes: &[u8]| context.print(bytes);
    let mut report = |report| context.report(&report);
    let outcome = match command {
        GitCommand::Switch(request) => {
            let switched = program.switch(&request, cancellation, &mut print);
            return switched
                .map(|outcome| of_switch(&request, outcome))
                .map_err(of_program);
        }
        GitCommand::Fetch(request) => program
            .fetch(&request, cancellation, &mut report)
            .map(|()| done("Fetched")),
        GitCommand::Pull(options) => program
            .pull(&options, cancellation, &mut report)
            .map(|outcome| of_operation("Pulled", outcome)),
        GitCommand::Push(mode) => return push(context, mode),
        GitCommand::Stash(request) => program
            .stash_push(&request, cancellation)
            .map(|entry| done(format!("Stashed: {}", entry.message))),
        GitCommand::StashPop => return pop_stash(context),
        GitCommand::Rebase(request) => return rebase::run(context, &request),
        GitCommand::BisectStart { bad, good } => return bisect::start(context, &bad, good),
        GitCommand::BisectMark(verdict) => return bisect::mark(context, verdict),
        GitCommand::BisectReset => return bisect::reset(context),
        GitCommand::CheckOutPullRequest(number) => {
            return pull_requests::check_out(context, folder, number);
        }
        GitCommand::Continue => {
            let kind = operation(context)?;
            let outcome = program.continue_operation(kind, cancellation, &mut print);
            outcome.map(|outcome| of_operation("Continued", outcome))
        }
        GitCommand::Skip => {
            let kind = operation(context)?;
            let outcome = program.skip_operation(kind, cancellation, &mut print);
            outcome.map(|outcome| of_operation("Skipped the commit", outcome))
        }
        GitCommand::Abort => {
            let kind = operation(context)?;
            let aborted = program.abort_operation(kind, cancellation);
            aborted.map(|()| done("Returned to the state before the operation"))
        }
    };
    outcome.map_err(of_program)
}

fn done(sentence: impl Into<String>) -> GitOutcome {
    GitOutcome {
        sentence: sentence.into(),
        conflicts: Vec::new(),
    }
}

/// Returns the kind of the operation in progress.
fn operation(context: &RunContext<'_>) -> Result<OperationKind, GitFailure> {
    let state = context.program.operation(context.cancellation);
    let state = state.map_err(of_program)?;
    state
        .map(|state| state.kind)
        .ok_or_else(|| other("no operation is in progress"))
}

fn of_switch(request: &SwitchRequest, outcome: SwitchOutcome) -> GitOutcome {
    let target = &request.target;
    let sentence = match &request.kind {
        SwitchKind::Branch => format!("Switched to {target}"),
        SwitchKind::NewBranch(name) => format!("Created {name} and switched to it"),
        SwitchKind::Detached => format!("Switched to {target} without a branch"),
    };
    match outcome {
        SwitchOutcome::Switched => done(sentence),
        SwitchOutcome::Restored(restored) => of_operation(&sentence, restored),
    }
}

pub(super) fn of_operation(sentence: &str, outcome: OperationOutcome) -> GitOutcome {
    let conflicts = match outcome {
        OperationOutcome::Done => return done(sentence),
        OperationOutcome::Stopped { conflicts, .. } | OperationOutcome::Conflicts(conflicts) => {
            conflicts
        }
    };
    if conflicts.is_empty() {
        return done("Stopped as asked; continue when you are ready");
    }
    let count = count_of(conflicts.len(), "file");
    GitOutcome {
        sentence: format!("Stopped with conflicts in {count}"),
        conflicts: conflicts
            .iter()
            .map(|path| TreePath::of_path(path))
            .collect(),
    }
}

fn pop_stash(context: &RunContext<'_>) -> Result<GitOutcome, GitFailure> {
    let (program, cancellation) = (context.program, context.cancellation);
    let entries = program.stashes(cancellation).map_err(of_program)?;
    let latest = entries.first().ok_or_else(|| other("the stash is empty"))?;
    let mut print = |bytes: &[u8]| context.print(bytes);
    let popped = program.stash_pop(latest, cancellation, &mut print);
    let sentence = format!("Applied: {}", latest.message);
    popped
        .map(|outcome| of_operation(&sentence, outcome))
        .map_err(of_program)
}

fn push(context: &RunContext<'_>, mode: PushMode) -> Result<GitOutcome, GitFailure> {
    let (program, cancellation) = (context.program, context.cancellation);
    let request = program.push_of_branch(mode == PushMode::WithLease, cancellation);
    let request = request.map_err(of_program)?;
    let mut report = |report| context.report(&report);
    let pushed = program.push(&request, cancellation, &mut report);
    let outcome = pushed.map_err(of_program)?;
    match outcome.first_rejection() {
        Some((update, rejection)) => {
            let sentence = rejected(&request.remote, &update.summary, rejection, &outcome);
            Err(failure(sentence, GitFailureKind::Rejected(rejection)))
        }
        None => Ok(done(format!("Pushed to {}", request.remote))),
    }
}

/// Returns the remote's own words with what the user can do.
fn rejected(
    remote: &str,
    summary: &str,
    rejection: PushRejection,
    outcome: &PushOutcome,
) -> String {
    let advice = match rejection {
        PushRejection::NonFastForward => "pull first, or replace it with a lease",
        PushRejection::StaleLease => "fetch and look at what changed",
        PushRejection::Protected => "push to another branch and open a pull request",
        PushRejection::RemoteHook | PushRejection::Other => "read its words",
        PushRejection::TagExists => "choose another name for the tag",
    };
    let mut sentence = format!("{remote} refused the push: {summary}; {advice}");
    for line in &outcome.remote_lines {
        sentence.push('\n');
        sentence.push_str(line);
    }
    sentence
}
