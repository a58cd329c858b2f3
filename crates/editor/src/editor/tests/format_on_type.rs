//! Tests formatting as the user types, with the default keys and a scripted source.

use std::rc::Rc;

use base::{ByteOffset, Span};
use gpui_kit::{App, Task, TestAppContext};
use text::Edit;

use super::scripted::{Scene, Scripted, language_scene};
use crate::{LanguageSources, TypeFormatQuery, TypeFormatter};

type Source = Scripted<TypeFormatQuery, Vec<Edit>>;

impl TypeFormatter for Source {
    fn triggers(&self, _: &App) -> Vec<char> {
        vec![';', '\n']
    }

    fn format(&self, query: TypeFormatQuery, cx: &mut App) -> Task<Vec<Edit>> {
        let answer = self.ask(query);
        cx.spawn(async move |_| answer.recv().await.unwrap_or_default())
    }
}

fn open<'a>(marked: &str, cx: &'a mut TestAppContext) -> Scene<'a, Source> {
    let sources = |type_formatter: Rc<Source>| LanguageSources {
        type_formatter: Some(type_formatter),
        ..LanguageSources::default()
    };
    let scene = language_scene("/a.txt", marked, sources, cx);
    scene
        .editor
        .update(scene.cx, |editor, _| editor.settings.format_on_type = true);
    scene
}

impl Scene<'_, Source> {
    /// Answers the only request with one edit, and returns its character and offset.
    fn answer(&mut self, span: std::ops::Range<usize>, text: &str) -> (char, ByteOffset) {
        assert_eq!(self.requests(), 1, "one request is under way");
        let query = self.reply(vec![Edit::new(Span::from(span), text)]);
        (query.typed, query.offset)
    }
}

#[gpui_kit::test]
fn a_trigger_character_formats_the_text_around_it(cx: &mut TestAppContext) {
    let mut scene = open("a  =1ˇ\n", cx);
    scene.press("_x");
    assert_eq!(scene.requests(), 0);
    scene.press("_;");
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
    scene.press("_;");
    scene.press("_y");
    scene.answer(1..4, " = ");
    assert_eq!(scene.text(), "a  =1;yˇ");
    // An edit elsewhere outdates it as well.
    scene.press("_;");
    scene.model.update(scene.cx, |model, cx| {
        let edit = Edit::new(Span::from(0..1), "b");
        model.edit(&[edit], text::Author::Disk, cx);
    });
    scene.answer(1..4, " = ");
    assert_eq!(scene.text(), "b  =1;y;ˇ");
}

#[gpui_kit::test]
fn a_moved_caret_keeps_its_place_in_the_formatted_text(cx: &mut TestAppContext) {
    let mut scene = open("a  =1ˇ", cx);
    scene.press("_;");
    scene.press("left left");
    scene.answer(1..4, " = ");
    assert_eq!(scene.text(), "a = ˇ1;");
}

#[gpui_kit::test]
fn nothing_is_asked_with_several_carets(cx: &mut TestAppContext) {
    let mut scene = open("aˇ\nbˇ", cx);
    scene.press("_;");
    assert_eq!(scene.requests(), 0);
}

#[gpui_kit::test]
fn nothing_is_asked_without_the_setting(cx: &mut TestAppContext) {
    let mut scene = open("aˇ", cx);
    scene
        .editor
        .update(scene.cx, |editor, _| editor.settings.format_on_type = false);
    scene.press("_;");
    assert_eq!(scene.requests(), 0);
}
