//! Tests runs of differences, by example and with random sequences.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::*;

fn of(old: &str, new: &str) -> Vec<DiffRun> {
    let (old, new): (Vec<char>, Vec<char>) = (old.chars().collect(), new.chars().collect());
    diff(old.len(), new.len(), |x, y| old[x] == new[y])
}

fn run(old: Range<usize>, new: Range<usize>) -> DiffRun {
    DiffRun { old, new }
}

#[test]
fn differences_are_runs() {
    assert_eq!(of("abc", "abc"), []);
    assert_eq!(of("abc", "axc"), [run(1..2, 1..2)]);
    assert_eq!(of("abc", "abxyc"), [run(2..2, 2..4)]);
    assert_eq!(of("abcd", "d"), [run(0..3, 0..0)]);
    assert_eq!(of("abcdef", "xbcdey"), [run(0..1, 0..1), run(5..6, 5..6)]);
    assert_eq!(of("", "ab"), [run(0..0, 0..2)]);
}

fn check(runs: &[DiffRun], old: &str, new: &str) {
    let (mut x, mut y) = (0, 0);
    for run in runs
        .iter()
        .chain([&run(old.len()..old.len(), new.len()..new.len())])
    {
        assert_eq!(
            old[x..run.old.start],
            new[y..run.new.start],
            "{old:?} {new:?}"
        );
        (x, y) = (run.old.end, run.new.end);
    }
    let kept = old.len() - runs.iter().map(|run| run.old.len()).sum::<usize>();
    assert_eq!(kept, longest_common(old, new), "{old:?} {new:?}");
}

#[test]
fn what_lies_between_runs_is_the_same() {
    for seed in 0..400 {
        let mut random = StdRng::seed_from_u64(seed);
        let last = random.random_range('d'..'k');
        let mut text = || -> String {
            let length = random.random_range(0..24);
            (0..length)
                .map(|_| random.random_range('a'..last))
                .collect()
        };
        let (old, new) = (text(), text());
        check(&of(&old, &new), &old, &new);
        let lines = |text: &str| -> Vec<String> { text.chars().map(String::from).collect() };
        check(&diff_lines(&lines(&old), &lines(&new)), &old, &new);
    }
}

fn longest_common(a: &str, b: &str) -> usize {
    let mut row = vec![0; b.len() + 1];
    for x in a.chars() {
        let mut diagonal = 0;
        for (ix, y) in b.chars().enumerate() {
            let here = if x == y {
                diagonal + 1
            } else {
                row[ix].max(row[ix + 1])
            };
            diagonal = row[ix + 1];
            row[ix + 1] = here;
        }
    }
    row[b.len()]
}
