//! Tests the light bulb in a view with the default keys and a scripted source.

use std::rc::Rc;

use base::Span;
use gpui_kit::test::TestWindowExt as _;
use gpui_kit::{Context, Task, TestAppContext};
use text::Snapshot;

use super::scripted::{Scene, Scripted, language_scene};
use crate::editor::light_bulb::{BulbColumn, shown};
use crate::{CodeActionSource, Editor, EditorEvent, LanguageSources};

type Source = Scripted<Span, bool>;

impl CodeActionSource for Source {
    fn has_actions(&self, _: &Snapshot, span: Span, cx: &mut Context<Editor>) -> Task<bool> {
        let answer = self.ask(span);
        cx.spawn(async move |_, _| answer.recv().await.unwrap_or_default())
    }
}

fn open<'a>(marked: &str, cx: &'a mut TestAppContext) -> Scene<'a, Source> {
    let sources = |code_actions: Rc<Source>| LanguageSources {
        code_actions: Some(code_actions),
        ..LanguageSources::default()
    };
    language_scene("/a.txt", marked, sources, cx)
}

impl Scene<'_, Source> {
    /// Answers the latest request, and returns the bytes that it was about.
    fn answer(&mut self, has_actions: bool) -> (usize, usize) {
        let span = self.reply(has_actions);
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
}

#[gpui_kit::test]
fn the_bulb_is_shown_in_the_row_of_a_resting_caret(cx: &mut TestAppContext) {
    let mut scene = open("ˇone\ntwo", cx);
    scene.cx.simulate_keystrokes("right");
    assert_eq!(scene.requests(), 0, "the caret has not rested");
    scene.rest(75);
    assert_eq!(scene.answer(true), (1, 1));
    assert_eq!(scene.shown(), Some((0, BulbColumn::Folds)));
    scene.press_and_rest("right");
    assert_eq!(scene.shown(), Some((0, BulbColumn::Folds)), "it stays");
    scene.answer(false);
    assert_eq!(scene.shown(), None);
    scene.press_and_rest("left");
    scene.answer(true);
    scene.press_and_rest("down");
    assert_eq!(scene.shown(), None, "the caret left the row");
    assert_eq!(scene.answer(true), (5, 5));
    assert_eq!(scene.shown(), Some((1, BulbColumn::Folds)));
}

#[gpui_kit::test]
fn a_selection_is_asked_about_and_several_carets_are_not(cx: &mut TestAppContext) {
    let mut scene = open("ˇone one", cx);
    scene.press_and_rest("shift-right shift-right");
    assert_eq!(scene.answer(true), (0, 2));
    assert_eq!(scene.shown(), Some((0, BulbColumn::Folds)));
    scene.press_and_rest("ctrl-home ctrl-d ctrl-d");
    assert_eq!((scene.shown(), scene.requests()), (None, 0));
}

#[gpui_kit::test]
fn a_later_key_cancels_the_request(cx: &mut TestAppContext) {
    let mut scene = open("ˇone", cx);
    scene.press_and_rest("right");
    scene.cx.simulate_input("x");
    assert!(scene.source.is_cancelled());
    scene.answer(true);
    assert_eq!(scene.shown(), None);
    scene.rest(75);
    assert_eq!(scene.answer(true), (2, 2));
    assert_eq!(scene.shown(), Some((0, BulbColumn::Folds)));
}

#[gpui_kit::test]
fn the_bulb_leaves_the_fold_arrow_its_place(cx: &mut TestAppContext) {
    let mut scene = open("ˇif\n  then", cx);
    scene.press_and_rest("right");
    scene.answer(true);
    assert_eq!(scene.shown(), Some((0, BulbColumn::Numbers)));
}

#[gpui_kit::test]
fn nothing_is_asked_if_the_setting_is_off(cx: &mut TestAppContext) {
    let mut scene = open("ˇone", cx);
    scene
        .editor
        .update(scene.cx, |editor, _| editor.settings.light_bulb = false);
    scene.press_and_rest("right");
    assert_eq!(scene.requests(), 0);
}

#[gpui_kit::test]
fn a_click_asks_the_window_for_the_actions(cx: &mut TestAppContext) {
    let mut scene = open("ˇone\ntwo", cx);
    scene.press_and_rest("right");
    scene.answer(true);
    scene.heard.take();
    scene.cx.update(|window, cx| window.click("light-bulb", cx));
    scene.cx.run_until_parked();
    assert_eq!(scene.heard.take(), [EditorEvent::CodeActionsRequested]);
    let selection = scene.editor.update(scene.cx, |editor, cx| {
        editor.selections(cx).primary().span()
    });
    assert_eq!(selection, Span::from(1..1), "the row is not selected");
}
