//! Words that one key writes at the carets: the first that may stand there, and each time again the next in its place.
//!
//! Invariant: only what was written last is replaced; whatever else happens to the text or the carets ends it.
//! Start at `Editor::expand_word`; the words come through `Editor::write_words`.

use std::sync::Arc;

use autocomplete::Suggestion;
use base::{ByteOffset, Revision, Span};
use gpui_kit::{Context, SharedString, Window};
use text::{Edit, EditKind, SelectionSet};

use super::suggesting::{Cycle, SuggestionEvent};
use super::{Editor, EditorEvent};
use crate::scroll::Follow;
use crate::suggestion::{Fellow, fellows, taken};

/// Words that are gone through.
pub(crate) struct Expanding {
    words: Vec<Arc<str>>,
    /// Which of them stands; none when what was typed stands as it was.
    at: Option<usize>,
    /// The carets that get them beside the newest.
    fellows: Vec<Fellow>,
    /// The text and the carets as they were left.
    left: (Revision, SelectionSet),
}

impl Expanding {
    /// The word behind or before the one that stands; behind the last and before the first comes what was typed.
    fn turn(&self, cycle: Cycle) -> Option<usize> {
        let count = self.words.len();
        match (cycle, self.at) {
            (Cycle::Next, None) => (count > 0).then_some(0),
            (Cycle::Next, Some(at)) => (at + 1 < count).then_some(at + 1),
            (Cycle::Previous, None) => count.checked_sub(1),
            (Cycle::Previous, Some(at)) => at.checked_sub(1),
        }
    }

    /// The word at a place of the list; nothing for what was typed.
    fn word(&self, at: Option<usize>) -> Arc<str> {
        at.map_or_else(|| Arc::from(""), |at| self.words[at].clone())
    }
}

impl Editor {
    pub(crate) fn expand_word(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.turn_word(Cycle::Next, window, cx);
    }

    pub(crate) fn expand_word_back(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.turn_word(Cycle::Previous, window, cx);
    }

    /// Which of several words was written last, if nothing happened since.
    pub(crate) fn written_word(&self) -> Option<SharedString> {
        let known = self.expanding.as_ref()?;
        let (revision, selections) = &known.left;
        let stands = *revision == self.snapshot.revision() && *selections == self.selections;
        let count = known.words.len();
        let at = known.at.filter(|_| stands && count > 1)?;
        Some(format!("{} of {count}", at + 1).into())
    }

    /// Writes the first or last of the words that may stand at the newest caret. Those of `words` that do not stand in
    /// the text of now are left out. `false` when there is none, or the text cannot be edited.
    pub fn write_words(
        &mut self,
        words: &[Suggestion],
        cycle: Cycle,
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
        let Some(first) = words.first().filter(|_| self.unsuited(cx).is_none()) else {
            return false;
        };
        let expanding = Expanding {
            fellows: fellows(first, &self.snapshot, &self.selections),
            words: words.iter().map(|it| it.edits[0].new.clone()).collect(),
            at: None,
            left: (self.snapshot.revision(), self.selections.clone()),
        };
        self.write_word(expanding, cycle, window, cx)
    }

    fn turn_word(&mut self, cycle: Cycle, window: &mut Window, cx: &mut Context<Self>) {
        self.sync(cx);
        let now = (self.snapshot.revision(), self.selections.clone());
        match self.expanding.take().filter(|known| known.left == now) {
            Some(known) => {
                self.write_word(known, cycle, window, cx);
            }
            None if self.unsuited(cx).is_some() => cx.propagate(),
            None => cx.emit(EditorEvent::Suggestion(SuggestionEvent::WordsWanted(cycle))),
        }
    }

    /// Puts another word in the place of the one that stands.
    fn write_word(
        &mut self,
        mut expanding: Expanding,
        cycle: Cycle,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> bool {
        let next = expanding.turn(cycle);
        let old = expanding.word(expanding.at);
        let head = self.selections.primary().head;
        let span = Span::new(ByteOffset(head.0 - old.len()), head);
        let edit = Edit::new(span, expanding.word(next).as_ref());
        let (edits, selections) = taken(vec![edit], &expanding.fellows, &self.selections);
        // As if it were typed: with what was typed of the word it is one step.
        if !self.edit(&edits, selections, EditKind::Typing, cx) {
            return false;
        }
        let carets = &self.selections;
        expanding
            .fellows
            .iter_mut()
            .for_each(|it| it.go_along(carets));
        expanding.at = next;
        expanding.left = (self.snapshot.revision(), self.selections.clone());
        self.expanding = Some(expanding);
        self.unfold_at_carets(cx);
        self.follow = Some(Follow::Fit);
        self.tell_input_method(window);
        cx.notify();
        true
    }
}
