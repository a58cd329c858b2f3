//! The work of a key in a window, counted: it does not grow with the file.

use std::time::Duration;

use base::{WorkCounts, counting};
use gpui_kit::TestAppContext;
use host::FakeFiles;
use text::Snapshot;

use super::{Story, open_with, path};
use crate::TabItem;

/// Rows of the smaller and the larger file. Tab reads up to some ten thousand bytes around the
/// caret, and the smaller file has as many. What is read once in the larger one is 17 times as much.
const ROWS: [usize; 2] = [3_000, 50_000];

/// Extensions of the files, and functions in which Tab, the outline and the highlights find
/// something. The third row of each is a statement.
const RUST: (&str, &str) = (
    "rs",
    "/// Adds an item.
fn add_NUMBER(cart: &mut Cart, item: Item) -> usize {
    let count = cart.items.len();
    if count < LIMIT {
        cart.items.push(item);
        log(\"added\", count);
    }
    count
}

",
);
const PYTHON: (&str, &str) = (
    "py",
    "def add_NUMBER(cart, item):
    \"\"\"Adds an item.\"\"\"
    count = len(cart.items)
    if count < LIMIT:
        cart.items.append(item)
        log(\"added\", count)
    return count


",
);
const TYPESCRIPT: (&str, &str) = (
    "ts",
    "/** Adds an item. */
export function addNUMBER(cart: Cart, item: Item): number {
    const count = cart.items.length;
    if (count < LIMIT) {
        cart.items.push(item);
        log(\"added\", count);
    }
    return count;
}

",
);

/// Opens a window with a file of about `rows` rows, the caret in its middle.
fn open_long((extension, unit): (&str, &str), rows: usize, cx: &mut TestAppContext) -> Story {
    let unit_rows = unit.matches('\n').count();
    let text: String = (0..rows / unit_rows)
        .map(|number| unit.replace("NUMBER", &number.to_string()))
        .collect();
    let files = FakeFiles::new();
    files.write(&path(&format!("/p/long.{extension}")), &text);
    let mut story = open_with(files, cx);
    let middle = rows / unit_rows / 2 * unit_rows;
    story.open_file(&format!("long.{extension}:{}", middle + 3));
    story.keys("end");
    // The first edit of a file costs more: its journal begins.
    story.input(" a");
    let tab = story.read(|workbench, cx| workbench.prediction().read(cx).short(cx).0);
    assert_ne!(tab, "Tab off");
    story
}

/// Shows the matches of a word, and the changes since a commit in which each function differs.
fn mark_everything(story: &mut Story) {
    story.keys("ctrl-f");
    story.input("count");
    let (text, workbench) = (story.text(), story.workbench.clone());
    story.cx.update(|window, cx| {
        workbench.update(cx, |workbench, cx| workbench.focus_active(window, cx));
        let editor = workbench.read(cx).active_item().and_then(TabItem::editor);
        let model = editor.expect("a text").read(cx).model().clone();
        let head = Snapshot::new(&text.replace("LIMIT", "MAX"));
        model.update(cx, |model, cx| model.set_head(Some(head), cx));
    });
    story.settle();
}

/// Counts the work of a key.
fn key(story: &mut Story) -> WorkCounts {
    let ((), counts) = counting(|| {
        story.at_once("b");
    });
    counts
}

/// Counts the work of keys typed at eight per second, so fast that no pause occurs.
fn keys(story: &mut Story) -> WorkCounts {
    let type_all = || {
        for key in ["c", "o", "u", "n", "t", ".", "x", "(", " ", "y"] {
            let gap = Duration::from_millis(125);
            story.at_once(key).cx.executor().advance_clock(gap);
        }
    };
    counting(type_all).1
}

/// Counts the work of a line break.
fn new_row(story: &mut Story) -> WorkCounts {
    let ((), counts) = counting(|| {
        story.keys("enter");
    });
    counts
}

/// Counts the work of a pause in typing.
fn pause(story: &mut Story) -> WorkCounts {
    let ((), counts) = counting(|| {
        story.settle();
    });
    counts
}

/// A step of the test with its name.
type Step = (&'static str, fn(&mut Story) -> WorkCounts);

const KEYS: [Step; 3] = [("a key", key), ("ten keys", keys), ("a new row", new_row)];

const PAUSE: &str = "a pause";

fn assert_near(step: &str, [small, large]: [WorkCounts; 2]) {
    let is_near = |small: u64, large: u64, slack: u64| large <= small * 2 + slack;
    let counts = format!("{step}: {small:?}, {large:?}");
    println!("{counts}");
    assert!(
        is_near(small.text_bytes, large.text_bytes, 2_000),
        "{counts}"
    );
    // After an error the parser may replace all nodes that follow, once typing rests.
    let is_pause = step.starts_with(PAUSE);
    let is_parsed = is_pause && large.tree_steps <= large.parser_steps;
    assert!(
        is_parsed || is_near(small.tree_steps, large.tree_steps, 1_000),
        "{counts}"
    );
    // A key parses only for a bounded time; the rest waits for the pause.
    assert!(
        is_pause || is_near(small.parser_steps, large.parser_steps, 20_000),
        "{counts}"
    );
    assert!(is_near(small.entries, large.entries, 50), "{counts}");
    #[cfg(debug_assertions)]
    assert!(large.text_bytes > 0, "nothing was counted: {counts}");
}

/// Does the steps in a window with a short file, then in one with a long file, and compares.
fn check(
    unit: (&str, &str),
    prepare: fn(&mut Story),
    steps: &[Step],
    contexts: [&mut TestAppContext; 2],
) {
    let counts = ROWS.into_iter().zip(contexts).map(|(rows, cx)| {
        let mut story = open_long(unit, rows, cx);
        prepare(&mut story);
        let counts: Vec<WorkCounts> = steps.iter().map(|(_, run)| run(&mut story)).collect();
        // The next window shares the scheduler.
        story.cx.update(|window, _| window.remove_window());
        story.cx.run_until_parked();
        counts
    });
    let counts: Vec<_> = counts.collect();
    for (ix, (name, _)) in steps.iter().enumerate() {
        let name = format!("{name} in .{}", unit.0);
        assert_near(&name, [counts[0][ix], counts[1][ix]]);
    }
}

fn check_with_pause(unit: (&str, &str), contexts: [&mut TestAppContext; 2]) {
    let steps: Vec<Step> = KEYS.into_iter().chain([(PAUSE, pause as _)]).collect();
    check(unit, |_| {}, &steps, contexts);
}

#[gpui_kit::test]
fn a_key_costs_the_same_in_rust_of_any_length(
    small: &mut TestAppContext,
    large: &mut TestAppContext,
) {
    check_with_pause(RUST, [small, large]);
}

#[gpui_kit::test]
fn a_key_costs_the_same_in_python_of_any_length(
    small: &mut TestAppContext,
    large: &mut TestAppContext,
) {
    check_with_pause(PYTHON, [small, large]);
}

#[gpui_kit::test]
fn a_key_costs_the_same_in_typescript_of_any_length(
    small: &mut TestAppContext,
    large: &mut TestAppContext,
) {
    check_with_pause(TYPESCRIPT, [small, large]);
}

/// A pause is not compared: it searches the text, and compares it with the committed one.
#[gpui_kit::test]
fn a_key_costs_the_same_with_matches_and_changes_everywhere(
    small: &mut TestAppContext,
    large: &mut TestAppContext,
) {
    check(RUST, mark_everything, &KEYS, [small, large]);
}
