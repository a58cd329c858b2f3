//! The lines that a hunk which does not land may have meant.
//!
//! Rows are compared by the words they share with the block, so that the whole file can be looked
//! at: time in proportion to its length.

use std::collections::HashMap;
use std::ops::Range;

use base::Row;

use crate::file::FileText;
use crate::fold;
use crate::found::Match;
use crate::outcome::Place;

/// How many places are named.
const MOST: usize = 3;
/// Less of a block than this is no place worth naming.
const FLOOR: f32 = 0.3;
/// How many lines of a place are quoted.
const QUOTED: usize = 12;

/// Up to three places, the likeliest first.
pub(crate) fn nearest(file: &FileText, old: &[String]) -> Vec<Place> {
    let count = old.len().min(file.line_count());
    let scores = row_scores(file, old);
    let total: f32 = old.iter().map(|line| words(line).count() as f32).sum();
    if count == 0 || total == 0.0 {
        return Vec::new();
    }
    let mut sums = vec![0.0; file.line_count() + 1];
    for (row, score) in scores.iter().enumerate() {
        sums[row + 1] = sums[row] + score;
    }
    let mut windows: Vec<(f32, usize)> = (0..=file.line_count() - count)
        .map(|row| ((sums[row + count] - sums[row]) / total, row))
        .filter(|(score, _)| *score >= FLOOR)
        .collect();
    windows.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut places: Vec<Place> = Vec::new();
    let mut taken: Vec<Range<usize>> = Vec::new();
    for (_, row) in windows.into_iter().take(64 * MOST) {
        let rows = row..row + count;
        if taken
            .iter()
            .any(|other| rows.start < other.end && other.start < rows.end)
        {
            continue;
        }
        let similarity = similarity(file, old, row);
        if similarity >= FLOOR {
            places.push(place(file, rows.clone(), similarity));
        }
        taken.push(rows);
        if places.len() == MOST || taken.len() == 4 * MOST {
            break;
        }
    }
    places.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
    places
}

/// The places of a hunk that has several, the first three.
pub(crate) fn of_matches(file: &FileText, matches: &[Match]) -> Vec<Place> {
    let matches = matches.iter().take(MOST);
    matches
        .map(|found| place(file, found.rows.clone(), 1.0))
        .collect()
}

pub(crate) fn place(file: &FileText, rows: Range<usize>, similarity: f32) -> Place {
    let quoted = rows.start..rows.end.min(rows.start + QUOTED);
    let lines: Vec<&str> = quoted.map(|row| file.content(row)).collect();
    Place {
        row: Row(rows.start as u32),
        text: lines.join("\n"),
        similarity,
    }
}

/// Per row, how many of its words the block has, as often as the block has them.
fn row_scores(file: &FileText, old: &[String]) -> Vec<f32> {
    let mut wanted: HashMap<u64, usize> = HashMap::new();
    for word in old.iter().flat_map(|line| words(line)) {
        *wanted.entry(hash(word)).or_default() += 1;
    }
    let most = old
        .iter()
        .map(|line| words(line).count())
        .max()
        .unwrap_or(0) as f32;
    let rows = 0..file.line_count();
    let score = |row| {
        let (mut shared, mut all) = (0usize, 0usize);
        for word in words(file.content(row)) {
            all += 1;
            shared += usize::from(wanted.contains_key(&hash(word)));
        }
        // A long line that shares a few words with the block is no line of it.
        let share = shared as f32 / all.max(1) as f32;
        (shared as f32).min(most) * share
    };
    rows.map(score).collect()
}

/// How much of the block stands from `row` on, line beside line, from 0 to 1.
fn similarity(file: &FileText, old: &[String], row: usize) -> f32 {
    let (mut same, mut all) = (0.0, 0.0);
    for (ix, line) in old.iter().enumerate() {
        let weight = fold::weight(line);
        let around = [ix as isize, ix as isize - 1, ix as isize + 1];
        let rows = around.iter().filter_map(|ix| row.checked_add_signed(*ix));
        let best = rows
            .map(|row| likeness(line, file.content(row)))
            .fold(0.0, f32::max);
        same += weight * best;
        all += weight;
    }
    if all == 0.0 { 0.0 } else { same / all }
}

/// The share of words that two lines have in common.
fn likeness(a: &str, b: &str) -> f32 {
    if fold::is_same(a, b) {
        return 1.0;
    }
    let (mut a, mut b): (Vec<&str>, Vec<&str>) = (words(a).collect(), words(b).collect());
    a.sort_unstable();
    b.sort_unstable();
    let (mut x, mut y, mut shared) = (0, 0, 0);
    while x < a.len() && y < b.len() {
        match a[x].cmp(b[y]) {
            std::cmp::Ordering::Less => x += 1,
            std::cmp::Ordering::Greater => y += 1,
            std::cmp::Ordering::Equal => {
                shared += 1;
                x += 1;
                y += 1;
            }
        }
    }
    2.0 * shared as f32 / (a.len() + b.len()).max(1) as f32
}

/// Words, and the signs between them one by one.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line.trim();
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let first = rest.chars().next()?;
        let is_word = |sign: char| sign.is_alphanumeric() || sign == '_';
        let end = match is_word(first) {
            true => rest.find(|sign| !is_word(sign)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word)
    })
}

fn hash(word: &str) -> u64 {
    let mut hash = fold::Hash::new();
    hash.add(word.as_bytes());
    hash.0
}
