//! Line by line, but for blank lines around the block that the file does not have.
//!
//! The block begins or ends with blank lines that stay, and none stands there in the file: they are
//! for the eye, or stand for the end of the file.

use std::rc::Rc;

use crate::block::Block;
use crate::file::FileText;
use crate::fold;
use crate::found::Match;
use crate::outcome::{Difference, Rung};

use super::{exact, loose};

/// The places; none for a block without such lines.
pub(super) fn find(file: &FileText, block: &Rc<Block>) -> Vec<Match> {
    let is_telling = block.old.iter().any(|line| fold::is_telling(line));
    let Edges { head, tail } = Edges::of(block);
    if head + tail == 0 || !is_telling || block.final_feed.is_some() {
        return Vec::new();
    }
    let cut = |lines: &[String]| lines[head..lines.len() - tail].to_vec();
    let inner = Rc::new(Block {
        old: cut(&block.old),
        new: cut(&block.new),
        ..Block::clone(block)
    });
    let mut found = exact::lines(file, &inner);
    if found.is_empty() {
        found = loose::find(file, &inner);
    }
    let is_filled = |row: usize| row >= file.line_count() || !fold::is_blank(file.content(row));
    let lacks_all = |found: &Match| {
        let above = found.rows.start.checked_sub(1);
        (head == 0 || above.is_none_or(is_filled)) && (tail == 0 || is_filled(found.rows.end))
    };
    // Where some of them stand, which of them are meant is another question.
    if !found.iter().all(lacks_all) {
        return Vec::new();
    }
    for found in &mut found {
        found.rung = Rung::Aligned;
        found.differences.push(Difference::BlankLines);
    }
    found
}

/// How many blank lines old and new text both begin and end with.
struct Edges {
    head: usize,
    tail: usize,
}

impl Edges {
    /// None at an edge where the new text has fewer than the old one.
    fn of(block: &Block) -> Self {
        let head = |lines: &[String]| lines.iter().take_while(|line| fold::is_blank(line)).count();
        let tail = |lines: &[String]| {
            let lines = lines.iter().rev();
            lines.take_while(|line| fold::is_blank(line)).count()
        };
        let (old, new) = (&block.old, &block.new);
        let both = |old: usize, new: usize| if new >= old { old } else { 0 };
        let edges = Self {
            head: both(head(old), head(new)),
            tail: both(tail(old), tail(new)),
        };
        match edges.head + edges.tail < old.len().min(new.len()) {
            true => edges,
            false => Self { head: 0, tail: 0 },
        }
    }
}
