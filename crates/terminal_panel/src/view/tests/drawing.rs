//! Rows are shaped once, and restored text fills the space above the program's.

use gpui_kit::TestAppContext;

use super::open;
use crate::frame::StrokeKind;
use crate::view::TerminalView;

#[gpui_kit::test]
fn unchanged_rows_are_not_shaped_again(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.print("one\r\ntwo\r\nthree\r\n");
    let shaped = |view: &TerminalView| view.rows.shaped();
    let before = story.read(shaped);
    story.view.update(story.cx, |_, cx| cx.notify());
    story.settle();
    assert_eq!(story.read(shaped), before, "a frame without changes");
    story.print("four");
    assert_eq!(story.read(shaped), before + 1, "one changed row");
    story.print("\x1b[2;1H");
    assert_eq!(
        story.read(shaped),
        before + 1,
        "a moved cursor changes no row"
    );
    let mut settings = settings::Settings::builtin();
    settings.terminal.font_size = 20.0;
    story
        .cx
        .update(|_, cx| ui::set_settings(std::sync::Arc::new(settings), cx));
    story.settle();
    assert!(
        story.read(shaped) > before + 4,
        "another font shapes all rows"
    );
}

#[gpui_kit::test]
fn glyphs_begin_at_their_cells(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.print("a\u{4e2d}b \u{2500}e\u{301}\x1b[1;4:3;9mX\x1b[m\x1b[41m \x1b[m\x1b[8mhid");
    let row = story.view.update_in(story.cx, |view, window, cx| {
        view.refresh(cx);
        let palette = view.current_palette(window, cx);
        let row = view.contents.snapshot.rows[0].clone();
        crate::frame::shape(&row, &palette, window)
    });
    let columns: Vec<u16> = row.glyphs.iter().map(|glyph| glyph.column).collect();
    for column in [0, 1, 3, 6, 7] {
        assert!(columns.contains(&column), "{column} in {columns:?}");
    }
    assert!(
        columns.iter().all(|column| *column <= 7),
        "hidden cells have no glyph"
    );
    assert_eq!(
        row.drawn.iter().map(|it| (it.0, it.1)).collect::<Vec<_>>(),
        [(5, '\u{2500}')]
    );
    assert_eq!(
        row.grounds
            .iter()
            .map(|it| (it.0, it.1))
            .collect::<Vec<_>>(),
        [(8, 1)]
    );
    let kinds: Vec<StrokeKind> = row.strokes.iter().map(|it| it.kind).collect();
    let curly = StrokeKind::Underline(terminal::Underline::Curly);
    assert_eq!(kinds, [curly, StrokeKind::Strikethrough]);
}

#[gpui_kit::test]
fn a_scrolled_view_stays_when_output_comes(cx: &mut TestAppContext) {
    let mut story = open(cx);
    let lines: String = (0..200).map(|ix| format!("line {ix}\r\n")).collect();
    story.print(&lines);
    story.keys("shift-pageup");
    let before = story.rows();
    assert!(!before.contains(&"line 199".to_owned()));
    story.print("new line\r\nand another\r\n");
    assert_eq!(story.rows(), before);
    story.keys("shift-home");
    assert_eq!(story.rows()[0], "line 0");
    story.keys("shift-end");
    assert!(story.rows().contains(&"and another".to_owned()));
    story.keys("shift-pageup");
    assert_eq!(story.sent("x"), "x");
    assert!(
        story.rows().contains(&"and another".to_owned()),
        "typing follows the output"
    );
}
