//! Tests expanding selections by the ranges of a scripted source, with the default keys.

use std::rc::Rc;

use base::{ByteOffset, Span};
use gpui_kit::{Context, Task, TestAppContext};
use text::Snapshot;

use super::scripted::{Scene, Scripted, language_scene};
use crate::{Editor, ExpandSelection, LanguageSources, SelectionRangeSource, ShrinkSelection};

type Source = Scripted<Vec<ByteOffset>, Vec<Vec<Span>>>;

impl SelectionRangeSource for Source {
    fn ranges(
        &self,
        _: &Snapshot,
        offsets: Vec<ByteOffset>,
        cx: &mut Context<Editor>,
    ) -> Option<Task<Vec<Vec<Span>>>> {
        let answer = self.ask(offsets);
        Some(cx.spawn(async move |_, _| answer.recv().await.unwrap_or_default()))
    }
}

/// A source without a server.
struct Offline;

impl SelectionRangeSource for Offline {
    fn ranges(
        &self,
        _: &Snapshot,
        _: Vec<ByteOffset>,
        _: &mut Context<Editor>,
    ) -> Option<Task<Vec<Vec<Span>>>> {
        None
    }
}

fn sources(selection_ranges: Rc<dyn SelectionRangeSource>) -> LanguageSources {
    LanguageSources {
        selection_ranges: Some(selection_ranges),
        ..LanguageSources::default()
    }
}

fn open<'a>(path: &str, marked: &str, cx: &'a mut TestAppContext) -> Scene<'a, Source> {
    language_scene(path, marked, |source| sources(source), cx)
}

impl Scene<'_, Source> {
    fn expand(&mut self) {
        self.cx.dispatch_action(ExpandSelection);
        self.cx.run_until_parked();
    }

    /// Answers the latest request, and returns its offsets.
    fn answer(&mut self, spans: &[&[(usize, usize)]]) -> Vec<usize> {
        let spans = spans.iter().map(|spans| {
            let spans = spans.iter();
            spans.map(|(start, end)| Span::from(*start..*end)).collect()
        });
        let offsets = self.reply(spans.collect());
        offsets.iter().map(|offset| offset.0).collect()
    }
}

#[gpui_kit::test]
fn selections_expand_to_the_ranges_and_shrink_again(cx: &mut TestAppContext) {
    let mut scene = open("/a.txt", "one twˇo three four", cx);
    scene.expand();
    assert_eq!(scene.text(), "one twˇo three four");
    let spans: &[(usize, usize)] = &[(4, 7), (4, 13), (0, 18)];
    assert_eq!(scene.answer(&[spans]), [6]);
    assert_eq!(scene.text(), "one «twoˇ» three four");
    scene.expand();
    assert_eq!(scene.answer(&[spans]), [4]);
    assert_eq!(scene.text(), "one «two threeˇ» four");
    scene.cx.dispatch_action(ShrinkSelection);
    assert_eq!(scene.text(), "one «twoˇ» three four");
}

#[gpui_kit::test]
fn every_selection_gets_its_own_ranges(cx: &mut TestAppContext) {
    let mut scene = open("/a.txt", "a.b(ˇ) c.d(ˇ)", cx);
    scene.expand();
    assert_eq!(scene.answer(&[&[(2, 5)], &[(8, 11)]]), [4, 10]);
    assert_eq!(scene.text(), "a.«b()ˇ» c.«d()ˇ»");
}

#[gpui_kit::test]
fn the_next_key_does_not_wait_for_the_answer(cx: &mut TestAppContext) {
    let mut scene = open("/a.txt", "one twˇo three", cx);
    scene.expand();
    scene.cx.simulate_input("x");
    scene.answer(&[&[(0, 13)]]);
    assert_eq!(scene.text(), "one xˇ three", "the word was selected");
}

#[gpui_kit::test]
fn expanding_twice_asks_for_the_second_time_only(cx: &mut TestAppContext) {
    let mut scene = open("/b.txt", "one (twˇo) three", cx);
    scene.expand();
    scene.expand();
    assert_eq!(scene.text(), "one («twoˇ») three");
    assert_eq!(scene.answer(&[&[(4, 9)]]), [5]);
    assert_eq!(scene.text(), "one «(two)ˇ» three");
}

#[gpui_kit::test]
fn an_answer_for_other_selections_is_dropped(cx: &mut TestAppContext) {
    let mut scene = open("/a.txt", "ˇone two", cx);
    scene.expand();
    scene.editor.update(scene.cx, |editor, cx| {
        editor.go_to(ByteOffset(5), crate::Reveal::Nearest, cx);
    });
    scene.answer(&[&[(0, 7)]]);
    assert_eq!(scene.text(), "one tˇwo");
}

#[gpui_kit::test]
fn a_tree_is_not_overruled(cx: &mut TestAppContext) {
    let mut scene = open("/a.rs", "fn a() { bˇ(); }", cx);
    scene.expand();
    assert_eq!(scene.requests(), 0);
    assert_eq!(scene.text(), "fn a() { «bˇ»(); }");
}

#[gpui_kit::test]
fn the_text_decides_without_a_server(cx: &mut TestAppContext) {
    let mut scene = open("/a.txt", "one twˇo", cx);
    let sources = sources(Rc::new(Offline));
    scene
        .editor
        .update(scene.cx, |editor, _| editor.set_language_sources(sources));
    scene.expand();
    assert_eq!(scene.text(), "one «twoˇ»");
}
