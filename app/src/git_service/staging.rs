//! Changes of the index, each with the way to take it back.
//!
//! In process where libgit2 can write the index; a file with a filter, an encoding or a conflict goes through the program.

use std::path::PathBuf;

use git::merge::TreePath;
use git::staging::{FileDiff, LineSelection, Side, StagingError, StagingUndo};
use git::{GitTask, Repository};
use git_panel::{GitFailure, GitFailureKind, StagingStep};
use git_program::{Cancellation, Error as ProgramError, GitProgram};

use super::door::{RepositoryAccess, RepositoryDoor, StepUndo};
use super::failures::{failure, of_program, of_staging};
use super::folder_state::GitFolderState;

/// Stages the selected lines of an unstaged diff, or takes those of a staged one out of the index.
pub(super) fn change_lines(
    access: &RepositoryAccess,
    folder: &GitFolderState,
    diff: &FileDiff,
    lines: &LineSelection,
) -> Result<StagingStep, GitFailure> {
    let undo = match access.open(GitTask::Staging, folder)? {
        RepositoryDoor::InProcess(repository) => {
            let changed = match diff.side {
                Side::Unstaged => repository.stage_lines(diff, lines),
                Side::Staged => repository.unstage_lines(diff, lines),
            };
            StepUndo::InProcess(changed.map_err(of_staging)?)
        }
        RepositoryDoor::Program(program) => {
            let patch = diff.patch(lines).map_err(of_staging)?;
            let paths = [diff.path.to_path()];
            with_entries(&program, &paths, |program, cancellation| match patch {
                Some(patch) => program.stage_patch(patch, cancellation),
                None => Ok(()),
            })
            .map_err(|error| of_patch(error, &diff.path))?
        }
    };
    Ok(access.keep_step(undo, folder))
}

/// Stages whole files as they are on the disk.
pub(super) fn stage_files(
    access: &RepositoryAccess,
    folder: &GitFolderState,
    paths: &[TreePath],
) -> Result<StagingStep, GitFailure> {
    let in_process = |repository: &Repository| repository.stage_files(paths);
    let by_program = |program: &GitProgram, names: &[PathBuf], cancellation: &Cancellation| {
        program.add(names, cancellation)
    };
    change_files(access, folder, paths, in_process, by_program)
}

/// Makes the entries of whole files those of HEAD.
pub(super) fn unstage_files(
    access: &RepositoryAccess,
    folder: &GitFolderState,
    paths: &[TreePath],
) -> Result<StagingStep, GitFailure> {
    let in_process = |repository: &Repository| repository.unstage_files(paths);
    let by_program = |program: &GitProgram, names: &[PathBuf], cancellation: &Cancellation| {
        program.restore_staged(names, cancellation)
    };
    change_files(access, folder, paths, in_process, by_program)
}

fn change_files(
    access: &RepositoryAccess,
    folder: &GitFolderState,
    paths: &[TreePath],
    in_process: impl FnOnce(&Repository) -> Result<StagingUndo, StagingError>,
    by_program: impl FnOnce(&GitProgram, &[PathBuf], &Cancellation) -> Result<(), ProgramError>,
) -> Result<StagingStep, GitFailure> {
    let program = match access.open(GitTask::Staging, folder)? {
        RepositoryDoor::Program(program) => program,
        RepositoryDoor::InProcess(repository) => match in_process(&repository) {
            Ok(undo) => return Ok(access.keep_step(StepUndo::InProcess(undo), folder)),
            Err(
                error @ (StagingError::NeedsProgram { .. }
                | StagingError::Conflicted(_)
                | StagingError::Undecodable { .. }),
            ) => access.program(folder).map_err(|refused| GitFailure {
                sentence: format!("{error}; {}", refused.sentence),
                ..refused
            })?,
            Err(error) => return Err(of_staging(error)),
        },
    };
    let names: Vec<PathBuf> = paths.iter().map(TreePath::to_path).collect();
    let undo = with_entries(&program, &names, |program, cancellation| {
        by_program(program, &names, cancellation)
    });
    Ok(access.keep_step(undo.map_err(of_program)?, folder))
}

/// Changes the index by the program, and returns how to take it back.
fn with_entries(
    program: &GitProgram,
    names: &[PathBuf],
    change: impl FnOnce(&GitProgram, &Cancellation) -> Result<(), ProgramError>,
) -> Result<StepUndo, ProgramError> {
    let cancellation = Cancellation::default();
    let before = program.index_entries(names, &cancellation)?;
    change(program, &cancellation)?;
    let after = program.index_entries(names, &cancellation)?;
    Ok(StepUndo::Program { before, after })
}

/// Takes back a change of the index.
pub(super) fn undo(
    access: &RepositoryAccess,
    folder: &GitFolderState,
    step: StagingStep,
) -> Result<(), GitFailure> {
    match access.take_step(step) {
        Some(StepUndo::InProcess(undo)) => {
            let repository = access.in_process()?;
            repository.undo_staging(&undo).map_err(of_staging)
        }
        Some(StepUndo::Program { before, after }) => {
            let program = access.program(folder)?;
            let restored = program.restore_index_entries(&before, &after, &Cancellation::default());
            if restored.map_err(of_program)? {
                return Ok(());
            }
            Err(outdated("the index changed since; nothing was taken back"))
        }
        None => Err(outdated(
            "this change of the index can no longer be taken back",
        )),
    }
}

fn outdated(sentence: &str) -> GitFailure {
    failure(sentence.to_owned(), GitFailureKind::Outdated)
}

/// Converts the failure of a patch: one that does not apply is outdated.
fn of_patch(error: ProgramError, path: &TreePath) -> GitFailure {
    match &error {
        ProgramError::Failed { message, .. }
            if [
                "does not apply",
                "already exists",
                "does not exist",
                "does not match",
            ]
            .iter()
            .any(|words| message.contains(words)) =>
        {
            of_staging(StagingError::Outdated(path.clone()))
        }
        _ => of_program(error),
    }
}
