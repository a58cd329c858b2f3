//! The work of a key in a window, counted: it does not grow with the file.

use std::time::Duration;

use base::{WorkCounts, counting};
use gpui_kit::TestAppContext;
use host::FakeFiles;

use super::{Story, open_with, path};

/// Rows of the smaller and the larger file.
const ROWS: [usize; 2] = [2_000, 50_000];

/// A function that Tab, the outline and the highlights find something in.
const UNIT: &str = "/// Adds an item.
fn add_NUMBER(cart: &mut Cart, item: Item) -> usize {
    let count = cart.items.len();
    if count < LIMIT {
        cart.items.push(item);
        log(\"added\", count);
    }
    count
}

";

/// A window with a file of about `rows` rows, the caret in its middle.
fn open_long(extension: &str, unit: &str, rows: usize, cx: &mut TestAppContext) -> Story {
    let unit_rows = unit.matches('\n').count();
    let text: String = (0..rows / unit_rows)
        .map(|number| unit.replace("NUMBER", &number.to_string()))
        .collect();
    let files = FakeFiles::new();
    files.write(&path(&format!("/p/long.{extension}")), &text);
    let mut story = open_with(files, cx);
    let middle = rows / unit_rows / 2 * unit_rows;
    // The end of a row within a function.
    story.open_file(&format!("long.{extension}:{}", middle + 3));
    story.keys("end");
    // The first edit of a file costs more: its journal begins.
    story.input(" a");
    story.settle();
    story
}

/// What is counted, in this order.
const STEPS: [&str; 4] = ["a key", "ten keys", "a new row", "a pause"];

/// Counts the work of each of `STEPS`.
fn costs_of(story: &mut Story) -> [WorkCounts; STEPS.len()] {
    let ((), key) = counting(|| {
        story.at_once("b");
    });
    // Eight keys a second: no pause.
    let ((), keys) = counting(|| {
        for key in ["c", "o", "u", "n", "t", ".", "x", "(", " ", "y"] {
            let gap = Duration::from_millis(125);
            story.at_once(key).cx.executor().advance_clock(gap);
        }
    });
    let ((), row) = counting(|| {
        story.keys("enter");
    });
    let ((), pause) = counting(|| {
        story.settle();
    });
    [key, keys, row, pause]
}

fn assert_near(step: &str, [small, large]: [WorkCounts; 2]) {
    let is_near = |small: u64, large: u64, slack: u64| large <= small + small / 4 + slack;
    let counts = format!("{step}: {small:?}, {large:?}");
    println!("{counts}");
    assert!(
        is_near(small.text_bytes, large.text_bytes, 2_000),
        "{counts}"
    );
    assert!(
        is_near(small.tree_steps, large.tree_steps, 1_000),
        "{counts}"
    );
    assert!(is_near(small.entries, large.entries, 50), "{counts}");
    #[cfg(debug_assertions)]
    assert!(large.text_bytes > 0, "nothing was counted: {counts}");
}

fn check(extension: &str, unit: &str, contexts: [&mut TestAppContext; 2]) {
    let costs: Vec<_> = ROWS
        .into_iter()
        .zip(contexts)
        .map(|(rows, cx)| costs_of(&mut open_long(extension, unit, rows, cx)))
        .collect();
    for (step, (small, large)) in STEPS.iter().zip(costs[0].iter().zip(&costs[1])) {
        assert_near(&format!("{step} in .{extension}"), [*small, *large]);
    }
}

#[gpui_kit::test]
fn a_key_costs_the_same_in_a_file_of_any_length(
    small: &mut TestAppContext,
    large: &mut TestAppContext,
) {
    check("rs", UNIT, [small, large]);
}
