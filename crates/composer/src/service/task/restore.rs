//! Restores worktrees to the start of a turn, and undoes it. Runs beside the composer task.

use super::ComposerTask;
use crate::Error;
use crate::change_history::ChangeHistory;
use crate::checkpoint::{UndoResult, UndoSelection};
use crate::job::{JobStatus, JobWorktree};
use crate::worktrees::lock_of;

/// Maximum number of paths that a sentence names.
const MAX_NAMED_PATHS: usize = 3;

/// A restore that can be undone.
pub(super) struct UndoableRestore {
    job: String,
    title: String,
    operation: u64,
}

/// The outcome of a restore.
pub(super) struct RestoreOutcome {
    text: String,
    restored: Option<UndoableRestore>,
}

impl ComposerTask {
    /// Starts to restore a job's worktree to the start of `turn`; `on_restore_outcome` handles the
    /// result. Fails if a restore is running, or if the job's agent is at work or has no worktree.
    pub(super) fn start_restore(&mut self, job: &str, turn: u64) -> Result<(), Error> {
        self.refuse_another()?;
        let job = self.idle_job(job)?.clone();
        let worktree = job.worktree()?.clone();
        self.run_restore(worktree, move |history| {
            let title = job.task.title.clone();
            match history.restore(&job.sessions(), turn) {
                Ok(undone) => Ok(restored(&job, turn, &undone)),
                Err(Error::NothingToUndo) => Ok(RestoreOutcome {
                    text: format!(
                        "\u{201c}{title}\u{201d} is already as its turn {turn} found it."
                    ),
                    restored: None,
                }),
                Err(error) => Err(Error::Failed(format!(
                    "Cannot restore \u{201c}{title}\u{201d}: {error}."
                ))),
            }
        });
        Ok(())
    }

    /// Starts to undo the latest restore; `on_restore_outcome` handles the result. Fails if there
    /// is none or a restore is running, or if the job's agent is at work or has no worktree.
    pub(super) fn undo_restore(&mut self) -> Result<(), Error> {
        self.refuse_another()?;
        let latest = self.restored.as_ref();
        let latest =
            latest.ok_or_else(|| Error::NothingToDo("There is no restore to undo.".to_owned()))?;
        let worktree = self.idle_job(&latest.job)?.worktree()?.clone();
        let (title, operation) = (latest.title.clone(), latest.operation);
        self.run_restore(worktree, move |history| {
            match history.undo(&UndoSelection::of_operation(operation)) {
                Ok(undone) => Ok(RestoreOutcome {
                    text: format!(
                        "\u{201c}{title}\u{201d} is as it was before: {}.",
                        files(&undone)
                    ),
                    restored: None,
                }),
                Err(error) => Err(Error::Failed(format!(
                    "Cannot take back the restore of \u{201c}{title}\u{201d}: {error}."
                ))),
            }
        });
        Ok(())
    }

    /// Fails with `Busy` while a restore is running.
    fn refuse_another(&self) -> Result<(), Error> {
        if self.restore.is_some() {
            Err(Error::Busy(
                "Files are being restored: wait until that ends.".to_owned(),
            ))
        } else {
            Ok(())
        }
    }

    /// Runs `run` on the worktree's history in the background, as the restore in progress.
    fn run_restore(
        &mut self,
        worktree: JobWorktree,
        run: impl FnOnce(&mut ChangeHistory) -> Result<RestoreOutcome, Error> + Send + 'static,
    ) {
        self.model.notice = None;
        let worktrees = self.worktrees.clone();
        self.restore = Some(tokio::task::spawn_blocking(move || {
            let history = worktrees.history(&worktree)?;
            run(&mut lock_of(&history))
        }));
    }

    pub(super) fn on_restore_outcome(
        &mut self,
        outcome: Result<Result<RestoreOutcome, Error>, Error>,
    ) {
        self.is_dirty = true;
        match outcome.flatten() {
            Ok(outcome) => {
                self.notify(outcome.text, outcome.restored.is_some());
                self.restored = outcome.restored;
            }
            Err(error) => self.model.error = Some(error.to_string()),
        }
    }
}

fn restored(job: &JobStatus, turn: u64, undone: &UndoResult) -> RestoreOutcome {
    let title = job.task.title.clone();
    RestoreOutcome {
        text: format!(
            "\u{201c}{title}\u{201d} is as its turn {turn} found it: {}.",
            files(undone)
        ),
        restored: Some(UndoableRestore {
            job: job.job.clone(),
            title,
            operation: undone.operation,
        }),
    }
}

/// `2 files went back (a.rs, b.rs)`.
fn files(undone: &UndoResult) -> String {
    let count = undone.paths.len();
    let named = undone
        .paths
        .iter()
        .take(MAX_NAMED_PATHS)
        .map(String::as_str);
    let mut named: Vec<&str> = named.collect();
    let more = format!("{} more", count.saturating_sub(MAX_NAMED_PATHS));
    if count > MAX_NAMED_PATHS {
        named.push(&more);
    }
    let files = if count == 1 { "file" } else { "files" };
    format!("{count} {files} went back ({})", named.join(", "))
}
