//! Applies a planned edit to documents and files, and reverts it.
//!
//! Invariant: when a step fails, the steps before it are reverted, unless someone else has changed the text since.

use base::{AbsPath, LogErr as _};
use editor::DocumentModel;
use futures::future::join_all;
use gpui_kit::{App, AppContext as _, AsyncApp, Entity, Task};
use project::{Binary, SaveTarget};
use text::{Author, Edit, Snapshot};

use super::plan::{EditPlan, PlannedFile, PlannedStep};
use crate::documents::Documents;
use crate::error::Error;
use crate::file_operations::{FileChange, FileOperation};
use crate::services::Services;

/// Options of `commit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CommitOptions {
    /// The author that the undo history records.
    pub(crate) author: Author,
    /// Whether to save the changed texts that had no unsaved edits before.
    pub(crate) saves: bool,
}

/// A record of an applied edit, for undoing it.
pub(crate) struct AppliedEdit {
    /// The changed texts.
    pub(crate) files: Vec<AppliedFile>,
    /// The changes on the disk, in order.
    changes: Vec<FileChange>,
    saves: bool,
}

/// A changed text.
pub(crate) struct AppliedFile {
    /// Path of the file before the edit.
    pub(crate) path: AbsPath,
    /// Text before the edit.
    pub(crate) before: Snapshot,
    /// Text after the edit.
    pub(crate) after: Snapshot,
    /// Whether the file was saved.
    pub(crate) is_saved: bool,
}

/// The part of an edit that has been applied so far.
struct Progress {
    files: Vec<EditedDocument>,
    changes: Vec<FileChange>,
}

/// A document that the edit has changed.
struct EditedDocument {
    document: Entity<DocumentModel>,
    applied: AppliedFile,
}

/// Applies an edit: first all texts at once, then the disk. If a step fails, everything is reverted, and the error says
/// why.
pub(crate) fn commit(
    plan: EditPlan,
    options: CommitOptions,
    cx: &mut App,
) -> Task<Result<AppliedEdit, Error>> {
    for file in &plan.files {
        if let Err(error) = check_current(file, cx) {
            return Task::ready(Err(error));
        }
    }
    let (files, saving): (Vec<_>, Vec<_>) = plan
        .files
        .into_iter()
        .map(|file| edit_document(file, options, cx))
        .unzip();
    let mut progress = Progress {
        files,
        changes: Vec::new(),
    };
    let steps = plan.steps;
    cx.spawn(async move |cx| {
        let saved = join_all(saving.into_iter().flatten()).await;
        let done = match saved.into_iter().find_map(Result::err) {
            Some(failure) => Err(Error::NotSaved(failure)),
            None => run_steps(steps, &mut progress, cx).await,
        };
        match done {
            Ok(()) => Ok(AppliedEdit {
                files: progress.files.into_iter().map(|it| it.applied).collect(),
                changes: progress.changes,
                saves: options.saves,
            }),
            Err(error) => {
                let kept = revert(progress, options.author, cx).await;
                Err(Error::EditReverted {
                    cause: error.to_string(),
                    kept,
                })
            }
        }
    })
}

/// Returns an error if the text of a file is not the one that was planned, or cannot be edited.
fn check_current(file: &PlannedFile, cx: &App) -> Result<(), Error> {
    let document = file.document.read(cx).document();
    if document.snapshot().revision() != file.text.revision() {
        return Err(Error::EditOutdated(file.path.clone()));
    }
    if !document.can_edit() {
        return Err(Error::EditOfReadOnly(file.path.clone()));
    }
    Ok(())
}

type Saving = Task<Result<project::SaveDone, editor::SaveFailure>>;

/// Edits a text as one undo step, and starts to save it if it had no unsaved edits.
fn edit_document(
    file: PlannedFile,
    options: CommitOptions,
    cx: &mut App,
) -> (EditedDocument, Option<Saving>) {
    let PlannedFile {
        document,
        path,
        text,
        edits,
    } = file;
    let is_saved = options.saves && !document.read(cx).document().is_dirty();
    let saving = document.update(cx, |model, cx| {
        model.edit(&edits, options.author, cx);
        is_saved.then(|| model.save(SaveTarget::Own, cx))
    });
    let applied = AppliedFile {
        path,
        before: text,
        // Saving may have removed blanks at the ends of rows.
        after: document.read(cx).snapshot(),
        is_saved,
    };
    (EditedDocument { document, applied }, saving)
}

async fn run_steps(
    steps: Vec<PlannedStep>,
    progress: &mut Progress,
    cx: &mut AsyncApp,
) -> Result<(), Error> {
    for step in steps {
        match step {
            PlannedStep::Operation(operation) => {
                let change = run_operation(operation, cx).await?;
                progress.changes.push(change);
            }
            PlannedStep::Create { path, text } => {
                let create = FileOperation::CreateFile(path.clone());
                let change = run_operation(create, cx).await?;
                progress.changes.push(change);
                write_created(path, text, cx).await?;
            }
        }
    }
    Ok(())
}

