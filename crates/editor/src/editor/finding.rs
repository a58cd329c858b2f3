//! Find and replace: searches run in the background, so that typing never waits, however long the
//! text is.
//!
//! Start at `find_again`, which runs after every change of the query, and `follow_edit`, which runs
//! after every change of the text.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::Span;
use caret::find::{
    CaseMatching, LetterCase, MatchLimit, PatternKind, ReplacementTemplate, SearchWrap, WordBounds,
};
use gpui_kit::{AppContext as _, Context, Entity, Pixels, Task, Window};
use text::{Change, EditKind, Selection, SelectionSet};

use super::find_bar::FindBar;
use super::{Editor, EditorEvent, Reveal};
use crate::find::{FindState, MAX_MATCHES, overview_of};
use crate::scroll::ScrollMargin;

/// The find bar of a view, if it is open, and its running searches.
#[derive(Default)]
pub(crate) struct FindSession {
    pub(crate) bar: Option<Entity<FindBar>>,
    /// Searches all matches.
    pub(super) search_task: Option<Task<()>>,
    /// Whether the text was edited since its last complete search.
    is_stale: bool,
    /// Searches the next match, or the matches of one command.
    step_task: Option<Task<()>>,
}

/// Cancels a search when the task awaiting it is dropped.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Handler of an action: opens the find bar, with the selected text as the query.
pub(crate) fn open_find(editor: &mut Editor, window: &mut Window, cx: &mut Context<Editor>) {
    open_bar(editor, false, window, cx);
}

/// Handler of an action: opens the find bar with its field for a replacement.
pub(crate) fn open_replace(editor: &mut Editor, window: &mut Window, cx: &mut Context<Editor>) {
    open_bar(editor, true, window, cx);
}

fn open_bar(editor: &mut Editor, replaces: bool, window: &mut Window, cx: &mut Context<Editor>) {
    editor.sync(cx);
    let was_focused = editor.focus.is_focused(window);
    let bar = match &editor.find_session.bar {
        Some(bar) => bar.clone(),
        None => {
            let view = cx.entity().downgrade();
            let bar = cx.new(|cx| FindBar::new(view, window, cx));
            editor.find_session.bar = Some(bar.clone());
            bar
        }
    };
    editor.find.set_open(true);
    if was_focused {
        seed_query(editor);
    }
    let (text, replacement) = (editor.find.text.clone(), editor.find.replacement.clone());
    bar.update(cx, |bar, cx| {
        bar.show(&text, &replacement, replaces, window, cx)
    });
    query_changed(editor, cx);
}

/// Sets the query to the selection, or searches within it if it spans several rows.
fn seed_query(editor: &mut Editor) {
    const LONGEST: usize = 500;
    let span = editor.selections.primary().span();
    if span.is_empty() || span.len() > LONGEST {
        return;
    }
    let text = editor.snapshot.text(span).into_owned();
    if text.contains('\n') {
        return;
    }
    editor.find.text = match editor.find.pattern {
        PatternKind::Literal => text,
        PatternKind::Regex => escape(&text),
    };
}

/// Passes the width of the text to the bar. The bar is above the text and already drawn, so it
/// changes in the next frame.
pub(crate) fn fit_find_bar(
    editor: &Editor,
    width: Pixels,
    window: &Window,
    cx: &mut Context<Editor>,
) {
    let Some(bar) = &editor.find_session.bar else {
        return;
    };
    if !bar.read(cx).fits(width, window) {
        let bar = bar.clone();
        cx.defer(move |cx| bar.update(cx, |bar, cx| bar.rearrange(cx)));
    }
}

/// Handler of an action: closes the find bar, hides matches and focuses the text.
pub(crate) fn close_find(editor: &mut Editor, window: &mut Window, cx: &mut Context<Editor>) {
    editor.find.set_open(false);
    editor.find_session.bar = None;
    editor.find_session.search_task = None;
    window.focus(&editor.focus.clone(), cx);
    cx.notify();
}

/// Sets the query and searches for it. Does nothing if the query is unchanged. The find bar calls
/// this on every keystroke.
pub(crate) fn set_query(editor: &mut Editor, text: &str, cx: &mut Context<Editor>) {
    if editor.find.text != text {
        editor.find.text = text.to_owned();
        query_changed(editor, cx);
    }
}

fn query_changed(editor: &mut Editor, cx: &mut Context<Editor>) {
    editor.find.compile();
    find_again(editor, cx);
    cx.notify();
}

