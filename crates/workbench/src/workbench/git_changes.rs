//! Git in a window: the panel of changes beside the text, its requests, and the commands of Git.
//!
//! Start at `GitDock`; the diff in a tab is in `diff`.

mod compare;
mod diff;
mod hunk_block;
mod hunk_parts;
mod images;
mod line_selection;
mod moved_parts;
mod rebase;

use base::{AbsPath, Row, Span};
use composer_panel::actions::TrustFolder;
use editor::{DocumentEnvironment, DocumentModel};
use futures::channel::oneshot;
use git::staging::{LineSelection, RowEdit, Side};
use git_panel::actions::{
    DiscardHunk, GoToMovedLines, NextChange, PreviousChange, ShowChanges, StageFile, StageHunk,
    ToggleSideBySideDiffs, ToggleWhitespaceInDiffs, UnstageFile, UnstageHunk,
};
use git_panel::{ChangesPanel, ChangesPanelEvent, PanelCommand, on_commands};
use gpui_kit::{
    App, AppContext as _, Context, Div, Entity, Focusable as _, InteractiveElement as _, Stateful,
    Subscription, Window,
};
use project::Binary;
use text::{Author, Edit, Snapshot, decode_as};
use ui::Tone;

use super::changed_words::WhitespaceChanges;
use super::{Workbench, WorkbenchRegion, history};
use crate::documents::Documents;
use crate::notices::Notice;
use crate::open_options::OpenOptions;
use crate::pickers::branch_name::BranchNamePicker;
use crate::pickers::choices::{self, repositories};
pub(super) use compare::compare_commits;
use diff::{DiffSource, ShownHunk, StagingPlace};
pub(super) use diff::{text_rested, view_of};
pub(super) use rebase::rebase_from;

/// Maximum number of texts that stay open for undoing a discard.
const MAX_EDITED: usize = 50;

/// The panel of changes of a window, which takes turns with the project tree.
#[derive(Default)]
pub(super) struct GitDock {
    open: Option<OpenPanel>,
    /// Whether the panel is shown in place of the tree.
    is_shown: bool,
    diffs: Vec<diff::OpenDiff>,
    /// The treatment of white space in the diffs.
    whitespace: WhitespaceChanges,
    /// Texts in which changes were discarded, the latest last: they stay open so that this can be undone.
    edited: Vec<Entity<DocumentModel>>,
}

struct OpenPanel {
    panel: Entity<ChangesPanel>,
    _subscriptions: [Subscription; 2],
}

impl GitDock {
    /// Returns the panel; `None` if no folder is open, or if this process has no access to Git.
    pub(super) fn panel(&self) -> Option<&Entity<ChangesPanel>> {
        self.open.as_ref().map(|open| &open.panel)
    }

    /// Returns the panel if it is shown in place of the tree.
    pub(super) fn shown(&self) -> Option<&Entity<ChangesPanel>> {
        self.panel().filter(|_| self.is_shown)
    }

    /// Gives the place back to the tree.
    pub(super) fn hide(&mut self) {
        self.is_shown = false;
    }
}

/// Registers the actions of this module.
pub(super) fn with_actions(element: Stateful<Div>, cx: &mut Context<Workbench>) -> Stateful<Div> {
    let element = line_selection::with_actions(element, cx);
    let element = compare::with_actions(element, cx);
    on_commands(element, command, cx)
        .on_action(cx.listener(show_changes))
        .on_action(cx.listener(|this, _: &StageFile, window, cx| {
            set_file_staged(this, true, window, cx);
        }))
        .on_action(cx.listener(|this, _: &UnstageFile, window, cx| {
            set_file_staged(this, false, window, cx);
        }))
        .on_action(cx.listener(|this, _: &StageHunk, window, cx| {
            at_caret(this, Side::Unstaged, stage_hunk, window, cx);
        }))
        .on_action(cx.listener(|this, _: &UnstageHunk, window, cx| {
            at_caret(this, Side::Staged, stage_hunk, window, cx);
        }))
        .on_action(cx.listener(|this, _: &DiscardHunk, window, cx| {
            at_caret(this, Side::Unstaged, discard_hunk, window, cx);
        }))
        .on_action(cx.listener(|this, _: &NextChange, _, cx| diff::step(this, true, cx)))
        .on_action(cx.listener(|this, _: &PreviousChange, _, cx| diff::step(this, false, cx)))
        .on_action(cx.listener(|_, _: &ToggleSideBySideDiffs, _, cx| {
            diff::toggle_side_by_side(cx);
        }))
        .on_action(cx.listener(|this, _: &GoToMovedLines, window, cx| {
            diff::go_to_moved_lines(this, window, cx);
        }))
        .on_action(
            cx.listener(|this, _: &ToggleWhitespaceInDiffs, window, cx| {
                diff::toggle_whitespace(this, window, cx);
            }),
        )
}

