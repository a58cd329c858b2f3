//! Tests linked editing in a view with the default keys and a scripted source.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use base::{ByteOffset, Span};
use gpui_kit::{Context, Entity, Subscription, Task, TestAppContext, VisualTestContext};
use text::{Author, Edit, Snapshot};

use super::state;
use super::suggesting::{Heard, open_with_keys};
use crate::{Editor, LanguageSources, LinkedSpanSource};

/// A source whose requests wait until the test answers them.
#[derive(Default)]
struct ScriptedSpans {
    requests: RefCell<Vec<async_channel::Sender<Vec<Span>>>>,
}

impl LinkedSpanSource for ScriptedSpans {
    fn linked_spans(
        &self,
        _: &Snapshot,
        _: ByteOffset,
        cx: &mut Context<Editor>,
    ) -> Task<Vec<Span>> {
        let (sender, receiver) = async_channel::bounded(1);
        self.requests.borrow_mut().push(sender);
        cx.spawn(async move |_, _| receiver.recv().await.unwrap_or_default())
    }
}

/// A view with a scripted source.
struct Scene<'a> {
    editor: Entity<Editor>,
    source: Rc<ScriptedSpans>,
    cx: &'a mut VisualTestContext,
    _heard: (Heard, Subscription),
}

/// Opens a text whose spans are linked when the caret rests.
fn open<'a>(marked: &str, spans: &[(usize, usize)], cx: &'a mut TestAppContext) -> Scene<'a> {
    let (editor, heard, subscription, cx) = open_with_keys("/a.html", marked, cx);
    let source = Rc::new(ScriptedSpans::default());
    editor.update(cx, |editor, cx| {
        editor.set_language_sources(LanguageSources {
            linked_spans: Some(source.clone()),
            ..LanguageSources::default()
        });
        editor.after_selections(cx);
    });
    let mut scene = Scene {
        editor,
        source,
        cx,
        _heard: (heard, subscription),
    };
    scene.rest(spans);
    scene
}

impl Scene<'_> {
    /// Waits until the caret rests, and answers the request, if there is one.
    fn rest(&mut self, spans: &[(usize, usize)]) {
        let executor = self.cx.executor();
        executor.advance_clock(Duration::from_millis(75));
        self.cx.run_until_parked();
        if let Some(sender) = self.source.requests.borrow_mut().pop() {
            let spans = spans.iter().map(|(start, end)| Span::from(*start..*end));
            // A cancelled request has no receiver.
            sender.try_send(spans.collect()).ok();
        }
        self.cx.run_until_parked();
    }

    /// Presses keys; `_` types the text after it.
    fn press(&mut self, keys: &str) {
        for key in keys.split_whitespace() {
            match key.strip_prefix('_') {
                Some(text) => self.cx.simulate_input(text),
                None => self.cx.simulate_keystrokes(key),
            }
        }
        self.cx.run_until_parked();
    }
}

/// Opens a text with linked spans, presses keys, and compares.
fn check(before: &str, spans: &[(usize, usize)], keys: &str, after: &str, cx: &mut TestAppContext) {
    let mut scene = open(before, spans, cx);
    scene.press(keys);
    let shown = state(&scene.editor, scene.cx);
    assert_eq!(shown, after, "{before:?} {keys}");
}

#[gpui_kit::test]
fn names_are_edited_together(cx: &mut TestAppContext) {
    let text = "<bˇ>/<b>";
    let tags = &[(1, 2), (5, 6)];
    check(text, tags, "_q", "<bqˇ>/<bq>", cx);
    check(text, tags, "_q _r", "<bqrˇ>/<bqr>", cx);
    check(text, tags, "backspace _div", "<divˇ>/<div>", cx);
    check(text, tags, "_q ctrl-z", "<bˇ>/<b>", cx);
    check("<b>/<bˇ>", tags, "_q _r", "<bqr>/<bqrˇ>", cx);
    check("<b>/<ˇb>", tags, "_q delete", "<q>/<qˇ>", cx);
}

#[gpui_kit::test]
fn an_edit_that_is_no_part_of_a_name_unlinks(cx: &mut TestAppContext) {
    check("<bˇ></b>", &[(1, 2), (5, 6)], "space _q", "<b qˇ></b>", cx);
    check("<b>xˇ</b>", &[(1, 2), (6, 7)], "_q", "<b>xqˇ</b>", cx);
}

#[gpui_kit::test]
fn regression_6_stale_or_unequal_spans_are_not_edited(cx: &mut TestAppContext) {
    // The spans have other texts.
    check("<bˇ>/<c>", &[(1, 2), (5, 6)], "_q", "<bqˇ>/<c>", cx);
    // They overlap, lie beyond the text, or are one.
    check("<bˇ>/<b>", &[(1, 2), (1, 2)], "_q", "<bqˇ>/<b>", cx);
    check("<bˇ>/<b>", &[(1, 2), (50, 51)], "_q", "<bqˇ>/<b>", cx);
    check("<bˇ>/<b>", &[(1, 2)], "_q", "<bqˇ>/<b>", cx);
    // Another edit came between.
    let mut scene = open("<bˇ> <b>", &[(1, 2), (5, 6)], cx);
    let model = scene
        .editor
        .read_with(scene.cx, |editor, _| editor.model().clone());
    model.update(scene.cx, |model, cx| {
        let edit = Edit::new(Span::at(ByteOffset(4)), "b");
        model.edit(&[edit], Author::Disk, cx);
    });
    scene.press("_q");
    assert_eq!(state(&scene.editor, scene.cx), "<bqˇ> b<b>");
}

#[gpui_kit::test]
fn typing_cancels_the_request_about_the_older_text(cx: &mut TestAppContext) {
    let mut scene = open("bˇ b", &[], cx);
    scene.press("left");
    let executor = scene.cx.executor();
    executor.advance_clock(Duration::from_millis(75));
    scene.cx.run_until_parked();
    let asked = scene.source.requests.borrow_mut().pop();
    scene.press("_q");
    assert!(asked.expect("a request").is_closed());
    scene.rest(&[]);
    scene.press("_q");
    assert_eq!(state(&scene.editor, scene.cx), "qqˇb b");
}

#[gpui_kit::test]
fn several_carets_edit_their_own_places(cx: &mut TestAppContext) {
    let spans = &[(0, 1), (3, 4)];
    check("bˇ/ bˇ/", spans, "_q", "bqˇ/ bqˇ/", cx);
}
