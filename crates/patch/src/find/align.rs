//! Aligns a block with similar lines: allows extra or missing blank lines together with misspelt
//! words.
//!
//! Candidate positions come from lines that the block and the file share, so that only a few are
//! aligned. The best one is accepted if nearly all of the block matches there and no other
//! candidate comes close.
//!
//! Invariant: every non-blank line of the block has a counterpart, and no non-blank line of the
//! file is skipped, since it would be unclear whether a skipped line moves with its neighbours.

mod typo;

use std::rc::Rc;

use crate::block::LineBlock;
use crate::file::FileText;
use crate::fold;
use crate::hunk_match::{BlockAlignment, HunkMatch};
use crate::indent::IndentMappings;
use crate::outcome::{HunkDifference, MatchStrategy};

pub(crate) use self::typo::{Typo, TypoFinder};

/// Minimum share of a block that must match.
const MIN_SCORE: f32 = 0.9;
/// Minimum lead of the best candidate over the next.
const MIN_LEAD: f32 = 0.1;
/// Maximum number of rows by which a block may be longer or shorter than its match.
const MAX_SHIFT_ROWS: usize = 4;
/// Maximum number of candidates that are aligned.
const MAX_CANDIDATES: usize = 6;
/// Lines that occur more often than this propose no candidates.
const MAX_OCCURRENCES: usize = 48;
/// Cost of an unmatched line beyond its weight, so that alignments with fewer gaps win.
const GAP: f32 = 0.01;

/// Returns the best position if it is unambiguous.
pub(super) fn find(file: &FileText, block: &Rc<LineBlock>) -> Option<HunkMatch> {
    let scorer = AlignScorer::new(file, block);
    let mut found: Vec<ScoredAlignment> = scorer
        .proposals()?
        .iter()
        .filter_map(|row| scorer.align(*row))
        .collect();
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    found.dedup_by(|a, b| a.map == b.map);
    let best = found.first()?;
    let runner_up = found.get(1).map_or(0.0, |next| next.score);
    if best.score < MIN_SCORE || best.score - runner_up < MIN_LEAD || !scorer.is_sound(best) {
        return None;
    }
    let first = best.map.iter().flatten().next()?;
    let last = best.map.iter().flatten().next_back()?;
    let mut found = HunkMatch::from_alignment(
        MatchStrategy::Aligned,
        BlockAlignment {
            block: block.clone(),
            rows: *first..last + 1,
            map: best.map.clone(),
            typos: best.typos.clone(),
        },
    );
    found.differences.extend(scorer.differences(best));
    Some(found)
}

/// Evidence that the block starts at a row.
struct RowVote {
    row: isize,
    weight: f32,
    /// Whether more than brackets supports it.
    is_telling: bool,
}

/// Returns how many of a number of lines may be misspelt.
pub(super) fn max_typos(lines: usize) -> usize {
    (lines / 5).max(1)
}

/// An alignment of a block with the file.
struct ScoredAlignment {
    map: Vec<Option<usize>>,
    typos: Vec<usize>,
    /// Share of the block that matches, from 0 to 1.
    score: f32,
}

struct AlignScorer<'a> {
    file: &'a FileText<'a>,
    block: &'a LineBlock,
    keys: Vec<u64>,
    weights: Vec<f32>,
    slips: TypoFinder<'a>,
}

/// Predecessor of a cell in the alignment.
#[derive(Clone, Copy, PartialEq)]
enum AlignStep {
    Start,
    Pair,
    /// A line of the block without a counterpart.
    Old,
    /// A row without a counterpart.
    Row,
}

impl<'a> AlignScorer<'a> {
    fn new(file: &'a FileText, block: &'a LineBlock) -> Self {
        Self {
            file,
            block,
            keys: block.old.iter().map(|line| fold::key(line)).collect(),
            weights: block.old.iter().map(|line| fold::weight(line)).collect(),
            slips: TypoFinder::of(file),
        }
    }

