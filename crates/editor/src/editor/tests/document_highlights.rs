//! Tests document highlights in a view with the default keys and a scripted source.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use base::{ByteOffset, Span};
use gpui_kit::{Context, Entity, Task, TestAppContext, VisualTestContext};
use lsp::{Highlight, HighlightKind};
use text::{Author, Edit, Snapshot};

use super::suggesting::{Heard, open_with_keys};
use crate::editor::document_highlights::occurrences_in;
use crate::{Editor, HighlightSource, LanguageSources};

/// A source whose requests wait until the test answers them.
#[derive(Default)]
struct ScriptedHighlights {
    requests: RefCell<Vec<(ByteOffset, async_channel::Sender<Vec<Highlight>>)>>,
}

impl HighlightSource for ScriptedHighlights {
    fn highlights(
        &self,
        _: &Snapshot,
        at: ByteOffset,
        cx: &mut Context<Editor>,
    ) -> Task<Vec<Highlight>> {
        let (sender, receiver) = async_channel::bounded(1);
        self.requests.borrow_mut().push((at, sender));
        cx.spawn(async move |_, _| receiver.recv().await.unwrap_or_default())
    }
}

/// A view with a scripted source.
struct Scene<'a> {
    editor: Entity<Editor>,
    source: Rc<ScriptedHighlights>,
    cx: &'a mut VisualTestContext,
    _heard: (Heard, gpui_kit::Subscription),
}

fn open<'a>(marked: &str, cx: &'a mut TestAppContext) -> Scene<'a> {
    let (editor, heard, subscription, cx) = open_with_keys("/a.rs", marked, cx);
    let source = Rc::new(ScriptedHighlights::default());
    editor.update(cx, |editor, _| {
        editor.set_language_sources(LanguageSources {
            highlights: Some(source.clone()),
            ..LanguageSources::default()
        });
    });
    Scene {
        editor,
        source,
        cx,
        _heard: (heard, subscription),
    }
}

impl Scene<'_> {
    /// Presses keys and waits until the caret rests.
    fn press(&mut self, keys: &str) {
        self.cx.simulate_keystrokes(keys);
        self.rest(75);
    }

    fn rest(&mut self, millis: u64) {
        let executor = self.cx.executor();
        executor.advance_clock(Duration::from_millis(millis));
        self.cx.run_until_parked();
    }

    /// Answers the latest request with the occurrences at these spans; the first one is written.
    /// Returns the offset of the request.
    fn answer(&mut self, spans: &[(usize, usize)]) -> usize {
        let (at, sender) = self.source.requests.borrow_mut().pop().expect("a request");
        let kinds = [HighlightKind::Write].into_iter();
        let kinds = kinds.chain(std::iter::repeat(HighlightKind::Read));
        let highlights = spans.iter().zip(kinds).map(|((start, end), kind)| {
            let span = Span::from(*start..*end);
            Highlight { span, kind }
        });
        // A cancelled request has no receiver.
        sender.try_send(highlights.collect()).ok();
        self.cx.run_until_parked();
        at.0
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

    fn requests(&self) -> usize {
        self.source.requests.borrow().len()
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
    scene.press("right");
    scene.answer(&[(1, 4), (7, 10)]);
    scene.press("right right right");
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
    scene.press("right");
    scene.answer(&[(0, 3), (4, 7)]);
    scene.press("shift-right");
    assert_eq!((scene.shown().as_str(), scene.requests()), ("", 0));
    scene.press("right ctrl-d ctrl-d");
    assert_eq!((scene.shown().as_str(), scene.requests()), ("", 0));
}

#[gpui_kit::test]
fn typing_removes_occurrences_and_edits_elsewhere_move_them(cx: &mut TestAppContext) {
    let mut scene = open("ˇone = one", cx);
    scene.press("right");
    scene.answer(&[(0, 3), (6, 9)]);
    let model = scene
        .editor
        .read_with(scene.cx, |editor, _| editor.model().clone());
    model.update(scene.cx, |model, cx| {
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
    scene.press("right");
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
    scene.press("right");
    let model = scene
        .editor
        .read_with(scene.cx, |editor, _| editor.model().clone());
    let request = scene.source.requests.borrow_mut().pop().expect("a request");
    // The view receives the edit after the answer.
    model.update(scene.cx, |model, cx| {
        let edit = Edit::new(Span::from(4..5), "+=");
        model.edit(&[edit], Author::Disk, cx);
    });
    scene.rest(75);
    assert!(request.1.is_closed(), "an edit asks again");
    assert_eq!(scene.answer(&[(0, 3), (7, 10)]), 1);
    assert_eq!(scene.shown(), "one!@0 one@7");
}
