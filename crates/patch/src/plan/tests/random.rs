//! Tests random edits, corrupted as models corrupt them: an accepted edit gives exactly the
//! intended bytes, and an edit with a clear meaning is accepted.

mod corrupt;

use std::collections::BTreeMap;

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};

use super::sources::{Language, made_up, real, statement};
use super::*;
use corrupt::{CLASSES, Corruption};

/// An edit whose result is known.
#[derive(Clone, Debug)]
pub(super) struct Edit {
    pub(super) before: Vec<String>,
    /// The rows of the block in `before`.
    pub(super) rows: Range<usize>,
    pub(super) old: Vec<String>,
    pub(super) new: Vec<String>,
    /// Number of unchanged lines at each end of the block.
    pub(super) kept: (usize, usize),
}

impl Edit {
    fn after(&self) -> Vec<String> {
        let mut lines = self.before.clone();
        lines.splice(self.rows.clone(), self.new.iter().cloned());
        lines
    }

    /// Creates an edit of a few lines with some unchanged lines around them.
    fn random(before: Vec<String>, language: Language, random: &mut StdRng) -> Option<Self> {
        let count = before.len();
        let start = random.random_range(0..count);
        let end = (start + random.random_range(0..5)).min(count);
        let mut around = || {
            if random.random_bool(0.4) {
                3
            } else {
                random.random_range(0..4)
            }
        };
        let (head, tail) = (around().min(start), around().min(count - end));
        if random.random_bool(0.25) {
            return Self::paragraph(before, language, random);
        }
        let indent = crate::fold::indent(&before[start]).to_owned();
        let mut changed: Vec<String> = Vec::new();
        for line in &before[start..end] {
            match random.random_range(0..4) {
                0 => {}
                1 => changed.push(line.clone()),
                2 if !line.is_empty() => changed.push(line.replace(['e', 'o'], "u")),
                _ => changed.push(format!("{indent}{}", statement(language, random))),
            }
        }
        if random.random_bool(0.4) {
            for _ in 0..random.random_range(1..4) {
                changed.push(format!("{indent}{}", statement(language, random)));
            }
        }
        Self::new(before, start - head..start, changed, end..end + tail)
    }

    /// Creates an edit at a blank line that adds a paragraph similar to its neighbours, or another
    /// blank line; with some unchanged lines around it.
    fn paragraph(before: Vec<String>, language: Language, random: &mut StdRng) -> Option<Self> {
        let blanks: Vec<usize> = (2..before.len().saturating_sub(2))
            .filter(|row| before[*row].is_empty())
            .collect();
        let blank = *blanks.choose(random)?;
        let (head, tail) = (3.min(blank), 3.min(before.len() - blank - 1));
        let (first, last) = (&before[blank + 1], &before[blank - 1]);
        let indent = crate::fold::indent(first).to_owned();
        let mut added = vec![first.clone()];
        match random.random_range(0..4) {
            0 => added.clear(),
            1 => added.push(format!("{indent}{}", statement(language, random))),
            2 => added[0].push_str(" // other"),
            _ => added[0] = format!("{indent}{}", statement(language, random)),
        }
        if !added.is_empty() {
            added.push(last.clone());
        }
        // The new blank line comes after or before the added lines.
        let at = if random.random_bool(0.5) {
            added.push(String::new());
            blank + 1
        } else {
            added.insert(0, String::new());
            blank
        };
        let end = blank + 1 + tail;
        let mut behind = at..end;
        if random.random_bool(0.3) {
            added.push(format!("{indent}{}", statement(language, random)));
            behind.start = (at + 1).min(end);
        }
        let edit = Self::new(before, blank - head..at, added, behind)?;
        // A file without double blank lines does not get one.
        let has_double = |lines: &[String]| lines.windows(2).any(|two| two.concat().is_empty());
        (has_double(&edit.before) || !has_double(&edit.after())).then_some(edit)
    }

