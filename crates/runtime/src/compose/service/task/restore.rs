//! Restores worktrees to the start of a turn, and undoes it. Runs beside the composer task.

use composer::board::{JobStatus, JobWorktree};
use composer::checkpoint::{UndoError, UndoResult, UndoSelection};

use super::ComposerTask;
use crate::compose::history::place_of;
use crate::compose::job_worktrees::lock_of;

/// Paths that a sentence names at most.
const NAMED: usize = 3;

/// A restore that can be taken back.
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
    pub(super) fn restore(&mut self, agent: &str, turn: u64) -> Result<(), String> {
        self.refuse_another()?;
        let line = self.idle_job(agent)?.clone();
        let place = place_of(&line)?.clone();
        self.start_restore(&place, move |authored| {
            let title = line.task.title.clone();
            match authored.restore(&line.sessions(), turn) {
                Ok(undone) => Ok(restored(&line, turn, &undone)),
                Err(UndoError::Nothing) => Ok(RestoreOutcome {
                    text: format!(
                        "\u{201c}{title}\u{201d} is as its turn {turn} found it already."
                    ),
                    restored: None,
                }),
                Err(stuck) => Err(format!("Cannot restore \u{201c}{title}\u{201d}: {stuck}.")),
            }
        });
        Ok(())
    }

    pub(super) fn undo_restore(&mut self) -> Result<(), String> {
        self.refuse_another()?;
        let latest = self.restored.as_ref();
        let latest = latest.ok_or("There is no restore to undo.")?;
        let place = place_of(self.idle_job(&latest.job)?)?.clone();
        let (title, operation) = (latest.title.clone(), latest.operation);
        self.start_restore(&place, move |authored| {
            match authored.undo(&UndoSelection::of_operation(operation)) {
                Ok(undone) => Ok(RestoreOutcome {
                    text: format!(
                        "\u{201c}{title}\u{201d} is as it was before: {}.",
                        files(&undone)
                    ),
                    restored: None,
                }),
                Err(stuck) => Err(format!(
                    "Cannot take back the restore of \u{201c}{title}\u{201d}: {stuck}."
                )),
            }
        });
        Ok(())
    }

    fn refuse_another(&self) -> Result<(), String> {
        if self.restoring.is_some() {
            Err("Files are being restored already: wait until they are.".to_owned())
        } else {
            Ok(())
        }
    }

    fn start_restore(
        &mut self,
        place: &JobWorktree,
        act: impl FnOnce(&mut composer::change_history::ChangeHistory) -> Result<RestoreOutcome, String>
        + Send
        + 'static,
    ) {
        self.model.notice = None;
        let (trees, place) = (self.composer.worktrees.clone(), place.clone());
        self.restoring = Some(tokio::task::spawn_blocking(move || {
            let authored = trees.authored(&place)?;
            act(&mut lock_of(&authored))
        }));
    }

    pub(super) fn on_restore_result(
        &mut self,
        went: Result<Result<RestoreOutcome, String>, String>,
    ) {
        self.is_dirty = true;
        match went.and_then(|went| went) {
            Ok(went) => {
                self.notify(went.text, went.restored.is_some());
                self.restored = went.restored;
            }
            Err(sentence) => self.model.trouble = Some(sentence),
        }
    }
}

fn restored(line: &JobStatus, turn: u64, undone: &UndoResult) -> RestoreOutcome {
    let title = line.task.title.clone();
    RestoreOutcome {
        text: format!(
            "\u{201c}{title}\u{201d} is as its turn {turn} found it: {}.",
            files(undone)
        ),
        restored: Some(UndoableRestore {
            job: line.job.clone(),
            title,
            operation: undone.operation,
        }),
    }
}

/// `2 files went back (a.rs, b.rs)`.
fn files(undone: &UndoResult) -> String {
    let count = undone.paths.len();
    let named = undone.paths.iter().take(NAMED).map(String::as_str);
    let mut named: Vec<&str> = named.collect();
    let more = format!("{} more", count.saturating_sub(NAMED));
    if count > NAMED {
        named.push(&more);
    }
    let files = if count == 1 { "file" } else { "files" };
    format!("{count} {files} went back ({})", named.join(", "))
}
