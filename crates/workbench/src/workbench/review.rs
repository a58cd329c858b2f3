//! Agents' changes under review, shown inline in the text.

pub(super) mod marks;

use std::collections::HashMap;

use base::Span;
use composer_panel::BufferEdit;
use composer_panel::actions::{AcceptHere, CommentOnChange, RejectHere};
use composer_panel::board::{Board, HunkVerdict};
use editor::{DocumentModel, Editor, reveal_block_above, show_changed_words};
use gpui_kit::{Context, Div, Entity, EntityId, InteractiveElement as _, Stateful, Window};
use marks::{FolderHunks, ShownChange, shown_here, shown_in};
use text::{Author, Edit};

use super::inline_edit::selected_rows;
use super::{Workbench, conflicts};
use crate::documents::Documents;
use crate::item::TabItem;
use crate::notices::Notice;

/// Registers the actions of this module.
pub(super) fn with_actions(element: Stateful<Div>, cx: &mut Context<Workbench>) -> Stateful<Div> {
    element
        .on_action(cx.listener(accept_here))
        .on_action(cx.listener(reject_here))
        .on_action(cx.listener(comment_here))
}

/// Review state of the texts in a window.
#[derive(Default)]
pub(super) struct InlineReview {
    /// Changes shown in a view, in the order of its text.
    shown: HashMap<EntityId, Vec<ShownChange>>,
}

impl Workbench {
    /// Updates the inline changes of the board in every view.
    pub(super) fn refresh_review(&mut self, cx: &mut Context<Self>) {
        let board = self.agents.local.read(cx).board().cloned();
        let hunks = board.as_ref().map(|board| board.hunks.clone());
        self.prediction.update(cx, |prediction, _| {
            prediction.set_unmerged(hunks.unwrap_or_default());
        });
        let here = self.agents.local.read(cx).folder_hunks();
        let editors = self.items.values();
        let editors: Vec<Entity<Editor>> = editors
            .filter_map(|entry| entry.item.editor().cloned())
            .collect();
        let is_open = |id: &EntityId| editors.iter().any(|editor| editor.entity_id() == *id);
        self.review.shown.retain(|id, _| is_open(id));
        for editor in editors {
            refresh_review_of(self, &editor, board.as_deref(), here.as_ref(), cx);
        }
    }

    /// Updates the inline changes of one view.
    pub(super) fn refresh_review_in(&mut self, editor: &Entity<Editor>, cx: &mut Context<Self>) {
        let panel = self.agents.local.read(cx);
        let (board, here) = (panel.board().cloned(), panel.folder_hunks());
        refresh_review_of(self, editor, board.as_deref(), here.as_ref(), cx);
    }
}

/// Updates the inline changes in the views of a document.
pub(super) fn refresh_document(
    workbench: &mut Workbench,
    document: &Entity<DocumentModel>,
    cx: &mut Context<Workbench>,
) {
    let editors = workbench
        .items
        .values()
        .filter_map(|entry| entry.item.editor());
    let editors: Vec<Entity<Editor>> = editors
        .filter(|editor| editor.read(cx).model() == document)
        .cloned()
        .collect();
    for editor in editors {
        workbench.refresh_review_in(&editor, cx);
    }
}

fn refresh_review_of(
    workbench: &mut Workbench,
    editor: &Entity<Editor>,
    board: Option<&Board>,
    here: Option<&FolderHunks>,
    cx: &mut Context<Workbench>,
) {
    let model = editor.read(cx).model().clone();
    // The conflicts of a text come first: its rows are not those that agents wrote.
    if conflicts::is_shown(workbench, model.entity_id()) {
        return;
    }
    let path = model.read(cx).path().cloned();
    let mut shown = Vec::new();
    if let Some(path) = path {
        let snapshot = model.read(cx).document().snapshot();
        shown.extend(
            here.map(|here| shown_here(&path, &snapshot, here))
                .into_iter()
                .flatten(),
        );
        shown.extend(
            board
                .map(|board| shown_in(&path, &snapshot, board))
                .into_iter()
                .flatten(),
        );
    }
    let id = editor.entity_id();
    let before = workbench.review.shown.get(&id);
    for change in &mut shown {
        let panel = workbench.agents.local.read(cx);
        change.field = panel.comment_field(change.hunk_id());
        change.find_words(before.map_or(&[], Vec::as_slice));
    }
    if before.map_or(shown.is_empty(), |before| *before == shown) {
        return;
    }
    let panel = workbench.agents.local.downgrade();
    let marks = shown.iter().map(|it| it.mark(&panel, cx)).collect();
    let text = model.read(cx).document().snapshot();
    let words: Vec<Span> = shown.iter().flat_map(|it| it.added_words(&text)).collect();
    editor.update(cx, |editor, cx| {
        editor.set_review(marks, cx);
        show_changed_words(editor, &words, cx);
    });
    workbench.review.shown.insert(id, shown);
}

/// Forgets the changes of agents in a view that shows something else in their place.
pub(super) fn forget(workbench: &mut Workbench, editor: EntityId) {
    workbench.review.shown.remove(&editor);
}

