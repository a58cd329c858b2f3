//! Tests which changes a read mark reports, and which hunks they make stale.

use super::*;

fn rows(rows: Range<u32>) -> Range<Row> {
    Row(rows.start)..Row(rows.end)
}

#[test]
fn changes_are_found_by_range() {
    let mark = ReadMark::new(&FileText::new("a\nb\nc\nd\n"));
    let changed = |now: &str| mark.changed_rows(&FileText::new(now));
    assert_eq!(changed("a\nb\nc\nd\n"), []);
    assert_eq!(changed("a\nX\nc\nd\n"), [rows(1..2)]);
    assert_eq!(changed("new\na\nb\nd\n"), [rows(3..3)]);
    assert_eq!(changed("a\nb\nnew\nc\nd\n"), [rows(2..3)]);
    assert_eq!(changed("a\r\nb\r\nc\r\nd"), []);
}

#[test]
fn what_was_not_shown_is_no_news() {
    let file = FileText::new("a\nb\nc\nd\n");
    let mut mark = ReadMark::partial(&file, rows(0..2));
    let now = FileText::new("a\nb\nC\nD\n");
    assert_eq!(mark.changed_rows(&now), []);
    mark.show(rows(3..4));
    assert_eq!(mark.changed_rows(&now), [rows(2..4)]);
}

#[test]
fn a_hunk_is_stale_if_its_rows_are() {
    let changed = [rows(2..3), rows(5..5)];
    assert_eq!(stale(&changed, &(0..2)), None);
    assert_eq!(stale(&changed, &(1..3)), Some(rows(2..3)));
    assert_eq!(stale(&changed, &(3..5)), None);
    assert_eq!(stale(&changed, &(4..6)), Some(rows(5..5)));
    assert_eq!(stale(&changed, &(3..3)), None);
}
