//! Tests the light bulb in a view with the default keys and a scripted source.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use base::Span;
use gpui_kit::test::TestWindowExt as _;
use gpui_kit::{Context, Entity, Subscription, Task, TestAppContext, VisualTestContext};
use text::Snapshot;

use super::suggesting::{Heard, open_with_keys};
use crate::editor::light_bulb::{BulbColumn, shown};
use crate::{CodeActionSource, Editor, EditorEvent, LanguageSources};

/// A source whose requests wait until the test answers them.
#[derive(Default)]
struct ScriptedActions {
    requests: RefCell<Vec<(Span, async_channel::Sender<bool>)>>,
}

impl CodeActionSource for ScriptedActions {
    fn has_actions(&self, _: &Snapshot, span: Span, cx: &mut Context<Editor>) -> Task<bool> {
        let (sender, receiver) = async_channel::bounded(1);
        self.requests.borrow_mut().push((span, sender));
        cx.spawn(async move |_, _| receiver.recv().await.unwrap_or_default())
    }
}

/// A view with a scripted source.
struct Scene<'a> {
    editor: Entity<Editor>,
    source: Rc<ScriptedActions>,
    cx: &'a mut VisualTestContext,
    _heard: (Heard, Subscription),
}

fn open<'a>(path: &str, marked: &str, cx: &'a mut TestAppContext) -> Scene<'a> {
    let (editor, heard, subscription, cx) = open_with_keys(path, marked, cx);
    let source = Rc::new(ScriptedActions::default());
    editor.update(cx, |editor, _| {
        editor.set_language_sources(LanguageSources {
            code_actions: Some(source.clone()),
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
    fn rest(&mut self) {
        let executor = self.cx.executor();
        executor.advance_clock(Duration::from_millis(75));
        self.cx.run_until_parked();
    }

    /// Presses keys and waits until the caret rests.
    fn press(&mut self, keys: &str) {
        self.cx.simulate_keystrokes(keys);
        self.rest();
    }

    /// Answers the latest request, and returns the bytes that it was about.
    fn answer(&mut self, has_actions: bool) -> (usize, usize) {
        let (span, sender) = self.source.requests.borrow_mut().pop().expect("a request");
        // A cancelled request has no receiver.
        sender.try_send(has_actions).ok();
        self.cx.run_until_parked();
        (span.start.0, span.end.0)
    }

    /// Returns the row of the shown bulb, counted from 0, and its column.
    fn shown(&mut self) -> Option<(u32, BulbColumn)> {
        let shown = self.editor.read_with(self.cx, |editor, _| shown(editor));
        self.cx.run_until_parked();
        let is_drawn = self
            .cx
            .update(|window, _| window.try_find("light-bulb").is_some());
        assert_eq!(is_drawn, shown.is_some());
        shown.map(|bulb| (bulb.row.0, bulb.column))
    }

    fn requests(&self) -> usize {
        self.source.requests.borrow().len()
    }
}

#[gpui_kit::test]
fn the_bulb_is_shown_in_the_row_of_a_resting_caret(cx: &mut TestAppContext) {
    let mut scene = open("/a.txt", "ˇone\ntwo", cx);
    scene.cx.simulate_keystrokes("right");
    assert_eq!(scene.requests(), 0, "the caret has not rested");
    scene.rest();
    assert_eq!(scene.answer(true), (1, 1));
    assert_eq!(scene.shown(), Some((0, BulbColumn::Folds)));
    scene.press("right");
    assert_eq!(scene.shown(), Some((0, BulbColumn::Folds)), "it stays");
    scene.answer(false);
    assert_eq!(scene.shown(), None);
    scene.press("left");
    scene.answer(true);
    scene.press("down");
    assert_eq!(scene.shown(), None, "the caret left the row");
    assert_eq!(scene.answer(true), (5, 5));
    assert_eq!(scene.shown(), Some((1, BulbColumn::Folds)));
}

#[gpui_kit::test]
fn a_selection_is_asked_about_and_several_carets_are_not(cx: &mut TestAppContext) {
    let mut scene = open("/a.txt", "ˇone one", cx);
    scene.press("shift-right shift-right");
    assert_eq!(scene.answer(true), (0, 2));
    assert_eq!(scene.shown(), Some((0, BulbColumn::Folds)));
    scene.press("ctrl-home ctrl-d ctrl-d");
    assert_eq!((scene.shown(), scene.requests()), (None, 0));
}

#[gpui_kit::test]
fn a_later_key_cancels_the_request(cx: &mut TestAppContext) {
    let mut scene = open("/a.txt", "ˇone", cx);
    scene.press("right");
    scene.cx.simulate_input("x");
    assert!(scene.source.requests.borrow()[0].1.is_closed());
    scene.answer(true);
    assert_eq!(scene.shown(), None);
    scene.rest();
    assert_eq!(scene.answer(true), (2, 2));
    assert_eq!(scene.shown(), Some((0, BulbColumn::Folds)));
}

#[gpui_kit::test]
fn the_bulb_leaves_the_fold_arrow_its_place(cx: &mut TestAppContext) {
    let mut scene = open("/a.txt", "ˇif\n  then", cx);
    scene.press("right");
    scene.answer(true);
    assert_eq!(scene.shown(), Some((0, BulbColumn::Numbers)));
}

#[gpui_kit::test]
fn nothing_is_asked_if_the_setting_is_off(cx: &mut TestAppContext) {
    let mut scene = open("/a.txt", "ˇone", cx);
    scene
        .editor
        .update(scene.cx, |editor, _| editor.settings.light_bulb = false);
    scene.press("right");
    assert_eq!(scene.requests(), 0);
}

#[gpui_kit::test]
fn a_click_asks_the_window_for_the_actions(cx: &mut TestAppContext) {
    let mut scene = open("/a.txt", "ˇone\ntwo", cx);
    scene.press("right");
    scene.answer(true);
    let asked = Rc::new(RefCell::new(0));
    let _subscription = scene.cx.update(|_, cx| {
        let asked = asked.clone();
        cx.subscribe(&scene.editor, move |_, event, _| {
            if matches!(event, EditorEvent::CodeActionsRequested) {
                *asked.borrow_mut() += 1;
            }
        })
    });
    scene.cx.run_until_parked();
    scene.cx.update(|window, cx| window.click("light-bulb", cx));
    scene.cx.run_until_parked();
    assert_eq!(*asked.borrow(), 1);
    let selection = scene.editor.update(scene.cx, |editor, cx| {
        editor.selections(cx).primary().span()
    });
    assert_eq!(selection, Span::from(1..1), "the row is not selected");
}
