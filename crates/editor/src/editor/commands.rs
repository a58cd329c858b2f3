//! Caret commands, undo and redo: applies a command to the text and reveals the carets.
//!
//! Start at `Editor::run`.

use caret::{CaretPlan, Command};
use gpui_kit::{Context, Window};
use project::DocumentState;
use text::{EditKind, SelectionSet, UndoOutcome};

use super::completing::accepting;
use super::{
    Editor, EditorEvent, completing, folding, format_on_type, linked_editing, selection_ranges,
    signature, vim_mode,
};
use crate::model::EditSelections;
use crate::scroll::ScrollMargin;

impl Editor {
    /// Runs a command at every caret: changes text, selections or folds, and reveals the caret. A
    /// read-only text refuses edits with `EditorEvent::Refused`.
    pub fn run(&mut self, command: &Command, window: &mut Window, cx: &mut Context<Self>) {
        self.sync(cx);
        let typed = match command {
            Command::Insert(text) => Some(text.as_str()),
            _ => None,
        };
        accepting::before_command(self, typed, window, cx);
        selection_ranges::expand_without_answer(self, window, cx);
        if selection_ranges::expand(self, command, cx) {
            return;
        }
        self.caret_options.page_rows = self.page_rows();
        let plan = self.plan(|ctx| caret::plan(command, ctx), cx);
        self.apply(plan, window, cx);
        if let Some(text) = typed {
            completing::opening::typed(self, text, cx);
            signature::typed(self, text, cx);
        }
        let typed = typed.or((*command == Command::Newline).then_some("\n"));
        if let Some(text) = typed {
            format_on_type::typed(self, text, cx);
        }
    }

    /// Calls a function of `caret` with the current context (text, selections, display, syntax) and
    /// returns its result. Does not change the editor.
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
        } else if !linked_editing::edit(self, &edits, selections, kind, cx) {
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

    /// Edits the text, sets the selections and restores folds. Returns `false` and emits `Refused`
    /// if the document is read-only.
    pub(crate) fn edit(
        &mut self,
        edits: &[text::Edit],
        selections: SelectionSet,
        kind: EditKind,
        cx: &mut Context<Self>,
    ) -> bool {
        if !self.model.read(cx).document().can_edit() {
            refuse_edit(self, cx);
            return false;
        }
        let before = self.selections.clone();
        let folded = folding::folded_in(self, edits, cx);
        self.model.update(cx, |model, cx| {
            let around = EditSelections {
                before: &before,
                after: &selections,
            };
            model.edit_with_selections(edits, kind, &around, cx);
        });
        self.sync(cx);
        self.folding.lost.note(folded);
        self.selections = selections;
        self.after_selections(cx);
        cx.emit(EditorEvent::Edited);
        true
    }

    /// Informs the input method that the text around the caret changed.
    pub(crate) fn tell_input_method(&self, window: &Window) {
        window.notify_text_input_changed(&self.focus);
        window.notify_text_selection_changed(&self.focus);
    }
}

fn refuse_edit(editor: &mut Editor, cx: &mut Context<Editor>) {
    let reason = match editor.model.read(cx).document().state() {
        DocumentState::ReadOnly(reason) => format!("this text cannot be edited: {reason}"),
        _ => "this text cannot be edited".to_owned(),
    };
    cx.emit(EditorEvent::Refused(reason));
}

/// Handler of an action: undoes the last step of the text and restores its selections.
pub(crate) fn undo(editor: &mut Editor, window: &mut Window, cx: &mut Context<Editor>) {
    if vim_mode::travels(editor, vim::Key::Char('u'), cx) {
        return;
    }
    let restored = editor.model.update(cx, |model, cx| model.undo(cx));
    after_restore(editor, restored, window, cx);
}

/// Handler of an action: repeats the step that was undone last.
pub(crate) fn redo(editor: &mut Editor, window: &mut Window, cx: &mut Context<Editor>) {
    if vim_mode::travels(editor, vim::Key::Ctrl('r'), cx) {
        return;
    }
    let restored = editor.model.update(cx, |model, cx| model.redo(cx));
    after_restore(editor, restored, window, cx);
}

fn after_restore(
    editor: &mut Editor,
    restored: Option<UndoOutcome>,
    window: &mut Window,
    cx: &mut Context<Editor>,
) {
    editor.sync(cx);
    let Some(restored) = restored else {
        return;
    };
    if let Some(selections) = restored.selections {
        editor.selections = selections;
    } else if let Some(splice) = restored.change.splices.last() {
        editor.selections = SelectionSet::single(text::Selection::caret(splice.new.end));
    }
    editor.after_selections(cx);
    folding::fold_again(editor, cx);
    editor.unfold_at_carets(cx);
    editor.follow = Some(ScrollMargin::Fit);
    editor.tell_input_method(window);
    cx.emit(EditorEvent::Edited);
}

/// Handler of an action: returns to the selections before the last caret motion, without changing
/// the text.
pub(crate) fn undo_caret(editor: &mut Editor, window: &mut Window, cx: &mut Context<Editor>) {
    walk_caret_history(
        editor,
        window,
        cx,
        |caret_history, revision, current, since| caret_history.undo(revision, current, since),
    );
}

/// Handler of an action: restores the selections that the last `undo_caret` replaced.
pub(crate) fn redo_caret(editor: &mut Editor, window: &mut Window, cx: &mut Context<Editor>) {
    walk_caret_history(
        editor,
        window,
        cx,
        |caret_history, revision, current, since| caret_history.redo(revision, current, since),
    );
}

/// Sets the selections that `walk` returns and reveals them. If it returns `None`, nothing changes.
/// `walk` receives the caret history, the current revision and selections, and a function that
/// returns the change of the text since a revision.
fn walk_caret_history(
    editor: &mut Editor,
    window: &mut Window,
    cx: &mut Context<Editor>,
    walk: impl FnOnce(
        &mut caret::history::CaretHistory,
        base::Revision,
        &SelectionSet,
        &dyn Fn(base::Revision) -> Option<text::Change>,
    ) -> Option<SelectionSet>,
) {
    editor.sync(cx);
    let model = editor.model.read(cx);
    let since = |revision| model.document().buffer().changes_since(revision);
    if let Some(selections) = walk(
        &mut editor.caret_history,
        editor.snapshot.revision(),
        &editor.selections,
        &since,
    ) {
        editor.selections = selections;
        editor.memory = Default::default();
        editor.after_selections(cx);
        editor.unfold_at_carets(cx);
        editor.follow = Some(ScrollMargin::Fit);
        editor.tell_input_method(window);
    }
}
