//! Tests the scroll position after edits and moves.

use base::Row;
use display::{BlockSpec, DisplayMap, DisplayOptions, DisplayRow, Placement};
use text::{Buffer, EditOrigin, Timestamp};

use super::{Scroll, ScrollMargin, Viewport, top_showing};

fn text(rows: u32) -> String {
    (0..rows).map(|row| format!("row {row}\n")).collect()
}

const VIEWPORT: Viewport = Viewport {
    rows: 20.0,
    beyond_last: false,
};

#[test]
fn text_above_the_window_moves_nothing() {
    let mut buffer = Buffer::new(&text(100));
    let mut map = DisplayMap::new(buffer.snapshot(), DisplayOptions::default());
    let mut scroll = Scroll::new();
    scroll.set_top(30.25, &map.snapshot(), VIEWPORT);
    let origin = EditOrigin::user(Timestamp(0));
    let change = buffer.replace(base::Span::from(0..0), "a\nb\nc\n", &origin);
    map.sync(&buffer.snapshot(), &change);
    scroll.follow(&change);
    assert_eq!(scroll.top(&map.snapshot()), 33.25);
}

#[test]
fn scrolling_ends_with_the_text() {
    let display = DisplayMap::new(
        Buffer::new(&text(100)).snapshot(),
        DisplayOptions::default(),
    )
    .snapshot();
    let mut scroll = Scroll::new();
    scroll.set_top(1e9, &display, VIEWPORT);
    assert_eq!(scroll.top(&display), 81.0);
    scroll.set_top(
        1e9,
        &display,
        Viewport {
            beyond_last: true,
            ..VIEWPORT
        },
    );
    assert_eq!(scroll.top(&display), 100.0);
    scroll.set_top(-3.0, &display, VIEWPORT);
    assert_eq!(scroll.top(&display), 0.0);
}

#[test]
fn the_window_follows_as_little_as_it_must() {
    let display = DisplayMap::new(
        Buffer::new(&text(1000)).snapshot(),
        DisplayOptions::default(),
    )
    .snapshot();
    let check = |row: u32, follow: ScrollMargin, top: f64, expect: f64| {
        assert_eq!(
            top_showing(DisplayRow(row), follow, top, 3.0, &display, VIEWPORT),
            expect,
            "row {row}"
        );
    };
    check(10, ScrollMargin::Fit, 0.0, 0.0);
    check(17, ScrollMargin::Fit, 0.0, 1.0);
    check(52, ScrollMargin::Fit, 50.0, 49.0);
    check(500, ScrollMargin::Fit, 0.0, 490.5);
    check(10, ScrollMargin::Center, 0.0, 0.5);
}

#[test]
fn a_high_block_above_a_centred_row_is_shown_from_its_start() {
    let mut map = DisplayMap::new(
        Buffer::new(&text(1000)).snapshot(),
        DisplayOptions::default(),
    );
    for (row, height) in [(100, 2.0), (200, 54.0)] {
        map.insert_block(BlockSpec {
            row: Row(row),
            placement: Placement::Above,
            height,
            priority: 0,
        });
    }
    let display = map.snapshot();
    let check = |row: u32, expect: f64| {
        let follow = ScrollMargin::CenterWithBlocks;
        let top = top_showing(DisplayRow(row), follow, 0.0, 3.0, &display, VIEWPORT);
        assert_eq!(top, expect, "row {row}");
    };
    check(50, 40.5);
    check(100, 92.5);
    check(200, 202.0);
    check(0, -9.5);
}
