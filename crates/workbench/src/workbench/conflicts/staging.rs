//! Marks a text as resolved: stages its file, or hands the text to the landing that waits for it.
//!
//! Start at `mark_resolved`.

use base::{AbsPath, ByteOffset};
use editor::{DocumentModel, Reveal};
use git::Repository;
use git::conflict::{ConflictChoice, ResolveError, ResolvedStages, StagedConflict};
use gpui_kit::{AppContext as _, Context, Entity, Window};
use host::RealFiles;
use ui::Tone;

use super::{ConflictSource, LandingDraft, NOTICE, active_text, hide};
use crate::actions::conflicts::UndoMarkResolved;
use crate::documents::Documents;
use crate::item::TabItem;
use crate::notices::Notice;
use crate::workbench::Workbench;

/// Marks the active text as resolved, unless it still has markers. Returns `false` if no conflict is
/// shown in it.
pub(in crate::workbench) fn mark_resolved(
    workbench: &mut Workbench,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> bool {
    let Some(document) = active_text(workbench, cx) else {
        return false;
    };
    let Some(text) = workbench.conflicts.texts.get(&document.entity_id()) else {
        return false;
    };
    let written = document.read(cx).snapshot().to_string();
    if let Some(offset) = text.set.markers_left(&written) {
        refuse(workbench, offset, window, cx);
        return true;
    }
    match text.source.clone() {
        ConflictSource::Landing(draft) => {
            settle(workbench, &document, &draft, written, window, cx);
        }
        ConflictSource::Index(conflict) => stage(workbench, &document, conflict, window, cx),
        ConflictSource::Markers => {
            hide(workbench, &document, cx);
            let sentence = "Git has no conflict of this file, so nothing needs to be staged.";
            workbench.tell(NOTICE, sentence, window, cx);
        }
    }
    true
}

/// Goes to the markers that are left.
fn refuse(
    workbench: &mut Workbench,
    offset: ByteOffset,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if let Some(editor) = workbench.active_item().and_then(TabItem::editor).cloned() {
        editor.update(cx, |editor, cx| editor.go_to(offset, Reveal::Center, cx));
    }
    let sentence =
        "The text still contains conflict markers: resolve them, then mark it as resolved.";
    let notice = Notice::new(Tone::Warning, sentence).key(NOTICE);
    workbench.report(notice, window, cx);
}

/// Resolves a file of a landing with its text, and closes the text.
fn settle(
    workbench: &mut Workbench,
    document: &Entity<DocumentModel>,
    draft: &LandingDraft,
    text: String,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    workbench.agents.local.update(cx, |panel, cx| {
        panel.resolve_with(&draft.agent, &draft.path, text, cx);
    });
    workbench.conflicts.texts.remove(&document.entity_id());
    let items = workbench.items_of(document.entity_id(), cx);
    Documents::discard(document, cx);
    workbench.close_now(&items, window, cx);
}

/// Saves the text if necessary and stages its file.
fn stage(
    workbench: &mut Workbench,
    document: &Entity<DocumentModel>,
    conflict: StagedConflict,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(path) = document.read(cx).path().cloned() else {
        return;
    };
    let is_dirty = document.read(cx).document().is_dirty();
    let saving = is_dirty.then(|| workbench.save_document(document.clone(), window, cx));
    let document = document.clone();
    cx.spawn_in(window, async move |this, cx| {
        if let Some(saving) = saving
            && !saving.await
        {
            // The failure was reported.
            return;
        }
        let place = path.clone();
        let staging = cx.background_spawn(async move {
            repository_of(&place)?.mark_resolved(&conflict, &RealFiles)
        });
        let staged = staging.await;
        let shown = this.update_in(cx, |this, window, cx| {
            if staged.is_ok() {
                hide(this, &document, cx);
            }
            report(this, path, staged, window, cx);
        });
        shown.ok();
    })
    .detach();
}

/// Resolves a conflict that is not about lines with one side or without a file.
pub(super) fn choose(
    root: AbsPath,
    conflict: StagedConflict,
    choice: ConflictChoice,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let path = root.join(conflict.path.to_path());
    let staging = cx.background_spawn(async move {
        let repository = Repository::discover(&root)?;
        repository.choose(&conflict, choice, &RealFiles)
    });
    cx.spawn_in(window, async move |this, cx| {
        let staged = staging.await;
        let shown = this.update_in(cx, |this, window, cx| {
            report(this, path, staged, window, cx);
        });
        shown.ok();
    })
    .detach();
}

/// Gives the file that was marked as resolved last its conflict back. Its text stays as it is.
pub(super) fn undo_mark_resolved(
    workbench: &mut Workbench,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some((path, resolved)) = workbench.conflicts.resolved.take() else {
        let sentence = "No conflict was marked as resolved in this window.";
        return workbench.tell(NOTICE, sentence, window, cx);
    };
    let name = path.printable_name();
    let restoring = cx.background_spawn(async move {
        repository_of(&path)?.restore_conflict(&resolved, &RealFiles)
    });
    cx.spawn_in(window, async move |this, cx| {
        let restored = restoring.await;
        let shown = this.update_in(cx, |this, window, cx| {
            match restored {
                Ok(()) => this.tell(NOTICE, format!("{name} is in conflict again."), window, cx),
                Err(error) => this.report_error(error.to_string(), window, cx),
            }
            this.refresh_git(cx);
        });
        shown.ok();
    })
    .detach();
}

fn repository_of(path: &AbsPath) -> Result<Repository, ResolveError> {
    let folder = path.parent().unwrap_or_else(|| path.clone());
    Ok(Repository::discover(&folder)?)
}

/// Reports a resolution and keeps it, so that it can be taken back.
fn report(
    workbench: &mut Workbench,
    path: AbsPath,
    staged: Result<ResolvedStages, ResolveError>,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    match staged {
        Ok(resolved) => {
            let sentence = format!("{} is resolved and staged.", path.printable_name());
            workbench.conflicts.resolved = Some((path, resolved));
            let notice = Notice::new(Tone::Success, sentence).key(NOTICE);
            workbench.report(notice.action("Undo", UndoMarkResolved), window, cx);
        }
        Err(error) => workbench.report_error(error.to_string(), window, cx),
    }
    workbench.refresh_git(cx);
}
