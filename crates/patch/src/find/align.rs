//! Line alignment: blank lines more or fewer along with misspelt words.
//!
//! Places are proposed by the lines that block and file share, so that only a few are aligned. The
//! best is taken if nearly all of the block stands there and no other place comes near.
//! Invariant: every line that says something has its partner, so that no line of the file is passed
//! over: whether it would have to move along with its neighbours could not be told.

mod typo;

use std::rc::Rc;

use crate::block::Block;
use crate::file::FileText;
use crate::fold;
use crate::found::{Aligned, Match};
use crate::indent::Readings;
use crate::outcome::{Difference, Rung};

pub(crate) use self::typo::{Slip, Slips};

/// The least share of a block that must stand at its place.
const FLOOR: f32 = 0.9;
/// By how much the best place must beat the next.
const MARGIN: f32 = 0.1;
/// How many rows a block may be longer or shorter than its place.
const SLACK: usize = 4;
/// How many places are aligned.
const PLACES: usize = 6;
/// A line that stands in more rows proposes none.
const COMMON: usize = 48;
/// What each line without a partner costs beyond its weight, so that fewer gaps win.
const GAP: f32 = 0.01;

/// The place, if one stands out.
pub(super) fn find(file: &FileText, block: &Rc<Block>) -> Option<Match> {
    let scorer = Scorer::new(file, block);
    let mut found: Vec<Scored> = scorer
        .proposals()?
        .iter()
        .filter_map(|row| scorer.align(*row))
        .collect();
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    found.dedup_by(|a, b| a.map == b.map);
    let best = found.first()?;
    let runner_up = found.get(1).map_or(0.0, |next| next.score);
    if best.score < FLOOR || best.score - runner_up < MARGIN || !scorer.is_sound(best) {
        return None;
    }
    let first = best.map.iter().flatten().next()?;
    let last = best.map.iter().flatten().next_back()?;
    let mut found = Match::lines(
        Rung::Aligned,
        Aligned {
            block: block.clone(),
            rows: *first..last + 1,
            map: best.map.clone(),
            typos: best.typos.clone(),
        },
    );
    found.differences.extend(scorer.differences(best));
    Some(found)
}

/// What speaks for the block's starting at a row.
struct Vote {
    row: isize,
    weight: f32,
    /// Whether more than brackets does.
    is_telling: bool,
}

/// How many of so many lines may be misspelt.
pub(super) fn most_typos(lines: usize) -> usize {
    (lines / 5).max(1)
}

/// A block laid out along the file.
struct Scored {
    map: Vec<Option<usize>>,
    typos: Vec<usize>,
    /// The share of the block that stands there, from 0 to 1.
    score: f32,
}

struct Scorer<'a> {
    file: &'a FileText<'a>,
    block: &'a Block,
    keys: Vec<u64>,
    weights: Vec<f32>,
    slips: Slips<'a>,
}

/// How a cell of the alignment was reached.
#[derive(Clone, Copy, PartialEq)]
enum Step {
    Start,
    Pair,
    /// A line of the block without a partner.
    Old,
    /// A row without a partner.
    Row,
}

impl<'a> Scorer<'a> {
    fn new(file: &'a FileText, block: &'a Block) -> Self {
        Self {
            file,
            block,
            keys: block.old.iter().map(|line| fold::key(line)).collect(),
            weights: block.old.iter().map(|line| fold::weight(line)).collect(),
            slips: Slips::of(file),
        }
    }

    /// Rows at which the block may start, those that most of it speaks for. `None` where one that is
    /// left out may do as well.
    fn proposals(&self) -> Option<Vec<isize>> {
        let mut votes: Vec<Vote> = Vec::new();
        for (ix, (key, weight)) in self.keys.iter().zip(&self.weights).enumerate() {
            let rows = self.file.rows_with(*key);
            if self.may_vote(ix) {
                votes.extend(rows.iter().map(|(_, row)| Vote {
                    row: *row as isize - ix as isize,
                    weight: *weight,
                    is_telling: fold::is_telling(&self.block.old[ix]),
                }));
            }
        }
        votes.sort_by_key(|vote| vote.row);
        let mut groups: Vec<Vote> = Vec::new();
        for vote in votes {
            match groups.last_mut() {
                Some(group) if vote.row - group.row <= SLACK as isize => {
                    group.weight += vote.weight;
                    group.is_telling |= vote.is_telling;
                }
                _ => groups.push(vote),
            }
        }
        groups.retain(|group| group.is_telling);
        groups.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        let left_out = groups.get(PLACES);
        if left_out.is_some_and(|group| self.most(group.weight) >= FLOOR - MARGIN) {
            return None;
        }
        groups.truncate(PLACES);
        Some(groups.into_iter().map(|group| group.row).collect())
    }

    /// Whether a line proposes places.
    fn may_vote(&self, ix: usize) -> bool {
        self.file.rows_with(self.keys[ix]).len() <= COMMON && !fold::is_blank(&self.block.old[ix])
    }

