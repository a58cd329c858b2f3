//! Tests the keys of Vim in a view, with the real keymaps.

use std::sync::Arc;

use base::Platform;
use gpui_kit::{ClipboardItem, Entity, EntityInputHandler as _, TestAppContext, VisualTestContext};
use settings::{KeymapBase, Settings, builtin, parse_keymap};

use super::{open, state};
use crate::editor::vim_mode::{VimEvent, VimStatus, shows_hints, vim_status};
use crate::{Editor, EditorEvent};

/// Opens a marked text with the keys of Vim.
fn open_vim<'a>(
    path: &str,
    marked: &str,
    cx: &'a mut TestAppContext,
) -> (Entity<Editor>, &'a mut VisualTestContext) {
    let (editor, cx) = open(path, marked, cx);
    cx.update(|_, cx| {
        let keymaps = [
            builtin::keymap(KeymapBase::VsCode, Platform::Linux),
            builtin::VIM_KEYMAP,
        ];
        let keymaps = keymaps.map(|(name, text)| parse_keymap(name, text).0);
        // The actions of the window do not exist here.
        ui::install_keymaps(&keymaps, cx);
    });
    switch(&editor, true, cx);
    (editor, cx)
}

fn switch(editor: &Entity<Editor>, is_enabled: bool, cx: &mut VisualTestContext) {
    let mut settings = Settings::default();
    settings.vim.enabled = is_enabled;
    cx.update(|_, cx| ui::set_settings(Arc::new(settings), cx));
    editor.update(cx, |editor, cx| editor.follow_settings(cx));
    cx.run_until_parked();
}

/// Presses keys in Vim's notation.
fn press(keys: &str, cx: &mut VisualTestContext) {
    let mut rest = keys;
    while let Some(char) = rest.chars().next() {
        if let Some((name, behind)) = rest.strip_prefix('<').and_then(|it| it.split_once('>')) {
            let key = match name.to_ascii_lowercase().as_str() {
                "esc" => "escape".to_owned(),
                "cr" => "enter".to_owned(),
                "bs" => "backspace".to_owned(),
                "lt" => "<".to_owned(),
                name => name.replace("c-", "ctrl-"),
            };
            cx.simulate_keystrokes(&key);
            rest = behind;
            continue;
        }
        cx.simulate_input(char.encode_utf8(&mut [0; 4]));
        rest = &rest[char.len_utf8()..];
    }
}

fn status(editor: &Entity<Editor>, cx: &mut VisualTestContext) -> Option<VimStatus> {
    editor.read_with(cx, |editor, _| vim_status(editor))
}

/// Presses keys on a text and compares text and carets.
fn check(before: &str, keys: &str, after: &str, cx: &mut TestAppContext) {
    let (editor, cx) = open_vim("/a.rs", before, cx);
    press(keys, cx);
    assert_eq!(state(&editor, cx), after, "{before:?} {keys}");
}

#[gpui_kit::test]
fn commands_edit_and_text_is_typed_in_insert_mode(cx: &mut TestAppContext) {
    check("ˇone two three", "wcwnew<Esc>", "one neˇw three", cx);
}

#[gpui_kit::test]
fn dot_repeats_an_insertion(cx: &mut TestAppContext) {
    check("ˇone two three", "ciwx<Esc>w.", "x ˇx three", cx);
}

#[gpui_kit::test]
fn brackets_close_and_backspace_opens_them(cx: &mut TestAppContext) {
    let (editor, cx) = open_vim("/a.rs", "ˇ", cx);
    press("if(", cx);
    assert_eq!(state(&editor, cx), "f(ˇ)");
    press("<BS>", cx);
    assert_eq!(state(&editor, cx), "fˇ");
}

#[gpui_kit::test]
fn new_lines_are_indented_by_the_language(cx: &mut TestAppContext) {
    check("fn main() {ˇ\n}", "ox<Esc>", "fn main() {\n    ˇx\n}", cx);
}