/// Opens the panel of the window's folder after that folder was opened, replaced or closed.
pub(super) fn follow_folder(
    workbench: &mut Workbench,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    workbench.git.open = None;
    workbench.git.diffs.clear();
    workbench.git.edited.clear();
    if let (Some(root), Some(open)) = (workbench.root(cx), workbench.services.git.clone()) {
        let environment = DocumentEnvironment {
            files: workbench.services.files.clone(),
            clock: workbench.services.clock.clone(),
            recovery_folder: workbench.services.dirs.recovery(),
        };
        let service = open(&root);
        let panel = cx.new(|cx| ChangesPanel::new(service, environment, window, cx));
        let region = panel.read(cx).region().clone();
        let subscriptions = [
            cx.subscribe_in(&panel, window, panel_event),
            cx.on_focus_in(&region, window, |this, _, _| {
                this.focused_region = WorkbenchRegion::Tree;
            }),
        ];
        workbench.git.open = Some(OpenPanel {
            panel,
            _subscriptions: subscriptions,
        });
    }
    note_summary(workbench, cx);
}

/// Passes changes that the window's watcher reported on to the panel: these paths, or anything.
pub(super) fn files_changed(workbench: &Workbench, paths: Option<Vec<AbsPath>>, cx: &App) {
    if let Some(panel) = workbench.git.panel() {
        panel.read(cx).service().files_changed(paths);
    }
}

/// Passes branch and number of changes on to the status bar.
fn note_summary(workbench: &Workbench, cx: &mut Context<Workbench>) {
    let summary = workbench
        .git
        .panel()
        .and_then(|panel| panel.read(cx).summary());
    workbench
        .status
        .update(cx, |status, cx| status.note_git(summary, cx));
}

/// Shows the panel in place of the tree.
fn show(workbench: &mut Workbench, cx: &mut Context<Workbench>) {
    workbench.tree.is_shown = true;
    workbench.git.is_shown = true;
    workbench.layout_changed(cx);
}

fn show_changes(
    workbench: &mut Workbench,
    _: &ShowChanges,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(panel) = workbench.git.panel().cloned() else {
        return report_missing(workbench, window, cx);
    };
    let is_visible = workbench.tree.is_shown && workbench.git.is_shown;
    if is_visible && panel.read(cx).has_focus(window, cx) {
        workbench.focus_active(window, cx);
    } else {
        panel.read(cx).focus_handle(cx).focus(window, cx);
        show(workbench, cx);
    }
}

fn report_missing(workbench: &mut Workbench, window: &mut Window, cx: &mut Context<Workbench>) {
    let text = if workbench.folder.is_some() {
        "This program has no access to Git"
    } else {
        "Open a folder first: Git works on its repositories"
    };
    workbench.report(Notice::new(Tone::Info, text).key("git"), window, cx);
}

fn command(
    workbench: &mut Workbench,
    command: PanelCommand,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(panel) = workbench.git.panel().cloned() else {
        return report_missing(workbench, window, cx);
    };
    // The panel shows progress, questions and the outcome.
    show(workbench, cx);
    panel.update(cx, |panel, cx| panel.command(command, window, cx));
}

fn set_file_staged(
    workbench: &mut Workbench,
    is_staged: bool,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(panel) = workbench.git.panel().cloned() else {
        return report_missing(workbench, window, cx);
    };
    let Some(path) = workbench.active_item().and_then(|item| item.path(cx)) else {
        return;
    };
    panel.update(cx, |panel, cx| {
        panel.set_file_staged(&path, is_staged, window, cx);
    });
}

/// Works on the hunk at the caret of the active diff, if it is of this side.
fn at_caret(
    workbench: &mut Workbench,
    side: Side,
    work: fn(&mut Workbench, &ShownHunk, &mut Window, &mut Context<Workbench>),
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    match diff::hunk_at_caret(workbench, cx) {
        Some(hunk) if hunk.staging.as_ref().is_some_and(|it| it.side == side) => {
            work(workbench, &hunk, window, cx);
        }
        _ => {
            let text = "There is no such change at the caret; open the changes from the Git panel";
            workbench.report(Notice::new(Tone::Info, text).key("git"), window, cx);
        }
    }
}

/// Stages a hunk, or unstages a staged one.
fn stage_hunk(
    workbench: &mut Workbench,
    hunk: &ShownHunk,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    stage_lines(workbench, hunk, hunk.lines(), window, cx);
}

