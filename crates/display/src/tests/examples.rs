//! Readable examples.

use base::{Bias, ByteOffset, Row, Span};
use text::{Buffer, EditOrigin, Timestamp};

use super::set_inlays;
use crate::{
    BlockSpec, DisplayLine, DisplayMap, DisplayOptions, DisplayPoint, DisplayRow, Inlay, InlayId,
    Placement,
};

fn map(text: &str, wrap: Option<u32>) -> DisplayMap {
    let options = DisplayOptions { tab_width: 4, wrap };
    let mut map = DisplayMap::new(Buffer::new(text).snapshot(), options);
    while let Some(job) = map.wrap_job() {
        let done = job
            .run(&std::sync::atomic::AtomicBool::new(false))
            .expect("not cancelled");
        map.accept(done);
    }
    map
}

/// Returns the painted text, row by row, with dots for the hanging indent.
fn screen(map: &DisplayMap) -> Vec<String> {
    let snapshot = map.snapshot();
    let rows = 0..snapshot.row_count();
    rows.map(|row| {
        let line = snapshot.line(DisplayRow(row));
        ".".repeat(line.indent_cells as usize) + &line.text
    })
    .collect()
}

fn check_wrap(text: &str, cells: u32, rows: &[&str]) {
    assert_eq!(screen(&map(text, Some(cells))), rows, "{text:?} in {cells}");
}

#[test]
fn lines_wrap_between_words_and_hang() {
    check_wrap("one two three", 7, &["one two ", "three"]);
    check_wrap("one two three", 8, &["one two ", "three"]);
    check_wrap("  if a then b", 8, &["  if a ", "..then b"]);
    check_wrap("abcdefghij", 4, &["abcd", "efgh", "ij"]);
    check_wrap("        deep", 8, &["        ", "....deep"]);
    check_wrap("漢字漢字", 5, &["漢字", "漢字"]);
    check_wrap("漢字。字", 4, &["漢", "字。", "字"]);
    check_wrap("a\tb c", 5, &["a   b ", "c"]);
    check_wrap("short\n\nlines\r\n", 20, &["short", "", "lines", ""]);
}

#[test]
fn folds_join_rows() {
    let mut map = map("fn f() {\n    body\n}\nend", None);
    map.fold(&[Span::new(ByteOffset(8), ByteOffset(18))]);
    assert_eq!(screen(&map), ["fn f() {⋯}", "end"]);
    let snapshot = map.snapshot();
    assert_eq!(snapshot.buffer_row(DisplayRow(1)), (Row(3), true));
    assert!(snapshot.is_hidden(Row(1)) && snapshot.is_hidden(Row(2)));
    assert!(snapshot.fold_containing(ByteOffset(12)).is_some());
    map.unfold(Span::at(ByteOffset(12)));
    assert_eq!(screen(&map).len(), 4);
}

#[test]
fn inlays_stand_between_bytes() {
    let mut map = map("let x = 1;", None);
    let inlay = |id, at, text: &str| Inlay {
        id: InlayId(id),
        at: ByteOffset(at),
        bias: Bias::Right,
        text: text.into(),
    };
    set_inlays(
        &mut map,
        vec![inlay(1, 5, ": i32"), inlay(2, 10, " // one")],
    );
    assert_eq!(screen(&map), ["let x: i32 = 1; // one"]);
    let snapshot = map.snapshot();
    assert_eq!(snapshot.to_display(ByteOffset(5), Bias::Left).cell, 5);
    assert_eq!(snapshot.to_display(ByteOffset(5), Bias::Right).cell, 10);
    map.splice_inlays(&[InlayId(1)], Vec::new());
    assert_eq!(screen(&map), ["let x = 1; // one"]);
}

