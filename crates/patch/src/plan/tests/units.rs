//! Tests blocks with another unit of indentation that move lines deeper or further out.

use super::*;

/// Returns `lines` indented by their levels times `unit`.
fn text(lines: &[(usize, &str)], unit: &str) -> String {
    let lines = lines.iter();
    lines
        .map(|(level, line)| format!("{}{line}\n", unit.repeat(*level)))
        .collect()
}

const PAIRS: [(&str, &str); 8] = [
    ("    ", "  "),
    ("  ", "    "),
    ("        ", "    "),
    ("    ", "        "),
    ("    ", "\t"),
    ("\t", "    "),
    ("\t", "  "),
    ("  ", "\t"),
];

/// Asserts that a block in another unit than the file's gives `after` in the file's unit.
fn check(
    before: &[(usize, &str)],
    old: &[(usize, &str)],
    new: &[(usize, &str)],
    after: &[(usize, &str)],
) {
    for (of_file, of_block) in PAIRS {
        let block = hunk(&text(old, of_block), &text(new, of_block));
        let before = text(before, of_file);
        let planned = run(&before, &[block]);
        let report = &planned.hunks[0];
        assert!(
            planned.is_complete(),
            "{of_file:?} {of_block:?}: {report:?}"
        );
        assert_eq!(
            planned.apply(&before),
            text(after, of_file),
            "{of_file:?} {of_block:?}"
        );
    }
}

const START: &[(usize, &str)] = &[
    (0, "def start():"),
    (1, "port = pick()"),
    (1, "serve(port)"),
];
const LOCKED: &[(usize, &str)] = &[
    (0, "def start():"),
    (1, "with lock:"),
    (2, "port = pick()"),
    (2, "serve(port)"),
];

#[test]
fn lines_that_are_wrapped_move_deeper() {
    check(START, START, LOCKED, LOCKED);
}

#[test]
fn lines_that_are_unwrapped_move_out() {
    check(LOCKED, LOCKED, START, START);
}

#[test]
fn lines_that_are_wrapped_twice_move_deeper_twice() {
    let twice = &[
        (0, "def start():"),
        (1, "with lock:"),
        (2, "if ready:"),
        (3, "port = pick()"),
        (3, "serve(port)"),
    ];
    check(START, START, twice, twice);
}

#[test]
fn a_part_that_is_wrapped_moves_deeper() {
    let before = &[
        (0, "class A:"),
        (1, "def start(self):"),
        (2, "port = pick()"),
        (2, "serve(port)"),
        (1, "def stop(self):"),
        (2, "close()"),
    ];
    let after = &[
        (0, "class A:"),
        (1, "def start(self):"),
        (2, "with lock:"),
        (3, "port = pick()"),
        (3, "serve(port)"),
        (1, "def stop(self):"),
        (2, "close()"),
    ];
    check(before, &before[..4], &after[..5], after);
    check(before, &before[1..4], &after[1..5], after);
    check(before, before, after, after);
}

#[test]
fn a_dedented_block_that_wraps_moves_deeper() {
    let before = "class A:\n    def start(self):\n        port = pick()\n        serve(port)\n";
    let block = hunk(
        "port = pick()\nserve(port)\n",
        "with lock:\n    port = pick()\n    serve(port)\n",
    );
    let after = "class A:\n    def start(self):\n        with lock:\n            port = pick()\n            serve(port)\n";
    lands(before, block, MatchStrategy::Reindented, after);
}

#[test]
fn new_text_in_the_files_unit_is_unchanged() {
    let before = text(START, "    ");
    let new = "def start():\n    port = pick()\n    check(port)\n    serve(port)\n";
    lands(
        &before,
        hunk(&text(START, "  "), new),
        MatchStrategy::Reindented,
        new,
    );
}