    /// Creates an edit that replaces the rows between `head` and `tail` with `changed`; `None` if
    /// the block is not unique or nothing changes.
    fn new(
        before: Vec<String>,
        head: Range<usize>,
        changed: Vec<String>,
        tail: Range<usize>,
    ) -> Option<Self> {
        let rows = head.start..tail.end;
        let old = before[rows.clone()].to_vec();
        let new = [&before[head], &changed, &before[tail]].concat();
        let runs = crate::diff::diff(old.len(), new.len(), |a, b| old[a] == new[b]);
        let (first, last) = (runs.first()?, runs.last()?);
        let kept = (first.old.start, old.len() - last.old.end);
        let edit = Self {
            before,
            rows,
            old,
            new,
            kept,
        };
        edit.is_unique().then_some(edit)
    }

    /// Returns whether the block occurs once, ignoring indentation, and contains letters or digits.
    fn is_unique(&self) -> bool {
        let trimmed = |lines: &[String]| {
            lines
                .iter()
                .map(|line| line.trim().to_owned())
                .collect::<Vec<_>>()
        };
        let old = trimmed(&self.old);
        let before = trimmed(&self.before);
        let says = old.iter().map(String::len).sum::<usize>() > 3;
        says && before
            .windows(old.len().max(1))
            .filter(|window| **window == *old)
            .count()
            == 1
    }
}