#[test]
fn inlays_of_several_lines_break_rows() {
    let inlay = |at, text: &str| Inlay {
        id: InlayId(1),
        at: ByteOffset(at),
        bias: Bias::Right,
        text: text.into(),
    };
    for wrap in [None, Some(40)] {
        let mut map = map("  f();\nend", wrap);
        set_inlays(&mut map, vec![inlay(4, "a,\n\tb,\n  ")]);
        assert_eq!(screen(&map), ["  f(a,", "    b,", "  );", "end"]);
        let snapshot = map.snapshot();
        let segment = snapshot.line(DisplayRow(1)).segments[0].clone();
        assert_eq!((segment.inlay_start, segment.cells), (3, 4));
        assert_eq!(
            snapshot.to_display(ByteOffset(4), Bias::Left),
            DisplayPoint::new(0, 4)
        );
        assert_eq!(
            snapshot.to_display(ByteOffset(4), Bias::Right),
            DisplayPoint::new(2, 2)
        );
        assert_eq!(
            snapshot.to_display(ByteOffset(5), Bias::Left),
            DisplayPoint::new(2, 3)
        );
        assert_eq!(snapshot.buffer_row(DisplayRow(1)), (Row(0), false));
        assert_eq!(snapshot.buffer_row(DisplayRow(3)), (Row(1), true));
        // Rows of the inlay contain no offset of the text except the inlay's own.
        assert_eq!(
            snapshot.to_buffer(DisplayPoint::new(1, 3), Bias::Left),
            ByteOffset(4)
        );
        let below = snapshot.row_below(DisplayPoint::new(0, 4), 1);
        assert_eq!(below, Some(DisplayPoint::new(3, 1)));
        map.set_options(DisplayOptions {
            tab_width: 2,
            wrap: None,
        });
        assert_eq!(screen(&map), ["  f(a,", "  b,", "  );", "end"]);
        set_inlays(&mut map, Vec::new());
        assert_eq!(screen(&map), ["  f();", "end"]);
    }
}

#[test]
fn broken_rows_wrap_and_hang_each_for_itself() {
    let mut map = map("one two three", Some(8));
    set_inlays(
        &mut map,
        vec![Inlay {
            id: InlayId(1),
            at: ByteOffset(7),
            bias: Bias::Right,
            text: "\n  four five\nsix".into(),
        }],
    );
    assert_eq!(
        screen(&map),
        ["one two", "  four ", "..five", "six ", "three"]
    );
}

#[test]
fn control_characters_have_stand_ins() {
    let map = map("a\u{1}b\tc\u{202E}\r", None);
    assert_eq!(screen(&map), ["a^Ab    c<202E>^M"]);
}

#[test]
fn a_cancelled_job_gives_nothing() {
    let options = DisplayOptions {
        tab_width: 4,
        wrap: Some(4),
    };
    let mut map = DisplayMap::new(Buffer::new("some words to wrap").snapshot(), options);
    let job = map.wrap_job().expect("there is work");
    assert!(job.run(&std::sync::atomic::AtomicBool::new(true)).is_none());
    assert!(map.is_wrapping(), "the work is still there");
}

#[test]
fn rows_about_to_be_shown_are_wrapped_at_once() {
    let options = DisplayOptions {
        tab_width: 4,
        wrap: Some(4),
    };
    let mut map = DisplayMap::new(Buffer::new(&"ab cd ef\n".repeat(100)).snapshot(), options);
    assert_eq!(screen(&map)[50], "ab cd ef");
    assert!(map.wrap_rows(DisplayRow(50), 3));
    assert_eq!(
        screen(&map)[49..54],
        ["ab cd ef", "ab ", "cd ", "ef", "ab "]
    );
    assert!(map.is_wrapping());
}

#[test]
fn options_keep_old_rows_until_they_are_wrapped_anew() {
    let mut map = map("one two three", Some(4));
    assert_eq!(screen(&map).len(), 4);
    map.set_options(DisplayOptions {
        tab_width: 4,
        wrap: Some(20),
    });
    assert_eq!(screen(&map).len(), 4);
    assert!(map.is_wrapping());
    map.wrap_rows(DisplayRow(0), 1);
    assert_eq!(screen(&map), ["one two three"]);
    assert!(!map.is_wrapping());
}