/// Accepts the change at the caret, or marks a text in conflict as resolved.
fn accept_here(
    workbench: &mut Workbench,
    _: &AcceptHere,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if !conflicts::mark_resolved(workbench, window, cx) {
        judge_here(workbench, HunkVerdict::Accepted, cx);
    }
}

fn reject_here(
    workbench: &mut Workbench,
    _: &RejectHere,
    _: &mut Window,
    cx: &mut Context<Workbench>,
) {
    judge_here(workbench, HunkVerdict::Rejected, cx);
}

/// Records the verdict for the change at the caret and goes to the next one.
fn judge_here(workbench: &mut Workbench, verdict: HunkVerdict, cx: &mut Context<Workbench>) {
    let Some(editor) = workbench.active_item().and_then(TabItem::editor).cloned() else {
        return;
    };
    let Some(shown) = workbench.review.shown.get(&editor.entity_id()) else {
        return;
    };
    let at = editor.update(cx, |editor, cx| editor.reviewed_at_caret(cx));
    let Some((at, hunk)) = at.and_then(|at| Some((at, shown.get(at)?.hunk_id().to_owned()))) else {
        return;
    };
    workbench
        .agents
        .local
        .update(cx, |panel, cx| panel.decide_hunk(&hunk, verdict, cx));
    editor.update(cx, |editor, cx| editor.go_to_reviewed(at + 1, cx));
}

/// Opens the field for a comment on the change at the caret: on the selected lines of it, or on all.
fn comment_here(
    workbench: &mut Workbench,
    _: &CommentOnChange,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let editor = workbench.active_item().and_then(TabItem::editor).cloned();
    let shown = editor.and_then(|editor| {
        let shown = workbench.review.shown.get(&editor.entity_id())?;
        let at = editor.update(cx, |editor, cx| editor.reviewed_at_caret(cx))?;
        Some((shown.get(at)?.clone(), editor))
    });
    let Some((change, editor)) = shown else {
        let sentence = "No change of an agent is shown here: open the review of a session, or a file that it changed.";
        return workbench.tell("comment", sentence, window, cx);
    };
    let lines = selected_lines(&editor, &change, cx);
    let height = change.height(true, cx);
    editor.update(cx, |editor, cx| {
        reveal_block_above(editor, change.rows().start, height, cx);
    });
    workbench.agents.local.update(cx, |panel, cx| {
        panel.comment_in_text(change.hunk_id(), lines, window, cx);
    });
}

/// The selected lines of a change, in its file as the engines know it, from 1; `None` without a
/// selection in it.
fn selected_lines(
    editor: &Entity<Editor>,
    change: &ShownChange,
    cx: &mut Context<Workbench>,
) -> Option<(u32, u32)> {
    let text = editor.read(cx).model().read(cx).snapshot();
    let selection = editor.update(cx, |editor, cx| *editor.selections(cx).primary());
    if selection.is_empty() {
        return None;
    }
    let (selected, rows) = (selected_rows(&selection, &text), change.rows());
    let start = selected.start.max(rows.start);
    let end = selected.end.min(rows.end);
    let count = end.0.checked_sub(start.0).filter(|count| *count > 0)?;
    let first = change.line() + (start.0 - rows.start.0);
    Some((first, first + count - 1))
}

/// Edits open texts with unsaved edits, each in one undo step. A text that was edited meanwhile stays
/// as it is, with a notice.
pub(super) fn edit_buffers(
    workbench: &mut Workbench,
    edits: &[BufferEdit],
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    for edit in edits {
        let document = Documents::of_path(&edit.path, cx);
        let is_edited = document.is_some_and(|document| {
            document.update(cx, |document, cx| {
                let snapshot = document.document().snapshot();
                let is_same = snapshot.text(snapshot.full_span()) == edit.before;
                if is_same {
                    let change = changed_part(&edit.before, &edit.after);
                    document.edit(&[change], Author::User, cx);
                }
                is_same
            })
        });
        if !is_edited {
            let sentence = format!(
                "{} was edited at the same moment and stays as it is: try again.",
                edit.path
            );
            let notice = Notice::new(ui::Tone::Warning, sentence).key("edit-buffers");
            workbench.report(notice, window, cx);
        }
    }
}

/// The edit that turns one text into another, without their common start and end.
fn changed_part(before: &str, after: &str) -> Edit {
    let is_same = |(one, two): &(char, char)| one == two;
    let length = |(one, _): (char, char)| one.len_utf8();
    let start: usize = before
        .chars()
        .zip(after.chars())
        .take_while(is_same)
        .map(length)
        .sum();
    let (gone, come) = (&before[start..], &after[start..]);
    let back = gone.chars().rev().zip(come.chars().rev());
    let end: usize = back.take_while(is_same).map(length).sum();
    let span = Span::new(
        base::ByteOffset(start),
        base::ByteOffset(before.len() - end),
    );
    Edit::new(span, &come[..come.len() - end])
}
