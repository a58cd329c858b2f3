//! Loading of the diffs of a source, with their texts.

use std::sync::Arc;

use base::{AbsPath, LogErr as _};
use editor::{DocumentEnvironment, DocumentModel};
use git::staging::{DiffHunk, FileDiff};
use git_panel::GitFailure;
use gpui_kit::{AppContext as _, AsyncWindowContext, Context, Entity, Task, WeakEntity, Window};
use project::{Binary, Document};

use super::source::{DiffSource, ListedFile, RequestedDiff};
use crate::documents::Documents;
use crate::workbench::Workbench;
use crate::workbench::changed_words::WhitespaceChanges;
use crate::workbench::git_changes::hunk_parts::{HunkPart, hunk_parts};
use crate::workbench::git_changes::moved_parts::{ShownParts, moves_of};

/// A file with its diff.
#[derive(Clone)]
pub(super) struct LoadedDiff {
    pub(super) file: AbsPath,
    pub(super) diff: Arc<FileDiff>,
    /// The parts of its hunks that are shown.
    pub(super) parts: Vec<HunkPart>,
    /// The text after the changes.
    pub(super) source: Entity<DocumentModel>,
}

/// Makes the diffs of a source, and opens the texts. Files without lines are left out.
pub(super) fn load(
    workbench: &Workbench,
    source: &DiffSource,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> Task<Result<Vec<LoadedDiff>, GitFailure>> {
    let whitespace = workbench.git.whitespace;
    let listing = source.files(workbench, cx);
    let source = source.clone();
    cx.spawn_in(window, async move |this, cx| {
        let listed = match listing.await {
            Ok(listed) => listed,
            Err(failure) => return Err(failure),
        };
        let requested = this.update(cx, |this, cx| {
            let files = listed.into_iter();
            let requested = files.map(|file| source.request(this, file, cx));
            requested.collect::<Vec<RequestedDiff>>()
        });
        let Ok(requested) = requested else {
            // The window is gone.
            return Ok(Vec::new());
        };
        let mut files = Vec::new();
        for request in requested {
            let Some(diff) = request.answer(cx).await.log_err() else {
                continue;
            };
            let parts = parts_of(&diff, whitespace, cx).await;
            if parts.is_empty() {
                continue;
            }
            if let Some((file, text)) = open_text(&this, &source, &diff, cx).await {
                files.push(LoadedDiff {
                    file,
                    diff,
                    parts,
                    source: text,
                });
            }
        }
        find_moves(&mut files, cx).await;
        Ok(files)
    })
}

/// Compares the text of the loaded file with this index again; `None` if Git cannot.
pub(super) fn reload(
    workbench: &Workbench,
    source: &DiffSource,
    (mut files, index): (Vec<LoadedDiff>, usize),
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> Task<Option<Vec<LoadedDiff>>> {
    let whitespace = workbench.git.whitespace;
    let Some(changed) = files.get(index) else {
        return Task::ready(None);
    };
    let listed = ListedFile::of(&changed.diff);
    let request = source.request(workbench, listed, cx);
    cx.spawn_in(window, async move |_, cx| {
        let diff = request.answer(cx).await.log_err()?;
        let parts = parts_of(&diff, whitespace, cx).await;
        let changed = files.get_mut(index)?;
        (changed.diff, changed.parts) = (diff, parts);
        find_moves(&mut files, cx).await;
        Some(files)
    })
}

async fn parts_of(
    diff: &Arc<FileDiff>,
    whitespace: WhitespaceChanges,
    cx: &AsyncWindowContext,
) -> Vec<HunkPart> {
    let diff = diff.clone();
    cx.background_spawn(async move { hunk_parts(&diff, whitespace) })
        .await
}

/// Finds the lines that moved among all files.
async fn find_moves(files: &mut [LoadedDiff], cx: &AsyncWindowContext) {
    let shown = files.iter().map(|file| {
        let parts = file.parts.iter().map(|part| part.shown);
        (file.diff.clone(), parts.collect::<Vec<DiffHunk>>())
    });
    let shown: Vec<ShownParts> = shown.collect();
    let found = cx.background_spawn(async move { moves_of(&shown) }).await;
    for (file, found) in files.iter_mut().zip(found) {
        for (part, moves) in file.parts.iter_mut().zip(found) {
            part.moves = moves.into();
        }
    }
}

/// Opens the text after the changes of a file; `None` if the window is gone.
async fn open_text(
    this: &WeakEntity<Workbench>,
    source: &DiffSource,
    diff: &FileDiff,
    cx: &mut AsyncWindowContext,
) -> Option<(AbsPath, Entity<DocumentModel>)> {
    if let DiffSource::Texts(texts) = source {
        let file = this.update(cx, |this, cx| source.file(this, &diff.path, cx));
        return Some((file.ok()?, texts.after.clone()));
    }
    let opening = this.update(cx, |this, cx| {
        let file = source.file(this, &diff.path, cx);
        let is_on_disk = source.is_editable() && diff.work_entry.is_some();
        let opening = is_on_disk.then(|| Documents::open(file.clone(), Binary::Refuse, cx));
        (file, opening)
    });
    let (file, opening) = opening.ok()?;
    let opened = match opening {
        Some(opening) => opening.await.log_err(),
        None => None,
    };
    if let Some(opened) = opened {
        return Some((file, opened));
    }
    let made = this.update(cx, |this, cx| {
        let reason = source.read_only_reason();
        version(this, (file.clone(), &diff.work[..]), &reason, cx)
    });
    Some((file, made.ok()?))
}

/// Creates the text of a version that is not in the working tree.
pub(super) fn version(
    workbench: &Workbench,
    (file, bytes): (AbsPath, &[u8]),
    reason: &str,
    cx: &mut Context<Workbench>,
) -> Entity<DocumentModel> {
    let text = String::from_utf8_lossy(bytes);
    let document = Document::of_version(file, &text, reason);
    DocumentModel::open(document, environment(workbench), cx)
}

pub(super) fn environment(workbench: &Workbench) -> DocumentEnvironment {
    DocumentEnvironment {
        files: workbench.services.files.clone(),
        clock: workbench.services.clock.clone(),
        recovery_folder: workbench.services.dirs.recovery(),
    }
}