    /// Returns the best-supported rows at which the block may start. `None` if a candidate that is
    /// left out could match as well.
    fn proposals(&self) -> Option<Vec<isize>> {
        let mut votes: Vec<RowVote> = Vec::new();
        for (ix, (key, weight)) in self.keys.iter().zip(&self.weights).enumerate() {
            let rows = self.file.rows_with(*key);
            if self.may_vote(ix) {
                votes.extend(rows.iter().map(|(_, row)| RowVote {
                    row: *row as isize - ix as isize,
                    weight: *weight,
                    is_telling: fold::has_alphanumeric(&self.block.old[ix]),
                }));
            }
        }
        votes.sort_by_key(|vote| vote.row);
        let mut groups: Vec<RowVote> = Vec::new();
        for vote in votes {
            match groups.last_mut() {
                Some(group) if vote.row - group.row <= MAX_SHIFT_ROWS as isize => {
                    group.weight += vote.weight;
                    group.is_telling |= vote.is_telling;
                }
                _ => groups.push(vote),
            }
        }
        groups.retain(|group| group.is_telling);
        groups.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        let left_out = groups.get(MAX_CANDIDATES);
        if left_out.is_some_and(|group| self.most(group.weight) >= MIN_SCORE - MIN_LEAD) {
            return None;
        }
        groups.truncate(MAX_CANDIDATES);
        Some(groups.into_iter().map(|group| group.row).collect())
    }

    /// Whether a line proposes candidates.
    fn may_vote(&self, ix: usize) -> bool {
        self.file.rows_with(self.keys[ix]).len() <= MAX_OCCURRENCES
            && !fold::is_blank(&self.block.old[ix])
    }

    /// Returns the maximum share of the block that may match at a candidate with this weight: lines
    /// that propose no candidates may match too, and the permitted number of misspelt lines.
    fn most(&self, weight: f32) -> f32 {
        let mut others = 0.0;
        let mut voting = Vec::new();
        for (ix, weight) in self.weights.iter().enumerate() {
            if self.may_vote(ix) {
                voting.push(*weight)
            } else {
                others += weight
            }
        }
        voting.sort_by(|a, b| b.total_cmp(a));
        let slips = voting.iter().take(max_typos(voting.len())).sum::<f32>();
        (weight + others + slips) / self.weights.iter().sum::<f32>()
    }

    /// Computes the best alignment of the block near `row`.
    fn align(&self, row: isize) -> Option<ScoredAlignment> {
        let count = self.keys.len();
        let width = 2 * MAX_SHIFT_ROWS + 1;
        // Cell (i, b): i lines of the block and the rows before `row - SLACK + i + b` are consumed.
        let mut best = vec![(0.0f32, AlignStep::Start); (count + 1) * width];
        let row_at = |i: usize, b: usize| row - MAX_SHIFT_ROWS as isize + (i + b) as isize;
        for i in 1..=count {
            for b in 0..width {
                let pair = best[(i - 1) * width + b].0 + self.pair(i - 1, row_at(i, b) - 1);
                let mut cell = (pair, AlignStep::Pair);
                if b + 1 < width {
                    let score = best[(i - 1) * width + b + 1].0 - GAP;
                    cell = if score > cell.0 {
                        (score, AlignStep::Old)
                    } else {
                        cell
                    };
                }
                if b > 0 {
                    let score = best[i * width + b - 1].0 - self.row_weight(row_at(i, b) - 1) - GAP;
                    cell = if score > cell.0 {
                        (score, AlignStep::Row)
                    } else {
                        cell
                    };
                }
                best[i * width + b] = cell;
            }
        }
        let ends = (0..width).max_by(|a, b| {
            best[count * width + a]
                .0
                .total_cmp(&best[count * width + b].0)
        });
        self.read(&best, width, ends?, row_at)
    }

