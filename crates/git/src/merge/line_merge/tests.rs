//! Tests that merges and conflicts equal those of git.
#![expect(clippy::disallowed_methods, reason = "the tests ask the real git")]

use std::process::Command;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use crate::merge::{ConflictLabels, merge_bytes};

const MARKS: ConflictLabels<'static> = ConflictLabels {
    ours: "ours",
    base: None,
    theirs: "theirs",
};

fn by_git(base: &str, ours: &str, theirs: &str) -> (String, bool) {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("base", base);
    write("ours", ours);
    write("theirs", theirs);
    let arguments = [
        "merge-file",
        "-p",
        "--diff-algorithm=histogram",
        "ours",
        "base",
        "theirs",
    ];
    let output = Command::new("git")
        .current_dir(folder.path())
        .args(arguments)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    (text, output.status.success())
}

fn check(base: &str, ours: &str, theirs: &str) {
    let merge = merge_bytes(base.as_bytes(), ours.as_bytes(), theirs.as_bytes());
    let (expected, is_clean) = by_git(base, ours, theirs);
    let got = String::from_utf8(merge.with_markers(MARKS)).unwrap();
    assert_eq!(got, expected, "of {base:?} {ours:?} {theirs:?}");
    assert_eq!(merge.clean().is_some(), is_clean);
    assert_eq!(merge.conflict_lines().is_empty(), is_clean);
}

#[test]
fn merges_equal_those_of_git() {
    let base = "a\nb\nc\nd\ne\nf\ng\nh\n";
    check(base, "A\nb\nc\nd\ne\nf\ng\nh\n", "a\nb\nc\nd\ne\nf\ng\nH\n");
    check(base, "a\nB\nc\nd\ne\nf\ng\nh\n", "a\nX\nc\nd\ne\nf\ng\nh\n");
    check(base, "a\nB\nc\nd\ne\nf\ng\nh\n", "a\nb\nC\nd\ne\nf\ng\nh\n");
    check(base, "a\nB\nc\nd\ne\nf\ng\nh\n", "a\nb\nc\nD\ne\nf\ng\nh\n");
    check(base, "a\nb\n", "a\nb\nc\nd\ne\nf\ng\nH\n");
    check(base, "", base);
    check(base, "b\nc\nd\ne\nf\ng\nh\n", "b\nc\nd\ne\nf\ng\nh\n");
    check("", "a\nb\n", "a\nc\n");
    check("a", "a\nb", "a\nc");
    check("a\nb", "a\nb\n", "x\nb");
    // The sides agree in the middle of the conflict.
    check("a\nb\nc\nd\n", "1\nx\ny\nz\nw\n2\n", "3\nx\ny\nz\nw\n4\n");
    check("a\n", "1\nx\ny\nz\n2\n", "3\nx\ny\nz\n4\n");
}

/// Applies a few random edits to some lines.
fn edited(random: &mut StdRng, lines: &[String]) -> Vec<String> {
    let mut lines = lines.to_vec();
    for _ in 0..random.random_range(0..4) {
        let at = random.random_range(0..=lines.len());
        let end = (at + random.random_range(0..3)).min(lines.len());
        let count = random.random_range(0..3);
        let new: Vec<String> = (0..count)
            .map(|_| format!("{}\n", random.random_range(0..12)))
            .collect();
        lines.splice(at..end, new);
    }
    lines
}

#[test]
fn random_merges_equal_those_of_git() {
    let count: u64 = std::env::var("BURIN_MERGES").map_or(150, |count| count.parse().unwrap());
    let mut fights = 0;
    for seed in 0..count {
        let random = &mut StdRng::seed_from_u64(seed);
        // All lines are distinct, so that the diff is unambiguous.
        let base: Vec<String> = (0..random.random_range(0..30))
            .map(|ix| format!("line {ix}\n"))
            .collect();
        let (ours, theirs) = (edited(random, &base), edited(random, &base));
        let (base, ours, theirs) = (base.concat(), ours.concat(), theirs.concat());
        check(&base, &ours, &theirs);
        let merge = merge_bytes(base.as_bytes(), ours.as_bytes(), theirs.as_bytes());
        fights += usize::from(merge.clean().is_none());
    }
    assert!(fights > 10, "{fights} of {count} in conflict");
}
