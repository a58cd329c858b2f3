//! Tests lines, endings and offsets of a text.

use super::*;

#[test]
fn lines_end_at_line_feeds() {
    let file = FileText::new("\u{feff}one\r\ntwo\nthree");
    assert_eq!(file.line_count(), 3);
    assert_eq!(file.line(Row(0)), "one");
    assert_eq!(file.line(Row(2)), "three");
    assert_eq!(file.line(Row(3)), "");
    assert_eq!(file.line_ending(0), RawLineEnding::ReturnFeed);
    assert_eq!(file.line_ending(1), RawLineEnding::Feed);
    assert_eq!(file.line_ending(2), RawLineEnding::None);
    assert!(file.is_bare());
}

#[test]
fn offsets_are_those_of_the_file() {
    let raw = "\u{feff}one\r\ntwo\nthree";
    let file = FileText::new(raw);
    assert_eq!(&raw[file.raw_offset(4)..file.raw_offset(7)], "two");
    assert_eq!(&raw[file.raw_offset(8)..file.raw_offset(13)], "three");
    assert_eq!(file.span_of(Row(0)..Row(1)).range(), 3..8);
    assert_eq!(file.row_at(ByteOffset(8)), Row(1));
    assert_eq!(file.row_at(ByteOffset(raw.len())), Row(2));
}

#[test]
fn an_empty_text_has_no_line() {
    for raw in ["", "\u{feff}"] {
        let file = FileText::new(raw);
        assert_eq!(file.line_count(), 0);
        assert_eq!(file.raw_offset(0), raw.len());
        assert!(!file.is_bare());
    }
}

#[test]
fn a_new_line_takes_the_ending_around_it() {
    let file = FileText::new("a\r\nb\r\nc\nd");
    let endings: Vec<_> = (0..5).map(|row| file.ending_near(row)).collect();
    assert_eq!(endings, ["\r\n", "\r\n", "\r\n", "\n", "\n"]);
    assert_eq!(FileText::new("a").ending_near(1), "\n");
}