/// Runs an operation in the background. Open documents follow a moved file.
async fn run_operation(operation: FileOperation, cx: &mut AsyncApp) -> Result<FileChange, Error> {
    let files = cx.update(|cx| Services::of(cx).files);
    let run = cx.background_spawn(async move { operation.run(files.as_ref()) });
    let change = run.await?;
    if let FileChange::Moved { from, to } = &change {
        cx.update(|cx| Documents::follow_move(from, to, cx));
    }
    Ok(change)
}

/// Writes the text of a file that was just created.
async fn write_created(path: AbsPath, text: String, cx: &mut AsyncApp) -> Result<(), Error> {
    if text.is_empty() {
        return Ok(());
    }
    let opening = cx.update(|cx| Documents::open(path, Binary::Refuse, cx));
    let document = opening.await.map_err(Error::NotLoaded)?;
    let saving = document.update(cx, |model, cx| {
        let edit = Edit::new(model.snapshot().full_span(), text);
        model.edit(&[edit], Author::User, cx);
        model.save(SaveTarget::Own, cx)
    });
    saving.await.map(|_| ()).map_err(Error::NotSaved)
}

/// Reverts what was applied. Returns the files that keep the edit, because they changed since or cannot be written.
async fn revert(progress: Progress, author: Author, cx: &mut AsyncApp) -> Vec<AbsPath> {
    let trash = cx.update(|cx| Services::of(cx).trash_folder());
    let mut kept = Vec::new();
    for change in progress.changes.iter().rev() {
        let operation = FileOperation::undoing(change, &trash);
        let path = change_path(change).clone();
        if run_operation(operation, cx).await.log_err().is_none() {
            kept.push(path);
        }
    }
    for edited in progress.files {
        let EditedDocument { document, applied } = edited;
        let restoring = document.update(cx, |model, cx| {
            if model.snapshot().revision() != applied.after.revision() {
                return None;
            }
            restore_text(model, &applied.before, author, cx);
            let saving = applied.is_saved.then(|| model.save(SaveTarget::Own, cx));
            Some(saving)
        });
        let is_restored = match restoring {
            None => false,
            Some(None) => true,
            // A file that could not be written keeps its text from before.
            Some(Some(saving)) => saving.await.log_err().is_some() || is_on_disk(&document, cx),
        };
        if !is_restored {
            kept.push(applied.path);
        }
    }
    kept
}

/// Returns whether the file has the text of its document.
fn is_on_disk(document: &Entity<DocumentModel>, cx: &mut AsyncApp) -> bool {
    document.read_with(cx, |model, _| {
        let document = model.document();
        let saved = document.saved_snapshot().map(Snapshot::to_string);
        saved.is_some_and(|saved| saved == document.snapshot().to_string())
    })
}

/// Restores a text by undoing the steps of the edit and of its save, or else by a further edit.
fn restore_text(
    model: &mut DocumentModel,
    before: &Snapshot,
    author: Author,
    cx: &mut gpui_kit::Context<DocumentModel>,
) {
    const STEPS: usize = 2;
    let before = before.to_string();
    for _ in 0..STEPS {
        model.undo(cx);
        if model.snapshot().to_string() == before {
            return;
        }
    }
    let edits = model.snapshot().edits_to(&before);
    model.edit(&edits, author, cx);
}

fn change_path(change: &FileChange) -> &AbsPath {
    match change {
        FileChange::Created(path) | FileChange::Trashed(path) => path,
        FileChange::Moved { to, .. } => to,
    }
}

/// Plans the edit that undoes an applied one.
///
/// # Errors
/// A text has changed since, or cannot be read; then nothing is undone.
pub(crate) fn prepare_undo(
    applied: AppliedEdit,
    cx: &mut App,
) -> Task<Result<(EditPlan, CommitOptions), Error>> {
    let trash = Services::of(cx).trash_folder();
    cx.spawn(async move |cx| {
        let mut files = Vec::new();
        for file in applied.files {
            let path = applied.changes.iter().fold(file.path, moved_path);
            let opening = cx.update(|cx| Documents::open(path.clone(), Binary::Refuse, cx));
            let document = opening.await.map_err(Error::NotLoaded)?;
            let text = document.read_with(cx, |model, _| model.snapshot());
            if text.to_string() != file.after.to_string() {
                return Err(Error::EditedSince(path));
            }
            let edits = text.edits_to(&file.before.to_string());
            files.push(PlannedFile {
                document,
                path,
                text,
                edits,
            });
        }
        let steps = applied.changes.iter().rev();
        let steps = steps.map(|change| FileOperation::undoing(change, &trash));
        let plan = EditPlan {
            files,
            steps: steps.map(PlannedStep::Operation).collect(),
            needs_confirmation: false,
        };
        let options = CommitOptions {
            author: Author::User,
            saves: applied.saves,
        };
        Ok((plan, options))
    })
}

/// Returns the path of a file after a change on the disk.
fn moved_path(path: AbsPath, change: &FileChange) -> AbsPath {
    match change {
        FileChange::Moved { from, to } => match path.relative_to(from) {
            Some(rest) if rest.as_os_str().is_empty() => to.clone(),
            Some(rest) => to.join(rest),
            None => path,
        },
        FileChange::Created(_) | FileChange::Trashed(_) => path,
    }
}
