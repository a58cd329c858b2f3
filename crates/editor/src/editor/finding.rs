//! Find and replace: searches run in the background, so that typing never waits, however long the
//! text is.
//!
//! Start at `find_again`, which runs after every change of the query or the text.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::Span;
use caret::find::{
    CaseMatching, LetterCase, MatchLimit, PatternKind, ReplacementTemplate, SearchWrap, WordBounds,
};
use gpui_kit::{AppContext as _, Context, Pixels, Window};
use text::{EditKind, Selection, SelectionSet};

use super::{Editor, EditorEvent, Reveal};
use crate::find::{FindState, MAX_MATCHES, overview_of};
use crate::find_bar::FindBar;
use crate::scroll::ScrollMargin;

/// Cancels a search when the task awaiting it is dropped.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Editor {
    pub(crate) fn open_find(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.open_bar(false, window, cx);
    }

    pub(crate) fn open_replace(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.open_bar(true, window, cx);
    }

    fn open_bar(&mut self, replaces: bool, window: &mut Window, cx: &mut Context<Self>) {
        self.sync(cx);
        let was_focused = self.focus.is_focused(window);
        let bar = match &self.find_bar {
            Some(bar) => bar.clone(),
            None => {
                let editor = cx.entity().downgrade();
                let bar = cx.new(|cx| FindBar::new(editor, window, cx));
                self.find_bar = Some(bar.clone());
                bar
            }
        };
        self.find.set_open(true);
        if was_focused {
            self.seed_query();
        }
        let (text, replacement) = (self.find.text.clone(), self.find.replacement.clone());
        bar.update(cx, |bar, cx| {
            bar.show(&text, &replacement, replaces, window, cx)
        });
        self.query_changed(cx);
    }

    /// Sets the query to the selection, or searches within it if it spans several rows.
    fn seed_query(&mut self) {
        const LONGEST: usize = 500;
        let span = self.selections.primary().span();
        if span.is_empty() || span.len() > LONGEST {
            return;
        }
        let text = self.snapshot.text(span).into_owned();
        if text.contains('\n') {
            return;
        }
        self.find.text = match self.find.pattern {
            PatternKind::Literal => text,
            PatternKind::Regex => escape(&text),
        };
    }

    /// Passes the width of the text to the bar. The bar is above the text and already drawn, so it
    /// changes in the next frame.
    pub(crate) fn fit_find_bar(&self, width: Pixels, window: &Window, cx: &mut Context<Self>) {
        let Some(bar) = &self.find_bar else { return };
        if !bar.read(cx).fits(width, window) {
            let bar = bar.clone();
            cx.defer(move |cx| bar.update(cx, |bar, cx| bar.rearrange(cx)));
        }
    }

    pub(crate) fn close_find(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.find.set_open(false);
        self.find_bar = None;
        self.find_task = None;
        window.focus(&self.focus.clone(), cx);
        cx.notify();
    }

    /// Sets the query. The bar calls it on every keystroke.
    pub(crate) fn set_query(&mut self, text: &str, cx: &mut Context<Self>) {
        if self.find.text != text {
            self.find.text = text.to_owned();
            self.query_changed(cx);
        }
    }

    fn query_changed(&mut self, cx: &mut Context<Self>) {
        self.find.compile();
        self.find_again(cx);
        cx.notify();
    }

    /// Searches the current text. The previous matches stay visible until it finishes.
    pub(crate) fn find_again(&mut self, cx: &mut Context<Self>) {
        let Some(matcher) = self.find.matcher().cloned().filter(|_| self.find.is_open()) else {
            self.find_task = None;
            return;
        };
        let snapshot = self.snapshot.clone();
        let revision = snapshot.revision();
        let within = self.find.spans(snapshot.full_span());
        let cancel = Arc::new(AtomicBool::new(false));
        let guard = StopOnDrop(cancel.clone());
        let found = cx.background_spawn(async move {
            let found = matcher.find_all(&snapshot, &within, MatchLimit(MAX_MATCHES), &cancel);
            let overview = overview_of(&found.spans, snapshot.len());
            (found, overview)
        });
        self.find_task = Some(cx.spawn(async move |this, cx| {
            let (found, overview) = found.await;
            drop(guard);
            this.update(cx, |editor, cx| {
                if editor.snapshot.revision() == revision {
                    editor.find.take(found, overview);
                    cx.notify();
                }
            })
            .ok();
        }));
    }

    pub(crate) fn find_next(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.find_step(true, window, cx);
    }

    pub(crate) fn find_previous(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.find_step(false, window, cx);
    }

    fn find_step(&mut self, forward: bool, window: &mut Window, cx: &mut Context<Self>) {
        self.sync(cx);
        if self.find.text.is_empty() {
            self.find_selection(window, cx);
            return;
        }
        if self.find.matcher().is_none() {
            self.find.compile();
        }
        let selected = self.selections.primary().span();
        if let Some(matches) = self.find.complete() {
            let next = FindState::step(matches, selected, forward);
            self.go_to_match(next, cx);
            return;
        }
        let Some(matcher) = self.find.matcher().cloned() else {
            return;
        };
        // The matches are incomplete: search for this one in the background.
        let snapshot = self.snapshot.clone();
        let revision = snapshot.revision();
        let within = self.find.spans(snapshot.full_span());
        let hit = cx.background_spawn(async move {
            if forward {
                matcher.next(&snapshot, &within, selected, SearchWrap::Around)
            } else {
                matcher.previous(&snapshot, &within, selected, SearchWrap::Around)
            }
        });
        self.step_task = Some(cx.spawn(async move |this, cx| {
            let hit = hit.await;
            this.update(cx, |editor, cx| {
                if editor.snapshot.revision() == revision {
                    editor.go_to_match(hit.map(|hit| hit.span), cx);
                }
            })
            .ok();
        }));
    }

    fn go_to_match(&mut self, found: Option<Span>, cx: &mut Context<Self>) {
        match found {
            Some(span) => self.select(vec![span], Reveal::Nearest, cx),
            None => {
                let reason = format!("“{}” was not found", self.find.text);
                cx.emit(EditorEvent::Refused(reason));
            }
        }
    }

    pub(crate) fn find_selection(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.sync(cx);
        if self.selections.primary().is_empty() {
            self.run(&caret::Command::SelectWord, window, cx);
        }
        self.find.text.clear();
        self.seed_query();
        if self.find.text.is_empty() {
            return;
        }
        self.find.compile();
        self.find_again(cx);
        self.find_step(true, window, cx);
    }

    pub(crate) fn select_all_matches(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.sync(cx);
        let Some(matcher) = self.find.matcher().cloned() else {
            return;
        };
        let snapshot = self.snapshot.clone();
        let revision = snapshot.revision();
        let within = self.find.spans(snapshot.full_span());
        let found = cx.background_spawn(async move {
            matcher.find_all(
                &snapshot,
                &within,
                MatchLimit(1_000_000),
                &AtomicBool::new(false),
            )
        });
        self.step_task = Some(cx.spawn_in(window, async move |this, cx| {
            let found = found.await;
            this.update_in(cx, |editor, window, cx| {
                if editor.snapshot.revision() == revision && !found.spans.is_empty() {
                    editor.close_find(window, cx);
                    editor.select(found.spans, Reveal::Nearest, cx);
                }
            })
            .ok();
        }));
    }

    pub(crate) fn replace_next(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.sync(cx);
        let Some(matcher) = self.find.matcher().cloned() else {
            return;
        };
        let selected = self.selections.primary().span();
        let is_match = self.find.matches_in(selected).contains(&selected);
        if is_match {
            let edit = matcher.replace(&self.snapshot, selected, &self.replacement(cx));
            let caret = Selection::caret(selected.start + edit.text.len());
            if !self.edit(&[edit], SelectionSet::single(caret), EditKind::Other, cx) {
                return;
            }
            self.tell_input_method(window);
        }
        self.find_step(true, window, cx);
    }

    pub(crate) fn replace_all(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.sync(cx);
        let Some(matcher) = self.find.matcher().cloned() else {
            return;
        };
        let snapshot = self.snapshot.clone();
        let revision = snapshot.revision();
        let selections = self.selections.clone();
        let within = self.find.spans(snapshot.full_span());
        let replacement = self.replacement(cx);
        let plan = cx.background_spawn(async move {
            matcher.replace_all(
                &snapshot,
                &selections,
                &within,
                &replacement,
                &AtomicBool::new(false),
            )
        });
        self.step_task = Some(cx.spawn_in(window, async move |this, cx| {
            let plan = plan.await;
            this.update_in(cx, |editor, window, cx| {
                editor.sync(cx);
                match plan {
                    Some(plan) if editor.snapshot.revision() == revision => {
                        editor.apply(plan, window, cx);
                        editor.follow = Some(ScrollMargin::Fit);
                    }
                    // The text was edited while the matches were collected; replacing only some of
                    // them would be wrong.
                    _ => cx.emit(EditorEvent::Refused(
                        "nothing was replaced: the text changed meanwhile".into(),
                    )),
                }
            })
            .ok();
        }));
    }

    fn replacement(&self, cx: &Context<Self>) -> ReplacementTemplate {
        let ending = self.model.read(cx).document().buffer().line_ending();
        ReplacementTemplate::parse(
            &self.find.replacement,
            self.find.pattern,
            self.find.letter_case,
            ending,
        )
    }

    pub(crate) fn toggle_find_case(&mut self, _: &mut Window, cx: &mut Context<Self>) {
        self.find.case = match self.find.case {
            CaseMatching::Sensitive => CaseMatching::Insensitive,
            CaseMatching::Insensitive | CaseMatching::Smart => CaseMatching::Sensitive,
        };
        self.query_changed(cx);
    }

    pub(crate) fn toggle_find_whole_word(&mut self, _: &mut Window, cx: &mut Context<Self>) {
        self.find.words = match self.find.words {
            WordBounds::Whole => WordBounds::Anywhere,
            WordBounds::Anywhere => WordBounds::Whole,
        };
        self.query_changed(cx);
    }

    pub(crate) fn toggle_find_regex(&mut self, _: &mut Window, cx: &mut Context<Self>) {
        self.find.pattern = match self.find.pattern {
            PatternKind::Literal => PatternKind::Regex,
            PatternKind::Regex => PatternKind::Literal,
        };
        self.query_changed(cx);
    }

    pub(crate) fn toggle_find_in_selection(&mut self, _: &mut Window, cx: &mut Context<Self>) {
        self.sync(cx);
        let spans = self.selected_spans();
        self.find.within = match &self.find.within {
            Some(_) => None,
            None => (!spans.is_empty()).then_some(spans),
        };
        self.query_changed(cx);
    }

    pub(crate) fn toggle_replace_case(&mut self, _: &mut Window, cx: &mut Context<Self>) {
        self.find.letter_case = match self.find.letter_case {
            LetterCase::AsTyped => LetterCase::LikeMatch,
            LetterCase::LikeMatch => LetterCase::AsTyped,
        };
        cx.notify();
    }
}

/// Escapes a text as a regular expression that matches it literally.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        if "\\.+*?()|[]{}^$#&-~".contains(char) {
            escaped.push('\\');
        }
        escaped.push(char);
    }
    escaped
}
