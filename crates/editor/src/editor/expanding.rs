//! Expand Word: inserts the first candidate word at the carets, and cycles to the next on each
//! further press.
//!
//! Invariant: only the last inserted word is replaced; any other change of the text or the carets
//! ends the cycle.
//! Start at `Editor::expand_word`; the words arrive through `Editor::write_words`.

use std::sync::Arc;

use autocomplete::Suggestion;
use base::{ByteOffset, Revision, Span};
use gpui_kit::{Context, SharedString, Window};
use text::{Edit, EditKind, SelectionSet};

use super::suggesting::{CycleDirection, SuggestionEvent};
use super::{Editor, EditorEvent};
use crate::scroll::ScrollMargin;
use crate::suggestion::{ExtraCaret, accepted_edits, extra_carets};

/// The candidate words being cycled through.
pub(crate) struct WordExpansion {
    words: Vec<Arc<str>>,
    /// Index of the inserted word; `None` if the typed prefix is unchanged.
    at: Option<usize>,
    /// Additional carets that receive the same word.
    fellows: Vec<ExtraCaret>,
    /// Revision and selections after the last insertion.
    left: (Revision, SelectionSet),
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
    pub(crate) fn expand_word(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.cycle_word(CycleDirection::Next, window, cx);
    }

    pub(crate) fn expand_word_back(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.cycle_word(CycleDirection::Previous, window, cx);
    }

    /// Returns the position of the inserted word, such as `2 of 5`, if nothing changed since.
    pub(crate) fn written_word(&self) -> Option<SharedString> {
        let known = self.expanding.as_ref()?;
        let (revision, selections) = &known.left;
        let stands = *revision == self.snapshot.revision() && *selections == self.selections;
        let count = known.words.len();
        let at = known.at.filter(|_| stands && count > 1)?;
        Some(format!("{} of {count}", at + 1).into())
    }

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
            fellows: extra_carets(first, &self.snapshot, &self.selections),
            words: words.iter().map(|it| it.edits[0].new.clone()).collect(),
            at: None,
            left: (self.snapshot.revision(), self.selections.clone()),
        };
        self.write_word(expanding, cycle, window, cx)
    }

    fn cycle_word(&mut self, cycle: CycleDirection, window: &mut Window, cx: &mut Context<Self>) {
        self.sync(cx);
        let now = (self.snapshot.revision(), self.selections.clone());
        match self.expanding.take().filter(|known| known.left == now) {
            Some(known) => {
                self.write_word(known, cycle, window, cx);
            }
            None if self.suggestion_blocker(cx).is_some() => cx.propagate(),
            None => cx.emit(EditorEvent::Suggestion(SuggestionEvent::WordsWanted(cycle))),
        }
    }

    /// Replaces the inserted word by another.
    fn write_word(
        &mut self,
        mut expanding: WordExpansion,
        cycle: CycleDirection,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> bool {
        let next = expanding.next_index(cycle);
        let old = expanding.word_at(expanding.at);
        let head = self.selections.primary().head;
        let span = Span::new(ByteOffset(head.0 - old.len()), head);
        let edit = Edit::new(span, expanding.word_at(next).as_ref());
        let (edits, selections) = accepted_edits(vec![edit], &expanding.fellows, &self.selections);
        // Recorded as typing, so that it forms one undo step with the typed prefix.
        if !self.edit(&edits, selections, EditKind::Typing, cx) {
            return false;
        }
        let carets = &self.selections;
        expanding
            .fellows
            .iter_mut()
            .for_each(|it| it.follow_carets(carets));
        expanding.at = next;
        expanding.left = (self.snapshot.revision(), self.selections.clone());
        self.expanding = Some(expanding);
        self.unfold_at_carets(cx);
        self.follow = Some(ScrollMargin::Fit);
        self.tell_input_method(window);
        cx.notify();
        true
    }
}