    /// The share of the block that may stand where lines of this weight do: those that propose no
    /// place may stand there too, and as many that are misspelt as may be.
    fn most(&self, weight: f32) -> f32 {
        let mut others = 0.0;
        let mut voting = Vec::new();
        for (ix, weight) in self.weights.iter().enumerate() {
            match self.may_vote(ix) {
                true => voting.push(*weight),
                false => others += weight,
            }
        }
        voting.sort_by(|a, b| b.total_cmp(a));
        let slips = voting.iter().take(most_typos(voting.len())).sum::<f32>();
        (weight + others + slips) / self.weights.iter().sum::<f32>()
    }

    /// The best layout of the block near `row`.
    fn align(&self, row: isize) -> Option<Scored> {
        let count = self.keys.len();
        let width = 2 * SLACK + 1;
        // Cell (i, b): i lines of the block and the rows before `row - SLACK + i + b` are used up.
        let mut best = vec![(0.0f32, Step::Start); (count + 1) * width];
        let row_at = |i: usize, b: usize| row - SLACK as isize + (i + b) as isize;
        for i in 1..=count {
            for b in 0..width {
                let pair = best[(i - 1) * width + b].0 + self.pair(i - 1, row_at(i, b) - 1);
                let mut cell = (pair, Step::Pair);
                if b + 1 < width {
                    let score = best[(i - 1) * width + b + 1].0 - GAP;
                    cell = if score > cell.0 {
                        (score, Step::Old)
                    } else {
                        cell
                    };
                }
                if b > 0 {
                    let score = best[i * width + b - 1].0 - self.row_weight(row_at(i, b) - 1) - GAP;
                    cell = if score > cell.0 {
                        (score, Step::Row)
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

    fn read(
        &self,
        best: &[(f32, Step)],
        width: usize,
        end: usize,
        row_at: impl Fn(usize, usize) -> isize,
    ) -> Option<Scored> {
        let mut map = vec![None; self.keys.len()];
        let mut typos = Vec::new();
        let (mut i, mut b) = (self.keys.len(), end);
        let mut extra = 0.0;
        while i > 0 {
            let row = row_at(i, b) - 1;
            match best[i * width + b].1 {
                Step::Start => break,
                Step::Old => (i, b) = (i - 1, b + 1),
                Step::Row => {
                    extra += self.row_weight(row);
                    b -= 1;
                }
                Step::Pair => {
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
        (total > 0.0).then(|| Scored {
            map,
            typos,
            score: matched / total,
        })
    }

    /// How much of a line of the block stands on a row; less than nothing where nothing does.
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

    fn is_same(&self, ix: usize, row: usize) -> bool {
        self.file.keys().get(row) == Some(&self.keys[ix])
            && fold::is_same(&self.block.old[ix], self.file.content(row))
    }

    fn row_weight(&self, row: isize) -> f32 {
        let row = usize::try_from(row)
            .ok()
            .filter(|row| *row < self.file.line_count());
        row.map_or(f32::INFINITY, |row| fold::weight(self.file.content(row)))
    }

    /// Whether the differences are few and of the kinds that leave no doubt about the place.
    fn is_sound(&self, scored: &Scored) -> bool {
        let is_filled = |ix: &usize| !fold::is_blank(&self.block.old[*ix]);
        let filled: Vec<usize> = (0..self.keys.len()).filter(is_filled).collect();
        let has_all = filled.iter().all(|ix| scored.map[*ix].is_some());
        let mut extra = self.extra_rows(scored);
        let has_more = extra.any(|row| !fold::is_blank(self.file.content(row)));
        let typos = scored.typos.len();
        let is_telling = |ix: &usize| {
            let is_right = scored.map[*ix].is_some() && !scored.typos.contains(ix);
            is_right && fold::is_telling(&self.block.old[*ix])
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
            // Blank lines alone are looked at on another rung.
            && (1..=most_typos(filled.len())).contains(&typos)
            && filled.iter().any(is_telling)
            && self.block.final_feed.is_none()
            && Readings::of(&pairs).is_some()
    }

    /// Rows within the place that no line of the block stands on.
    fn extra_rows(&self, scored: &Scored) -> impl Iterator<Item = usize> {
        let rows: Vec<usize> = scored.map.iter().flatten().copied().collect();
        let pairs: Vec<_> = rows.windows(2).map(|pair| pair[0] + 1..pair[1]).collect();
        pairs.into_iter().flatten()
    }

    fn differences(&self, scored: &Scored) -> Vec<Difference> {
        let has_gaps =
            scored.map.iter().any(Option::is_none) || self.extra_rows(scored).next().is_some();
        let blank = has_gaps.then_some(Difference::BlankLines);
        let typo = (!scored.typos.is_empty()).then_some(Difference::Typo);
        blank.into_iter().chain(typo).collect()
    }
}
