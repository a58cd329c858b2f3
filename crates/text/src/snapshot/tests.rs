//! Every method of a snapshot compared with the same query on a `String`.

use base::{Bias, ByteOffset, Point, Row, Span, Utf16Point};

use crate::random::SeededRng;
use crate::snapshot::Snapshot;

fn rows_of(text: &str) -> Vec<&str> {
    text.split('\n').collect()
}

fn check_rows(snapshot: &Snapshot, text: &str) {
    let rows = rows_of(text);
    assert_eq!(snapshot.row_count() as usize, rows.len());
    let mut start = 0;
    for (ix, raw) in rows.iter().enumerate() {
        let row = Row(ix as u32);
        let is_last = ix + 1 == rows.len();
        let shown = if is_last {
            raw
        } else {
            raw.strip_suffix('\r').unwrap_or(raw)
        };
        assert_eq!(snapshot.row_start(row).0, start, "{text:?} row {ix}");
        assert_eq!(snapshot.row_text(row), shown, "{text:?} row {ix}");
        assert_eq!(snapshot.row_len(row).0 as usize, shown.len());
        let with_ending = raw.len() + usize::from(!is_last);
        assert_eq!(snapshot.row_span_with_ending(row).len(), with_ending);
        let beyond = snapshot.offset_at(Point::new(ix as u32, 10_000));
        assert_eq!(beyond.0, start + shown.len());
        start += raw.len() + 1;
    }
    assert_eq!(snapshot.row_start(Row(rows.len() as u32)), snapshot.len());
    assert_eq!(snapshot.offset_at(Point::new(u32::MAX, 0)), snapshot.len());
}

fn check_offsets(snapshot: &Snapshot, text: &str) {
    let (mut utf16, mut chars) = (0, 0);
    let (mut row, mut row_start, mut row_utf16) = (0, 0, 0);
    for (offset, char) in text.char_indices().chain([(text.len(), '\0')]) {
        let at = ByteOffset(offset);
        assert_eq!(snapshot.utf16_at(at), utf16);
        assert_eq!(snapshot.offset_at_utf16(utf16), at);
        assert_eq!(snapshot.char_at(at), chars);
        assert_eq!(snapshot.offset_at_char(chars), at);
        assert_eq!(
            snapshot.point_at(at),
            Point::new(row, (offset - row_start) as u32)
        );
        let point = Utf16Point {
            row,
            column: (utf16 - row_utf16) as u32,
        };
        assert_eq!(snapshot.utf16_point(at), point);
        // A column past the row's text, or inside its line ending, is clamped to the row's end.
        let expected = at.min(snapshot.row_end(Row(row)));
        assert_eq!(snapshot.offset_at_utf16_point(point), expected);
        assert_eq!(snapshot.offset_at(snapshot.point_at(at)), expected);
        let forwards: String = snapshot.chars_at(at).take(5).collect();
        assert_eq!(forwards, text[offset..].chars().take(5).collect::<String>());
        let backwards: String = snapshot.chars_before(at).take(5).collect();
        assert_eq!(
            backwards,
            text[..offset].chars().rev().take(5).collect::<String>()
        );
        let (chunk, start) = snapshot.chunk_at(at);
        assert_eq!(&text[start.0..start.0 + chunk.len()], chunk);
        assert!(start.0 <= offset && (offset < start.0 + chunk.len() || offset == text.len()));
        utf16 += char.len_utf16();
        chars += 1;
        if char == '\n' {
            (row, row_start, row_utf16) = (row + 1, offset + 1, utf16);
        }
    }
    assert_eq!(snapshot.offset_at_utf16(utf16 + 5), snapshot.len());
}

#[test]
fn random_texts_answer_as_a_string_does() {
    for seed in 0..40 {
        let mut random = SeededRng::new(seed);
        let text = random.text(if seed % 5 == 0 { 1500 } else { 40 });
        let snapshot = Snapshot::new(&text);
        check_rows(&snapshot, &text);
        check_offsets(&snapshot, &text);
        for _ in 0..20 {
            let span = Span::new(random.boundary(&text), random.boundary(&text));
            assert_eq!(snapshot.text(span), text[span.range()]);
            assert_eq!(
                snapshot.chunks(span).collect::<String>(),
                text[span.range()]
            );
        }
        let backwards: Vec<&str> = snapshot.chunks_back().collect();
        assert_eq!(backwards.into_iter().rev().collect::<String>(), text);
    }
}

#[test]
fn clipping_by_example() {
    let check = |text: &str, offset, left, right| {
        let snapshot = Snapshot::new(text);
        assert_eq!(
            snapshot.clip(ByteOffset(offset), Bias::Left).0,
            left,
            "{text:?} {offset}"
        );
        assert_eq!(
            snapshot.clip(ByteOffset(offset), Bias::Right).0,
            right,
            "{text:?} {offset}"
        );
    };
    check("", 0, 0, 0);
    check("", 9, 0, 0);
    check("aé", 2, 1, 3);
    check("🦀", 1, 0, 4);
    check("🦀", 3, 0, 4);
    check("a\r\nb", 2, 1, 3);
    check("a\r\nb", 1, 1, 1);
    check("a\r\rb", 2, 2, 2);
    check("\n", 0, 0, 0);
}

#[test]
fn invalid_offsets_are_clamped() {
    let snapshot = Snapshot::new("é\né");
    for offset in 0..9 {
        let at = ByteOffset(offset);
        snapshot.point_at(at);
        snapshot.utf16_point(at);
        snapshot.next_grapheme(at);
        snapshot.previous_grapheme(at);
        assert!(snapshot.chars_at(at).count() <= 3);
        assert!(snapshot.text(Span::new(at, ByteOffset(99))).len() <= 5);
        snapshot.chunk_at(at);
    }
}

#[test]
fn clones_are_immutable() {
    let before = Snapshot::new("one\ntwo");
    let mut buffer = crate::Buffer::from_snapshot(before.clone());
    assert!(buffer.snapshot().is_same_text(&before));
    let origin = crate::EditOrigin::user(crate::Timestamp(0));
    buffer.replace(Span::from(0..3), "1", &origin);
    assert_eq!(before.to_string(), "one\ntwo");
    assert!(!buffer.snapshot().is_same_text(&before));
    assert_eq!(
        format!("{:?}", buffer.snapshot()),
        "Snapshot { revision: 1, len: 5 }"
    );
}

#[test]
fn chars_of_a_span_are_counted() {
    let buffer = crate::Buffer::new("aé\n\u{1f600}b");
    let snapshot = buffer.snapshot();
    let count = |start: usize, end: usize| snapshot.char_count(Span::from(start..end));
    assert_eq!(count(0, 3), 2);
    assert_eq!(count(3, 9), 3);
    assert_eq!(count(0, 0), 0);
    assert_eq!(
        count(2, 99),
        4,
        "offsets are moved onto char boundaries of the text"
    );
}
