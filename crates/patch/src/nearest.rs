//! Finds the lines that a refused hunk may have meant.
//!
//! Rows are compared by the words they share with the block, so the whole file can be searched in
//! time proportional to its length.

use std::cmp::Ordering;
use std::ops::Range;

use base::Row;

use crate::file::FileText;
use crate::fold;
use crate::hunk_match::HunkMatch;
use crate::outcome::NearMatch;

/// Maximum number of candidates reported.
const MAX_MATCHES: usize = 3;
/// Minimum similarity of a reported candidate.
const MIN_SIMILARITY: f32 = 0.3;
/// Maximum number of candidates compared in detail.
const MAX_COMPARED: usize = 8;
/// Maximum number of lines quoted per candidate.
const MAX_QUOTED_LINES: usize = 12;

/// Returns up to three places of the file that resemble the lines `old`, the most similar first.
/// Returns an empty list if there are no such places.
pub(crate) fn nearest(file: &FileText, old: &[String]) -> Vec<NearMatch> {
    let count = old.len().min(file.line_count());
    let block = SearchedBlock::of(old);
    if count == 0 || block.total == 0 {
        return Vec::new();
    }
    let mut windows = block.windows(file, count);
    windows.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut places: Vec<NearMatch> = Vec::new();
    let mut taken: Vec<Range<usize>> = Vec::new();
    for (_, row) in windows {
        let rows = row..row + count;
        if taken
            .iter()
            .any(|other| rows.start < other.end && other.start < rows.end)
        {
            continue;
        }
        let similarity = block.similarity(file, row);
        if similarity >= MIN_SIMILARITY {
            places.push(near_match(file, rows.clone(), similarity));
        }
        taken.push(rows);
        if places.len() == MAX_MATCHES || taken.len() == MAX_COMPARED {
            break;
        }
    }
    places.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
    places
}

/// Returns the first three positions of an ambiguous hunk, for its report.
pub(crate) fn of_matches(file: &FileText, matches: &[HunkMatch]) -> Vec<NearMatch> {
    let matches = matches.iter().take(MAX_MATCHES);
    matches
        .map(|found| near_match(file, found.rows.clone(), 1.0))
        .collect()
}

/// Quotes the rows, shortened if there are many, with their similarity to the old text.
pub(crate) fn near_match(file: &FileText, rows: Range<usize>, similarity: f32) -> NearMatch {
    let quoted = rows.start..rows.end.min(rows.start + MAX_QUOTED_LINES);
    let lines: Vec<&str> = quoted.map(|row| file.content(row)).collect();
    NearMatch {
        row: Row(rows.start as u32),
        text: lines.join("\n"),
        similarity,
    }
}

/// Words of the lines searched for.
struct SearchedBlock<'a> {
    lines: &'a [String],
    /// Hashes of the words in each line, sorted.
    words: Vec<Vec<u64>>,
    /// Hashes of all words, sorted, without duplicates.
    all: Vec<u64>,
    /// Bit set that quickly excludes most other words.
    sieve: [u64; 64],
    /// Total number of words.
    total: usize,
    /// Number of words in the longest line.
    most: usize,
}

impl<'a> SearchedBlock<'a> {
    fn of(lines: &'a [String]) -> Self {
        let words: Vec<Vec<u64>> = lines.iter().map(|line| sorted_words(line)).collect();
        let mut all: Vec<u64> = words.iter().flatten().copied().collect();
        let total = all.len();
        all.sort_unstable();
        all.dedup();
        let mut sieve = [0; 64];
        for word in &all {
            sieve[(word >> 6) as usize % 64] |= 1 << (word % 64);
        }
        Self {
            most: words.iter().map(Vec::len).max().unwrap_or(0),
            lines,
            words,
            all,
            sieve,
            total,
        }
    }

    /// Returns whether a word, given by its hash, occurs in the block.
    fn has(&self, word: u64) -> bool {
        let is_likely = self.sieve[(word >> 6) as usize % 64] & (1 << (word % 64)) != 0;
        is_likely && self.all.binary_search(&word).is_ok()
    }

    /// Returns the rows where a window of `count` lines shares enough words with the block, with
    /// their scores.
    fn windows(&self, file: &FileText, count: usize) -> Vec<(f32, usize)> {
        let mut sums = Vec::with_capacity(file.line_count() + 1);
        let mut sum = 0.0f32;
        sums.push(sum);
        for row in 0..file.line_count() {
            sum += self.score(file.content(row));
            sums.push(sum);
        }
        let rows = 0..=file.line_count() - count;
        let total = self.total as f32;
        rows.map(|row| ((sums[row + count] - sums[row]) / total, row))
            .filter(|(score, _)| *score >= MIN_SIMILARITY)
            .collect()
    }

    /// Scores a line by the number of words it shares with the block. A long line with few common
    /// words scores low.
    fn score(&self, line: &str) -> f32 {
        let (mut shared, mut all) = (0usize, 0usize);
        for_words(line, |word| {
            all += 1;
            shared += usize::from(self.has(word));
        });
        shared.min(self.most) as f32 * shared as f32 / all.max(1) as f32
    }

    /// Returns the similarity of the block to the lines from `row` on, line by line, from 0 to 1.
    fn similarity(&self, file: &FileText, row: usize) -> f32 {
        // Includes one more row at either end, so that lines may be shifted by one.
        let first = row.saturating_sub(1);
        let rows = first..(row + self.lines.len() + 1).min(file.line_count());
        let there: Vec<Vec<u64>> = rows.map(|row| sorted_words(file.content(row))).collect();
        let (mut same, mut all) = (0.0, 0.0);
        for (ix, words) in self.words.iter().enumerate() {
            let weight = fold::weight(&self.lines[ix]);
            let here = row - first + ix;
            let around = [Some(here), here.checked_sub(1), Some(here + 1)];
            let around = around.into_iter().flatten().filter_map(|ix| there.get(ix));
            let best = around
                .map(|there| likeness(words, there))
                .fold(0.0, f32::max);
            same += weight * best;
            all += weight;
        }
        if all == 0.0 { 0.0 } else { same / all }
    }
}

/// Returns the share of words that two lines have in common.
fn likeness(a: &[u64], b: &[u64]) -> f32 {
    if a == b {
        return 1.0;
    }
    let (mut x, mut y, mut shared) = (0, 0, 0);
    while x < a.len() && y < b.len() {
        match a[x].cmp(&b[y]) {
            Ordering::Less => x += 1,
            Ordering::Greater => y += 1,
            Ordering::Equal => {
                shared += 1;
                x += 1;
                y += 1;
            }
        }
    }
    2.0 * shared as f32 / (a.len() + b.len()).max(1) as f32
}

/// Returns the hashes of the words and punctuation characters of a line, sorted, with repetitions.
fn sorted_words(line: &str) -> Vec<u64> {
    let mut words = Vec::new();
    for_words(line, |word| words.push(word));
    words.sort_unstable();
    words
}

/// Hashes each word, and each punctuation character between words.
fn for_words(line: &str, mut each: impl FnMut(u64)) {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
    let mut rest = line.as_bytes();
    while let Some(first) = rest.first() {
        let length = if is_word(first) {
            rest.iter().take_while(|byte| is_word(byte)).count()
        } else {
            1
        };
        let (word, after) = rest.split_at(length);
        if !first.is_ascii_whitespace() {
            let mut hash = fold::LineHash::new();
            hash.add(word);
            each(hash.0);
        }
        rest = after;
    }
}
