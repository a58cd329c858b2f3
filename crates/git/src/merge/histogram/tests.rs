//! Tests that diffs equal those of git.
#![expect(clippy::disallowed_methods, reason = "the tests ask the real git")]

use std::process::Command;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::hunks;

/// Returns the hunk headers of git: start and count before, start and count after, counted from 0.
fn by_git(before: &str, after: &str) -> Vec<(usize, usize, usize, usize)> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a"), before).unwrap();
    std::fs::write(folder.path().join("b"), after).unwrap();
    let output = Command::new("git")
        .current_dir(folder.path())
        .args([
            "diff",
            "--no-index",
            "--diff-algorithm=histogram",
            "--no-indent-heuristic",
            "-U0",
            "a",
            "b",
        ])
        .output()
        .unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    let range = |text: &str| {
        let (start, count) = text[1..].split_once(',').unwrap_or((&text[1..], "1"));
        let (start, count): (usize, usize) = (start.parse().unwrap(), count.parse().unwrap());
        // The header of an empty range names the line before it.
        (if count == 0 { start } else { start - 1 }, count)
    };
    told.lines()
        .filter(|line| line.starts_with("@@"))
        .map(|line| {
            let mut words = line.split(' ').skip(1);
            let (a, b) = (range(words.next().unwrap()), range(words.next().unwrap()));
            (a.0, a.1, b.0, b.1)
        })
        .collect()
}

#[test]
fn random_diffs_equal_those_of_git() {
    let count: u64 = std::env::var("BURIN_MERGES").map_or(150, |count| count.parse().unwrap());
    for seed in 0..count {
        let random = &mut StdRng::seed_from_u64(seed);
        let kinds = [3, 8, 30][(seed % 3) as usize];
        let mut lines = |most: usize| -> Vec<String> {
            (0..random.random_range(0..most))
                .map(|_| format!("{}\n", random.random_range(0..kinds)))
                .collect()
        };
        let before = lines(40);
        let mut after = before.clone();
        for new in [lines(4), lines(4), lines(4)] {
            let at = new.len() * 7 % (after.len() + 1);
            let end = (at + new.len() / 2).min(after.len());
            after.splice(at..end, new);
        }
        let (before, after) = (before.concat(), after.concat());
        fn cut(text: &str) -> Vec<&[u8]> {
            text.as_bytes()
                .split_inclusive(|byte| *byte == b'\n')
                .collect()
        }
        let ours: Vec<_> = hunks(&cut(&before), &cut(&after))
            .into_iter()
            .map(|hunk| {
                (
                    hunk.before.start,
                    hunk.before.len(),
                    hunk.after.start,
                    hunk.after.len(),
                )
            })
            .collect();
        assert_eq!(ours, by_git(&before, &after), "{before:?} {after:?}");
    }
}
