//! Which shaped rows an edit forgets.

use base::{Row, Span};
use text::{Buffer, Origin, Timestamp};

use super::{Part, RowCache, RowHighlight};
use crate::element::shape::ShapedRow;

const PART: Part = Part {
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

/// Which of the old rows each row has the colours of.
fn origins(cache: &RowCache, rows: u32) -> Vec<Option<u32>> {
    (0..rows)
        .map(|row| cache.highlights(Row(row)).map(|marks| marks[0].start))
        .collect()
}

fn edited(span: std::ops::Range<usize>, text: &str) -> RowCache {
    let mut buffer = Buffer::new(&"ab\n".repeat(10));
    let mut cache = cache(&buffer);
    let before = buffer.snapshot();
    let change = buffer.replace(Span::from(span), text, &Origin::user(Timestamp(0)));
    cache.follow(&before, &buffer.snapshot(), &change);
    cache
}

#[test]
fn an_edit_forgets_its_own_row_only() {
    let cache = edited(7..7, "x");
    let expect = (0..6)
        .map(|row| (row != 2).then_some(row))
        .collect::<Vec<_>>();
    assert_eq!(origins(&cache, 6), expect);
    assert!(cache.shape(Row(2), PART).is_none());
    assert!(cache.shape(Row(3), PART).is_some());
}

#[test]
fn rows_move_with_the_text() {
    let cache = edited(7..7, "x\ny");
    assert_eq!(
        origins(&cache, 6),
        [Some(0), Some(1), None, None, Some(3), Some(4)]
    );
    let cache = edited(4..10, "");
    assert_eq!(origins(&cache, 4), [Some(0), None, Some(4), Some(5)]);
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