    /// Traces the best alignment back from its last cell (`end`) in a table with `width` cells per
    /// line of the block. `row_at` gives the row of a cell. `None` if all lines are weightless.
    fn read(
        &self,
        best: &[(f32, AlignStep)],
        width: usize,
        end: usize,
        row_at: impl Fn(usize, usize) -> isize,
    ) -> Option<ScoredAlignment> {
        let mut map = vec![None; self.keys.len()];
        let mut typos = Vec::new();
        let (mut i, mut b) = (self.keys.len(), end);
        let mut extra = 0.0;
        while i > 0 {
            let row = row_at(i, b) - 1;
            match best[i * width + b].1 {
                AlignStep::Start => break,
                AlignStep::Old => (i, b) = (i - 1, b + 1),
                AlignStep::Row => {
                    extra += self.row_weight(row);
                    b -= 1;
                }
                AlignStep::Pair => {
                    i -= 1;
                    map[i] = usize::try_from(row)
                        .ok()
                        .filter(|_| self.pair(i, row) > 0.0);
                    if map[i].is_some_and(|row| !self.is_same(i, row)) {
                        typos.push(i);
                    }
                }
            }
        }
        typos.reverse();
        let matched: f32 = (0..map.len())
            .filter_map(|ix| Some(self.pair(ix, map[ix]? as isize)))
            .sum();
        let total: f32 = self.weights.iter().sum::<f32>() + extra;
        (total > 0.0).then(|| ScoredAlignment {
            map,
            typos,
            score: matched / total,
        })
    }

    /// Scores a line of the block against a row; negative infinity if they do not match.
    fn pair(&self, ix: usize, row: isize) -> f32 {
        let Ok(row) = usize::try_from(row) else {
            return f32::NEG_INFINITY;
        };
        if row >= self.file.line_count() {
            return f32::NEG_INFINITY;
        }
        if self.is_same(ix, row) {
            return self.weights[ix];
        }
        match self
            .slips
            .distance(&self.block.old[ix], self.file.content(row))
        {
            Some(distance) => self.weights[ix] - distance as f32,
            None => f32::NEG_INFINITY,
        }
    }

    /// Whether a line of the block equals a row, apart from surrounding white space and typographic
    /// punctuation; `false` for a row beyond the file.
    fn is_same(&self, ix: usize, row: usize) -> bool {
        self.file.keys().get(row) == Some(&self.keys[ix])
            && fold::is_same(&self.block.old[ix], self.file.content(row))
    }

    /// Returns the weight of a row, as `fold::weight`; infinity for a row outside the file.
    fn row_weight(&self, row: isize) -> f32 {
        let row = usize::try_from(row)
            .ok()
            .filter(|row| *row < self.file.line_count());
        row.map_or(f32::INFINITY, |row| fold::weight(self.file.content(row)))
    }

    /// Whether the differences are few and of kinds that leave the position certain.
    fn is_sound(&self, scored: &ScoredAlignment) -> bool {
        let is_filled = |ix: &usize| !fold::is_blank(&self.block.old[*ix]);
        let filled: Vec<usize> = (0..self.keys.len()).filter(is_filled).collect();
        let has_all = filled.iter().all(|ix| scored.map[*ix].is_some());
        let mut extra = self.extra_rows(scored);
        let has_more = extra.any(|row| !fold::is_blank(self.file.content(row)));
        let typos = scored.typos.len();
        let is_telling = |ix: &usize| {
            let is_right = scored.map[*ix].is_some() && !scored.typos.contains(ix);
            is_right && fold::has_alphanumeric(&self.block.old[*ix])
        };
        let pairs = filled.iter().filter_map(|ix| {
            Some((
                fold::indent(&self.block.old[*ix]),
                fold::indent(self.file.content(scored.map[*ix]?)),
            ))
        });
        let pairs: Vec<_> = pairs.collect();
        has_all
            && !has_more
            // `blanks` handles blocks that differ in blank lines only.
            && (1..=max_typos(filled.len())).contains(&typos)
            && filled.iter().any(is_telling)
            && self.block.final_feed.is_none()
            && IndentMappings::of(&pairs).is_some()
    }

    /// Returns the rows within the match that no line of the block matches.
    fn extra_rows(&self, scored: &ScoredAlignment) -> impl Iterator<Item = usize> {
        let rows: Vec<usize> = scored.map.iter().flatten().copied().collect();
        let pairs: Vec<_> = rows.windows(2).map(|pair| pair[0] + 1..pair[1]).collect();
        pairs.into_iter().flatten()
    }

    fn differences(&self, scored: &ScoredAlignment) -> Vec<HunkDifference> {
        let has_gaps =
            scored.map.iter().any(Option::is_none) || self.extra_rows(scored).next().is_some();
        let blank = has_gaps.then_some(HunkDifference::BlankLines);
        let typo = (!scored.typos.is_empty()).then_some(HunkDifference::Typo);
        blank.into_iter().chain(typo).collect()
    }
}
