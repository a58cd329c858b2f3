//! Tests document highlights in a view with the default keys and a scripted source.

use std::rc::Rc;

use base::{ByteOffset, Span};
use gpui_kit::{Context, Task, TestAppContext};
use lsp::{Highlight, HighlightKind};
use text::{Author, Edit, Snapshot};

use super::scripted::{Scene, Scripted, language_scene};
use crate::editor::document_highlights::occurrences_in;
use crate::{Editor, HighlightSource, LanguageSources};

type Source = Scripted<ByteOffset, Vec<Highlight>>;

impl HighlightSource for Source {
    fn highlights(
        &self,
        _: &Snapshot,
        at: ByteOffset,
        cx: &mut Context<Editor>,
    ) -> Task<Vec<Highlight>> {
        let answer = self.ask(at);
        cx.spawn(async move |_, _| answer.recv().await.unwrap_or_default())
    }
}

fn open<'a>(marked: &str, cx: &'a mut TestAppContext) -> Scene<'a, Source> {
    let sources = |highlights: Rc<Source>| LanguageSources {
        highlights: Some(highlights),
        ..LanguageSources::default()
    };
    language_scene("/a.rs", marked, sources, cx)
}

impl Scene<'_, Source> {
    /// Answers the latest request with the occurrences at these spans; the first one is written.
    /// Returns the offset of the request.
    fn answer(&mut self, spans: &[(usize, usize)]) -> usize {
        let kinds = [HighlightKind::Write].into_iter();
        let kinds = kinds.chain(std::iter::repeat(HighlightKind::Read));
        let highlights = spans.iter().zip(kinds).map(|((start, end), kind)| {
            let span = Span::from(*start..*end);
            Highlight { span, kind }
        });
        self.reply(highlights.collect()).0
    }

    /// Returns the texts of the occurrences; written ones have a mark.
    fn shown(&mut self) -> String {
        self.editor.update(self.cx, |editor, cx| {
            editor.sync(cx);
            let shown = occurrences_in(editor, editor.snapshot.full_span());
            let texts = shown.iter().map(|(span, kind)| {
                let mark = if *kind == HighlightKind::Write {
                    "!"
                } else {
                    ""
                };
                format!("{}{mark}@{}", editor.snapshot.text(*span), span.start.0)
            });
            texts.collect::<Vec<_>>().join(" ")
        })
    }
}

#[gpui_kit::test]
fn occurrences_are_shown_once_the_caret_rests(cx: &mut TestAppContext) {
    let mut scene = open("ˇ one = one + two", cx);
    scene.cx.simulate_keystrokes("right");
    scene.rest(74);
    assert_eq!(scene.requests(), 0, "the caret has not rested");
    scene.rest(1);
    assert_eq!(scene.answer(&[(1, 4), (7, 10)]), 1);
    assert_eq!(scene.shown(), "one!@1 one@7");
}

#[gpui_kit::test]
fn occurrences_stay_while_the_caret_is_on_one_of_them(cx: &mut TestAppContext) {
    let mut scene = open("ˇ one = one + two", cx);
    scene.press_and_rest("right");
    scene.answer(&[(1, 4), (7, 10)]);
    scene.press_and_rest("right right right");
    assert_eq!(scene.shown(), "one!@1 one@7");
    assert_eq!(scene.requests(), 0, "the symbol is the same");
    scene.cx.simulate_keystrokes("right");
    assert_eq!(scene.shown(), "", "the caret left the symbol");
    scene.rest(75);
    assert_eq!(scene.answer(&[]), 5);
}

#[gpui_kit::test]
fn a_selection_and_several_carets_have_no_occurrences(cx: &mut TestAppContext) {
    let mut scene = open("ˇone one", cx);
    scene.press_and_rest("right");
    scene.answer(&[(0, 3), (4, 7)]);
    scene.press_and_rest("shift-right");
    assert_eq!((scene.shown().as_str(), scene.requests()), ("", 0));
    scene.press_and_rest("right ctrl-d ctrl-d");
    assert_eq!((scene.shown().as_str(), scene.requests()), ("", 0));
}

#[gpui_kit::test]
fn typing_removes_occurrences_and_edits_elsewhere_move_them(cx: &mut TestAppContext) {
    let mut scene = open("ˇone = one", cx);
    scene.press_and_rest("right");
    scene.answer(&[(0, 3), (6, 9)]);
    scene.model.update(scene.cx, |model, cx| {
        let edit = Edit::new(Span::from(4..5), "+=");
        model.edit(&[edit], Author::Disk, cx);
    });
    assert_eq!(scene.shown(), "one!@0 one@7");
    scene.cx.simulate_input("x");
    assert_eq!(scene.shown(), "");
}

#[gpui_kit::test]
fn an_answer_for_a_text_or_a_caret_of_before_is_dropped(cx: &mut TestAppContext) {
    let mut scene = open("ˇone = one", cx);
    scene.press_and_rest("right");
    scene.cx.simulate_input("x");
    scene.answer(&[(0, 3), (6, 9)]);
    assert_eq!(scene.shown(), "", "the request was cancelled");
    scene.rest(75);
    scene.cx.simulate_keystrokes("ctrl-end");
    scene.answer(&[(0, 4)]);
    assert_eq!(scene.shown(), "");
}

#[gpui_kit::test]
fn an_answer_is_carried_over_edits_that_do_not_touch_it(cx: &mut TestAppContext) {
    let mut scene = open("ˇone = one", cx);
    scene.press_and_rest("right");
    let request = scene.source.take();
    // The view receives the edit after the answer.
    scene.model.update(scene.cx, |model, cx| {
        let edit = Edit::new(Span::from(4..5), "+=");
        model.edit(&[edit], Author::Disk, cx);
    });
    scene.rest(75);
    assert!(request.1.is_closed(), "an edit asks again");
    assert_eq!(scene.answer(&[(0, 3), (7, 10)]), 1);
    assert_eq!(scene.shown(), "one!@0 one@7");
}
