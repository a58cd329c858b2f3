//! The truth about written text, by brute force: every character has a number of its own.
//!
//! A token is kept while exactly its characters form a token of the text. Undo brings characters back with their
//! numbers, and moved characters keep them. Everything is computed anew from the whole text after each change.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use text::Snapshot;

use crate::token::is_word;

/// The numbers of the characters of a token.
pub(super) type TokenId = Vec<u64>;

/// A character with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Mark {
    pub(super) char: char,
    id: u64,
}

/// A text with numbered characters, and the units in it.
#[derive(Debug, Default)]
pub(super) struct Oracle {
    pub(super) marks: Vec<Mark>,
    next_id: u64,
    pub(super) units: Vec<OracleUnit>,
    /// All tokens that the text ever had.
    seen: HashSet<TokenId>,
    /// Stretches of tokens that were removed in the last minute, with the time.
    removed: Vec<(u64, Vec<Vec<Mark>>)>,
    /// All tokens that ever were in the text, in order.
    sequence: Vec<PastToken>,
    joins: usize,
}

/// A token of the text, at present or in the past.
#[derive(Clone, Debug)]
struct PastToken {
    marks: Vec<Mark>,
    /// The numbers of the comparisons after which it was there and gone.
    born: usize,
    died: Option<usize>,
}

#[derive(Debug)]
pub(super) struct OracleUnit {
    /// Stretches of tokens that the change inserted or removed.
    runs: Vec<Vec<Vec<Mark>>>,
    pub(super) at_ms: u64,
    pub(super) inserted: Vec<TokenId>,
    pub(super) removed: Vec<TokenId>,
}

impl Oracle {
    /// Makes new characters.
    pub(super) fn marks_of(&mut self, text: &str) -> Vec<Mark> {
        let marks = text.chars().map(|char| {
            self.next_id += 1;
            Mark {
                char,
                id: self.next_id,
            }
        });
        marks.collect()
    }

    /// Returns the text.
    pub(super) fn text(&self) -> String {
        self.marks.iter().map(|mark| mark.char).collect()
    }

    /// Replaces a range of characters.
    pub(super) fn replace(&mut self, range: Range<usize>, marks: Vec<Mark>) {
        self.marks.splice(range, marks);
    }

    /// Replaces a range of characters by a text. Tokens that are the same in both keep their numbers.
    pub(super) fn rewrite(&mut self, range: Range<usize>, text: &str) -> Vec<Mark> {
        let mut marks = self.marks_of(text);
        let old = self.marks[range].to_vec();
        let (old_tokens, new_tokens) = (token_ranges(&old), token_ranges(&marks));
        let same = common(&words(&old, &old_tokens), &words(&marks, &new_tokens));
        for (one, two) in same {
            marks[new_tokens[two].clone()].copy_from_slice(&old[old_tokens[one].clone()]);
        }
        marks
    }

    /// Replaces the text by one of which only the contents are known: rows are compared, then the tokens in those
    /// that differ.
    pub(super) fn replace_rows(&mut self, after: &Snapshot) {
        let old = self.text();
        let before = Snapshot::new(&old);
        for hunk in before.diff_rows(after).into_iter().rev() {
            let rows = before.span_of(hunk.before).range();
            let start = old[..rows.start].chars().count();
            let range = start..start + old[rows].chars().count();
            let marks = self.rewrite(range.clone(), &after.text(after.span_of(hunk.after)));
            self.replace(range, marks);
        }
    }

    /// Compares the text with that before several edits: tokens that were replaced by the same ones between two
    /// tokens that stayed keep their numbers, and so do moved tokens and those that came back.
    pub(super) fn join_edits(&mut self, before: &[Mark], at_ms: u64) {
        let (old, new) = (token_ranges(before), token_ranges(&self.marks));
        let of = |marks: &[Mark], ranges: &[Range<usize>]| -> Vec<Vec<Mark>> {
            ranges
                .iter()
                .map(|range| marks[range.clone()].to_vec())
                .collect()
        };
        for (gap, now) in gaps(&of(before, &old), &of(&self.marks, &new)) {
            let same = common(
                &words(before, &old[gap.clone()]),
                &words(&self.marks, &new[now.clone()]),
            );
            for (one, two) in same {
                let from = before[old[gap.start + one].clone()].to_vec();
                self.marks[new[now.start + two].clone()].copy_from_slice(&from);
            }
        }
        self.join_moved(before, at_ms);
        self.extend_sequence();
        self.join_returned();
    }

