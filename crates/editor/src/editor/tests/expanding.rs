//! Tests completion of words with the default keys.

use std::sync::Arc;

use autocomplete::{SuggestedEdit, Suggestion, SuggestionId, SuggestionSource};
use base::Span;
use gpui_kit::{Entity, TestAppContext, VisualTestContext};

use super::state;
use super::suggesting::{Heard, open_with_keys};
use crate::editor::expanding;
use crate::{CycleDirection, Editor, SuggestionEvent};

/// Answers a request for words as a window does.
fn answer(editor: &Entity<Editor>, heard: &Heard, words: &[&str], cx: &mut VisualTestContext) {
    cx.run_until_parked();
    let Some(SuggestionEvent::WordsWanted(cycle)) = heard.borrow_mut().pop() else {
        panic!("words were to be wanted");
    };
    editor.update_in(cx, |editor, window, cx| {
        let scene = editor.scene(cx);
        let word = |word: &&str| Suggestion {
            id: SuggestionId(1),
            file: None,
            revision: scene.snapshot.revision(),
            edits: vec![SuggestedEdit {
                span: Span::at(scene.caret),
                old: Arc::from(""),
                new: Arc::from(*word),
            }],
            source: SuggestionSource::Continuation,
            confidence: 0.1,
        };
        let words: Vec<Suggestion> = words.iter().map(word).collect();
        editor.write_words(&words, cycle, window, cx);
    });
}

fn check(before: &str, words: &[&str], keys: &str, after: &str, cx: &mut TestAppContext) {
    let (editor, heard, _heard, cx) = open_with_keys("/a.txt", before, cx);
    let (first, rest) = keys.split_once(' ').unwrap_or((keys, ""));
    cx.simulate_keystrokes(first);
    answer(&editor, &heard, words, cx);
    cx.simulate_keystrokes(rest);
    assert_eq!(state(&editor, cx), after, "{before:?} {keys}");
    assert_eq!(
        *heard.borrow(),
        [],
        "the words are known: none is asked for"
    );
}

const WORDS: &[&str] = &["member", "lease", "cipe"];

#[gpui_kit::test]
fn the_key_writes_the_first_word_and_again_the_next(cx: &mut TestAppContext) {
    check("reˇ;", WORDS, "alt-/", "rememberˇ;", cx);
    check("reˇ;", WORDS, "alt-/ alt-/", "releaseˇ;", cx);
    check("reˇ;", WORDS, "alt-/ alt-/ alt-/", "recipeˇ;", cx);
}

#[gpui_kit::test]
fn word_expansion_wraps_to_the_prefix_and_cycles_back(cx: &mut TestAppContext) {
    check("reˇ;", WORDS, "alt-/ alt-/ alt-/ alt-/", "reˇ;", cx);
    check(
        "reˇ;",
        WORDS,
        "alt-/ alt-/ alt-/ alt-/ alt-/",
        "rememberˇ;",
        cx,
    );
    check("reˇ;", WORDS, "shift-alt-/", "recipeˇ;", cx);
    check("reˇ;", WORDS, "alt-/ alt-/ shift-alt-/", "rememberˇ;", cx);
    check("reˇ;", WORDS, "alt-/ shift-alt-/", "reˇ;", cx);
}

#[gpui_kit::test]
fn it_says_which_of_several_was_written(cx: &mut TestAppContext) {
    let (editor, heard, _heard, cx) = open_with_keys("/a.txt", "reˇ", cx);
    let said = |cx: &mut VisualTestContext| {
        let words = editor.read_with(cx, |editor, _| expanding::written_word(editor));
        words.map(|words| words.to_string())
    };
    assert_eq!(said(cx), None);
    cx.simulate_keystrokes("alt-/");
    answer(&editor, &heard, WORDS, cx);
    assert_eq!(said(cx).as_deref(), Some("1 of 3"));
    cx.simulate_keystrokes("shift-alt-/");
    assert_eq!(said(cx), None, "what was typed stands");
    cx.simulate_keystrokes("shift-alt-/");
    assert_eq!(said(cx).as_deref(), Some("3 of 3"));
    cx.simulate_keystrokes("left");
    assert_eq!(said(cx), None);
}

#[gpui_kit::test]
fn carets_behind_the_same_word_go_along_and_others_stay(cx: &mut TestAppContext) {
    check("reˇ\nreˇ\nxˇ", WORDS, "alt-/", "reˇ\nreˇ\nxmemberˇ", cx);
    check(
        "re\nxˇ\nreˇ\nreˇ",
        WORDS,
        "alt-/ alt-/",
        "re\nxˇ\nreleaseˇ\nreleaseˇ",
        cx,
    );
}

#[gpui_kit::test]
fn one_step_back_takes_the_words_away(cx: &mut TestAppContext) {
    let (editor, heard, _heard, cx) = open_with_keys("/a.txt", "a ˇ", cx);
    cx.simulate_input("re");
    cx.simulate_keystrokes("alt-/");
    answer(&editor, &heard, WORDS, cx);
    cx.simulate_keystrokes("alt-/ alt-/");
    assert_eq!(state(&editor, cx), "a recipeˇ");
    cx.simulate_keystrokes("ctrl-z");
    assert_eq!(state(&editor, cx), "a ˇ");
}

#[gpui_kit::test]
fn whatever_else_happens_ends_it(cx: &mut TestAppContext) {
    let (editor, heard, _heard, cx) = open_with_keys("/a.txt", "reˇ", cx);
    for between in ["x", "left", "ctrl-z"] {
        cx.simulate_keystrokes("alt-/");
        answer(&editor, &heard, WORDS, cx);
        cx.simulate_keystrokes(between);
        cx.simulate_keystrokes("alt-/");
        cx.run_until_parked();
        let wanted = SuggestionEvent::WordsWanted(CycleDirection::Next);
        assert_eq!(heard.borrow_mut().pop(), Some(wanted), "behind {between}");
    }
}

#[gpui_kit::test]
fn words_for_another_text_or_place_are_not_written(cx: &mut TestAppContext) {
    let (editor, heard, _heard, cx) = open_with_keys("/a.txt", "reˇ", cx);
    cx.simulate_keystrokes("alt-/");
    heard.borrow_mut().clear();
    editor.update_in(cx, |editor, window, cx| {
        let scene = editor.scene(cx);
        let old = Suggestion {
            id: SuggestionId(1),
            file: None,
            revision: scene.snapshot.revision(),
            edits: vec![SuggestedEdit {
                span: Span::at(base::ByteOffset(0)),
                old: Arc::from(""),
                new: Arc::from("x"),
            }],
            source: SuggestionSource::Continuation,
            confidence: 0.1,
        };
        assert!(!editor.write_words(&[old], CycleDirection::Next, window, cx));
        assert!(!editor.write_words(&[], CycleDirection::Next, window, cx));
    });
    assert_eq!(state(&editor, cx), "reˇ");
}

#[gpui_kit::test]
fn a_selection_has_no_words(cx: &mut TestAppContext) {
    let (editor, heard, _heard, cx) = open_with_keys("/a.txt", "reˇ", cx);
    cx.simulate_keystrokes("shift-left alt-/");
    assert_eq!(state(&editor, cx), "r«ˇe»");
    assert_eq!(*heard.borrow(), []);
}