/// Searches the current text in the background. The previous matches stay visible until the search
/// finishes. If the query is empty or invalid, stops the running search.
pub(crate) fn find_again(editor: &mut Editor, cx: &mut Context<Editor>) {
    editor.find_session.is_stale = false;
    let Some(matcher) = editor
        .find
        .matcher()
        .cloned()
        .filter(|_| editor.find.is_open())
    else {
        editor.find_session.search_task = None;
        return;
    };
    let snapshot = editor.snapshot.clone();
    let revision = snapshot.revision();
    let within = editor.find.spans(snapshot.full_span());
    let cancel = Arc::new(AtomicBool::new(false));
    let guard = StopOnDrop(cancel.clone());
    let found = cx.background_spawn(async move {
        let found = matcher.find_all(&snapshot, &within, MatchLimit(MAX_MATCHES), &cancel);
        let overview = overview_of(&found.spans, snapshot.len());
        (found, overview)
    });
    editor.find_session.search_task = Some(cx.spawn(async move |this, cx| {
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

/// Brings the matches up to date after a change of the text: at once in the rows that it touched,
/// and in the whole text when typing rests.
pub(crate) fn follow_edit(editor: &mut Editor, change: &Change) {
    if editor.find.is_open() {
        editor.find.search_changed_rows(&editor.snapshot, change);
    }
    editor.find_session.is_stale = true;
}

/// Searches the whole text again if it was edited.
pub(crate) fn find_at_rest(editor: &mut Editor, cx: &mut Context<Editor>) {
    if editor.find_session.is_stale {
        find_again(editor, cx);
    }
}

/// Handler of an action: selects the next match after the selection, wrapping around.
pub(crate) fn find_next(editor: &mut Editor, window: &mut Window, cx: &mut Context<Editor>) {
    find_step(editor, true, window, cx);
}

/// Handler of an action: selects the match before the selection, wrapping around.
pub(crate) fn find_previous(editor: &mut Editor, window: &mut Window, cx: &mut Context<Editor>) {
    find_step(editor, false, window, cx);
}

fn find_step(editor: &mut Editor, forward: bool, window: &mut Window, cx: &mut Context<Editor>) {
    editor.sync(cx);
    if editor.find.text.is_empty() {
        find_selection(editor, window, cx);
        return;
    }
    if editor.find.matcher().is_none() {
        editor.find.compile();
    }
    let selected = editor.selections.primary().span();
    if let Some(matches) = editor.find.complete() {
        let next = FindState::step(matches, selected, forward);
        go_to_match(editor, next, cx);
        return;
    }
    let Some(matcher) = editor.find.matcher().cloned() else {
        return;
    };
    // The matches are incomplete: search for this one in the background.
    let snapshot = editor.snapshot.clone();
    let revision = snapshot.revision();
    let within = editor.find.spans(snapshot.full_span());
    let hit = cx.background_spawn(async move {
        if forward {
            matcher.next(&snapshot, &within, selected, SearchWrap::Around)
        } else {
            matcher.previous(&snapshot, &within, selected, SearchWrap::Around)
        }
    });
    editor.find_session.step_task = Some(cx.spawn(async move |this, cx| {
        let hit = hit.await;
        this.update(cx, |editor, cx| {
            if editor.snapshot.revision() == revision {
                go_to_match(editor, hit.map(|hit| hit.span), cx);
            }
        })
        .ok();
    }));
}

fn go_to_match(editor: &mut Editor, found: Option<Span>, cx: &mut Context<Editor>) {
    match found {
        Some(span) => editor.select(vec![span], Reveal::Nearest, cx),
        None => {
            let reason = format!("“{}” was not found", editor.find.text);
            cx.emit(EditorEvent::Refused(reason));
        }
    }
}

/// Handler of an action: searches for the selected text, or the word at the caret, and selects its
/// next occurrence.
pub(crate) fn find_selection(editor: &mut Editor, window: &mut Window, cx: &mut Context<Editor>) {
    editor.sync(cx);
    if editor.selections.primary().is_empty() {
        editor.run(&caret::Command::SelectWord, window, cx);
    }
    editor.find.text.clear();
    seed_query(editor);
    if editor.find.text.is_empty() {
        return;
    }
    editor.find.compile();
    find_again(editor, cx);
    find_step(editor, true, window, cx);
}

/// Handler of an action: finds all matches in the background and selects them. Discards the result
/// if the text changes meanwhile.
pub(crate) fn select_all_matches(
    editor: &mut Editor,
    window: &mut Window,
    cx: &mut Context<Editor>,
) {
    editor.sync(cx);
    let Some(matcher) = editor.find.matcher().cloned() else {
        return;
    };
    let snapshot = editor.snapshot.clone();
    let revision = snapshot.revision();
    let within = editor.find.spans(snapshot.full_span());
    let found = cx.background_spawn(async move {
        matcher.find_all(
            &snapshot,
            &within,
            MatchLimit(1_000_000),
            &AtomicBool::new(false),
        )
    });
    editor.find_session.step_task = Some(cx.spawn_in(window, async move |this, cx| {
        let found = found.await;
        this.update_in(cx, |editor, window, cx| {
            if editor.snapshot.revision() == revision && !found.spans.is_empty() {
                close_find(editor, window, cx);
                editor.select(found.spans, Reveal::Nearest, cx);
            }
        })
        .ok();
    }));
}

/// Handler of an action: replaces the selected match, if a match is selected, and selects the next
/// match.
pub(crate) fn replace_next(editor: &mut Editor, window: &mut Window, cx: &mut Context<Editor>) {
    editor.sync(cx);
    let Some(matcher) = editor.find.matcher().cloned() else {
        return;
    };
    let selected = editor.selections.primary().span();
    let is_match = editor.find.matches_in(selected).contains(&selected);
    if is_match {
        let edit = matcher.replace(&editor.snapshot, selected, &replacement(editor, cx));
        let caret = Selection::caret(selected.start + edit.text.len());
        if !editor.edit(&[edit], SelectionSet::single(caret), EditKind::Other, cx) {
            return;
        }
        editor.tell_input_method(window);
    }
    find_step(editor, true, window, cx);
}

/// Handler of an action: plans the replacement of all matches in the background and applies it as
/// one undo step. Discards the plan if the text changes meanwhile.
pub(crate) fn replace_all(editor: &mut Editor, window: &mut Window, cx: &mut Context<Editor>) {
    editor.sync(cx);
    let Some(matcher) = editor.find.matcher().cloned() else {
        return;
    };
    let snapshot = editor.snapshot.clone();
    let revision = snapshot.revision();
    let selections = editor.selections.clone();
    let within = editor.find.spans(snapshot.full_span());
    let replacement = replacement(editor, cx);
    let plan = cx.background_spawn(async move {
        matcher.replace_all(
            &snapshot,
            &selections,
            &within,
            &replacement,
            &AtomicBool::new(false),
        )
    });
    editor.find_session.step_task = Some(cx.spawn_in(window, async move |this, cx| {
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

fn replacement(editor: &Editor, cx: &Context<Editor>) -> ReplacementTemplate {
    let ending = editor.model.read(cx).document().buffer().line_ending();
    ReplacementTemplate::parse(
        &editor.find.replacement,
        editor.find.pattern,
        editor.find.letter_case,
        ending,
    )
}

/// Handler of an action: switches between matching and ignoring case, and searches again.
pub(crate) fn toggle_find_case(editor: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    editor.find.case = match editor.find.case {
        CaseMatching::Sensitive => CaseMatching::Insensitive,
        CaseMatching::Insensitive | CaseMatching::Smart => CaseMatching::Sensitive,
    };
    query_changed(editor, cx);
}

/// Handler of an action: switches between matching whole words only and anywhere, and searches
/// again.
pub(crate) fn toggle_find_whole_word(
    editor: &mut Editor,
    _: &mut Window,
    cx: &mut Context<Editor>,
) {
    editor.find.words = match editor.find.words {
        WordBounds::Whole => WordBounds::Anywhere,
        WordBounds::Anywhere => WordBounds::Whole,
    };
    query_changed(editor, cx);
}

/// Handler of an action: switches between literal text and regular expression, and searches again.
pub(crate) fn toggle_find_regex(editor: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    editor.find.pattern = match editor.find.pattern {
        PatternKind::Literal => PatternKind::Regex,
        PatternKind::Regex => PatternKind::Literal,
    };
    query_changed(editor, cx);
}

/// Handler of an action: limits the search to the present selections, or removes this limit, and
/// searches again.
pub(crate) fn toggle_find_in_selection(
    editor: &mut Editor,
    _: &mut Window,
    cx: &mut Context<Editor>,
) {
    editor.sync(cx);
    let spans = editor.selected_spans();
    editor.find.within = match &editor.find.within {
        Some(_) => None,
        None => (!spans.is_empty()).then_some(spans),
    };
    query_changed(editor, cx);
}

/// Handler of an action: switches between inserting the replacement as typed and with the case of
/// each match.
pub(crate) fn toggle_replace_case(editor: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    editor.find.letter_case = match editor.find.letter_case {
        LetterCase::AsTyped => LetterCase::LikeMatch,
        LetterCase::LikeMatch => LetterCase::AsTyped,
    };
    cx.notify();
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