    /// Brings the sequence of all tokens that ever were up to the text.
    fn extend_sequence(&mut self) {
        self.joins += 1;
        let ranges = token_ranges(&self.marks);
        let now: Vec<Vec<Mark>> = ranges
            .iter()
            .map(|range| self.marks[range.clone()].to_vec())
            .collect();
        let past = std::mem::take(&mut self.sequence);
        let alive: Vec<usize> = (0..past.len())
            .filter(|ix| past[*ix].died.is_none())
            .collect();
        let old: Vec<Vec<Mark>> = alive.iter().map(|ix| past[*ix].marks.clone()).collect();
        let mut next = 0;
        for (gap, written) in gaps(&old, &now) {
            let end = alive.get(gap.end).copied().unwrap_or(past.len());
            for token in &past[next..end] {
                let died = token.died.or(Some(self.joins));
                self.sequence.push(PastToken {
                    died,
                    ..token.clone()
                });
            }
            let new = now[written].iter().map(|marks| PastToken {
                marks: marks.clone(),
                born: self.joins,
                died: None,
            });
            self.sequence.extend(new);
            self.sequence.extend(past.get(end).cloned());
            next = end + 1;
        }
    }

    /// Gives tokens that came back at their places their old numbers: among the tokens that were written since they
    /// went, between those that were around them, at least half of all must be theirs.
    fn join_returned(&mut self) {
        let runs: Vec<Vec<Vec<Mark>>> = self
            .units
            .iter()
            .flat_map(|unit| unit.runs.clone())
            .collect();
        let mut alive = HashSet::new();
        let mut dead = HashMap::new();
        for (ix, token) in self.sequence.iter().enumerate() {
            match token.died {
                None => drop(alive.insert(token.marks.clone())),
                Some(_) => drop(dead.insert(token.marks.clone(), ix)),
            }
        }
        for run in &runs {
            for stretch in run.chunk_by(|one, two| alive.contains(one) == alive.contains(two)) {
                if !alive.contains(&stretch[0]) {
                    self.join_returned_stretch(stretch, &dead);
                }
            }
        }
        let mut tokens = self.sequence.iter().filter(|token| token.died.is_none());
        for range in token_ranges(&self.marks) {
            let token = tokens.next().expect("the sequence has all tokens");
            self.marks[range].copy_from_slice(&token.marks);
        }
    }

    fn join_returned_stretch(&mut self, stretch: &[Vec<Mark>], dead: &HashMap<Vec<Mark>, usize>) {
        let places: Vec<usize> = stretch
            .iter()
            .filter_map(|marks| dead.get(marks).copied())
            .collect();
        let (Some(first), Some(last)) = (places.first(), places.last()) else {
            return;
        };
        let went = places
            .iter()
            .filter_map(|ix| self.sequence[*ix].died)
            .min()
            .unwrap_or_default();
        let is_bound =
            |ix: &usize| self.sequence[*ix].died.is_none() && self.sequence[*ix].born < went;
        let start = (0..*first).rev().find(is_bound).map_or(0, |ix| ix + 1);
        let end = (*last..self.sequence.len())
            .find(is_bound)
            .unwrap_or(self.sequence.len());
        let written: Vec<usize> = (start..end)
            .filter(|ix| self.sequence[*ix].died.is_none())
            .collect();
        if written.len() > 3 * stretch.len() {
            return;
        }
        let old: Vec<String> = stretch.iter().map(|marks| word(marks)).collect();
        let now: Vec<String> = written
            .iter()
            .map(|ix| word(&self.sequence[*ix].marks))
            .collect();
        let same = common(&old, &now);
        if 4 * same.len() >= old.len() + now.len() {
            for (one, two) in same {
                self.sequence[written[two]].marks = stretch[one].clone();
            }
        }
    }