pub(super) fn joined(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[derive(Default, Debug)]
struct Tally {
    tried: usize,
    right: usize,
    wrong: Vec<String>,
    refusals: BTreeMap<String, usize>,
}

/// Plans one corrupted edit and records the result.
fn attempt(edit: &Edit, corruption: &Corruption, tally: &mut Tally, seed: u64, class: &str) {
    let before = corruption
        .before
        .clone()
        .unwrap_or_else(|| joined(&edit.before));
    let after = corruption
        .after
        .clone()
        .unwrap_or_else(|| joined(&edit.after()));
    let hunk = PatchHunk {
        grain: corruption.grain,
        ..hunk(&corruption.old, &corruption.new)
    };
    let planned = run(&before, std::slice::from_ref(&hunk));
    tally.tried += 1;
    match &planned.hunks[0].refusal {
        Some(refusal) => {
            assert!(planned.replacements.is_empty());
            if std::env::var("PATCH_SHOW").is_ok_and(|shown| shown == class) {
                println!(
                    "{refusal:?} seed {seed}\n--- old\n{}--- new\n{}--- before\n{}--- meant\n{}",
                    corruption.old,
                    corruption.new,
                    joined(&edit.old),
                    joined(&edit.new)
                );
            }
            *tally
                .refusals
                .entry(format!("{refusal:?}").chars().take(40).collect())
                .or_default() += 1;
        }
        None => {
            let result = planned.apply(&before);
            if result == after {
                tally.right += 1
            } else {
                tally.wrong.push(format!(
                    "seed {seed}, {:?} {:?}\n--- old\n{}--- new\n{}--- before\n{}--- meant\n{}--- made\n{}",
                    planned.hunks[0].strategy,
                    planned.hunks[0].differences,
                    corruption.old,
                    corruption.new,
                    joined(&edit.old),
                    joined(&edit.new),
                    around(&result, edit),
                ))
            }
        }
    }
}

/// Returns the rows of the edit in the result.
fn around(result: &str, edit: &Edit) -> String {
    let rows = result.lines().skip(edit.rows.start.saturating_sub(1));
    let lines: Vec<&str> = rows.take(edit.new.len() + 3).collect();
    lines.join("\n")
}

fn campaign(
    seeds: Range<u64>,
    skipped: &[&str],
    edits: impl Fn(&mut StdRng) -> Option<(Edit, Language)>,
) {
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    for seed in seeds {
        let mut random = StdRng::seed_from_u64(seed);
        let Some((edit, language)) = edits(&mut random) else {
            continue;
        };
        for class in CLASSES {
            if let Some(corruption) = (class.spoil)(&edit, language, &mut random) {
                attempt(
                    &edit,
                    &corruption,
                    tallies.entry(class.name).or_default(),
                    seed,
                    class.name,
                );
            }
        }
    }
    let mut weak = Vec::new();
    for class in CLASSES {
        let Some(tally) = tallies.get(class.name) else {
            if skipped.contains(&class.name) {
                continue;
            }
            weak.push(format!("{}: never tried", class.name));
            continue;
        };
        for wrong in tally.wrong.iter().take(3) {
            println!("{}: silently wrong, {wrong}", class.name);
        }
        if !tally.wrong.is_empty() {
            weak.push(format!(
                "{}: {} silently wrong",
                class.name,
                tally.wrong.len()
            ));
        }
        let share = tally.right as f64 / tally.tried as f64;
        println!(
            "{:28} {:5} tried, {:5.1} % right, refused {:?}",
            class.name,
            tally.tried,
            share * 100.0,
            tally.refusals
        );
        if share < class.floor && tally.tried > 40 {
            weak.push(format!(
                "{}: {share:.3} right, {:?}",
                class.name, tally.refusals
            ));
        }
    }
    assert!(weak.is_empty(), "{weak:#?}");
}

/// Returns the seeds; `PATCH_SEEDS` sets their number.
fn seeds(count: u64) -> Range<u64> {
    let asked = std::env::var("PATCH_SEEDS")
        .ok()
        .and_then(|count| count.parse().ok());
    0..asked.unwrap_or(count)
}

#[test]
fn made_up_files() {
    campaign(seeds(1500), &[], |random| {
        let language = *Language::ALL.choose(random)?;
        let lines = made_up(language, random);
        Some((Edit::random(lines, language, random)?, language))
    });
}

#[test]
fn files_of_this_repository() {
    let files = real();
    assert!(!files.is_empty());
    campaign(seeds(700), &["2 to 4", "tabs to spaces"], |random| {
        let lines = files.choose(random)?.clone();
        Some((Edit::random(lines, Language::Rust, random)?, Language::Rust))
    });
}

/// Plans arbitrary hunks: nothing panics, replacements are in order, and exact matches are literal.
#[test]
fn any_hunks_are_planned() {
    const PIECES: [&str; 14] = [
        "a", "b ", "\n", "\n", "\r\n", "  ", "\t", "é", "\u{201c}", "...", "}", "\\n", "&lt;",
        "\u{feff}",
    ];
    for seed in 0..4000 {
        let mut random = StdRng::seed_from_u64(seed);
        let mut some = |most: usize| -> String {
            let count = random.random_range(0..most);
            (0..count)
                .filter_map(|_| PIECES.choose(&mut random).copied())
                .collect()
        };
        let before = some(30);
        let texts: Vec<(String, String)> = (0..3).map(|_| (some(8), some(8))).collect();
        let hunks: Vec<PatchHunk> = texts
            .iter()
            .map(|(old, new)| PatchHunk {
                grain: *[Grain::Lines, Grain::Text]
                    .choose(&mut random)
                    .expect("two"),
                occurrences: *[Occurrences::One, Occurrences::All]
                    .choose(&mut random)
                    .expect("two"),
                at_end: random.random_bool(0.2),
                in_order: random.random_bool(0.5),
                row: random
                    .random_bool(0.3)
                    .then(|| Row(random.random_range(0..9))),
                ..hunk(old, new)
            })
            .collect();
        let planned = run(&before, &hunks);
        let mut end = 0;
        for replacement in &planned.replacements {
            assert!(end <= replacement.span.start.0, "seed {seed}: {planned:?}");
            assert!(
                before.is_char_boundary(replacement.span.start.0),
                "seed {seed}"
            );
            assert!(
                before.is_char_boundary(replacement.span.end.0),
                "seed {seed}"
            );
            end = replacement.span.end.0;
        }
        let single = run(&before, &hunks[..1]);
        let hunk = &hunks[0];
        let is_plain = hunk.grain == Grain::Text
            && !hunk.at_end
            && !before.contains('\r')
            && !hunk.new.contains('\r');
        if is_plain
            && single.hunks[0].strategy == Some(MatchStrategy::Exact)
            && single.hunks[0].outcome == HunkOutcome::Exact
        {
            let literal = match (hunk.old.is_empty(), hunk.occurrences) {
                (true, _) => format!("{before}{}", hunk.new),
                (false, Occurrences::One) => before.replacen(&hunk.old, &hunk.new, 1),
                (false, Occurrences::All) => before.replace(&hunk.old, &hunk.new),
            };
            assert_eq!(single.apply(&before), literal, "seed {seed}: {hunk:?}");
        }
    }
}
