//! Saving, and handling changes of the file on disk.

use std::fmt;

use base::AbsPath;
use gpui_kit::{AppContext as _, Context, Task};
use project::{DiskOutcome, SaveDone, SaveError, SaveOptions, SaveRefused, SaveTarget};
use ui::ActiveSettings as _;

use super::{DocumentModel, ModelEvent};

/// Reason a save failed or was not started. Formats as a message with advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SaveFailure {
    /// The save was not started.
    Refused(SaveRefused),
    /// Writing or encoding failed.
    Failed(SaveError),
    /// The document was closed in the meantime; the file may or may not be written.
    Closed,
}

impl fmt::Display for SaveFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refused) => refused.fmt(f),
            Self::Failed(error) => error.fmt(f),
            Self::Closed => {
                f.write_str("cannot determine the outcome of the save: the document was closed")
            }
        }
    }
}

impl std::error::Error for SaveFailure {}

impl DocumentModel {
    /// Cleans up the text, and saves it in the background. Keep the task until it is done, because
    /// dropping the task loses the outcome. Edits made during the save stay unsaved.
    pub fn save(
        &mut self,
        target: SaveTarget,
        cx: &mut Context<Self>,
    ) -> Task<Result<SaveDone, SaveFailure>> {
        let options = self.save_options(cx);
        let (at, folder) = (self.now(), self.environment.recovery_folder.clone());
        let is_renamed = target != SaveTarget::Own;
        let job = self.mutate(cx, |document| {
            document.prepare_save(target, options, &folder, at)
        });
        let job = match job {
            Ok(job) => job,
            Err(refused) => return Task::ready(Err(SaveFailure::Refused(refused))),
        };
        let files = self.environment.files.clone();
        let outcome = cx.background_spawn(async move { job.run(files.as_ref()) });
        cx.spawn(async move |this, cx| {
            let outcome = outcome.await;
            this.update(cx, |model, cx| {
                let done = model.mutate(cx, |document| document.accept_save(outcome));
                if done.is_ok() {
                    model.after_save(is_renamed, cx);
                }
                done.map_err(SaveFailure::Failed)
            })
            .unwrap_or(Err(SaveFailure::Closed))
        })
    }

    fn after_save(&mut self, is_renamed: bool, cx: &mut Context<Self>) {
        if is_renamed {
            let language = super::language_of(&self.document);
            self.set_language(language.or(self.language), cx);
        }
        cx.emit(ModelEvent::Saved);
        cx.notify();
    }

    /// Checks in the background whether the file changed, and reloads the file or enters a
    /// conflict. The task yields `None` if the document has no file or was closed.
    pub fn check_disk(&mut self, cx: &mut Context<Self>) -> Task<Option<DiskOutcome>> {
        let Some(check) = self.document.check_disk() else {
            return Task::ready(None);
        };
        let files = self.environment.files.clone();
        let finding = cx.background_spawn(async move { check.run(files.as_ref()) });
        cx.spawn(async move |this, cx| {
            let finding = finding.await;
            this.update(cx, |model, cx| {
                let at = model.now();
                model.mutate(cx, |document| document.accept_disk(finding, at))
            })
            .ok()
        })
    }

    /// Resolves a conflict in favour of this text: the next save overwrites the file. Does nothing
    /// without a conflict.
    pub fn keep_mine(&mut self, cx: &mut Context<Self>) {
        self.mutate(cx, |document| document.keep_mine());
    }

    /// Resolves a conflict in favour of the file: its text replaces the text here. Undo restores
    /// the replaced text. Does nothing without a conflict.
    pub fn take_theirs(&mut self, cx: &mut Context<Self>) {
        let at = self.now();
        self.mutate(cx, |document| document.take_theirs(at));
    }

    /// Restores the text of the last save, as an undoable step. Does nothing if the document has no
    /// file or is read-only.
    pub fn revert_to_saved(&mut self, cx: &mut Context<Self>) {
        let Some(saved) = self.document.saved_snapshot().cloned() else {
            return;
        };
        let at = self.now();
        self.mutate(cx, |document| {
            if document.can_edit() {
                let origin = text::EditOrigin::user(at);
                document
                    .buffer_mut()
                    .replace_all_minimal(&saved.to_string(), &origin);
            }
        });
    }

    /// Returns the path of the file. Returns `None` for an untitled document.
    pub fn path(&self) -> Option<&AbsPath> {
        self.document.path()
    }

    fn save_options(&self, cx: &Context<Self>) -> SaveOptions {
        let language = self.language.map(|language| language.name());
        let settings = cx.settings().for_language(language);
        SaveOptions {
            trim_trailing_whitespace: settings.trim_trailing_whitespace,
            final_newline: settings.final_newline,
        }
    }
}
