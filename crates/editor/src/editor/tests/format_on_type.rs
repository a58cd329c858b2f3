//! Tests formatting as the user types, with the default keys and a scripted source.

use std::cell::RefCell;
use std::rc::Rc;

use base::{ByteOffset, Span};
use gpui_kit::{App, Entity, Subscription, Task, TestAppContext, VisualTestContext};
use text::Edit;

use super::state;
use super::suggesting::{Heard, open_with_keys};
use crate::{Editor, LanguageSources, TypeFormatQuery, TypeFormatter};

/// A source whose requests wait until the test answers them.
#[derive(Default)]
struct ScriptedFormatter {
    requests: RefCell<Vec<(TypeFormatQuery, async_channel::Sender<Vec<Edit>>)>>,
}

impl TypeFormatter for ScriptedFormatter {
    fn triggers(&self, _: &App) -> Vec<char> {
        vec![';', '\n']
    }

    fn format(&self, query: TypeFormatQuery, cx: &mut App) -> Task<Vec<Edit>> {
        let (sender, receiver) = async_channel::bounded(1);
        self.requests.borrow_mut().push((query, sender));
        cx.spawn(async move |_| receiver.recv().await.unwrap_or_default())
    }
}

/// A view with a scripted source.
struct Scene<'a> {
    editor: Entity<Editor>,
    source: Rc<ScriptedFormatter>,
    cx: &'a mut VisualTestContext,
    _heard: (Heard, Subscription),
}

fn open<'a>(marked: &str, cx: &'a mut TestAppContext) -> Scene<'a> {
    let (editor, heard, subscription, cx) = open_with_keys("/a.txt", marked, cx);
    let source = Rc::new(ScriptedFormatter::default());
    editor.update(cx, |editor, _| {
        editor.set_language_sources(LanguageSources {
            type_formatter: Some(source.clone()),
            ..LanguageSources::default()
        });
        editor.settings.format_on_type = true;
    });
    Scene {
        editor,
        source,
        cx,
        _heard: (heard, subscription),
    }
}

impl Scene<'_> {
    fn input(&mut self, text: &str) {
        self.cx.simulate_input(text);
        self.cx.run_until_parked();
    }

    fn press(&mut self, keys: &str) {
        self.cx.simulate_keystrokes(keys);
        self.cx.run_until_parked();
    }

    /// Answers the only request with one edit, and returns its character and offset.
    fn answer(&mut self, span: std::ops::Range<usize>, text: &str) -> (char, ByteOffset) {
        let (query, sender) = self.source.requests.borrow_mut().pop().expect("a request");
        assert_eq!(self.requests(), 0, "one request is under way");
        // A cancelled request has no receiver.
        sender
            .try_send(vec![Edit::new(Span::from(span), text)])
            .ok();
        self.cx.run_until_parked();
        (query.typed, query.offset)
    }

    fn text(&mut self) -> String {
        state(&self.editor, self.cx)
    }

    fn requests(&self) -> usize {
        self.source.requests.borrow().len()
    }
}

#[gpui_kit::test]
fn a_trigger_character_formats_the_text_around_it(cx: &mut TestAppContext) {
    let mut scene = open("a  =1ˇ\n", cx);
    scene.input("x");
    assert_eq!(scene.requests(), 0);
    scene.input(";");
    assert_eq!(scene.answer(1..4, " = "), (';', ByteOffset(7)));
    assert_eq!(scene.text(), "a = 1x;ˇ\n");
    scene.press("ctrl-z");
    assert_eq!(
        scene.text(),
        "a  =1x;ˇ\n",
        "formatting is a step of its own"
    );
    scene.press("ctrl-y");
    assert_eq!(scene.text(), "a = 1x;ˇ\n");
}

#[gpui_kit::test]
fn a_new_row_is_indented_before_the_caret(cx: &mut TestAppContext) {
    let mut scene = open("if aˇ", cx);
    scene.press("enter");
    assert_eq!(scene.answer(5..5, "  "), ('\n', ByteOffset(5)));
    assert_eq!(scene.text(), "if a\n  ˇ");
}

#[gpui_kit::test]
fn an_answer_about_an_older_text_is_dropped(cx: &mut TestAppContext) {
    let mut scene = open("a  =1ˇ", cx);
    scene.input(";");
    scene.input("y");
    scene.answer(1..4, " = ");
    assert_eq!(scene.text(), "a  =1;yˇ");
    // An edit elsewhere outdates it as well.
    scene.input(";");
    let model = scene
        .editor
        .read_with(scene.cx, |editor, _| editor.model().clone());
    model.update(scene.cx, |model, cx| {
        let edit = Edit::new(Span::from(0..1), "b");
        model.edit(&[edit], text::Author::Disk, cx);
    });
    scene.answer(1..4, " = ");
    assert_eq!(scene.text(), "b  =1;y;ˇ");
}

#[gpui_kit::test]
fn a_moved_caret_keeps_its_place_in_the_formatted_text(cx: &mut TestAppContext) {
    let mut scene = open("a  =1ˇ", cx);
    scene.input(";");
    scene.press("left left");
    scene.answer(1..4, " = ");
    assert_eq!(scene.text(), "a = ˇ1;");
}

#[gpui_kit::test]
fn nothing_is_asked_with_several_carets(cx: &mut TestAppContext) {
    let mut scene = open("aˇ\nbˇ", cx);
    scene.input(";");
    assert_eq!(scene.requests(), 0);
}

#[gpui_kit::test]
fn nothing_is_asked_without_the_setting(cx: &mut TestAppContext) {
    let mut scene = open("aˇ", cx);
    scene
        .editor
        .update(scene.cx, |editor, _| editor.settings.format_on_type = false);
    scene.input(";");
    assert_eq!(scene.requests(), 0);
}
