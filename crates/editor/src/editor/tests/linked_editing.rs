//! Tests linked editing in a view with the default keys and a scripted source.

use std::rc::Rc;

use base::{ByteOffset, Span};
use gpui_kit::{Context, Task, TestAppContext};
use text::{Author, Edit, Snapshot};

use super::scripted::{Scene, Scripted, language_scene};
use crate::{Editor, LanguageSources, LinkedSpanSource};

type Source = Scripted<(), Vec<Span>>;

impl LinkedSpanSource for Source {
    fn linked_spans(
        &self,
        _: &Snapshot,
        _: ByteOffset,
        cx: &mut Context<Editor>,
    ) -> Task<Vec<Span>> {
        let answer = self.ask(());
        cx.spawn(async move |_, _| answer.recv().await.unwrap_or_default())
    }
}

/// Opens a text whose spans are linked when the caret rests.
fn open<'a>(
    marked: &str,
    spans: &[(usize, usize)],
    cx: &'a mut TestAppContext,
) -> Scene<'a, Source> {
    let sources = |linked_spans: Rc<Source>| LanguageSources {
        linked_spans: Some(linked_spans),
        ..LanguageSources::default()
    };
    let mut scene = language_scene("/a.html", marked, sources, cx);
    scene
        .editor
        .update(scene.cx, |editor, cx| editor.after_selections(cx));
    scene.link(spans);
    scene
}

impl Scene<'_, Source> {
    /// Waits until the caret rests, and answers the request, if there is one.
    fn link(&mut self, spans: &[(usize, usize)]) {
        self.rest(75);
        if self.requests() > 0 {
            let spans = spans.iter().map(|(start, end)| Span::from(*start..*end));
            self.reply(spans.collect());
        }
    }
}

/// Opens a text with linked spans, presses keys, and compares.
fn check(before: &str, spans: &[(usize, usize)], keys: &str, after: &str, cx: &mut TestAppContext) {
    let mut scene = open(before, spans, cx);
    scene.press(keys);
    let shown = scene.text();
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
    scene.model.update(scene.cx, |model, cx| {
        let edit = Edit::new(Span::at(ByteOffset(4)), "b");
        model.edit(&[edit], Author::Disk, cx);
    });
    scene.press("_q");
    assert_eq!(scene.text(), "<bqˇ> b<b>");
}

#[gpui_kit::test]
fn typing_cancels_the_request_about_the_older_text(cx: &mut TestAppContext) {
    let mut scene = open("bˇ b", &[], cx);
    scene.press("left");
    scene.rest(75);
    let (_, asked) = scene.source.take();
    scene.press("_q");
    assert!(asked.is_closed());
    scene.link(&[]);
    scene.press("_q");
    assert_eq!(scene.text(), "qqˇb b");
}

#[gpui_kit::test]
fn several_carets_edit_their_own_places(cx: &mut TestAppContext) {
    let spans = &[(0, 1), (3, 4)];
    check("bˇ/ bˇ/", spans, "_q", "bqˇ/ bqˇ/", cx);
}
