//! Hunks by example, and random texts turned into each other by edits.

use base::{Bias, ByteOffset, Span};

use super::{RowHunk, diff_words};
use crate::buffer::Buffer;
use crate::edit::{Edit, EditOrigin, Timestamp};
use crate::random::SeededRng;
use crate::snapshot::Snapshot;

fn show(hunk: &RowHunk) -> String {
    let (before, after) = (hunk.before, hunk.after);
    format!(
        "{}..{} {}..{}",
        before.start.0, before.end.0, after.start.0, after.end.0
    )
}

fn check(before: &str, after: &str, expected: &[&str]) {
    let hunks = Snapshot::new(before).diff_rows(&Snapshot::new(after));
    let shown: Vec<String> = hunks.iter().map(show).collect();
    assert_eq!(shown, expected, "{before:?} {after:?}");
}

#[test]
fn hunks_by_example() {
    check("", "", &[]);
    check("a\n", "a\n", &[]);
    check("", "a\nb\n", &["0..0 0..2"]);
    check("a\nb\n", "", &["0..2 0..0"]);
    check("a\nb\nc\n", "a\nx\nc\n", &["1..2 1..2"]);
    check("a\nb\nc\n", "a\nc\n", &["1..2 1..1"]);
    check("a\nc\n", "a\nb\nc\n", &["1..1 1..2"]);
    check("a\nb", "a\nb\n", &["1..2 1..2"]);
    check("a\r\nb\n", "a\nb\n", &["0..1 0..1"]);
    check(
        "a\nb\nc\nd\ne\n",
        "b\nc\nx\ne\n",
        &["0..1 0..0", "3..4 2..3"],
    );
}

#[test]
fn far_hunks_keep_their_rows() {
    let rows: Vec<String> = (0..5000).map(|row| format!("row {row}\n")).collect();
    let before = rows.concat();
    let mut changed = rows;
    changed[2500] = "other\n".to_owned();
    changed.insert(2400, "new\n".to_owned());
    check(
        &before,
        &changed.concat(),
        &["2400..2400 2400..2401", "2500..2501 2501..2502"],
    );
}

#[test]
fn words_by_example() {
    let check = |before: &str, after: &str, expected: &[(&str, &str)]| {
        let splices = diff_words(before, after);
        let shown: Vec<(&str, &str)> = splices
            .iter()
            .map(|splice| (&before[splice.old.range()], &after[splice.new.range()]))
            .collect();
        assert_eq!(shown, expected, "{before:?} {after:?}");
    };
    check("let a = 1;", "let b = 1;", &[("a", "b")]);
    check("fn f(x)", "fn f(x, yy)", &[("", ", yy")]);
    check("a_b c", "a_b c", &[]);
    check("", "x", &[("", "x")]);
    check("größe = 1", "grösse = 1", &[("größe", "grösse")]);
}

#[test]
fn edits_to_turns_random_texts_into_each_other() {
    for seed in 0..300 {
        let mut random = SeededRng::new(seed);
        let start = random.text(if seed % 10 == 0 { 3000 } else { 60 });
        let mut end = start.clone();
        for _ in 0..random.next_below(4) {
            let (a, b) = (random.boundary(&end), random.boundary(&end));
            let b = if random.one_in(3) { b } else { a };
            end.replace_range(Span::new(a, b).range(), &random.text(4));
        }
        let mut buffer = Buffer::new(&start);
        let change = buffer.replace_all_minimal(&end, &EditOrigin::user(Timestamp(0)));
        assert_eq!(buffer.snapshot().to_string(), end, "seed {seed}");
        assert_eq!(change.is_empty(), start == end, "seed {seed}");
        buffer.assert_invariants();
        let hunks = Snapshot::new(&start).diff_rows(&Snapshot::new(&end));
        // The rows outside the hunks are equal.
        let (before, after) = (Snapshot::new(&start), Snapshot::new(&end));
        let edits: Vec<Edit> = hunks
            .iter()
            .map(|hunk| {
                Edit::new(
                    before.span_of(hunk.before),
                    after.text(after.span_of(hunk.after)),
                )
            })
            .collect();
        let mut buffer = Buffer::new(&start);
        buffer.edit(&edits, &EditOrigin::user(Timestamp(0)));
        assert_eq!(buffer.snapshot().to_string(), end, "seed {seed}");
    }
}

#[test]
fn reload_keeps_anchors_at_their_words() {
    let mut buffer = Buffer::new("fn one() {}\nfn two() {}\nfn three() {}\n");
    let anchor = buffer.create_anchor(ByteOffset(27), Bias::Left);
    buffer.replace_all_minimal(
        "fn zero() {}\nfn one() {}\nfn two() {}\npub fn three() {}\n",
        &EditOrigin::user(Timestamp(0)),
    );
    let offset = buffer.resolve(anchor);
    assert_eq!(
        buffer.snapshot().text(Span::new(offset, offset + 5)),
        "three"
    );
}

#[test]
fn lines_of_bytes_differ_in_hunks() {
    let lines = |text: &'static [u8]| -> Vec<&[u8]> {
        text.split_inclusive(|byte| *byte == b'\n').collect()
    };
    let hunks = super::diff_lines(&lines(b"a\nb\nc\n"), &lines(b"a\n\xff\nc"));
    let told: Vec<_> = hunks
        .iter()
        .map(|hunk| (hunk.before.start.0, hunk.before.end.0, hunk.after.end.0))
        .collect();
    assert_eq!(told, [(1, 3, 3)]);
}

#[test]
fn hunks_for_display_begin_where_a_block_begins() {
    let lines = |text: &'static str| -> Vec<&[u8]> {
        let lines = text.as_bytes().split_inclusive(|byte| *byte == b'\n');
        lines.collect()
    };
    let before = lines("fn a() {\n    x\n}\n\nfn c() {\n    x\n}\n");
    let after = lines("fn a() {\n    x\n}\n\nfn b() {\n    x\n}\n\nfn c() {\n    x\n}\n");
    let hunks = super::diff_lines_for_display(&before, &after);
    let shown: Vec<String> = hunks.iter().map(show).collect();
    assert_eq!(shown, ["4..4 4..8"]);
}