#[test]
fn heights_are_exact_at_ten_million_rows() {
    let rows = 10_000_000;
    let mut map = DisplayMap::new(
        Buffer::new(&"\n".repeat(rows)).snapshot(),
        DisplayOptions::default(),
    );
    let spec = |row, placement| BlockSpec {
        row: Row(row),
        placement,
        height: 0.3,
        priority: 0,
    };
    let first = map.insert_block(spec(0, Placement::Above));
    let last = map.insert_block(spec(9_999_999, Placement::Below));
    let snapshot = map.snapshot();
    // 0.3 is stored as a fraction of 65536.
    let height = 19661.0 / 65536.0;
    assert_eq!(snapshot.y_of(DisplayRow(9_999_999)), 9_999_999.0 + height);
    assert_eq!(
        snapshot.y_of(DisplayRow(10_000_000)),
        10_000_000.0 + 2.0 * height
    );
    assert_eq!(snapshot.total_height(), 10_000_001.0 + 2.0 * height);
    assert_eq!(
        snapshot.row_at_y(9_999_999.0 + height),
        DisplayRow(9_999_999)
    );
    assert_eq!(
        snapshot.row_at_y(9_999_999.0 + height - 1e-4),
        DisplayRow(9_999_998)
    );
    let blocks = snapshot.blocks_in(10_000_000.0..10_000_001.0);
    assert_eq!(blocks.len(), 1);
    assert_eq!(
        (blocks[0].id, blocks[0].before),
        (last, DisplayRow(10_000_000))
    );
    map.remove_blocks(&[first, last]);
    assert_eq!(map.snapshot().total_height(), 10_000_001.0);
}

#[test]
fn a_long_line_is_measured_where_it_is_looked_at() {
    let mut buffer = Buffer::new(&"ab\t漢".repeat(40_000));
    let mut map = DisplayMap::new(buffer.snapshot(), DisplayOptions::default());
    for typed in 0..20 {
        let snapshot = map.snapshot();
        let expected = snapshot.line(DisplayRow(0)).end_cell;
        assert_eq!(
            snapshot.max_cell(DisplayRow(0)),
            expected,
            "after {typed} characters"
        );
        let widest = snapshot.widest_cell_in(DisplayRow(0)..DisplayRow(1));
        assert!(widest.abs_diff(expected) < 100, "{widest} for {expected}");
        let window = snapshot.line_window(DisplayRow(0), 100_000, 100_100);
        assert!(window.end_cell - window.start_cell < 120, "{window:?}");
        let at = snapshot.to_buffer(window_start(&window), Bias::Left);
        assert_eq!(at, window.span.start);
        let change = buffer.replace(Span::at(at), "x", &EditOrigin::user(Timestamp(0)));
        map.sync(&buffer.snapshot(), &change);
    }
}

fn window_start(window: &DisplayLine) -> DisplayPoint {
    DisplayPoint {
        row: window.row,
        cell: window.start_cell,
    }
}

#[test]
fn snapshots_and_jobs_may_go_to_any_thread() {
    fn is_shared<T: Send + Sync>() {}
    fn is_sent<T: Send>() {}
    is_shared::<crate::DisplaySnapshot>();
    is_sent::<crate::WrapJob>();
    is_sent::<crate::WrapDone>();
    is_sent::<DisplayMap>();
}

#[test]
fn carets_move_by_rows_and_stay_on_them() {
    let map = map("  one two\n\nthree", Some(8));
    assert_eq!(screen(&map), ["  one ", "..two", "", "three"]);
    let snapshot = map.snapshot();
    let mut point = DisplayPoint::new(0, 7);
    let mut cells = vec![snapshot.clip(point, Bias::Left).cell];
    while let Some(below) = snapshot.row_below(point, 7) {
        cells.push(below.cell);
        point = below;
    }
    // The first row continues in the second, so the caret stays before its last character.
    assert_eq!(cells, [5, 5, 0, 5]);
    assert_eq!(snapshot.row_above(DisplayPoint::new(0, 3), 3), None);
    assert_eq!(snapshot.row_above(point, 1), Some(DisplayPoint::new(2, 0)));
}
