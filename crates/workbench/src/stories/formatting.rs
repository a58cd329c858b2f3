//! Edits of formatters: outdated answers, lost text, races with typing.

use base::{ByteOffset, Span};
use editor::DocumentModel;
use futures::FutureExt as _;
use gpui_kit::{Entity, TestAppContext};
use host::FakeFiles;
use lsp::DocumentEdits;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use text::{Author, Edit, Snapshot};

use super::{Story, open_with, path};
use crate::TabItem;
use crate::error::Error;
use crate::folder::OpenFolder;
use crate::refactoring::{FormattingEdits, apply_formatting};

fn story(text: &str, cx: &mut TestAppContext) -> Story {
    let files = FakeFiles::new();
    files.write(&path("/p/a.txt"), text);
    let mut story = open_with(files, cx);
    story.open_file("a.txt");
    story
}

fn document(story: &mut Story) -> Entity<DocumentModel> {
    story.read(|workbench, cx| {
        let editor = workbench.active_item().and_then(TabItem::editor);
        editor.expect("a text").read(cx).model().clone()
    })
}

/// Asks a formatter about the present text.
fn asked(story: &mut Story, edits: &[(usize, usize, &str)]) -> DocumentEdits {
    let document = document(story);
    let edits = edits.iter();
    let edits = edits.map(|(start, end, text)| (Span::from(*start..*end), (*text).to_owned()));
    DocumentEdits {
        text: story.cx.update(|_, cx| document.read(cx).snapshot()),
        edits: edits.collect(),
    }
}

fn apply(story: &mut Story, answer: DocumentEdits) -> Result<(), Error> {
    let document = document(story);
    story.cx.update(|_, cx| {
        let ending = document.read(cx).document().buffer().line_ending();
        apply_formatting(&document, FormattingEdits::of(answer, ending), cx)
    })
}

#[gpui_kit::test]
fn an_answer_about_an_older_text_is_dropped(cx: &mut TestAppContext) {
    let mut story = story("a\nb\n", cx);
    let answer = asked(&mut story, &[(0, 4, "A\nB\n")]);
    story.input("x");
    let error = apply(&mut story, answer).expect_err("outdated");
    assert!(matches!(error, Error::EditOutdated(_)));
    assert_eq!(story.text(), "xa\nb\n");
}

#[gpui_kit::test]
fn a_formatter_that_removes_the_whole_text_is_refused(cx: &mut TestAppContext) {
    let mut story = story("a\nb\n", cx);
    for edits in [&[(0, 4, "")][..], &[(0, 2, ""), (2, 4, "")]] {
        let answer = asked(&mut story, edits);
        let error = apply(&mut story, answer).expect_err("refused");
        assert!(matches!(error, Error::FormattingRemovesAll(_)));
    }
    assert_eq!(story.text(), "a\nb\n");
}

#[gpui_kit::test]
fn edits_after_a_typed_character_are_for_the_present_text_only(cx: &mut TestAppContext) {
    let mut story = story("a  b\n", cx);
    let for_text = |story: &mut Story, answer: DocumentEdits| {
        let text = asked(story, &[]).text;
        FormattingEdits::of(answer, text::LineEnding::Lf).for_text(&text)
    };
    let answer = asked(&mut story, &[(1, 3, " ")]);
    assert_eq!(for_text(&mut story, answer).len(), 1);
    let all = asked(&mut story, &[(0, 5, "")]);
    assert_eq!(for_text(&mut story, all), []);
    let outdated = asked(&mut story, &[(1, 3, " ")]);
    story.input("x");
    assert_eq!(for_text(&mut story, outdated), []);
}

#[gpui_kit::test]
fn a_formatted_text_is_undone_in_one_step_and_the_caret_stays(cx: &mut TestAppContext) {
    let mut story = story("one\n two\nthree\n", cx);
    story.keys("down end");
    let answer = asked(&mut story, &[(0, 15, "one\ntwo\nthree\n")]);
    apply(&mut story, answer).expect("formatted");
    assert_eq!(story.text(), "one\ntwo\nthree\n");
    // The rows that did not change are not replaced.
    story.input("!");
    assert_eq!(story.text(), "one\ntwo!\nthree\n");
    story.keys("ctrl-z ctrl-z");
    assert_eq!(story.text(), "one\n two\nthree\n");
}

