//! Examples that one can read.

use base::{Bias, ByteOffset, Row, Span};
use text::Buffer;

use crate::{DisplayMap, DisplayOptions, DisplayRow, Inlay, InlayId};

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

/// What is painted, row by row, dots for the hanging indent.
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
    map.set_inlays(vec![inlay(1, 5, ": i32"), inlay(2, 10, " // one\nlost")]);
    assert_eq!(screen(&map), ["let x: i32 = 1; // one"]);
    let snapshot = map.snapshot();
    assert_eq!(snapshot.to_display(ByteOffset(5), Bias::Left).cell, 5);
    assert_eq!(snapshot.to_display(ByteOffset(5), Bias::Right).cell, 10);
    map.splice_inlays(&[InlayId(1)], Vec::new());
    assert_eq!(screen(&map), ["let x = 1; // one"]);
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