/// Stages lines of the file of a hunk, or unstages staged ones.
fn stage_lines(
    workbench: &mut Workbench,
    hunk: &ShownHunk,
    lines: LineSelection,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let panel = workbench.git.panel().cloned();
    if let (Some(panel), Some(place)) = (panel, hunk.staging.clone()) {
        let (root, diff) = (place.repository, hunk.diff.clone());
        panel.update(cx, |panel, cx| {
            panel.stage_lines(root, diff, lines, window, cx)
        });
    }
}

/// Discards an unstaged hunk by an edit of its text, which is saved.
fn discard_hunk(
    workbench: &mut Workbench,
    hunk: &ShownHunk,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    discard_lines(workbench, hunk, hunk.lines(), window, cx);
}

/// Discards unstaged lines of the file of a hunk by an edit of its text, which is saved.
fn discard_lines(
    workbench: &mut Workbench,
    hunk: &ShownHunk,
    lines: LineSelection,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let panel = workbench.git.panel().cloned();
    let (Some(panel), Some(place)) = (panel, hunk.staging.clone()) else {
        return;
    };
    let service = panel.read(cx).service().clone();
    let diff = hunk.diff.clone();
    let edits = service.discard_lines(&place.repository, hunk.diff.clone(), lines);
    let path = place.repository.join(hunk.diff.path.to_path());
    let opening = Documents::open(path, Binary::Refuse, cx);
    cx.spawn_in(window, async move |this, cx| {
        let edits = edits.await.map_err(|failure| failure.sentence);
        let document = opening.await.map_err(|error| error.to_string());
        this.update_in(cx, |this, window, cx| match (edits, document) {
            (Ok(edits), Ok(document)) => {
                let snapshot = document.read(cx).snapshot();
                if !is_text_of(&snapshot, &diff.work) {
                    let text = "The text changed since its diff was made; nothing was discarded";
                    return this.report_error(text, window, cx);
                }
                let edits = edits.iter().map(|edit| row_edit(&snapshot, edit)).collect();
                edit_and_save(this, document, edits, window, cx);
            }
            (Err(sentence), _) | (_, Err(sentence)) => this.report_error(sentence, window, cx),
        })
        // The window may be gone by then.
        .ok();
    })
    .detach();
}

/// Returns whether a text is the one that Git stores as `work`, apart from line endings and a byte order mark.
fn is_text_of(snapshot: &Snapshot, work: &[u8]) -> bool {
    let work = String::from_utf8_lossy(work);
    let work = work.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    snapshot.to_string().replace("\r\n", "\n") == work
}

/// Converts a replacement of rows to an edit.
fn row_edit(snapshot: &Snapshot, edit: &RowEdit) -> Edit {
    let start_of = |row: Row| {
        if row > snapshot.last_row() {
            snapshot.full_span().end
        } else {
            snapshot.row_start(row)
        }
    };
    let span = Span::new(start_of(edit.rows.start), start_of(edit.rows.end));
    let text = String::from_utf8_lossy(&edit.text);
    Edit::new(span, text.trim_start_matches('\u{feff}'))
}

/// Applies edits as one step that the user can undo, and saves the text.
fn edit_and_save(
    workbench: &mut Workbench,
    document: Entity<DocumentModel>,
    edits: Vec<Edit>,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    document.update(cx, |model, cx| model.edit(&edits, Author::User, cx));
    let edited = &mut workbench.git.edited;
    edited.retain(|it| *it != document);
    if edited.len() == MAX_EDITED {
        edited.remove(0);
    }
    edited.push(document.clone());
    workbench.save_document(document, window, cx).detach();
}

/// Replaces the text of a file, and saves it.
fn replace_text(path: AbsPath, bytes: Vec<u8>, window: &mut Window, cx: &mut Context<Workbench>) {
    let opening = Documents::open(path, Binary::Refuse, cx);
    cx.spawn_in(window, async move |this, cx| {
        let opened = opening.await;
        this.update_in(cx, |this, window, cx| {
            let document = match opened {
                Ok(document) => document,
                Err(error) => return this.report_error(error.to_string(), window, cx),
            };
            let model = document.read(cx);
            let encoding = model.document().format().encoding;
            let decoded = decode_as(&bytes, encoding);
            let edit = changed_part(&model.snapshot(), &decoded.text);
            edit_and_save(this, document, vec![edit], window, cx);
        })
        // The window may be gone by then.
        .ok();
    })
    .detach();
}

