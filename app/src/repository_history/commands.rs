//! The commands at a commit, and sentences with their results.

use git_history::{CommitCommand, HistoryError};
use git_program::{
    Cancellation, GitProgram, LocalChanges, OperationOutcome, ResetMode, SwitchKind, SwitchRequest,
};

use super::failure;

/// Characters of a commit id that people read.
const SHORT_ID: usize = 8;

/// Runs a command at a commit; returns a sentence with its result.
pub(super) fn run(
    program: &GitProgram,
    id: &str,
    command: CommitCommand,
) -> Result<String, HistoryError> {
    let cancellation = Cancellation::default();
    let short = id.get(..SHORT_ID).unwrap_or(id);
    let commits = [id.to_owned()];
    // The output of hooks is part of the error, if they fail.
    let mut output = |_: &[u8]| {};
    let sentence = match command {
        CommitCommand::CheckOut => {
            switch(program, id, SwitchKind::Detached)?;
            format!("{short} is checked out, without a branch")
        }
        CommitCommand::Branch(name) => {
            let sentence = format!("The branch {name} begins at {short}, and is checked out");
            switch(program, id, SwitchKind::NewBranch(name))?;
            sentence
        }
        CommitCommand::Tag(name) => {
            let created = program.create_tag(&name, id, None, &cancellation);
            created.map_err(failure)?;
            format!("The tag {name} is at {short}")
        }
        CommitCommand::CherryPick => {
            let picked = program.cherry_pick(&commits, &cancellation, &mut output);
            outcome(&picked.map_err(failure)?, &format!("{short} is applied"))
        }
        CommitCommand::Revert => {
            let reverted = program.revert(&commits, &cancellation, &mut output);
            outcome(&reverted.map_err(failure)?, &format!("{short} is reverted"))
        }
        CommitCommand::Reset(mode) => {
            let reset = program.reset(id, mode, &cancellation);
            reset.map_err(failure)?;
            let kept = match mode {
                ResetMode::Soft => "; later changes are staged",
                ResetMode::Mixed => "; later changes are in your files",
                ResetMode::Keep | ResetMode::Hard => "",
            };
            format!("The branch is at {short}{kept}")
        }
    };
    Ok(sentence)
}

/// Switches to a commit; local changes that are in the way refuse it.
fn switch(program: &GitProgram, id: &str, kind: SwitchKind) -> Result<(), HistoryError> {
    let request = SwitchRequest {
        target: id.to_owned(),
        kind,
        local_changes: LocalChanges::Refuse,
    };
    let switched = program.switch(&request, &Cancellation::default(), &mut |_| {});
    switched.map(drop).map_err(failure)
}

fn outcome(outcome: &OperationOutcome, done: &str) -> String {
    let conflicts = match outcome {
        OperationOutcome::Done => return done.to_owned(),
        OperationOutcome::Stopped { conflicts, .. } | OperationOutcome::Conflicts(conflicts) => {
            conflicts
        }
    };
    match conflicts.len() {
        0 => "Git waits for you to finish the commit".to_owned(),
        count => format!(
            "{} with conflicts; resolve them, then continue",
            base::count_of(count, "file")
        ),
    }
}
