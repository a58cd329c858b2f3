//! Tests which shaped rows an edit invalidates.

use base::{Row, Span};
use text::{Buffer, EditOrigin, Timestamp};

use super::{RowCache, RowHighlight, RowSegment};
use crate::frame::ShapedRow;

const PART: RowSegment = RowSegment {
    wrap: 0,
    cells: None,
};

fn cache(buffer: &Buffer) -> RowCache {
    let mut cache = RowCache::default();
    cache.show(Row(0)..Row(10), (0, 0), buffer.snapshot().last_row());
    for row in 0..10 {
        let mark = RowHighlight {
            start: row,
            end: row + 1,
            kind: syntax::HighlightKind::Keyword,
        };
        cache.set_highlights(Row(row), [mark].into());
        cache.set_shape(Row(row), PART, ShapedRow::empty().into());
    }
    cache
}

fn edited(span: std::ops::Range<usize>, text: &str) -> RowCache {
    let mut buffer = Buffer::new(&"ab\n".repeat(10));
    let mut cache = cache(&buffer);
    let before = buffer.snapshot();
    let change = buffer.replace(Span::from(span), text, &EditOrigin::user(Timestamp(0)));
    cache.follow(&before, &buffer.snapshot(), &change);
    cache
}

#[test]
fn an_edit_forgets_the_shape_of_its_own_row_only() {
    let cache = edited(7..7, "x");
    assert!(cache.shape(Row(2), PART).is_none());
    assert!(cache.shape(Row(3), PART).is_some());
}

#[test]
fn rows_move_with_the_text() {
    let cache = edited(1..1, "x\ny\nz");
    assert!(cache.highlights(Row(1)).is_none(), "what came in has none");
    let moved: Vec<_> = (3..6).map(Row).map(|row| cache.highlights(row)).collect();
    let marks: Vec<_> = moved
        .into_iter()
        .flatten()
        .map(|marks| marks[0].start)
        .collect();
    assert_eq!(marks, [1, 2, 3]);
}

/// Edits the row `old`, whose words are coloured by their first letters; returns the new rows with each
/// coloured stretch in brackets.
fn carried(old: &str, span: std::ops::Range<usize>, text: &str) -> String {
    let mut buffer = Buffer::new(old);
    let mut cache = RowCache::default();
    cache.show(Row(0)..Row(1), (0, 0), Row(0));
    let mut marks = Vec::new();
    for (start, word) in old.match_indices(|char: char| char.is_ascii_alphabetic()) {
        let kind = match word {
            "k" => syntax::HighlightKind::Keyword,
            _ => syntax::HighlightKind::String,
        };
        let start = start as u32;
        match marks.last_mut() {
            Some(RowHighlight {
                end, kind: last, ..
            }) if *end == start && *last == kind => {
                *end += 1;
            }
            _ => marks.push(RowHighlight {
                start,
                end: start + 1,
                kind,
            }),
        }
    }
    cache.set_highlights(Row(0), marks.into());
    let before = buffer.snapshot();
    let change = buffer.replace(Span::from(span), text, &EditOrigin::user(Timestamp(0)));
    let after = buffer.snapshot();
    cache.follow(&before, &after, &change);
    let mut shown = String::new();
    for row in 0..after.row_count() {
        let text = after.row_text(Row(row)).into_owned();
        let mut at = 0;
        for mark in cache
            .highlights(Row(row))
            .iter()
            .flat_map(|marks| marks.iter())
        {
            let (start, end) = (mark.start as usize, mark.end as usize);
            shown += &format!("{}[{}]", &text[at..start], &text[start..end]);
            at = end;
        }
        shown += &text[at..];
        shown += "\n";
    }
    shown.pop();
    shown
}

#[test]
fn colours_are_carried_over_an_edit() {
    assert_eq!(
        carried("kk ss", 2..2, "k"),
        "[kkk] [ss]",
        "typed at a word's end"
    );
    assert_eq!(
        carried("kk ss", 1..1, "xy"),
        "[kxyk] [ss]",
        "typed in a word"
    );
    assert_eq!(
        carried("kk ss", 3..3, "z"),
        "[kk] z[ss]",
        "typed before a word"
    );
    assert_eq!(carried("kk ss", 1..4, ""), "[k][s]", "taken out of both");
    assert_eq!(carried("kk ss kk", 2..6, ""), "[kkkk]", "taken out between");
    assert_eq!(carried("kk ss", 0..5, ""), "", "all taken out");
    assert_eq!(
        carried("kk ss", 1..1, "\n  "),
        "[k]\n  [k] [ss]",
        "a line break"
    );
    assert_eq!(
        carried("kk ss", 2..3, "\nnew\n"),
        "[kk]\nnew\n[ss]",
        "lines between"
    );
}

#[test]
fn other_colours_drop_the_shape() {
    let buffer = Buffer::new(&"ab\n".repeat(10));
    let mut cache = cache(&buffer);
    let same = cache.highlights(Row(4)).unwrap();
    assert!(!cache.take_highlights(Row(4), vec![same]));
    assert!(cache.shape(Row(4), PART).is_some());
    assert!(cache.take_highlights(Row(4), vec![Default::default()]));
    assert!(cache.shape(Row(4), PART).is_none());
}

#[test]
fn scrolling_far_starts_anew() {
    let buffer = Buffer::new(&"ab\n".repeat(1000));
    let mut cache = cache(&buffer);
    cache.show(Row(500)..Row(520), (0, 0), Row(1000));
    assert!(cache.range().start <= Row(500) && cache.range().end >= Row(520));
    assert!(cache.highlights(Row(510)).is_none());
    cache.show(Row(0)..Row(10), (0, 0), Row(1000));
    assert!(cache.range().start == Row(0) && cache.range().end >= Row(10));
}