#[gpui_kit::test]
fn an_insertion_is_one_step_of_undo(cx: &mut TestAppContext) {
    let (editor, cx) = open_vim("/a.txt", "ˇone\n", cx);
    press("ihello<CR>world <Esc>x", cx);
    press("u", cx);
    assert_eq!(state(&editor, cx), "hello\nworldˇ one\n");
    press("u", cx);
    assert_eq!(state(&editor, cx), "ˇone\n");
    press("<C-r>", cx);
    assert_eq!(state(&editor, cx), "ˇhello\nworld one\n");
}

#[gpui_kit::test]
fn the_editors_undo_leaves_insert_mode(cx: &mut TestAppContext) {
    let (editor, cx) = open_vim("/a.txt", "ˇone\n", cx);
    press("ihello", cx);
    cx.simulate_keystrokes("ctrl-z");
    assert_eq!(state(&editor, cx), "ˇone\n");
    assert_eq!(status(&editor, cx).map(|it| it.mode), Some("NORMAL"));
}

#[gpui_kit::test]
fn control_keys_go_before_those_of_the_editor(cx: &mut TestAppContext) {
    check("ˇab\ncd\nef", "<C-v>jlx", "ˇ\n\nef", cx);
    check("ˇ1 2", "5<C-a>", "ˇ6 2", cx);
}

#[gpui_kit::test]
fn visual_mode_selects_in_the_view(cx: &mut TestAppContext) {
    let (editor, cx) = open_vim("/a.txt", "ˇone two", cx);
    press("ve", cx);
    assert_eq!(state(&editor, cx), "«oneˇ» two");
    press("<Esc>", cx);
    assert_eq!(state(&editor, cx), "onˇe two");
}

#[gpui_kit::test]
fn a_selection_of_the_mouse_begins_visual_mode(cx: &mut TestAppContext) {
    let (editor, cx) = open_vim("/a.txt", "ˇone two", cx);
    editor.update(cx, |editor, cx| {
        editor.select(vec![(4..7).into()], crate::Reveal::Nearest, cx);
    });
    assert_eq!(status(&editor, cx).map(|it| it.mode), Some("VISUAL"));
    press("d", cx);
    assert_eq!(state(&editor, cx), "oneˇ ");
}

#[gpui_kit::test]
fn macros_run_with_counts_as_one_change(cx: &mut TestAppContext) {
    let (editor, cx) = open_vim("/a.txt", "ˇa\nb\nc\nd\n", cx);
    press("qqA;<Esc>jq", cx);
    press("3@q", cx);
    assert_eq!(state(&editor, cx), "a;\nb;\nc;\ndˇ;\n");
    press("u", cx);
    assert_eq!(state(&editor, cx), "a;\nˇb\nc\nd\n");
}

#[gpui_kit::test]
fn ex_commands_run_from_the_command_line(cx: &mut TestAppContext) {
    let (editor, cx) = open_vim("/a.txt", "ˇone\ntwo\none\n", cx);
    press(":%s/one/1", cx);
    assert_eq!(status(&editor, cx).map(|it| it.mode), Some("COMMAND"));
    press("<CR>", cx);
    assert_eq!(state(&editor, cx), "1\ntwo\nˇ1\n");
}

#[gpui_kit::test]
fn searches_highlight_their_matches(cx: &mut TestAppContext) {
    let (editor, cx) = open_vim("/a.txt", "ˇone two one", cx);
    press("/one<CR>", cx);
    assert_eq!(state(&editor, cx), "one two ˇone");
    let matches = |editor: &Editor| editor.find.matches_in(editor.snapshot.full_span()).len();
    assert_eq!(editor.read_with(cx, |editor, _| matches(editor)), 2);
    press(":noh<CR>", cx);
    assert_eq!(editor.read_with(cx, |editor, _| matches(editor)), 0);
}

#[gpui_kit::test]
fn registers_reach_the_clipboard(cx: &mut TestAppContext) {
    let (editor, cx) = open_vim("/a.txt", "ˇone two", cx);
    press("\"+yw", cx);
    let text = cx.read_from_clipboard().and_then(|item| item.text());
    assert_eq!(text.as_deref(), Some("one "));
    cx.write_to_clipboard(ClipboardItem::new_string("three ".to_owned()));
    press("\"+P", cx);
    assert_eq!(state(&editor, cx), "threeˇ one two");
}

