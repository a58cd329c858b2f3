//! Tests expanding selections by the ranges of a scripted source, with the default keys.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use base::{ByteOffset, Span};
use gpui_kit::{Context, Entity, Subscription, Task, TestAppContext, VisualTestContext};
use text::Snapshot;

use super::state;
use super::suggesting::{Heard, open_with_keys};
use crate::{Editor, ExpandSelection, LanguageSources, SelectionRangeSource, ShrinkSelection};

type WaitingRanges = (Vec<ByteOffset>, async_channel::Sender<Vec<Vec<Span>>>);

/// A source whose requests wait until the test answers them.
#[derive(Default)]
struct ScriptedRanges {
    requests: RefCell<Vec<WaitingRanges>>,
    is_offline: Cell<bool>,
}

impl SelectionRangeSource for ScriptedRanges {
    fn ranges(
        &self,
        _: &Snapshot,
        offsets: Vec<ByteOffset>,
        cx: &mut Context<Editor>,
    ) -> Option<Task<Vec<Vec<Span>>>> {
        if self.is_offline.get() {
            return None;
        }
        let (sender, receiver) = async_channel::bounded(1);
        self.requests.borrow_mut().push((offsets, sender));
        Some(cx.spawn(async move |_, _| receiver.recv().await.unwrap_or_default()))
    }
}

/// A view with a scripted source.
struct Scene<'a> {
    editor: Entity<Editor>,
    source: Rc<ScriptedRanges>,
    cx: &'a mut VisualTestContext,
    _heard: (Heard, Subscription),
}

fn open<'a>(path: &str, marked: &str, cx: &'a mut TestAppContext) -> Scene<'a> {
    let (editor, heard, subscription, cx) = open_with_keys(path, marked, cx);
    let source = Rc::new(ScriptedRanges::default());
    editor.update(cx, |editor, _| {
        editor.set_language_sources(LanguageSources {
            selection_ranges: Some(source.clone()),
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
    fn expand(&mut self) {
        self.cx.dispatch_action(ExpandSelection);
        self.cx.run_until_parked();
    }

    /// Answers the latest request, and returns its offsets.
    fn answer(&mut self, spans: &[&[(usize, usize)]]) -> Vec<usize> {
        let (offsets, sender) = self.source.requests.borrow_mut().pop().expect("a request");
        let spans = spans.iter().map(|spans| {
            let spans = spans.iter();
            spans.map(|(start, end)| Span::from(*start..*end)).collect()
        });
        // A cancelled request has no receiver.
        sender.try_send(spans.collect()).ok();
        self.cx.run_until_parked();
        offsets.iter().map(|offset| offset.0).collect()
    }

    fn text(&mut self) -> String {
        state(&self.editor, self.cx)
    }

    fn requests(&self) -> usize {
        self.source.requests.borrow().len()
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
    scene.source.is_offline.set(true);
    scene.expand();
    assert_eq!(scene.text(), "one «twoˇ»");
}
