//! Matches line by line, ignoring blank lines around the block that the file does not have.
//!
//! The block begins or ends with unchanged blank lines that the file lacks: they were added for
//! readability or represent the end of the file.

use std::rc::Rc;

use crate::block::LineBlock;
use crate::file::FileText;
use crate::fold;
use crate::hunk_match::HunkMatch;
use crate::outcome::{HunkDifference, MatchStrategy};

use super::{exact, loose};

/// Returns the positions; none for a block without such lines.
pub(super) fn find(file: &FileText, block: &Rc<LineBlock>) -> Vec<HunkMatch> {
    let is_telling = block.old.iter().any(|line| fold::has_alphanumeric(line));
    let BlankEdges { head, tail } = BlankEdges::of(block);
    if head + tail == 0 || !is_telling || block.final_feed.is_some() {
        return Vec::new();
    }
    let cut = |lines: &[String]| lines[head..lines.len() - tail].to_vec();
    let inner = Rc::new(LineBlock {
        old: cut(&block.old),
        new: cut(&block.new),
        ..LineBlock::clone(block)
    });
    let mut found = exact::find_lines(file, &inner);
    if found.is_empty() {
        found = loose::find(file, &inner);
    }
    let is_filled = |row: usize| row >= file.line_count() || !fold::is_blank(file.content(row));
    let lacks_all = |found: &HunkMatch| {
        let above = found.rows.start.checked_sub(1);
        (head == 0 || above.is_none_or(is_filled)) && (tail == 0 || is_filled(found.rows.end))
    };
    // If the file has some of the blank lines, it is unclear which of them are meant.
    if !found.iter().all(lacks_all) {
        return Vec::new();
    }
    for found in &mut found {
        found.strategy = MatchStrategy::Aligned;
        found.differences.push(HunkDifference::BlankLines);
    }
    found
}

/// Number of blank lines that both old and new text begin and end with.
struct BlankEdges {
    head: usize,
    tail: usize,
}

impl BlankEdges {
    /// Counts zero at an edge where the new text has fewer blank lines than the old.
    fn of(block: &LineBlock) -> Self {
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
        if edges.head + edges.tail < old.len().min(new.len()) {
            edges
        } else {
            Self { head: 0, tail: 0 }
        }
    }
}
