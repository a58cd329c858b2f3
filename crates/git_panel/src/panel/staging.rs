//! Staging, unstaging and discarding, and their undo.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::AbsPath;
use git::changes::{Change, ChangeGroup};
use git::merge::TreePath;
use git::staging::{FileDiff, LineSelection, Side};
use gpui_kit::{Context, Window};
use ui::Tone;

use super::question::PanelQuestion;
use super::{ChangesPanel, ChangesPanelEvent};
use crate::service::{DiscardedFile, GitAnswer, GitFailure, StagingStep};

/// Number of steps that can be undone.
const MAX_UNDO: usize = 200;

/// A step that the user can undo.
#[derive(Clone, Debug)]
pub(super) enum UndoableStep {
    /// Entries of the index were replaced.
    Staging(AbsPath, StagingStep),
    /// An untracked file was moved to the trash.
    Trashed(AbsPath, TreePath),
    /// The text of a file was replaced.
    Replaced(AbsPath),
}

/// Returns the side of the changes of a group; `None` for conflicts.
pub(super) fn side_of(group: ChangeGroup) -> Option<Side> {
    match group {
        ChangeGroup::Staged => Some(Side::Staged),
        ChangeGroup::Unstaged | ChangeGroup::Untracked => Some(Side::Unstaged),
        ChangeGroup::Conflicts => None,
    }
}

/// Returns the paths of changes by repository, both of a rename.
fn by_repository(changes: Vec<(AbsPath, Change)>) -> BTreeMap<AbsPath, Vec<TreePath>> {
    let mut paths: BTreeMap<AbsPath, Vec<TreePath>> = BTreeMap::new();
    for (root, change) in changes {
        let of_root = paths.entry(root).or_default();
        of_root.push(change.path);
        of_root.extend(change.old_path);
    }
    paths
}

impl ChangesPanel {
    /// Stages the selected changes; unstages them if all are staged.
    pub(super) fn toggle_selected(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let changes = self.state.selected_changes();
        let (staged, unstaged): (Vec<_>, Vec<_>) = changes
            .into_iter()
            .partition(|(root, change)| self.state.toggle_unstages(root, change));
        if unstaged.is_empty() {
            self.set_staged(staged, false, window, cx);
        } else {
            self.set_staged(unstaged, true, window, cx);
        }
        self.state.advance();
        self.reveal_cursor();
        cx.notify();
    }

    /// Stages or unstages one change.
    pub(super) fn toggle_change(
        &mut self,
        root: AbsPath,
        change: Change,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let is_staged = !self.state.toggle_unstages(&root, &change);
        self.set_staged(vec![(root, change)], is_staged, window, cx);
    }

    /// Stages or unstages all changes of the current repository. Conflicts stay.
    pub fn set_all_staged(&mut self, is_staged: bool, window: &mut Window, cx: &mut Context<Self>) {
        let Some(repository) = self.state.current() else {
            return;
        };
        let root = repository.info.root.clone();
        let is_wanted = |change: &&Change| match change.group {
            ChangeGroup::Staged => !is_staged,
            ChangeGroup::Unstaged | ChangeGroup::Untracked => is_staged,
            ChangeGroup::Conflicts => false,
        };
        let entries = repository.changes.iter().flat_map(|it| &it.entries);
        let changes = entries.filter(is_wanted);
        let changes = changes.map(|change| (root.clone(), change.clone()));
        let changes: Vec<_> = changes.collect();
        self.set_staged(changes, is_staged, window, cx);
    }

    /// Stages or unstages a file.
    pub fn set_file_staged(
        &mut self,
        file: &AbsPath,
        is_staged: bool,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let Some((root, path)) = self.repository_of(file) else {
            return self.note(Tone::Info, "This file is in no repository", cx);
        };
        let changes = self.state.repository(&root);
        let entries = changes.and_then(|it| it.changes.as_ref());
        let entries = entries.into_iter().flat_map(|it| &it.entries);
        let is_wanted = |change: &&Change| {
            change.path == path && (change.group == ChangeGroup::Staged) != is_staged
        };
        let changes = entries.filter(is_wanted);
        let changes = changes.map(|change| (root.clone(), change.clone()));
        let changes: Vec<_> = changes.collect();
        if changes.is_empty() {
            let text = if is_staged {
                "This file has no unstaged changes"
            } else {
                "This file has no staged changes"
            };
            return self.note(Tone::Info, text, cx);
        }
        self.set_staged(changes, is_staged, window, cx);
    }

    fn set_staged(
        &mut self,
        changes: Vec<(AbsPath, Change)>,
        is_staged: bool,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let is_conflict = |(_, change): &(AbsPath, Change)| change.group == ChangeGroup::Conflicts;
        let (conflicts, rest): (Vec<_>, Vec<_>) = changes.into_iter().partition(is_conflict);
        for (root, paths) in by_repository(rest) {
            self.send_staging(root, paths, is_staged, window, cx);
        }
        if !conflicts.is_empty() {
            let resolved = by_repository(conflicts).into_iter().collect();
            self.ask(PanelQuestion::MarkResolved(resolved), window, cx);
        }
    }

