//! Caret commands, undo and redo: applies a command to the text and reveals the carets.
//!
//! Start at `Editor::run`.

use caret::{CaretPlan, Command};
use gpui_kit::{Context, Window};
use project::DocumentState;
use text::{EditKind, SelectionSet, UndoOutcome};

use super::{Editor, EditorEvent};
use crate::model::EditSelections;
use crate::scroll::ScrollMargin;

impl Editor {
    /// Runs a command at every caret.
    pub fn run(&mut self, command: &Command, window: &mut Window, cx: &mut Context<Self>) {
        self.sync(cx);
        self.caret_options.page_rows = self.page_rows();
        let plan = self.plan(|ctx| caret::plan(command, ctx), cx);
        self.apply(plan, window, cx);
    }

    /// Calls a function of `caret` with the current context.
    pub(crate) fn plan<R>(
        &self,
        ask: impl FnOnce(&caret::CommandContext) -> R,
        cx: &Context<Self>,
    ) -> R {
        let model = self.model.read(cx);
        let language = model.language();
        ask(&caret::CommandContext {
            snapshot: &self.snapshot,
            selections: &self.selections,
            display: &self.display,
            syntax: model.syntax(),
            language: language.as_ref(),
            options: &self.caret_options,
            line_ending: model.document().buffer().line_ending(),
            memory: &self.memory,
        })
    }

    /// Applies a plan to the text, the selections and the folds.
    pub(crate) fn apply(&mut self, plan: CaretPlan, window: &mut Window, cx: &mut Context<Self>) {
        let CaretPlan {
            edits,
            selections,
            kind,
            memory,
            unfold,
            fold,
        } = plan;
        if !unfold.is_empty() {
            self.change_map(cx, |map| {
                unfold.into_iter().for_each(|span| map.unfold(span))
            });
        }
        if edits.is_empty() {
            self.set_selections(selections, cx);
        } else if !self.edit(&edits, selections, kind, cx) {
            return;
        }
        self.memory = memory;
        if !fold.is_empty() {
            self.change_map(cx, |map| map.fold(&fold));
        }
        self.unfold_at_carets(cx);
        self.follow = Some(ScrollMargin::Fit);
        self.tell_input_method(window);
        cx.notify();
    }

    /// Edits the text and sets the selections. Returns `false` if the edit is refused.
    pub(crate) fn edit(
        &mut self,
        edits: &[text::Edit],
        selections: SelectionSet,
        kind: EditKind,
        cx: &mut Context<Self>,
    ) -> bool {
        if !self.model.read(cx).document().can_edit() {
            self.refuse_edit(cx);
            return false;
        }
        let before = self.selections.clone();
        let folded = self.folded_in(edits, cx);
        self.model.update(cx, |model, cx| {
            let around = EditSelections {
                before: &before,
                after: &selections,
            };
            model.edit_with_selections(edits, kind, &around, cx);
        });
        self.sync(cx);
        self.lost_folds.note(folded);
        self.selections = selections;
        self.after_selections(cx);
        cx.emit(EditorEvent::Edited);
        true
    }

    fn refuse_edit(&mut self, cx: &mut Context<Self>) {
        let reason = match self.model.read(cx).document().state() {
            DocumentState::ReadOnly(reason) => format!("this text cannot be edited: {reason}"),
            _ => "this text cannot be edited".to_owned(),
        };
        cx.emit(EditorEvent::Refused(reason));
    }

    pub(crate) fn undo(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let restored = self.model.update(cx, |model, cx| model.undo(cx));
        self.after_restore(restored, window, cx);
    }

    pub(crate) fn redo(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let restored = self.model.update(cx, |model, cx| model.redo(cx));
        self.after_restore(restored, window, cx);
    }

    fn after_restore(
        &mut self,
        restored: Option<UndoOutcome>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.sync(cx);
        let Some(restored) = restored else {
            return;
        };
        if let Some(selections) = restored.selections {
            self.selections = selections;
        } else if let Some(splice) = restored.change.splices.last() {
            self.selections = SelectionSet::single(text::Selection::caret(splice.new.end));
        }
        self.after_selections(cx);
        self.fold_again(cx);
        self.unfold_at_carets(cx);
        self.follow = Some(ScrollMargin::Fit);
        self.tell_input_method(window);
        cx.emit(EditorEvent::Edited);
    }

    pub(crate) fn undo_caret(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.walk_trail(window, cx, |trail, revision, current, since| {
            trail.undo(revision, current, since)
        });
    }

    pub(crate) fn redo_caret(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.walk_trail(window, cx, |trail, revision, current, since| {
            trail.redo(revision, current, since)
        });
    }

    fn walk_trail(
        &mut self,
        window: &mut Window,
        cx: &mut Context<Self>,
        walk: impl FnOnce(
            &mut caret::history::CaretHistory,
            base::Revision,
            &SelectionSet,
            &dyn Fn(base::Revision) -> Option<text::Change>,
        ) -> Option<SelectionSet>,
    ) {
        self.sync(cx);
        let model = self.model.read(cx);
        let since = |revision| model.document().buffer().changes_since(revision);
        if let Some(selections) = walk(
            &mut self.trail,
            self.snapshot.revision(),
            &self.selections,
            &since,
        ) {
            self.selections = selections;
            self.memory = Default::default();
            self.after_selections(cx);
            self.unfold_at_carets(cx);
            self.follow = Some(ScrollMargin::Fit);
            self.tell_input_method(window);
        }
    }

    /// Cancels one level: composition, find bar, additional carets, selection.
    pub(crate) fn cancel(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        if self.drag.is_some() {
            self.end_drag(cx);
        } else if self.find_bar.is_some() {
            self.close_find(window, cx);
        } else if self.selections.len() > 1 || !self.selections.primary().is_empty() {
            self.run(&Command::CollapseCarets, window, cx);
        } else {
            // Nothing to cancel here; a parent view may handle the action.
            cx.propagate();
        }
    }

    /// Informs the input method that the text around the caret changed.
    pub(crate) fn tell_input_method(&self, window: &Window) {
        window.notify_text_input_changed(&self.focus);
        window.notify_text_selection_changed(&self.focus);
    }
}