    /// Gives at least ten new tokens in a row the numbers of the same ones that were removed in the last minute.
    fn join_moved(&mut self, before: &[Mark], at_ms: u64) {
        let (old, new) = (token_ranges(before), token_ranges(&self.marks));
        let own = |marks: &[Mark], range: &Range<usize>| marks[range.clone()].to_vec();
        let there: HashSet<Vec<Mark>> = new.iter().map(|range| own(&self.marks, range)).collect();
        let was: HashSet<Vec<Mark>> = old.iter().map(|range| own(before, range)).collect();
        // Stretches of removed tokens, each one after a token that stayed.
        for (ix, range) in old.iter().enumerate() {
            let marks = own(before, range);
            if !there.contains(&marks) {
                let follows = ix > 0 && !there.contains(&own(before, &old[ix - 1]));
                match self.removed.last_mut() {
                    Some((_, last)) if follows => last.push(marks),
                    _ => self.removed.push((at_ms, vec![marks])),
                }
            }
        }
        self.removed
            .retain(|(removed_ms, _)| at_ms - removed_ms <= 60_000);
        let text = |marks: &[Mark]| marks.iter().map(|it| it.char).collect::<String>();
        let mut ix = 0;
        while ix < new.len() {
            let length = |from: &[Vec<Mark>]| {
                let pairs = from.iter().zip(&new[ix..]);
                let same = pairs.take_while(|(mark, range)| {
                    let now = own(&self.marks, range);
                    text(mark) == text(&now) && !was.contains(&now)
                });
                same.count()
            };
            let best = self
                .removed
                .iter()
                .flat_map(|(_, tokens)| (0..tokens.len()).map(|from| &tokens[from..]));
            let best = best
                .map(|from| (length(from), from))
                .max_by_key(|(length, _)| *length);
            let Some((length, from)) = best.filter(|(length, _)| *length >= 10) else {
                ix += 1;
                continue;
            };
            for (marks, range) in from[..length].to_vec().iter().zip(&new[ix..ix + length]) {
                self.marks[range.clone()].copy_from_slice(marks);
            }
            ix += length;
        }
    }

    /// Returns the tokens of the text.
    pub(super) fn tokens(&self) -> Vec<TokenId> {
        let ranges = token_ranges(&self.marks);
        let ids = |range: Range<usize>| self.marks[range].iter().map(|mark| mark.id).collect();
        ranges.into_iter().map(ids).collect()
    }

    /// Adds the unit of a change from a text with the tokens `before` to the present one.
    pub(super) fn add_unit(&mut self, before: &[TokenId], at_ms: u64) {
        self.add_unit_with_runs(before, &[], at_ms);
    }

    /// Adds the unit, whose tokens may come back; `marks` is the text before.
    pub(super) fn add_unit_with_runs(&mut self, before: &[TokenId], marks: &[Mark], at_ms: u64) {
        let now = self.tokens();
        let (old, new): (HashSet<&TokenId>, HashSet<&TokenId>) =
            (before.iter().collect(), now.iter().collect());
        let of = |tokens: &[TokenId], others: &HashSet<&TokenId>| {
            let own = tokens.iter().filter(|token| !others.contains(token));
            own.cloned().collect::<Vec<_>>()
        };
        let mut runs = stretches(&self.marks, &old);
        runs.extend(stretches(marks, &new));
        let unit = OracleUnit {
            runs,
            at_ms,
            inserted: of(&now, &old)
                .into_iter()
                .filter(|token| !self.seen.contains(token))
                .collect(),
            removed: of(before, &new),
        };
        self.seen.extend(before.iter().cloned());
        self.seen.extend(now);
        if !unit.inserted.is_empty() || !unit.removed.is_empty() {
            self.units.push(unit);
        }
    }

    /// Returns the numbers of kept tokens of a unit: inserted ones that are there, and removed ones that are not.
    pub(super) fn kept(&self, unit: &OracleUnit) -> (usize, usize) {
        let now: HashSet<TokenId> = self.tokens().into_iter().collect();
        kept_in(&now, unit)
    }
}

/// Returns the ranges of the tokens of a text.
fn token_ranges(marks: &[Mark]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut is_open = false;
    for (ix, mark) in marks.iter().enumerate() {
        let joins = is_word(mark.char);
        match ranges.last_mut() {
            _ if mark.char.is_whitespace() => {}
            Some(last) if joins && is_open => last.end = ix + 1,
            _ => ranges.push(ix..ix + 1),
        }
        is_open = joins;
    }
    ranges
}

fn word(marks: &[Mark]) -> String {
    marks.iter().map(|it| it.char).collect()
}

fn words(marks: &[Mark], ranges: &[Range<usize>]) -> Vec<String> {
    ranges
        .iter()
        .map(|range| word(&marks[range.clone()]))
        .collect()
}

/// Returns the stretches of tokens that are not among `others`.
fn stretches(marks: &[Mark], others: &HashSet<&TokenId>) -> Vec<Vec<Vec<Mark>>> {
    let tokens: Vec<Vec<Mark>> = token_ranges(marks)
        .into_iter()
        .map(|range| marks[range].to_vec())
        .collect();
    let is_own =
        |token: &Vec<Mark>| !others.contains(&token.iter().map(|it| it.id).collect::<TokenId>());
    let stretches = tokens.chunk_by(|one, two| is_own(one) == is_own(two));
    stretches
        .filter(|it| is_own(&it[0]))
        .map(<[Vec<Mark>]>::to_vec)
        .collect()
}

