//! Copy mode by its keys: motions, selections, search, and output meanwhile.

use gpui_kit::{Role, TestAppContext};
use terminal::CellPosition;

use super::{Story, open};

/// Opens a terminal that shows numbered lines of two words, and starts copy mode at its end.
fn start(cx: &mut TestAppContext) -> Story<'_> {
    let mut story = open(cx);
    let lines: String = (0..200).map(|ix| format!("line number-{ix}\r\n")).collect();
    story.print(&(lines + "the end"));
    story.keys("ctrl-shift-space");
    assert!(story.read(|view| view.is_copying()));
    story
}

fn cursor(story: &mut Story) -> (u64, u16) {
    let snapshot = story.read(|view| view.contents.snapshot.cursor);
    let CellPosition { line, column } = snapshot.expect("the cursor is in view").position;
    (line.0, column)
}

fn selected(story: &mut Story) -> Option<String> {
    story.read(|view| view.selected_text())
}

#[gpui_kit::test]
fn copy_mode_shows_a_badge_and_keeps_keys_from_the_program(cx: &mut TestAppContext) {
    let mut story = start(cx);
    assert!(story.labels(Role::Status).contains(&"Copy mode".to_owned()));
    assert_eq!(story.sent("x z tab space a ctrl-c enter"), "");
    assert!(
        !story.read(|view| view.is_copying()),
        "Enter copies and ends"
    );
    assert_eq!(story.clipboard().as_deref(), Some("the end"));
    assert_eq!(story.sent("x"), "x");
    for end in ["escape", "q", "ctrl-shift-space"] {
        story.keys("ctrl-shift-space g");
        assert_eq!(cursor(&mut story), (0, 0));
        assert_eq!(story.sent(end), "", "{end}");
        assert!(!story.read(|view| view.is_copying()), "{end}");
        assert!(
            story.rows().contains(&"the end".to_owned()),
            "the view follows the output after {end}"
        );
    }
}

#[gpui_kit::test]
fn motions_of_the_editor_move_and_shift_selects(cx: &mut TestAppContext) {
    let mut story = start(cx);
    story.keys("ctrl-home");
    assert_eq!(cursor(&mut story), (0, 0));
    story.keys("down down right");
    assert_eq!(cursor(&mut story), (2, 1));
    story.keys("ctrl-right shift-end");
    assert_eq!(selected(&mut story).as_deref(), Some("number-2"));
    story.keys("shift-down");
    assert_eq!(
        selected(&mut story).as_deref(),
        Some("number-2\nline number-3")
    );
    story.keys("left");
    assert_eq!(selected(&mut story), None, "a plain motion ends it");
    story.keys("home shift-up");
    assert_eq!(selected(&mut story).as_deref(), Some("line number-2\nl"));
    let rows = u64::from(story.read(|view| view.size.rows));
    story.keys("home pagedown");
    assert_eq!(cursor(&mut story).0, 2 + rows);
    story.keys("pageup ctrl-end");
    assert_eq!(cursor(&mut story).0, 200);
}

#[gpui_kit::test]
fn motions_of_vim_move(cx: &mut TestAppContext) {
    let mut story = start(cx);
    let cases = [
        ("g j j l l", (2, 2)),
        ("h k", (1, 1)),
        ("w", (1, 5)),
        ("e", (1, 12)),
        ("b", (1, 5)),
        ("0", (1, 0)),
        ("$", (1, 12)),
        ("^", (1, 0)),
        ("shift-g 0", (200, 0)),
    ];
    for (keys, place) in cases {
        story.keys(keys);
        assert_eq!(cursor(&mut story), place, "{keys}");
    }
    let first = story.read(|view| view.contents.snapshot.first_line.0);
    let rows = u64::from(story.read(|view| view.size.rows));
    story.keys("shift-h");
    assert_eq!(cursor(&mut story).0, first);
    story.keys("shift-l");
    assert_eq!(cursor(&mut story).0, first + rows - 1);
    story.keys("shift-m");
    assert_eq!(cursor(&mut story).0, first + rows / 2 - 1);
    story.keys("{");
    assert_eq!(cursor(&mut story), (0, 0), "there is no blank line above");
    story.keys("}");
    assert!(cursor(&mut story).0 >= 200);
}

#[gpui_kit::test]
fn selections_of_vim_are_copied(cx: &mut TestAppContext) {
    let mut story = start(cx);
    let cases = [
        ("g v e y", "line"),
        ("g j v j 0 y", "line number-1\nl"),
        ("g j shift-v j y", "line number-1\nline number-2"),
        ("g l ctrl-v j l y", "in\nin"),
        ("g $ v 0 y", "line number-0"),
        ("g w v $ o y", "number-0"),
        ("g j j y", "line number-2"),
    ];
    for (keys, text) in cases {
        story.keys(keys);
        assert_eq!(story.clipboard().as_deref(), Some(text), "{keys}");
        assert_eq!(selected(&mut story), None, "{keys}");
        story.keys("ctrl-shift-space");
    }
    story.keys("g v l");
    assert_eq!(selected(&mut story).as_deref(), Some("li"));
    story.keys("v");
    assert_eq!(selected(&mut story), None, "the same key ends it");
}

#[gpui_kit::test]
fn output_moves_neither_the_view_nor_the_cursor_of_copy_mode(cx: &mut TestAppContext) {
    let mut story = start(cx);
    story.keys("k k v l");
    let (rows, place) = (story.rows(), cursor(&mut story));
    story.print("\r\nmore\r\nand more\r\n");
    for ix in 0..30 {
        story.print(&format!("later {ix}\r\n"));
    }
    assert_eq!(story.rows(), rows);
    assert_eq!(cursor(&mut story), place);
    story.keys("l");
    assert_eq!(cursor(&mut story), (place.0, place.1 + 1));
    let text = selected(&mut story).expect("a selection");
    assert_eq!(text.len(), 3, "{text}");
    story.keys("escape");
    assert!(story.rows().contains(&"later 29".to_owned()));
}

#[gpui_kit::test]
fn the_search_of_copy_mode_moves_its_cursor(cx: &mut TestAppContext) {
    let mut story = start(cx);
    story.keys("g /");
    story.cx.simulate_input("number-15");
    story.settle();
    assert_eq!(cursor(&mut story), (15, 5));
    story.keys("enter");
    assert!(story.read(|view| view.search.bar.is_none() && view.is_copying()));
    story.keys("n");
    assert_eq!(cursor(&mut story), (150, 5));
    story.keys("n n");
    assert_eq!(cursor(&mut story), (152, 5));
    story.keys("shift-n");
    assert_eq!(cursor(&mut story), (151, 5));
    story.keys("?");
    story.cx.simulate_input("number-9");
    story.settle();
    assert_eq!(cursor(&mut story), (99, 5), "the nearest above");
    story.keys("enter n");
    assert_eq!(cursor(&mut story), (98, 5));
    story.keys("v w y");
    assert!(
        story
            .clipboard()
            .is_some_and(|text| text.starts_with("number-98"))
    );
    assert_eq!(story.program().take_input(), "");
}

#[gpui_kit::test]
fn a_paste_ends_copy_mode(cx: &mut TestAppContext) {
    let mut story = start(cx);
    story.keys("g shift-v y ctrl-shift-space g");
    assert_eq!(story.clipboard().as_deref(), Some("line number-0"));
    assert_eq!(story.sent("ctrl-shift-v"), "line number-0");
    assert!(!story.read(|view| view.is_copying()));
}