#[gpui_kit::test]
fn formatted_text_keeps_the_line_ending(cx: &mut TestAppContext) {
    let mut story = story("a\r\nb\r\n", cx);
    let answer = asked(&mut story, &[(0, 6, "a\n\nb\r\n")]);
    apply(&mut story, answer).expect("formatted");
    assert_eq!(story.text(), "a\r\n\r\nb\r\n");
}

/// Formats a text as a server would: no blanks at the starts of rows.
fn formatted(text: &Snapshot) -> String {
    let text = text.to_string();
    let rows = text.split('\n').map(str::trim_start);
    rows.collect::<Vec<_>>().join("\n")
}

/// A formatter is asked and answers in any order with typing: every typed character is there, once, in order.
#[gpui_kit::test]
fn typing_and_formatting_in_any_order_lose_nothing(cx: &mut TestAppContext) {
    let is_soak = std::env::var_os("BURIN_SOAK").is_some();
    let rounds = if is_soak { 10_000 } else { 300 };
    let mut rng = StdRng::seed_from_u64(7);
    let mut story = story("", cx);
    let (mut typed, mut waiting) = (String::new(), Vec::new());
    let mut applied = 0;
    for _ in 0..rounds {
        match rng.random_range(0..4) {
            0 => {
                let text = asked(&mut story, &[]).text;
                let new = formatted(&text);
                let edits = vec![(text.full_span(), new)];
                waiting.push(DocumentEdits { text, edits });
            }
            1 if !waiting.is_empty() => {
                let answer = waiting.remove(rng.random_range(0..waiting.len()));
                applied += usize::from(apply(&mut story, answer).is_ok());
            }
            _ => {
                let letter = char::from(rng.random_range(b'a'..=b'z'));
                let blanks = [" ", "\n  ", ""][rng.random_range(0..3)];
                story.at_once(&format!("{blanks}{letter}"));
                typed.push(letter);
            }
        }
    }
    let text = story.text();
    let letters: String = text.chars().filter(|it| it.is_alphabetic()).collect();
    assert_eq!(letters, typed);
    assert!(applied > rounds / 50, "{applied} answers were applied");
}

#[gpui_kit::test]
fn requests_are_about_the_text_after_the_update(cx: &mut TestAppContext) {
    let mut story = story("a\n", cx);
    let model = document(&mut story);
    let mut check = |edits: usize, expected| {
        let asked = story.cx.update(|_, cx| {
            let revision = model.read(cx).snapshot().revision();
            let weak = model.downgrade();
            let asked = OpenFolder::after_update(&weak, revision, cx, |_, path| Some(path.clone()));
            model.update(cx, |model, cx| {
                let edit = Edit::new(Span::at(ByteOffset(0)), "x");
                (0..edits).for_each(|_| model.edit(std::slice::from_ref(&edit), Author::User, cx));
            });
            asked
        });
        story.cx.run_until_parked();
        assert_eq!(asked.now_or_never(), Some(expected), "{edits}");
    };
    check(0, Some(path("/p/a.txt")));
    check(1, None);
}

#[gpui_kit::test]
fn a_text_that_cannot_be_written_back_is_not_formatted(cx: &mut TestAppContext) {
    let files = FakeFiles::new();
    files.write(&path("/p/a.txt"), b"\xef\xbb\xbfa\xff\n");
    let mut story = open_with(files, cx);
    story.open_file("a.txt");
    let can_edit = document(&mut story).read_with(&story.cx, |it, _| it.document().can_edit());
    assert!(!can_edit);
    story.keys("ctrl-shift-i").settle();
    let reports = story.reports();
    let is_reason = |it: &String| it.starts_with("This text cannot be formatted: ");
    assert!(reports.iter().any(is_reason), "{reports:?}");
}
