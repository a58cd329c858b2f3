//! Tests typing, undo and copy with several carets.

use std::rc::Rc;

use base::Row;
use gpui_kit::{ClipboardItem, Entity, TestAppContext, VisualTestContext};

use super::{check, open, state};
use crate::frame::RowSegment;
use crate::{Editor, ModelEvent};

#[gpui_kit::test]
fn letters_go_where_the_carets_are(cx: &mut TestAppContext) {
    check("/a.txt", "aˇb\ncˇd", "x y", "axyˇb\ncxyˇd", cx);
}

#[gpui_kit::test]
fn brackets_close_and_undo_opens_them(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.rs", "fn main()ˇ", cx);
    cx.simulate_input(" {");
    assert_eq!(state(&editor, cx), "fn main() {ˇ}");
    cx.simulate_keystrokes("enter");
    assert_eq!(state(&editor, cx), "fn main() {\n    ˇ\n}");
    cx.simulate_keystrokes("ctrl-z ctrl-z");
    assert_eq!(state(&editor, cx), "fn main()ˇ");
    cx.simulate_keystrokes("ctrl-y ctrl-y");
    assert_eq!(state(&editor, cx), "fn main() {\n    ˇ\n}");
}

#[gpui_kit::test]
fn undo_brings_selections_back(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.txt", "«oneˇ» two «oneˇ»", cx);
    cx.simulate_input("x");
    assert_eq!(state(&editor, cx), "xˇ two xˇ");
    cx.simulate_keystrokes("ctrl-z");
    assert_eq!(state(&editor, cx), "«oneˇ» two «oneˇ»");
}

#[gpui_kit::test]
fn occurrences_become_carets(cx: &mut TestAppContext) {
    check("/a.txt", "ˇfoo foo foo", "ctrl-d ctrl-d x", "xˇ xˇ foo", cx);
}

#[gpui_kit::test]
fn carets_go_back_without_the_text(cx: &mut TestAppContext) {
    check("/a.txt", "abcˇ", "left left ctrl-u", "abˇc", cx);
}

#[gpui_kit::test]
fn pieces_are_pasted_at_their_carets(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.txt", "«oneˇ» «twoˇ»\n", cx);
    cx.simulate_keystrokes("ctrl-x");
    assert_eq!(state(&editor, cx), "ˇ ˇ\n");
    cx.simulate_keystrokes("ctrl-v");
    assert_eq!(state(&editor, cx), "oneˇ twoˇ\n");
}

/// Pastes rows from another program and expects them unchanged.
fn check_pasted(path: &str, before: &str, rows: &str, cx: &mut TestAppContext) {
    let (editor, cx) = open(path, before, cx);
    cx.write_to_clipboard(ClipboardItem::new_string(rows.to_owned()));
    cx.simulate_keystrokes("ctrl-v");
    assert_eq!(state(&editor, cx), before.replace('ˇ', &format!("{rows}ˇ")));
}

#[gpui_kit::test]
fn a_pasted_method_stays_a_method(cx: &mut TestAppContext) {
    let method = "    def m(self):\n        pass\n";
    check_pasted("/a.py", "class A:\n    x = 1\n\nˇ", method, cx);
}

#[gpui_kit::test]
fn a_pasted_recipe_keeps_its_tabs(cx: &mut TestAppContext) {
    check_pasted("/Makefile", "all:\nˇ", "\tcc a.c\n\t\tcc b.c", cx);
}

#[gpui_kit::test]
fn plain_text_is_pasted_as_it_was_copied(cx: &mut TestAppContext) {
    let stairs = "            a\n        b\n    c\n";
    check_pasted("/a.txt", "  ˇ\n", stairs, cx);
}

#[gpui_kit::test]
fn escape_steps_back_by_one_level(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.txt", "«aˇ» «bˇ»", cx);
    cx.simulate_keystrokes("escape");
    assert_eq!(state(&editor, cx), "a «bˇ»");
    cx.simulate_keystrokes("escape");
    assert_eq!(state(&editor, cx), "a bˇ");
}

#[gpui_kit::test]
fn a_read_only_text_refuses_in_words(cx: &mut TestAppContext) {
    use std::cell::RefCell;
    use std::rc::Rc;

    let (editor, cx) = open("/a.txt", "aˇ", cx);
    let told = Rc::new(RefCell::new(Vec::new()));
    let heard = told.clone();
    let _subscription = cx.update(|_, cx| {
        cx.subscribe(&editor, move |_, event: &crate::EditorEvent, _| {
            if let crate::EditorEvent::Refused(reason) = event {
                heard.borrow_mut().push(reason.clone());
            }
        })
    });
    let files = std::sync::Arc::new(host::FakeFiles::new());
    let path = base::AbsPath::new("/b.bin").unwrap();
    files.write(&path, b"x\0\xff\xfe\0\0\x01");
    let cancel = std::sync::atomic::AtomicBool::new(false);
    let loaded = project::load(files.as_ref(), &path, project::Binary::ShowLossy, &cancel).unwrap();
    let model = cx.update(|_, cx| {
        crate::DocumentModel::open(
            project::Document::from_loaded(loaded),
            crate::fixture::environment(),
            cx,
        )
    });
    editor.update(cx, |editor, cx| {
        editor.model = model;
        editor.reset_after(editor.model.read(cx).snapshot());
    });
    cx.simulate_input("y");
    assert!(!state(&editor, cx).contains('y'));
    assert_eq!(told.borrow().len(), 1, "{told:?}");
    assert!(told.borrow()[0].contains("it is not text"), "{told:?}");
}

/// Simulates the end of a parse in the background.
fn parsed(editor: &Entity<Editor>, cx: &mut VisualTestContext) {
    let model = editor.read_with(cx, |editor, _| editor.model.clone());
    model.update(cx, |_, cx| cx.emit(ModelEvent::SyntaxUpdated));
    cx.run_until_parked();
}

#[gpui_kit::test]
fn a_parse_after_a_key_keeps_other_rows_shapes(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.rs", "fn one() {}\nˇ\nfn two() {}\n", cx);
    let whole = RowSegment {
        wrap: 0,
        cells: None,
    };
    let shape = |cx: &mut VisualTestContext| {
        let shape = editor.update(cx, |editor, _| editor.rows.shape(Row(2), whole));
        shape.expect("the row was drawn")
    };
    let before = shape(cx);
    cx.simulate_input("x");
    parsed(&editor, cx);
    assert!(Rc::ptr_eq(&before, &shape(cx)));
}

#[gpui_kit::test]
fn a_chosen_indentation_stays_whatever_is_typed(cx: &mut TestAppContext) {
    let (editor, cx) = open(
        "/a.rs",
        "fn a() {\n  b();\n  if c {\n    d();\n  }\n}ˇ\n",
        cx,
    );
    let indentation =
        |cx: &mut VisualTestContext| editor.update(cx, |editor, _| editor.indentation());
    assert_eq!(indentation(cx), (false, 2), "what the text tells");
    editor.update(cx, |editor, cx| editor.set_indentation(true, 8, cx));
    cx.simulate_input(" ");
    parsed(&editor, cx);
    assert_eq!(indentation(cx), (true, 8));
}
