//! Agents' changes under review, shown inline in the text, and texts for resolving a conflict
//! manually.

mod marks;

use std::collections::HashMap;

use composer_panel::actions::{AcceptHere, RejectHere};
use composer_panel::board::{Board, HunkVerdict, has_conflict_markers};
use editor::Editor;
use gpui_kit::{Context, Entity, EntityId, Window};
use text::{Author, Edit};

use super::{OpenOptions, Workbench};
use crate::documents::Documents;
use crate::item::TabItem;
use crate::notices::Notice;
use marks::{ShownChange, draft_mark, shown_in};

/// Review state of the texts in a window.
#[derive(Default)]
pub(super) struct InlineReview {
    /// Changes shown in a view, in the order of its text.
    shown: HashMap<EntityId, Vec<ShownChange>>,
    /// Documents that contain a conflict resolution.
    drafts: HashMap<EntityId, ConflictDraft>,
}

/// A conflict that the user resolves by editing.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ConflictDraft {
    agent: String,
    path: String,
    /// Initial text, including conflict markers.
    draft: String,
}

impl Workbench {
    /// Updates the inline changes of the board in every view.
    pub(super) fn refresh_review(&mut self, cx: &mut Context<Self>) {
        let board = self.agents.panel.read(cx).board().cloned();
        let hunks = board.as_ref().map(|board| board.hunks.clone());
        self.prediction.update(cx, |prediction, _| {
            prediction.set_unmerged(hunks.unwrap_or_default());
        });
        let editors = self.items.values();
        let editors: Vec<Entity<Editor>> = editors
            .filter_map(|entry| entry.item.editor().cloned())
            .collect();
        let is_open = |id: &EntityId| editors.iter().any(|editor| editor.entity_id() == *id);
        self.review.shown.retain(|id, _| is_open(id));
        for editor in editors {
            self.refresh_review_of(&editor, board.as_deref(), cx);
        }
    }

    /// Updates the inline changes of one view.
    pub(super) fn refresh_review_in(&mut self, editor: &Entity<Editor>, cx: &mut Context<Self>) {
        let board = self.agents.panel.read(cx).board().cloned();
        self.refresh_review_of(editor, board.as_deref(), cx);
    }

    fn refresh_review_of(
        &mut self,
        editor: &Entity<Editor>,
        board: Option<&Board>,
        cx: &mut Context<Self>,
    ) {
        let model = editor.read(cx).model().clone();
        if self.review.drafts.contains_key(&model.entity_id()) {
            return;
        }
        let path = model.read(cx).path().cloned();
        let shown = match (board, path) {
            (Some(board), Some(path)) => {
                let snapshot = model.read(cx).document().snapshot();
                shown_in(&path, &snapshot, board)
            }
            _ => Vec::new(),
        };
        let id = editor.entity_id();
        let before = self.review.shown.get(&id);
        if before.map_or(shown.is_empty(), |before| *before == shown) {
            return;
        }
        let panel = self.agents.panel.downgrade();
        let marks = shown.iter().map(|it| it.mark(&panel, cx)).collect();
        editor.update(cx, |editor, cx| editor.set_review(marks, cx));
        self.review.shown.insert(id, shown);
    }

    /// Accepts the change at the caret, or resolves a conflict with the active text.
    pub(super) fn accept_here(
        &mut self,
        _: &AcceptHere,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if !self.settle_with_text(window, cx) {
            self.judge_here(HunkVerdict::Accepted, cx);
        }
    }

    pub(super) fn reject_here(&mut self, _: &RejectHere, _: &mut Window, cx: &mut Context<Self>) {
        self.judge_here(HunkVerdict::Rejected, cx);
    }

    /// Records the verdict for the change at the caret and goes to the next one.
    fn judge_here(&mut self, verdict: HunkVerdict, cx: &mut Context<Self>) {
        let Some(editor) = self.active_item().and_then(TabItem::editor).cloned() else {
            return;
        };
        let Some(shown) = self.review.shown.get(&editor.entity_id()) else {
            return;
        };
        let at = editor.update(cx, |editor, cx| editor.reviewed_at_caret(cx));
        let Some((at, hunk)) = at.and_then(|at| Some((at, shown.get(at)?.hunk_id().to_owned())))
        else {
            return;
        };
        self.agents
            .panel
            .update(cx, |panel, cx| panel.decide_hunk(&hunk, verdict, cx));
        editor.update(cx, |editor, cx| editor.go_to_reviewed(at + 1, cx));
    }

    /// Opens a text for resolving a conflict manually.
    pub(super) fn write_dispute(
        &mut self,
        agent: &str,
        path: &str,
        draft: &str,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let wanted = ConflictDraft {
            agent: agent.to_owned(),
            path: path.to_owned(),
            draft: draft.to_owned(),
        };
        let open = self.items.iter().find(|(_, entry)| {
            let document = entry.item.document(cx);
            document.is_some_and(|it| self.review.drafts.get(&it.entity_id()) == Some(&wanted))
        });
        if let Some((item, _)) = open {
            let item = *item;
            return self.activate(item, window, cx);
        }
        let document = Documents::untitled(cx);
        self.review.drafts.insert(document.entity_id(), wanted);
        document.update(cx, |document, cx| {
            let insert = Edit::new(base::Span::at(base::ByteOffset(0)), draft);
            document.edit(&[insert], Author::User, cx);
            let language = syntax::language_for(std::path::Path::new(path), draft);
            document.set_language(language, cx);
        });
        let pane = self.layout.active_pane();
        self.leave_place(cx);
        self.open_document_in(document, pane, OpenOptions::lasting(), window, cx);
        if let Some(editor) = self.active_item().and_then(TabItem::editor).cloned() {
            let first = draft.lines().position(|line| line.starts_with("<<<<<<< "));
            let first = first.and_then(|row| u32::try_from(row).ok());
            let mark = draft_mark(path, base::Row(first.unwrap_or_default()), cx);
            editor.update(cx, |editor, cx| {
                editor.set_review(vec![mark], cx);
                editor.go_to_reviewed(0, cx);
            });
        }
    }

    /// Resolves the conflict of the active text; returns `false` if it belongs to none.
    fn settle_with_text(&mut self, window: &mut Window, cx: &mut Context<Self>) -> bool {
        let document = self.active_item().and_then(|item| item.document(cx));
        let Some(document) = document else {
            return false;
        };
        let Some(draft) = self.review.drafts.get(&document.entity_id()).cloned() else {
            return false;
        };
        let snapshot = document.read(cx).document().snapshot();
        let text = snapshot.text(base::Span::new(base::ByteOffset(0), snapshot.len()));
        if has_conflict_markers(&draft.draft, &text) {
            let sentence =
                "The text still contains conflict markers: remove them, then resolve the conflict.";
            self.report(
                Notice::new(ui::Tone::Warning, sentence).key("draft"),
                window,
                cx,
            );
            return true;
        }
        let text = text.into_owned();
        self.agents.panel.update(cx, |panel, cx| {
            panel.resolve_with(&draft.agent, &draft.path, text, cx);
        });
        self.review.drafts.remove(&document.entity_id());
        let items = self.items_of(document.entity_id(), cx);
        Documents::discard(&document, cx);
        self.close_now(&items, window, cx);
        true
    }
}