#[gpui_kit::test]
fn the_status_shows_unfinished_keys_and_recording(cx: &mut TestAppContext) {
    let (editor, cx) = open_vim("/a.txt", "ˇone", cx);
    press("qa\"b2d", cx);
    let expected = VimStatus {
        mode: "OPERATOR",
        pending: "\"b2d".to_owned(),
        recording: Some('a'),
    };
    assert_eq!(status(&editor, cx), Some(expected));
}

#[gpui_kit::test]
fn hints_appear_after_a_prefix_and_go(cx: &mut TestAppContext) {
    let (editor, cx) = open_vim("/a.txt", "ˇone", cx);
    press("g", cx);
    assert!(!editor.read_with(cx, |editor, _| shows_hints(editor)));
    cx.executor()
        .advance_clock(std::time::Duration::from_millis(400));
    cx.run_until_parked();
    assert!(editor.read_with(cx, |editor, _| shows_hints(editor)));
    press("g", cx);
    assert!(!editor.read_with(cx, |editor, _| shows_hints(editor)));
}

#[gpui_kit::test]
fn input_methods_compose_in_insert_mode_only(cx: &mut TestAppContext) {
    let (editor, cx) = open_vim("/a.txt", "ˇone", cx);
    let accepts = |editor: &Entity<Editor>, cx: &mut VisualTestContext| {
        editor.update_in(cx, |editor, window, cx| {
            editor.accepts_text_input(window, cx)
        })
    };
    assert!(!accepts(&editor, cx));
    press("i", cx);
    assert!(accepts(&editor, cx));
    editor.update_in(cx, |editor, window, cx| {
        editor.replace_and_mark_text_in_range(None, "に", None, window, cx);
        editor.replace_and_mark_text_in_range(None, "にほ", None, window, cx);
        editor.replace_text_in_range(None, "日本", window, cx);
    });
    press("<Esc>", cx);
    assert_eq!(state(&editor, cx), "日ˇ本one");
    press(".", cx);
    assert_eq!(state(&editor, cx), "日日ˇ本本one");
}

#[gpui_kit::test]
fn commands_for_the_window_are_emitted_in_order(cx: &mut TestAppContext) {
    let (editor, cx) = open_vim("/a.txt", "ˇone", cx);
    let emitted = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let seen = emitted.clone();
    cx.update(|_, cx| {
        cx.subscribe(&editor, move |_, event: &EditorEvent, _| {
            if let EditorEvent::Vim(VimEvent::Commands(commands)) = event {
                seen.borrow_mut().extend(commands.clone());
            }
        })
        .detach();
    });
    press(":wq<CR>", cx);
    let expected = [
        vim::Effect::Write {
            path: None,
            condition: vim::WriteCondition::Always,
        },
        vim::Effect::Quit { is_forced: false },
    ];
    assert_eq!(*emitted.borrow(), expected);
}

#[gpui_kit::test]
fn carets_follow_edits_of_others(cx: &mut TestAppContext) {
    let (editor, cx) = open_vim("/a.txt", "one\nˇtwo\n", cx);
    let model = editor.read_with(cx, |editor, _| editor.model().clone());
    model.update(cx, |model, cx| {
        let edit = text::Edit::new((0..0).into(), "zero\n");
        model.edit(&[edit], text::Author::Formatter, cx);
    });
    press("x", cx);
    assert_eq!(state(&editor, cx), "zero\none\nˇwo\n");
}

#[gpui_kit::test]
fn switched_off_nothing_remains(cx: &mut TestAppContext) {
    let (editor, cx) = open_vim("/a.txt", "ˇone", cx);
    press("ix", cx);
    switch(&editor, false, cx);
    assert_eq!(status(&editor, cx), None);
    press("dd", cx);
    assert_eq!(state(&editor, cx).replace('ˇ', ""), "ddxone");
}
