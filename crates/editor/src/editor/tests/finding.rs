//! Tests find and replace in a file, by keys.

use std::time::Duration;

use caret::find::{PatternKind, WordBounds};
use caret::{Command, Motion};
use gpui_kit::TestAppContext;

use super::{open, state};
use crate::editor::{commands, finding};

#[gpui_kit::test]
fn matches_are_counted_while_one_types(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.txt", "ˇfoo bar foo\nfoo", cx);
    cx.simulate_keystrokes("ctrl-f");
    cx.simulate_input("fo");
    cx.run_until_parked();
    let summary = |cx: &mut gpui_kit::VisualTestContext| {
        cx.run_until_parked();
        editor.update(cx, |editor, _| {
            editor.find.summary(editor.selections.primary().span())
        })
    };
    assert_eq!(summary(cx), "3");
    cx.simulate_keystrokes("enter");
    assert_eq!(summary(cx), "1 of 3");
    cx.simulate_keystrokes("enter enter");
    assert_eq!(summary(cx), "3 of 3");
    cx.simulate_keystrokes("shift-enter");
    assert_eq!(summary(cx), "2 of 3");
    assert_eq!(state(&editor, cx), "foo bar «foˇ»o\nfoo");
    cx.simulate_input("z");
    assert_eq!(summary(cx), "no matches");
}

