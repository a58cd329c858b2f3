//! Blocks in which a line of `...` stands for lines that stay.
//!
//! Old and new text leave out the same parts, so their pieces pair up. A piece that changes must
//! have one place alone; pieces that stay only have to stand there in order.

use std::rc::Rc;

use crate::block::Block;
use crate::edit::Grain;
use crate::file::FileText;
use crate::found::{Aligned, Body, Match};
use crate::outcome::{Difference, Doubt, Refusal, Rung};
use crate::placeholder::leaves_out;

use super::{exact, loose};

/// The place, if there is one; none for a block that leaves nothing out.
pub(super) fn find(file: &FileText, block: &Rc<Block>) -> Result<Vec<Match>, Refusal> {
    let (old, new) = (pieces(&block.old), pieces(&block.new));
    if old.len() < 2 {
        return Ok(Vec::new());
    }
    let doubt = Refusal::Unclear(Doubt::Elision);
    if old.len() != new.len() || block.final_feed.is_some() {
        return Err(doubt);
    }
    let mut chain = Vec::new();
    for (old, new) in old.into_iter().zip(new) {
        match (old.is_empty(), new.is_empty()) {
            (true, true) => {}
            (true, false) => return Err(doubt),
            (false, _) => chain.push(Piece::find(file, old, new).ok_or(Refusal::NotFound)?),
        }
    }
    keep_in_order(&mut chain);
    let mut changed = Vec::new();
    for piece in &chain {
        match piece.places.as_slice() {
            [] => return Err(Refusal::NotFound),
            [place] if piece.changes => changed.push(place.clone()),
            [..] if !piece.changes => {}
            places => {
                return Err(Refusal::Several {
                    count: places.len(),
                    rung: Rung::Elided,
                });
            }
        }
    }
    let (Some(first), Some(last)) = (changed.first(), changed.last()) else {
        return Ok(Vec::new());
    };
    Ok(vec![Match {
        rung: Rung::Elided,
        differences: vec![Difference::Elision],
        rows: first.rows.start..last.rows.end,
        body: Body::Pieces(changed),
    }])
}

struct Piece {
    places: Vec<Aligned>,
    changes: bool,
}

impl Piece {
    fn find(file: &FileText, old: &[String], new: &[String]) -> Option<Self> {
        let changes = old != new;
        let block = Rc::new(Block {
            old: old.to_vec(),
            new: new.to_vec(),
            grain: Grain::Lines,
            final_feed: None,
            differences: Vec::new(),
            doubt: None,
        });
        let mut found = exact::lines(file, &block);
        if found.is_empty() {
            found = loose::find(file, &block);
        }
        let aligned = |found: Match| match found.body {
            Body::Lines(aligned) => Some(aligned),
            Body::Span { .. } | Body::Raw { .. } | Body::Pieces(_) => None,
        };
        let places: Vec<_> = found.into_iter().filter_map(aligned).collect();
        (!places.is_empty()).then_some(Self { places, changes })
    }
}

/// Drops places that no choice of the other pieces' places leaves in order.
fn keep_in_order(chain: &mut [Piece]) {
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

/// The runs of lines between lines that leave something out.
fn pieces(lines: &[String]) -> Vec<&[String]> {
    lines.split(|line| leaves_out(line)).collect()
}
