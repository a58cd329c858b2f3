//! Tests of moved lines, by example and with random moves.

use super::{LineChange, MovedLines, is_large, moved_lines};
use crate::diff_lines_for_display;
use crate::random::SeededRng;

fn change<'t>(removed: &[&'t str], added: &[&'t str]) -> LineChange<'t> {
    LineChange {
        removed: removed.to_vec(),
        added: added.to_vec(),
    }
}

/// Returns the moves as `CHANGE:LINES>CHANGE:LINES`.
fn shown(changes: &[LineChange<'_>]) -> Vec<String> {
    let moves = moved_lines(changes).into_iter();
    let shown = moves.map(|it| format!("{}:{:?}>{}:{:?}", it.from, it.removed, it.to, it.added));
    shown.collect()
}

#[test]
fn a_block_that_reappears_elsewhere_is_moved() {
    let changes = [
        change(&["x", "fn a() {", "    b();", "}"], &["y"]),
        change(&[], &["    fn a() {", "        b();", "    }", "z"]),
    ];
    assert_eq!(shown(&changes), ["0:1..4>1:0..3"]);
}

#[test]
fn short_blocks_and_changes_in_place_are_not_moves() {
    let short = [change(&["a", "b"], &[]), change(&[], &["a", "b"])];
    assert!(shown(&short).is_empty());
    let long = "a line with a good many of visible characters in it";
    let one = [change(&[long], &[]), change(&[], &[long])];
    assert_eq!(shown(&one), ["0:0..1>1:0..1"]);
    let indented = [change(&["a", "b", "c"], &["  a", "  b", "  c"])];
    assert!(shown(&indented).is_empty());
    let blank = [
        change(&["a", "", "", "b"], &[]),
        change(&[], &["a", "", "", "b"]),
    ];
    assert!(shown(&blank).is_empty());
}

#[test]
fn the_longest_of_several_targets_is_chosen_once() {
    let changes = [
        change(&["a", "b", "c", "d"], &[]),
        change(&[], &["a", "b", "c"]),
        change(&[], &["a", "b", "c", "d", ""]),
        change(&["a", "b", "c"], &[]),
    ];
    assert_eq!(shown(&changes), ["0:0..4>2:0..4", "3:0..3>1:0..3"]);
}

#[test]
fn frequent_lines_move_only_beside_rare_ones() {
    let many = vec!["}"; 100];
    let changes = [change(&many, &[]), change(&[], &many)];
    assert!(shown(&changes).is_empty());
    let mut removed = many.clone();
    removed[50] = "rare";
    let changes = [change(&removed, &[]), change(&[], &removed)];
    assert_eq!(shown(&changes), ["0:0..100>1:0..100"]);
}

/// Moves a block of lines, which may get another indentation.
fn with_move(lines: &[String], rng: &mut SeededRng) -> Vec<String> {
    let mut lines = lines.to_vec();
    let length = 3 + rng.next_below(9);
    let start = rng.next_below(lines.len() - length);
    let block: Vec<String> = lines.drain(start..start + length).collect();
    let to = rng.next_below(lines.len() + 1);
    let indent = ["", "    ", "\t"][rng.next_below(3)];
    let block = block.into_iter().map(|line| format!("{indent}{line}"));
    lines.splice(to..to, block);
    lines
}

fn changes_of<'t>(before: &'t [String], after: &'t [String]) -> Vec<LineChange<'t>> {
    let bytes = |lines: &'t [String]| lines.iter().map(|it| it.as_bytes()).collect::<Vec<_>>();
    let hunks = diff_lines_for_display(&bytes(before), &bytes(after)).into_iter();
    let lines = |lines: &'t [String], rows: crate::RowSpan| {
        let lines = &lines[rows.start.0 as usize..rows.end.0 as usize];
        lines.iter().map(String::as_str).collect::<Vec<_>>()
    };
    let changes = hunks.map(|hunk| LineChange {
        removed: lines(before, hunk.before),
        added: lines(after, hunk.after),
    });
    changes.collect()
}

/// Checks what holds for every diff: equal lines, no line twice, large blocks, another change.
fn check_moves(changes: &[LineChange<'_>], moves: &[MovedLines]) {
    let mut taken = std::collections::HashSet::new();
    for it in moves {
        let trimmed = |lines: &[&str]| -> Vec<String> {
            lines.iter().map(|line| line.trim().to_owned()).collect()
        };
        let removed = trimmed(&changes[it.from].removed[it.removed.clone()]);
        let added = trimmed(&changes[it.to].added[it.added.clone()]);
        assert_eq!(removed, added);
        assert_ne!(it.from, it.to);
        let lines: Vec<&str> = removed.iter().map(String::as_str).collect();
        assert!(is_large(&lines), "{lines:?}");
        let places = it.removed.clone().map(|line| (0, it.from, line));
        let places = places.chain(it.added.clone().map(|line| (1, it.to, line)));
        for place in places {
            assert!(taken.insert(place), "{place:?} twice in {moves:?}");
        }
    }
}

#[test]
fn random_moves_of_unique_lines_are_found_whole() {
    for round in 0..300 {
        let mut rng = SeededRng::new(round);
        let count = 30 + rng.next_below(50);
        let lines = (0..count).map(|line| {
            format!("the statement with the number {round} that is written in line {line}")
        });
        let before: Vec<String> = lines.collect();
        let after = with_move(&before, &mut rng);
        let changes = changes_of(&before, &after);
        let moves = moved_lines(&changes);
        check_moves(&changes, &moves);
        // A block that was put back only got another indentation.
        if changes.len() < 2 {
            continue;
        }
        let removed: usize = changes.iter().map(|change| change.removed.len()).sum();
        let moved: usize = moves.iter().map(|it| it.removed.len()).sum();
        assert_eq!(moved, removed, "{changes:?}");
    }
}

#[test]
fn random_edits_of_frequent_lines_give_disjoint_moves() {
    for seed in 0..300 {
        let mut rng = SeededRng::new(seed);
        let lines = (0..20 + rng.next_below(40))
            .map(|_| ["a();", "b();", "", "}", "long enough to be rare"][rng.next_below(5)]);
        let before: Vec<String> = lines.map(str::to_owned).collect();
        let mut after = before.clone();
        for _ in 0..1 + rng.next_below(3) {
            after = with_move(&after, &mut rng);
        }
        let changes = changes_of(&before, &after);
        check_moves(&changes, &moved_lines(&changes));
    }
}