#[gpui_kit::test]
fn a_bad_pattern_is_explained(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.txt", "ˇa(b", cx);
    editor.update_in(cx, |editor, window, cx| {
        editor.find.pattern = PatternKind::Regex;
        finding::open_find(editor, window, cx);
        finding::set_query(editor, "a(", cx);
        let error = editor.find.error().unwrap().to_owned();
        assert!(error.contains("character"), "{error}");
        finding::set_query(editor, "a\\(", cx);
        assert_eq!(editor.find.error(), None);
    });
}

#[gpui_kit::test]
fn every_match_becomes_a_caret(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.txt", "ˇfoo bar foo foobar", cx);
    editor.update_in(cx, |editor, window, cx| {
        finding::open_find(editor, window, cx);
        editor.find.words = WordBounds::Whole;
        finding::set_query(editor, "foo", cx);
    });
    cx.simulate_keystrokes("alt-enter");
    assert_eq!(state(&editor, cx), "«fooˇ» bar «fooˇ» foobar");
    cx.simulate_input("x");
    assert_eq!(state(&editor, cx), "xˇ bar xˇ foobar");
}

#[gpui_kit::test]
fn all_matches_are_replaced_as_one_step(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.txt", "ˇa1 b2 c3", cx);
    editor.update_in(cx, |editor, window, cx| {
        finding::open_replace(editor, window, cx);
        editor.find.pattern = PatternKind::Regex;
        finding::set_query(editor, r"([a-z])(\d)", cx);
        editor.find.replacement = "$2$1".to_owned();
        finding::replace_all(editor, window, cx);
    });
    assert_eq!(state(&editor, cx).replace('ˇ', ""), "1a 2b 3c");
    editor.update_in(cx, commands::undo);
    assert_eq!(state(&editor, cx).replace('ˇ', ""), "a1 b2 c3");
}

#[gpui_kit::test]
fn replacing_goes_from_match_to_match(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.txt", "ˇone two one", cx);
    editor.update_in(cx, |editor, window, cx| {
        finding::open_replace(editor, window, cx);
        finding::set_query(editor, "one", cx);
        editor.find.replacement = "three".to_owned();
    });
    cx.run_until_parked();
    for _ in 0..3 {
        editor.update_in(cx, |editor, window, cx| {
            finding::replace_next(editor, window, cx)
        });
        cx.run_until_parked();
    }
    assert_eq!(
        state(&editor, cx).replace(['ˇ', '«', '»'], ""),
        "three two three"
    );
}

/// Replaces matches of an expression one by one until the text is as expected.
#[track_caller]
fn one_by_one(cx: &mut TestAppContext, text: &str, pattern: &str, with: &str, expect: &str) {
    let (editor, cx) = open("/a.txt", text, cx);
    editor.update_in(cx, |editor, window, cx| {
        finding::open_replace(editor, window, cx);
        editor.find.pattern = PatternKind::Regex;
        finding::set_query(editor, pattern, cx);
        editor.find.replacement = with.to_owned();
    });
    let mut steps = Vec::new();
    for _ in 0..6 {
        cx.run_until_parked();
        steps.push(state(&editor, cx).replace(['ˇ', '«', '»'], ""));
        if steps.last().is_some_and(|text| text == expect) {
            return;
        }
        editor.update_in(cx, |editor, window, cx| {
            finding::replace_next(editor, window, cx)
        });
    }
    panic!("{pattern}: {steps:?}");
}

#[gpui_kit::test]
fn empty_matches_at_row_starts_are_replaced_one_by_one(cx: &mut TestAppContext) {
    one_by_one(cx, "ˇa\nb\n\nc", "^", "// ", "// a\n// b\n// \n// c");
}

#[gpui_kit::test]
fn empty_matches_at_row_ends_are_replaced_one_by_one(cx: &mut TestAppContext) {
    one_by_one(cx, "ˇa\nb", "$", ";", "a;\nb;");
}

#[gpui_kit::test]
fn empty_and_other_matches_are_replaced_one_after_the_other(cx: &mut TestAppContext) {
    one_by_one(cx, "ˇaxb", "x*", "-", "-a-b-");
}

#[gpui_kit::test]
fn word_borders_are_replaced_one_after_the_other(cx: &mut TestAppContext) {
    one_by_one(cx, "ˇab cd", r"\b", "|", "|ab| |cd|");
}

#[gpui_kit::test]
fn an_empty_match_may_become_rows(cx: &mut TestAppContext) {
    one_by_one(cx, "ˇa\nb", "^", "x\\n", "x\na\nx\nb");
}

#[gpui_kit::test]
fn finding_stays_in_the_selection(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.txt", "foo «foo fooˇ» foo", cx);
    editor.update_in(cx, |editor, window, cx| {
        finding::toggle_find_in_selection(editor, window, cx);
        finding::open_find(editor, window, cx);
        finding::set_query(editor, "foo", cx);
    });
    cx.run_until_parked();
    editor.update(cx, |editor, _| {
        assert_eq!(editor.find.summary(base::Span::default()), "2");
    });
}

#[gpui_kit::test]
fn matches_over_several_rows_are_searched_again_when_typing_rests(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.txt", "foˇ\nbar", cx);
    editor.update_in(cx, |editor, window, cx| {
        editor.find.pattern = PatternKind::Regex;
        finding::open_find(editor, window, cx);
        finding::set_query(editor, r"o\nb", cx);
    });
    let count = |cx: &mut gpui_kit::VisualTestContext| {
        cx.run_until_parked();
        editor.update(cx, |editor, _| {
            editor.find.matches_in(editor.snapshot.full_span()).len()
        })
    };
    assert_eq!(count(cx), 1);
    for command in [
        Command::Insert("x".to_owned()),
        Command::Delete(Motion::Left),
    ] {
        editor.update_in(cx, |editor, window, cx| editor.run(&command, window, cx));
        assert_eq!(count(cx), 0);
    }
    cx.executor().advance_clock(Duration::from_secs(1));
    assert_eq!(count(cx), 1);
}

#[gpui_kit::test]
fn escape_closes_the_bar(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.txt", "ˇfoo", cx);
    cx.simulate_keystrokes("ctrl-f");
    assert!(editor.update(cx, |editor, _| editor.find_session.bar.is_some()));
    editor.update_in(cx, |editor, window, cx| {
        finding::close_find(editor, window, cx)
    });
    cx.simulate_input("x");
    assert_eq!(
        state(&editor, cx),
        "xˇfoo",
        "the keyboard is back in the text"
    );
}

#[gpui_kit::test]
fn the_field_keeps_its_room_in_a_narrow_view(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.txt", "ˇfoo", cx);
    cx.simulate_keystrokes("ctrl-f");
    let is_wide = |cx: &mut gpui_kit::VisualTestContext| {
        cx.run_until_parked();
        let bar = editor.read_with(cx, |editor, _| editor.find_session.bar.clone());
        bar.is_some_and(|bar| {
            cx.update(|window, cx| bar.read(cx).fits(gpui_kit::px(2000.0), window))
        })
    };
    for (width, expected) in [(900.0, true), (180.0, false), (900.0, true)] {
        cx.simulate_resize(gpui_kit::size(gpui_kit::px(width), gpui_kit::px(400.0)));
        assert_eq!(is_wide(cx), expected, "{width}");
    }
}
