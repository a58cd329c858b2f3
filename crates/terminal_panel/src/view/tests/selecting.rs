//! Selection with the mouse, and copies of it.

use gpui_kit::{Modifiers, MouseButton, MouseDownEvent, MouseUpEvent, TestAppContext};

use super::{Story, open};

fn click(story: &mut Story, row: u16, column: u16, count: usize) {
    let position = story.cell(row, column);
    let modifiers = Modifiers::default();
    story.cx.simulate_event(MouseDownEvent {
        position,
        button: MouseButton::Left,
        modifiers,
        click_count: count,
        first_mouse: false,
    });
    story.cx.simulate_event(MouseUpEvent {
        position,
        button: MouseButton::Left,
        modifiers,
        click_count: count,
    });
    story.settle();
}

#[gpui_kit::test]
fn a_copy_has_no_newline_where_a_row_wrapped(cx: &mut TestAppContext) {
    let mut story = open(cx);
    let columns = usize::from(story.read(|view| view.size.columns));
    let long = "0123456789".repeat(columns / 10 + 2);
    story.print(&format!("{long}\r\nnext   \r\n"));
    let (from, to) = (story.cell(0, 0), story.cell_end(2, 70));
    story.drag(from, to, Modifiers::default());
    story.keys("ctrl-shift-c");
    assert_eq!(story.clipboard(), Some(format!("{long}\nnext")));
    assert_eq!(
        story.sent("ctrl-shift-c"),
        "",
        "the key is not the program's"
    );
}

#[gpui_kit::test]
fn clicks_select_words_and_lines(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.print("alpha beta\r\ngamma");
    click(&mut story, 0, 7, 2);
    assert_eq!(
        story.read(|view| view.selected_text()).as_deref(),
        Some("beta")
    );
    click(&mut story, 0, 7, 3);
    let line = story.read(|view| view.selected_text());
    assert_eq!(line.as_deref().map(str::trim_end), Some("alpha beta"));
    click(&mut story, 1, 2, 1);
    assert_eq!(story.read(|view| view.selected_text()), None);
}

#[gpui_kit::test]
fn alt_selects_a_rectangle(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.print("abcd\r\nefgh\r\nijkl");
    let (from, to) = (story.cell(0, 1), story.cell_end(2, 2));
    let alt = Modifiers {
        alt: true,
        ..Modifiers::default()
    };
    story.drag(from, to, alt);
    let parts = story.read(|view| view.parts_in_view(view.selection().unwrap()));
    assert_eq!(parts.len(), 3);
    assert!(parts.iter().all(|(_, column, _)| *column == 1));
}

#[gpui_kit::test]
fn the_selection_is_copied_at_once_if_set(cx: &mut TestAppContext) {
    let mut settings = settings::Settings::builtin();
    settings.terminal.copy_on_select = true;
    let mut story = super::open_with(settings, cx);
    story.print("alpha beta");
    click(&mut story, 0, 1, 2);
    assert_eq!(story.clipboard().as_deref(), Some("alpha"));
    story.keys("ctrl-shift-a");
    assert_eq!(
        story
            .read(|view| view.selected_text())
            .as_deref()
            .map(str::trim_end),
        Some("alpha beta")
    );
}