/// Returns the edit that makes `after` of a text and touches only the rows in which both differ.
fn changed_part(before: &Snapshot, after: &str) -> Edit {
    let after = Snapshot::new(after);
    let hunks = before.diff_rows(&after);
    let rows = hunks.first().zip(hunks.last());
    let Some((first, last)) = rows else {
        return Edit::new(Span::at(before.full_span().end), "");
    };
    let rows_of = |snapshot: &Snapshot, start: Row, end: Row| {
        let offset = |row: Row| {
            if row > snapshot.last_row() {
                snapshot.full_span().end
            } else {
                snapshot.row_start(row)
            }
        };
        Span::new(offset(start), offset(end))
    };
    let replaced = rows_of(before, first.before.start, last.before.end);
    let replacement = rows_of(&after, first.after.start, last.after.end);
    Edit::new(replaced, after.text(replacement))
}

/// Undoes the latest edit of a file, and saves it.
fn undo_replacement(
    workbench: &mut Workbench,
    path: &AbsPath,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(document) = Documents::of_path(path, cx) else {
        let text = format!(
            "{} is no longer open, so its text cannot be restored",
            path.printable_name()
        );
        return workbench.report_error(text, window, cx);
    };
    let undone = document.update(cx, |model, cx| model.undo(cx));
    if undone.is_some() {
        workbench.save_document(document, window, cx).detach();
    }
}

fn panel_event(
    workbench: &mut Workbench,
    panel: &Entity<ChangesPanel>,
    event: &ChangesPanelEvent,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    match event.clone() {
        ChangesPanelEvent::Changed => {
            note_summary(workbench, cx);
            diff::refresh(workbench, window, cx);
        }
        ChangesPanelEvent::SelectionChanged => note_summary(workbench, cx),
        ChangesPanelEvent::OpenDiff {
            repository,
            path,
            side,
        } => {
            if images::is_image(&path) {
                return images::open(workbench, repository, path, side, window, cx);
            }
            let source = DiffSource::Changes {
                place: StagingPlace { repository, side },
                around: path.clone(),
            };
            diff::open(workbench, source, Some(path), window, cx);
        }
        ChangesPanelEvent::OpenFile(path) => {
            workbench.open_path(path, OpenOptions::lasting(), window, cx);
        }
        ChangesPanelEvent::ReplaceText { path, bytes } => replace_text(path, bytes, window, cx),
        ChangesPanelEvent::UndoReplacement(path) => {
            undo_replacement(workbench, &path, window, cx);
        }
        ChangesPanelEvent::ChooseBranch(branches) => {
            let picker = choices::branches(panel.clone(), branches);
            workbench.pick(picker, window, cx);
        }
        ChangesPanelEvent::ChoosePullRequest(requests) => {
            let picker = repositories::pull_requests(panel.clone(), requests);
            workbench.pick(picker, window, cx);
        }
        ChangesPanelEvent::NameBranch => name_branch(workbench, panel.clone(), window, cx),
        ChangesPanelEvent::ChooseCommit {
            repository,
            purpose,
            commits,
        } => rebase::choose_commit(workbench, panel, (repository, purpose), commits, window, cx),
        ChangesPanelEvent::ShowCommit(id) => show_commit(workbench, &id, window, cx),
        ChangesPanelEvent::EditRebase { repository, plan } => {
            rebase::edit(workbench, panel, repository, plan, window, cx);
        }
        ChangesPanelEvent::TrustRequested => window.dispatch_action(Box::new(TrustFolder), cx),
        ChangesPanelEvent::AttentionRequested => show(workbench, cx),
        ChangesPanelEvent::Cancelled => workbench.focus_active(window, cx),
    }
}

/// Shows a commit in the history.
fn show_commit(
    workbench: &mut Workbench,
    id: &str,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if let Some(view) = history::open_view(workbench, "", window, cx) {
        view.update(cx, |view, cx| view.select_commit(id, cx));
    }
}

/// Asks for the name of a branch, and creates it.
fn name_branch(
    workbench: &mut Workbench,
    panel: Entity<ChangesPanel>,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let (reply, answer) = oneshot::channel();
    workbench.pick(BranchNamePicker::new(reply), window, cx);
    cx.spawn_in(window, async move |_, cx| {
        // Without an answer, the user dismissed the picker.
        let Ok(name) = answer.await else {
            return;
        };
        panel
            .update_in(cx, |panel, window, cx| {
                panel.create_branch(name, window, cx)
            })
            // The window may be gone by then.
            .ok();
    })
    .detach();
}

/// Returns whether the panel is shown and has the focus.
pub(super) fn has_focus(workbench: &Workbench, window: &Window, cx: &App) -> bool {
    let panel = workbench.git.shown();
    panel.is_some_and(|panel| panel.read(cx).has_focus(window, cx))
}

/// Focuses the panel if it is shown in place of the tree. Returns whether it is.
pub(super) fn focus_shown(
    workbench: &Workbench,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> bool {
    let Some(panel) = workbench.git.shown() else {
        return false;
    };
    panel.read(cx).focus_handle(cx).focus(window, cx);
    true
}
