//! Expand Word: inserts the first candidate word at the carets, and cycles to the next on each
//! further press.
//!
//! Invariant: only the last inserted word is replaced; any other change of the text or the carets
//! ends the cycle.
//! Start at `expand_word`; the words arrive through `Editor::write_words`.

use std::sync::Arc;

use autocomplete::Suggestion;
use base::{ByteOffset, Revision, Span};
use gpui_kit::{Context, SharedString, Window};
use text::{Edit, EditKind, SelectionSet};

use super::suggesting::{CycleDirection, SuggestionEvent};
use super::{Editor, EditorEvent};
use crate::scroll::ScrollMargin;
use crate::suggestion::{ExtraCaret, accepted_edits, extra_carets};

/// The candidate words that the command to complete a word cycles through, and the one that is in
/// the text.
pub(crate) struct WordExpansion {
    words: Vec<Arc<str>>,
    /// Index of the inserted word; `None` if the typed prefix is unchanged.
    at: Option<usize>,
    /// Additional carets that receive the same word.
    extra_carets: Vec<ExtraCaret>,
    /// Revision and selections after the last insertion.
    written_at: (Revision, SelectionSet),
}

impl WordExpansion {
    /// Returns the index of the next or previous word; the typed prefix comes between last and
    /// first.
    fn next_index(&self, cycle: CycleDirection) -> Option<usize> {
        let count = self.words.len();
        match (cycle, self.at) {
            (CycleDirection::Next, None) => (count > 0).then_some(0),
            (CycleDirection::Next, Some(at)) => (at + 1 < count).then_some(at + 1),
            (CycleDirection::Previous, None) => count.checked_sub(1),
            (CycleDirection::Previous, Some(at)) => at.checked_sub(1),
        }
    }

    /// Returns the word at an index; empty for the typed prefix.
    fn word_at(&self, at: Option<usize>) -> Arc<str> {
        at.map_or_else(|| Arc::from(""), |at| self.words[at].clone())
    }
}

impl Editor {
    /// Inserts the first or last of the candidates for the newest caret. `words` that do not apply
    /// to the current text are skipped. Returns `false` if none is left or the text is read-only.
    pub fn write_words(
        &mut self,
        words: &[Suggestion],
        cycle: CycleDirection,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> bool {
        self.sync(cx);
        let caret = self.selections.primary().head;
        let fits = |it: &&Suggestion| {
            let is_now = it.revision == self.snapshot.revision();
            is_now && it.edits.len() == 1 && it.edits[0].span == Span::at(caret)
        };
        let words: Vec<&Suggestion> = words.iter().filter(fits).collect();
        let Some(first) = words
            .first()
            .filter(|_| self.suggestion_blocker(cx).is_none())
        else {
            return false;
        };
        let expanding = WordExpansion {
            extra_carets: extra_carets(first, &self.snapshot, &self.selections),
            words: words.iter().map(|it| it.edits[0].new.clone()).collect(),
            at: None,
            written_at: (self.snapshot.revision(), self.selections.clone()),
        };
        write_word(self, expanding, cycle, window, cx)
    }
}

/// Handler of an action: completes the word at the caret, or replaces the completion by the next
/// candidate.
pub(crate) fn expand_word(editor: &mut Editor, window: &mut Window, cx: &mut Context<Editor>) {
    cycle_word(editor, CycleDirection::Next, window, cx);
}

/// Handler of an action: completes the word at the caret with the last candidate, or replaces the
/// completion by the previous one.
pub(crate) fn expand_word_back(editor: &mut Editor, window: &mut Window, cx: &mut Context<Editor>) {
    cycle_word(editor, CycleDirection::Previous, window, cx);
}

/// Returns the position of the inserted word among the candidates, such as `2 of 5`. Returns `None`
/// if there is only one candidate, or if the text or the selections have changed since the
/// insertion.
pub(crate) fn written_word(editor: &Editor) -> Option<SharedString> {
    let known = editor.word_expansion.as_ref()?;
    let (revision, selections) = &known.written_at;
    let is_unchanged = *revision == editor.snapshot.revision() && *selections == editor.selections;
    let count = known.words.len();
    let at = known.at.filter(|_| is_unchanged && count > 1)?;
    Some(format!("{} of {count}", at + 1).into())
}

fn cycle_word(
    editor: &mut Editor,
    cycle: CycleDirection,
    window: &mut Window,
    cx: &mut Context<Editor>,
) {
    editor.sync(cx);
    let now = (editor.snapshot.revision(), editor.selections.clone());
    match editor
        .word_expansion
        .take()
        .filter(|known| known.written_at == now)
    {
        Some(known) => {
            write_word(editor, known, cycle, window, cx);
        }
        None if editor.suggestion_blocker(cx).is_some() => cx.propagate(),
        None => cx.emit(EditorEvent::Suggestion(SuggestionEvent::WordsWanted(cycle))),
    }
}

/// Replaces the inserted word by another.
fn write_word(
    editor: &mut Editor,
    mut expanding: WordExpansion,
    cycle: CycleDirection,
    window: &mut Window,
    cx: &mut Context<Editor>,
) -> bool {
    let next = expanding.next_index(cycle);
    let old = expanding.word_at(expanding.at);
    let head = editor.selections.primary().head;
    let span = Span::new(ByteOffset(head.0 - old.len()), head);
    let edit = Edit::new(span, expanding.word_at(next).as_ref());
    let (edits, selections) =
        accepted_edits(vec![edit], &expanding.extra_carets, &editor.selections);
    // Recorded as typing, so that it forms one undo step with the typed prefix.
    if !editor.edit(&edits, selections, EditKind::Typing, cx) {
        return false;
    }
    let carets = &editor.selections;
    expanding
        .extra_carets
        .iter_mut()
        .for_each(|it| it.follow_carets(carets));
    expanding.at = next;
    expanding.written_at = (editor.snapshot.revision(), editor.selections.clone());
    editor.word_expansion = Some(expanding);
    editor.unfold_at_carets(cx);
    editor.follow = Some(ScrollMargin::Fit);
    editor.tell_input_method(window);
    cx.notify();
    true
}
