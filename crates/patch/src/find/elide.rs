//! Matches blocks in which a line of `...` replaces unchanged lines.
//!
//! Old and new text leave out the same parts, so their segments pair up. A changed segment must
//! match exactly one position; unchanged segments must only occur in order.

use std::rc::Rc;

use crate::block::LineBlock;
use crate::edit::Grain;
use crate::file::FileText;
use crate::hunk_match::{BlockAlignment, HunkMatch, MatchBody};
use crate::outcome::{Ambiguity, HunkDifference, HunkRefusal, MatchStrategy};
use crate::placeholder::leaves_out;

use super::{exact, loose};

/// Returns the position, if there is one; none for a block without elisions.
pub(super) fn find(file: &FileText, block: &Rc<LineBlock>) -> Result<Vec<HunkMatch>, HunkRefusal> {
    let (old, new) = (kept_segments(&block.old), kept_segments(&block.new));
    if old.len() < 2 {
        return Ok(Vec::new());
    }
    let doubt = HunkRefusal::Unclear(Ambiguity::Elision);
    if old.len() != new.len() || block.final_feed.is_some() {
        return Err(doubt);
    }
    let mut chain = Vec::new();
    for (old, new) in old.into_iter().zip(new) {
        match (old.is_empty(), new.is_empty()) {
            (true, true) => {}
            (true, false) => return Err(doubt),
            (false, _) => {
                chain.push(ElidedSegment::find(file, old, new).ok_or(HunkRefusal::NotFound)?)
            }
        }
    }
    keep_in_order(&mut chain);
    let mut changed = Vec::new();
    for piece in &chain {
        match piece.places.as_slice() {
            [] => return Err(HunkRefusal::NotFound),
            [place] if piece.changes => changed.push(place.clone()),
            [..] if !piece.changes => {}
            places => {
                return Err(HunkRefusal::Several {
                    count: places.len(),
                    strategy: MatchStrategy::Elided,
                });
            }
        }
    }
    let (Some(first), Some(last)) = (changed.first(), changed.last()) else {
        return Ok(Vec::new());
    };
    Ok(vec![HunkMatch {
        strategy: MatchStrategy::Elided,
        differences: vec![HunkDifference::Elision],
        rows: first.rows.start..last.rows.end,
        body: MatchBody::Pieces(changed),
    }])
}

struct ElidedSegment {
    places: Vec<BlockAlignment>,
    changes: bool,
}

impl ElidedSegment {
    /// Finds the positions of a segment, exact ones or else looser ones; `None` if there is none.
    fn find(file: &FileText, old: &[String], new: &[String]) -> Option<Self> {
        let changes = old != new;
        let block = Rc::new(LineBlock {
            old: old.to_vec(),
            new: new.to_vec(),
            grain: Grain::Lines,
            final_feed: None,
            differences: Vec::new(),
            doubt: None,
        });
        let mut found = exact::find_lines(file, &block);
        if found.is_empty() {
            found = loose::find(file, &block);
        }
        let aligned = |found: HunkMatch| match found.body {
            MatchBody::Lines(aligned) => Some(aligned),
            MatchBody::Span { .. } | MatchBody::Raw { .. } | MatchBody::Pieces(_) => None,
        };
        let places: Vec<_> = found.into_iter().filter_map(aligned).collect();
        (!places.is_empty()).then_some(Self { places, changes })
    }
}

/// Drops positions that do not fit in order with any position of the other segments.
fn keep_in_order(chain: &mut [ElidedSegment]) {
    let mut earliest = 0;
    for piece in chain.iter_mut() {
        piece.places.retain(|place| place.rows.start >= earliest);
        let ends = piece.places.iter().map(|place| place.rows.end);
        earliest = ends.min().unwrap_or(usize::MAX);
    }
    let mut latest = usize::MAX;
    for piece in chain.iter_mut().rev() {
        piece.places.retain(|place| place.rows.end <= latest);
        let starts = piece.places.iter().map(|place| place.rows.start);
        latest = starts.max().unwrap_or(0);
    }
}

/// Splits the lines at elisions.
fn kept_segments(lines: &[String]) -> Vec<&[String]> {
    lines.split(|line| leaves_out(line)).collect()
}