/// Returns the ranges of tokens between those that are in both texts, in the same order.
fn gaps(old: &[Vec<Mark>], new: &[Vec<Mark>]) -> Vec<(Range<usize>, Range<usize>)> {
    let places: HashMap<&Vec<Mark>, usize> = old
        .iter()
        .enumerate()
        .map(|(ix, token)| (token, ix))
        .collect();
    let (mut one, mut two) = (0, 0);
    let mut gaps = Vec::new();
    for (ix, token) in new.iter().enumerate() {
        if let Some(place) = places.get(token).filter(|place| **place >= one) {
            gaps.push((one..*place, two..ix));
            (one, two) = (place + 1, ix + 1);
        }
    }
    gaps.push((one..old.len(), two..new.len()));
    gaps
}

/// Returns the pairs of a longest common subsequence, computed without any shortcut, without those that are
/// accidental: in a row that is shorter than the differences before and after it.
fn common(old: &[String], new: &[String]) -> Vec<(usize, usize)> {
    let mut lengths = vec![vec![0; new.len() + 1]; old.len() + 1];
    for one in (0..old.len()).rev() {
        for two in (0..new.len()).rev() {
            lengths[one][two] = if old[one] == new[two] {
                lengths[one + 1][two + 1] + 1
            } else {
                lengths[one + 1][two].max(lengths[one][two + 1])
            };
        }
    }
    let mut pairs = Vec::new();
    let (mut one, mut two) = (0, 0);
    while one < old.len() && two < new.len() {
        if old[one] == new[two] {
            pairs.push((one, two));
            (one, two) = (one + 1, two + 1);
        } else if lengths[one + 1][two] >= lengths[one][two + 1] {
            one += 1;
        } else {
            two += 1;
        }
    }
    without_accidents(pairs, (old.len(), new.len()))
}

fn without_accidents(mut pairs: Vec<(usize, usize)>, ends: (usize, usize)) -> Vec<(usize, usize)> {
    loop {
        let rows = pairs.chunk_by(|one, two| (one.0 + 1, one.1 + 1) == *two);
        let rows: Vec<Vec<(usize, usize)>> = rows.map(<[(usize, usize)]>::to_vec).collect();
        let is_short = |ix: &usize| {
            let row = &rows[*ix];
            let start = ix.checked_sub(1).map_or((0, 0), |before| {
                let last = rows[before][rows[before].len() - 1];
                (last.0 + 1, last.1 + 1)
            });
            let next = rows.get(ix + 1).map_or(ends, |row| row[0]);
            let (first, last) = (row[0], row[row.len() - 1]);
            let before = (first.0 - start.0).min(first.1 - start.1);
            let after = (next.0 - last.0 - 1).min(next.1 - last.1 - 1);
            row.len() < before.min(after)
        };
        let Some(accident) = (0..rows.len()).find(is_short) else {
            return pairs;
        };
        pairs.retain(|pair| !rows[accident].contains(pair));
    }
}

/// Counts the kept tokens of a unit in a text with these tokens.
pub(super) fn kept_in(now: &HashSet<TokenId>, unit: &OracleUnit) -> (usize, usize) {
    let inserted = unit.inserted.iter().filter(|token| now.contains(*token));
    let removed = unit.removed.iter().filter(|token| !now.contains(*token));
    (inserted.count(), removed.count())
}

#[test]
fn the_oracle_counts_by_characters() {
    let mut oracle = Oracle::default();
    let marks = oracle.marks_of("one two");
    oracle.replace(0..0, marks);
    oracle.add_unit(&[], 0);
    let before = oracle.tokens();
    let marks = oracle.marks_of("s");
    oracle.replace(3..3, marks);
    oracle.add_unit(&before, 1);
    assert_eq!(oracle.text(), "ones two");
    assert_eq!(oracle.kept(&oracle.units[0]), (1, 0));
    assert_eq!(
        (
            oracle.units[1].inserted.len(),
            oracle.units[1].removed.len()
        ),
        (1, 1)
    );
    oracle.replace(3..4, Vec::new());
    assert_eq!(oracle.kept(&oracle.units[0]), (2, 0));
    assert_eq!(oracle.kept(&oracle.units[1]), (0, 0));
}