    /// Sends a request to stage or unstage files; its answer comes later.
    pub(super) fn send_staging(
        &mut self,
        root: AbsPath,
        paths: Vec<TreePath>,
        is_staged: bool,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.notice = None;
        self.state.begin_staging(&root, &paths, is_staged);
        let answer = if is_staged {
            self.service.stage_files(&root, paths.clone())
        } else {
            self.service.unstage_files(&root, paths.clone())
        };
        self.follow_staging(root, paths, answer, window, cx);
    }

    /// Stages the selected lines of an unstaged diff, or unstages those of a staged one.
    pub fn stage_lines(
        &mut self,
        root: AbsPath,
        diff: Arc<FileDiff>,
        lines: LineSelection,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.notice = None;
        // The file may be staged in part, so its checkbox waits for the true state.
        self.state.begin_write(&root);
        let answer = match diff.side {
            Side::Unstaged => self.service.stage_lines(&root, diff, lines),
            Side::Staged => self.service.unstage_lines(&root, diff, lines),
        };
        cx.spawn_in(window, async move |this, cx| {
            let staged = answer.await;
            this.update_in(cx, |this, window, cx| {
                this.state.end_write(&root);
                this.end_staging(root, staged, cx);
                this.end_request(window, cx);
            })
            // The panel may be gone.
            .ok();
        })
        .detach();
    }

    fn follow_staging(
        &mut self,
        root: AbsPath,
        paths: Vec<TreePath>,
        answer: GitAnswer<StagingStep>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        cx.spawn_in(window, async move |this, cx| {
            let staged = answer.await;
            this.update_in(cx, |this, window, cx| {
                this.state.end_staging(&root, &paths);
                this.end_staging(root, staged, cx);
                this.end_request(window, cx);
            })
            // The panel may be gone.
            .ok();
        })
        .detach();
        cx.notify();
    }

    fn end_staging(
        &mut self,
        root: AbsPath,
        staged: Result<StagingStep, GitFailure>,
        cx: &mut Context<Self>,
    ) {
        match staged {
            Ok(step) => self.push_undo(UndoableStep::Staging(root, step)),
            Err(failure) => self.fail(&failure, cx),
        }
    }

    fn push_undo(&mut self, step: UndoableStep) {
        if self.undo.len() == MAX_UNDO {
            self.undo.remove(0);
        }
        self.undo.push(step);
    }

    /// Discards the selected unstaged changes; asks first if there are several.
    pub(super) fn discard_selected(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let mut changes = self.state.selected_changes();
        changes.retain(|(_, change)| side_of(change.group) == Some(Side::Unstaged));
        match changes.len() {
            0 => self.note(Tone::Info, "Only unstaged changes can be discarded", cx),
            1 => self.discard(changes, window, cx),
            _ => self.ask(PanelQuestion::Discard(changes), window, cx),
        }
    }

    pub(super) fn discard(
        &mut self,
        changes: Vec<(AbsPath, Change)>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.notice = None;
        for (root, change) in changes {
            self.state.begin_write(&root);
            let path = change.path.clone();
            let answer = self.service.discard_file(&root, change);
            cx.spawn_in(window, async move |this, cx| {
                let discarded = answer.await;
                this.update_in(cx, |this, window, cx| {
                    this.state.end_write(&root);
                    this.end_discard(root, path, discarded, cx);
                    this.end_request(window, cx);
                })
                // The panel may be gone.
                .ok();
            })
            .detach();
        }
    }

    fn end_discard(
        &mut self,
        root: AbsPath,
        path: TreePath,
        discarded: Result<DiscardedFile, GitFailure>,
        cx: &mut Context<Self>,
    ) {
        match discarded {
            Ok(DiscardedFile::Replace(bytes)) => {
                let path = root.join(path.to_path());
                self.push_undo(UndoableStep::Replaced(path.clone()));
                cx.emit(ChangesPanelEvent::ReplaceText { path, bytes });
            }
            Ok(DiscardedFile::Restored) => {}
            Ok(DiscardedFile::Trashed) => self.push_undo(UndoableStep::Trashed(root, path)),
            Err(failure) => self.fail(&failure, cx),
        }
    }

    /// Reads the repositories again, and undoes a step that waited for the last request.
    fn end_request(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        if self.waiting_undos > 0 && !self.state.is_writing() {
            self.waiting_undos -= 1;
            self.undo_step(window, cx);
        }
        self.read_due(window, cx);
    }

    /// Undoes the latest step, after the requests under way have ended.
    pub(super) fn undo_step(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        if self.state.is_writing() {
            self.waiting_undos += 1;
            return;
        }
        let (root, answer) = match self.undo.pop() {
            None => return self.note(Tone::Info, "There is nothing to undo", cx),
            Some(UndoableStep::Replaced(path)) => {
                return cx.emit(ChangesPanelEvent::UndoReplacement(path));
            }
            Some(UndoableStep::Staging(root, step)) => {
                let answer = self.service.undo_staging(&root, step);
                (root, answer)
            }
            Some(UndoableStep::Trashed(root, path)) => {
                let answer = self.service.restore_discarded(&root, path);
                (root, answer)
            }
        };
        self.notice = None;
        self.state.begin_write(&root);
        cx.spawn_in(window, async move |this, cx| {
            let undone = answer.await;
            this.update_in(cx, |this, window, cx| {
                this.state.end_write(&root);
                if let Err(failure) = undone {
                    this.fail(&failure, cx);
                }
                this.end_request(window, cx);
            })
            // The panel may be gone.
            .ok();
        })
        .detach();
    }
}
